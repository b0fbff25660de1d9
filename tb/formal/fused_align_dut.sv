// SPDX-License-Identifier: Apache-2.0
// arc_fused_align with the ports of fused_align_exact: terms with their missing ones added.

module fused_align_dut (
  input  logic [127:0] rf_data_i,
  input  logic [3:0]   read_i,
  input  logic [4:0]   max_bin_i,
  output logic [183:0] total_o,
  output logic [3:0]   flags_o
);

  logic [179:0] term;
  logic [3:0] neg;

  arc_fused_align u_dut (
    .clk_i    (1'b0),
    .rf_data_i(rf_data_i),
    .read_i   (read_i),
    .max_bin_i(max_bin_i),
    .neg_o    (neg),
    .term_o   (term),
    .flags_o  (flags_o)
  );

  always_comb begin
    for (int b = 0; b < 4; b++) begin
      total_o[46*b +: 46] = {1'b0, term[45*b +: 45]} + 46'(neg[b]);
      if (read_i[b] && rf_data_i[32*b+26 +: 5] > max_bin_i) total_o[46*b +: 46] = '0;
    end
  end

endmodule
