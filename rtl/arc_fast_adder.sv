// SPDX-License-Identifier: Apache-2.0
// Adder for a critical path: the parallel-prefix tree of Kogge and Stone (IEEE Transactions on
// Computers C-22, 1973), whose depth is the logarithm of the width. The operator `+` becomes a
// Brent-Kung tree in Yosys, nearly twice as deep and hardly smaller once mapped.
//
// Contract: combinational. sum_o is a_i + b_i + carry_i modulo 2^Width.

`include "arc_assert.svh"

module arc_fast_adder #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic             carry_i,
  output logic [Width-1:0] sum_o
);

  // Bit 0 makes the carry in. generate_all: the bits down to 0 make a carry.
  logic [Width:0] half, generate_all, propagate;

  always_comb begin
    half = {a_i ^ b_i, 1'b0};
    generate_all = {a_i & b_i, carry_i};
    propagate = half;
    for (int distance = 1; distance <= Width; distance = distance * 2) begin
      generate_all = generate_all | (propagate & (generate_all << distance));
      propagate = propagate & (propagate << distance);
    end
    sum_o = half[Width:1] ^ generate_all[Width-1:0];
  end

  `ARC_ASSERT_COMB(SumIsTheSum, sum_o == a_i + b_i + {{(Width - 1) {1'b0}}, carry_i})

endmodule
