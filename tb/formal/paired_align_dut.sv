// SPDX-License-Identifier: Apache-2.0
// arc_paired_align with the ports of paired_align_exact: terms with their signs.

module paired_align_dut (
  input  logic [63:0] rf_data_i,
  input  logic [1:0]  read_i,
  input  logic        first_i,
  input  logic [4:0]  bin_i,
  output logic [65:0] value_o,
  output logic [4:0]  keep_o,
  output logic [3:0]  flags_o,
  output logic [4:0]  bin_o
);

  logic [63:0] term;
  logic [1:0] neg;

  arc_paired_align u_dut (
    .rf_data_i(rf_data_i),
    .read_i   (read_i),
    .first_i  (first_i),
    .bin_i    (bin_i),
    .term_o   (term),
    .neg_o    (neg),
    .keep_o   (keep_o),
    .flags_o  (flags_o),
    .bin_o    (bin_o)
  );

  always_comb begin
    for (int b = 0; b < 2; b++) begin
      value_o[33*b +: 33] = neg[b] ? -{1'b0, term[32*b +: 32]} : {1'b0, term[32*b +: 32]};
    end
  end

endmodule
