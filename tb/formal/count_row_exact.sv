// SPDX-License-Identifier: Apache-2.0
// Reference for the rows of fused_sum_exact: three numbers added plainly, modulo 2^50.

module count_row_exact (
  input  logic [49:0] x_i,
  input  logic [49:0] y_i,
  input  logic [49:0] z_i,
  output logic [49:0] sum_o
);

  assign sum_o = x_i + y_i + z_i;

endmodule
