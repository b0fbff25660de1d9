// SPDX-License-Identifier: Apache-2.0
// A row of fused_sum_exact alone: three numbers become two of the same sum.

module count_row_dut (
  input  logic [49:0] x_i,
  input  logic [49:0] y_i,
  input  logic [49:0] z_i,
  output logic [49:0] sum_o
);

  logic [49:0] ones, twos;

  count_row u_row (
    .x_i   (x_i),
    .y_i   (y_i),
    .z_i   (z_i),
    .ones_o(ones),
    .twos_o(twos)
  );

  assign sum_o = ones + twos;

endmodule
