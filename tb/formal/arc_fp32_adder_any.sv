// SPDX-License-Identifier: Apache-2.0
// Stands in for arc_fp32_adder where only control and data flow are proved: its sum is any value.
//
// A free value in every cycle covers every adder. That the sum of unchanged operands is unchanged,
// which any combinational adder keeps, is assumed by the wrapper, as there is no clock here.

module arc_fp32_adder #(
  parameter int FlushSubnormals = 1,
  parameter int Pipelined = 0
) (
  input  logic                          clk_i,
  input  logic [arc_pkg::DataWidth-1:0] a_i,
  input  logic [arc_pkg::DataWidth-1:0] b_i,
  output logic [arc_pkg::DataWidth-1:0] sum_o
);

  assign sum_o = $anyseq;

endmodule
