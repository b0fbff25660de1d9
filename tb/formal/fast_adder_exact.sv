// SPDX-License-Identifier: Apache-2.0
// Reference for arc_fast_adder at the width of the fused unit's running sum: the operator.

module fast_adder_exact (
  input  logic [49:0] a_i,
  input  logic [49:0] b_i,
  input  logic        carry_i,
  output logic [49:0] sum_o
);

  assign sum_o = a_i + b_i + 50'(carry_i);

endmodule
