// SPDX-License-Identifier: Apache-2.0
// Add stage: two terms join a running sum, which moves down by whole bytes where the bin grows.
//
// Contract: sum_o is, one cycle later, sum_o by keep_i bytes down, rounded down, or nothing where keep_i is
// none, plus the values of the terms; two's complement. Nothing is lost of a sum whose bits fit. Without
// terms the sum stays what it is.
module two_lanes_sum (
  input  logic        clk_i,
  input  logic [63:0] term_i,
  input  logic [1:0]  neg_i,
  input  logic [4:0]  keep_i,  // one-hot or none
  output logic [37:0] sum_o
);

  localparam int Width = 38;  // 32 values of 32 bits and a sign

  logic [Width-1:0] sum_q, sum_d, moved, save_sum, save_carry;

  always_comb begin : move_down
    moved = '0;
    for (int k = 0; k < 5; k++) begin
      for (int i = 0; i < Width; i++) begin
        moved[i] = moved[i] | (sum_q[i+8*k < Width ? i + 8 * k : Width - 1] & keep_i[k]);
      end
    end
  end

  // A negative term is its complement and a one, which stands in a free lowest place.
  always_comb begin : compress
    logic [Width-1:0] x, y;
    x = {6'b0, term_i[31:0] ^ {32{neg_i[0]}}};
    y = {{5{neg_i[0] | neg_i[1]}}, neg_i[0] ^ neg_i[1], term_i[63:32] ^ {32{neg_i[1]}}};
    save_sum = moved ^ (x ^ y);  // the running sum comes last
    save_carry = (x & y) | (moved & (x ^ y));
    save_carry = {save_carry[Width-2:0], neg_i[0]};
  end

  arc_fast_adder #(
    .Width(Width)
  ) u_add (
    .a_i    (save_sum),
    .b_i    (save_carry),
    .carry_i(neg_i[1]),
    .sum_o  (sum_d)
  );

  always_ff @(posedge clk_i) begin
    sum_q <= sum_d;
  end

  assign sum_o = sum_q;

endmodule
