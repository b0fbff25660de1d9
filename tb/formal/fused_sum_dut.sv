// SPDX-License-Identifier: Apache-2.0
// arc_fused_sum with the ports of fused_sum_exact: a term is the sign's complement and a window.

module fused_sum_dut (
  input  logic [49:0]  sum_i,
  input  logic         first_i,
  input  logic [175:0] window_i,
  input  logic [3:0]   neg_i,
  output logic [49:0]  sum_o
);

  logic [179:0] term;

  always_comb begin
    for (int b = 0; b < 4; b++) term[45*b +: 45] = {~neg_i[b], window_i[44*b +: 44]};
  end

  arc_fused_sum u_dut (
    .clk_i  (1'b0),
    .neg_i  (neg_i),
    .term_i (term),
    .first_i(first_i),
    .more_i (!first_i),
    .sum_i  (sum_i),
    .sum_o  (sum_o)
  );

endmodule
