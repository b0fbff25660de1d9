// SPDX-License-Identifier: Apache-2.0
// The middle of arc_reduction_fused with the ports of fused_sum_exact. prove.sh makes
// arc_reduction_fused_open: the unit with the named signals as inputs and the registers between them
// and the running sum transparent.

module fused_sum_dut (
  input  logic [49:0]  sum_i,
  input  logic         first_i,
  input  logic [175:0] window_i,
  input  logic [3:0]   neg_i,
  output logic [49:0]  sum_o
);

  arc_reduction_fused_open u_dut (
    .sum_q      (sum_i),
    .add_first_q(first_i),
    .add_more_q (!first_i),
    .cut        (window_i),
    .\g_bank[0].neg_q (neg_i[0]),
    .\g_bank[1].neg_q (neg_i[1]),
    .\g_bank[2].neg_q (neg_i[2]),
    .\g_bank[3].neg_q (neg_i[3]),
    .sum_d      (sum_o)
  );

endmodule
