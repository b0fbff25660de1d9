// SPDX-License-Identifier: Apache-2.0
// arc_paired_round with the ports of paired_round_exact: without the places that no sum has.

module paired_round_dut (
  input  logic [37:0] sum_i,
  input  logic [4:0]  bin_i,
  input  logic        nan_i,
  input  logic        pos_inf_i,
  input  logic        neg_inf_i,
  input  logic        any_pos_i,
  output logic [31:0] data_o
);

  logic [37:0] sum;

  always_comb begin
    sum = sum_i;
    if (bin_i == 5'd0) sum[1:0] = '0;
  end

  arc_paired_round u_dut (
    .clk_i  (1'b0),
    .sum_i  (sum),
    .bin_i  (bin_i),
    .flags_i({nan_i, pos_inf_i, neg_inf_i, any_pos_i}),
    .keep_i (1'b1),
    .valid_i(1'b1),
    .data_o (data_o)
  );

endmodule
