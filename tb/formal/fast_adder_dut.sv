// SPDX-License-Identifier: Apache-2.0
// arc_fast_adder with the ports of fast_adder_exact.

module fast_adder_dut (
  input  logic [49:0] a_i,
  input  logic [49:0] b_i,
  input  logic        carry_i,
  output logic [49:0] sum_o
);

  arc_fast_adder #(
    .Width(50)
  ) u_dut (
    .a_i    (a_i),
    .b_i    (b_i),
    .carry_i(carry_i),
    .sum_o  (sum_o)
  );

endmodule
