// SPDX-License-Identifier: Apache-2.0
// Stands in for arc_fp_adder where only control and data flow are proved: its sum is any value.
//
// A free value in every cycle covers every adder. That the sum of unchanged operands is unchanged,
// which any combinational adder keeps, is assumed by the wrapper, as there is no clock here.

module arc_fp_adder #(
  parameter int FlushSubnormals = 1,
  parameter int ExpWidth = arc_pkg::ExpWidth,
  parameter int FracWidth = arc_pkg::FracWidth
) (
  input  logic [ExpWidth+FracWidth:0] a_i,
  input  logic [ExpWidth+FracWidth:0] b_i,
  output logic [ExpWidth+FracWidth:0] sum_o
);

  assign sum_o = $anyseq;

endmodule
