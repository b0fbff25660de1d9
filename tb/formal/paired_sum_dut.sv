// SPDX-License-Identifier: Apache-2.0
// arc_paired_sum with the ports of paired_sum_exact: the bytes by which the sum moves down as they come
// out of arc_paired_align, one-hot or none.

module paired_sum_dut (
  input  logic [37:0] sum_i,
  input  logic [2:0]  down_i,
  input  logic [63:0] term_i,
  input  logic [1:0]  neg_i,
  output logic [37:0] sum_o
);

  logic [4:0] keep;

  always_comb begin
    for (int k = 0; k < 5; k++) keep[k] = down_i == k[2:0];
  end

  arc_paired_sum u_dut (
    .term_i(term_i),
    .neg_i (neg_i),
    .keep_i(keep),
    .sum_i (sum_i),
    .sum_o (sum_o)
  );

endmodule
