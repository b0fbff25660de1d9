// SPDX-License-Identifier: Apache-2.0
// The back half of arc_reduction_fused with the ports of fused_round_exact. prove.sh makes
// arc_reduction_fused_open: the unit with the named registers as inputs and those between them and
// the result transparent.

module fused_round_dut (
  input  logic [49:0] sum_i,
  input  logic [4:0]  bin_i,
  input  logic        nan_i,
  input  logic        pos_inf_i,
  input  logic        neg_inf_i,
  input  logic        any_pos_i,
  output logic [31:0] data_o
);

  logic [49:0] sum;

  always_comb begin
    sum = sum_i;
    if (bin_i == 5'd0) sum[13:0] = '0;
    if (bin_i == 5'd1) sum[5:0] = '0;
  end

  arc_reduction_fused_open u_dut (
    .sum_q         (sum),
    .bin_q         (bin_i),
    .flags_q       ({nan_i, pos_inf_i, neg_inf_i, any_pos_i}),
    .result_valid_q(1'b1),
    .result_data_o (data_o)
  );

endmodule
