// SPDX-License-Identifier: Apache-2.0
// Stands in for arc_fast_adder where only control is proved: its sum is any value.

module arc_fast_adder #(
  parameter int Width = 32
) (
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic             carry_i,
  output logic [Width-1:0] sum_o
);

  assign sum_o = $anyseq;

endmodule
