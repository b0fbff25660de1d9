// SPDX-License-Identifier: Apache-2.0
// Add stage of the paired unit: the terms of a read join the running sum, which moves down by whole bytes
// where the bin grows.
//
// Contract: combinational. sum_o is sum_i, moved down by the bytes that keep_i tells, rounded down, or
// nothing where keep_i is low, plus the values of the terms; two's complement, modulo 2^PairedSumWidth.

module arc_paired_sum (
  input  logic [arc_pkg::PairedBanks*arc_pkg::PairedWindow-1:0] term_i,  // magnitudes
  input  logic [arc_pkg::PairedBanks-1:0]                       neg_i,
  input  logic [4:0]                                            keep_i,  // one-hot or none
  input  logic [arc_pkg::PairedSumWidth-1:0]                    sum_i,
  output logic [arc_pkg::PairedSumWidth-1:0]                    sum_o
);

  localparam int Width = arc_pkg::PairedSumWidth;
  localparam int Window = arc_pkg::PairedWindow;

  logic [Width-1:0] moved, save_sum, save_carry;

  always_comb begin : move_down
    moved = '0;
    for (int k = 0; k < 5; k++) begin
      for (int i = 0; i < Width; i++) begin
        moved[i] = moved[i] | (sum_i[i+8*k < Width ? i + 8 * k : Width - 1] & keep_i[k]);
      end
    end
  end

  // A negative term is its complement and a one, which stands in a free lowest place.
  always_comb begin : compress
    logic [Width-1:0] x, y;
    x = {6'b0, term_i[Window-1:0] ^ {Window{neg_i[0]}}};
    y = {{5{neg_i[0] | neg_i[1]}}, neg_i[0] ^ neg_i[1], term_i[Window +: Window] ^ {Window{neg_i[1]}}};
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
    .sum_o  (sum_o)
  );

endmodule
