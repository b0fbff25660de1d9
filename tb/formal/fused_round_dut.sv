// SPDX-License-Identifier: Apache-2.0
// arc_fused_round with the ports of fused_round_exact: without the places that no sum has.

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

  arc_fused_round u_dut (
    .clk_i  (1'b0),
    .sum_i  (sum),
    .bin_i  (bin_i),
    .flags_i({nan_i, pos_inf_i, neg_inf_i, any_pos_i}),
    .keep_i (1'b1),
    .valid_i(1'b1),
    .data_o (data_o)
  );

endmodule
