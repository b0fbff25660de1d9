// SPDX-License-Identifier: Apache-2.0
// Add stage: two terms join a running sum that moves down by whole bytes where the bin grows. whole_o is
// the sum as one number, two's complement.
//
// Carries wait for a cycle between pieces of eight places, so no carry runs through more than one piece.
// A sum that moves loses less than 1.01 of its new last place: the pieces end within the bytes, and what
// waits below the new last place is cut off with the rest. Without terms the sum stays what it is.
module two_lanes_sum (
  input  logic        clk_i,
  input  logic [63:0] term_i,
  input  logic [1:0]  neg_i,
  input  logic [4:0]  keep_i,
  output logic [37:0] whole_o  // one cycle later
);

  localparam int Width = 38;  // 32 values of 32 bits and a sign
  localparam int First = 6;   // places below the first piece of eight

  logic [Width-1:0] sum_q, sum_d, moved;
  logic [Width-1:0] carry_q, carry_d, carry_moved;  // at the lowest places of pieces, else 0

  always_comb begin : move_down
    moved = '0;
    carry_moved = '0;
    for (int k = 0; k < 5; k++) begin
      for (int i = 0; i < Width; i++) begin
        moved[i] = moved[i] | (sum_q[i+8*k < Width ? i + 8 * k : Width - 1] & keep_i[k]);
      end
      carry_moved = carry_moved | ((carry_q >> (8 * k)) & {Width{keep_i[k]}});
    end
  end

  // A negative term is its complement and a one, which stands in a free lowest place.
  always_comb begin : add
    logic c;
    logic [Width-1:0] x, y, save_sum, save_carry;
    x = {6'b0, term_i[31:0] ^ {32{neg_i[0]}}};
    y = {{5{neg_i[0] | neg_i[1]}}, neg_i[0] ^ neg_i[1], term_i[63:32] ^ {32{neg_i[1]}}};
    save_sum = moved ^ (x ^ y);
    save_carry = (x & y) | (moved & (x ^ y));
    save_carry = {save_carry[Width-2:0], neg_i[0]};
    carry_d = '0;
    c = neg_i[1];
    for (int i = 0; i < Width; i++) begin
      if (i % 8 == First) begin
        carry_d[i] = c;
        c = carry_moved[i];
      end
      sum_d[i] = save_sum[i] ^ save_carry[i] ^ c;
      c = (save_sum[i] & save_carry[i]) | (c & (save_sum[i] ^ save_carry[i]));
    end
  end

  always_ff @(posedge clk_i) begin
    sum_q <= sum_d;
    carry_q <= carry_d;
  end

  // A piece takes the carry that waits and one from below: two in its lowest place, one out of it.
  always_comb begin : resolve
    logic c, ones, run;
    c = 1'b0;
    whole_o = sum_q;
    for (int j = First; j < Width; j = j + 8) begin
      ones = 1'b1;
      run = (sum_q[j] & carry_q[j]) | (c & (sum_q[j] | carry_q[j]));
      whole_o[j] = sum_q[j] ^ carry_q[j] ^ c;
      c = run;
      for (int i = j + 1; i < j + 8; i++) begin
        whole_o[i] = sum_q[i] ^ run;
        run = run & sum_q[i];
        ones = ones & sum_q[i];
      end
      c = c & ones;
    end
  end

endmodule
