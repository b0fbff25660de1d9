// SPDX-License-Identifier: Apache-2.0
// Reference for arc_fused_align: four words to four terms and the flags.
//
// Contract: the magnitude of a value that was read stands in a window of 44 places, whose top place
// has the last exponent of max_bin_i, and is cut below it. total_o[b] is 2^44 plus the value, which
// is negated by a subtraction; the unit fills up with sign bits and gives the missing one apart. A
// value above the window cannot be: all is zero for its bank then. Built for clarity, not size.

module fused_align_exact (
  input  logic [127:0] rf_data_i,
  input  logic [3:0]   read_i,  // banks that were read
  input  logic [4:0]   max_bin_i,
  output logic [183:0] total_o,  // 46 bits for each bank
  output logic [3:0]   flags_o   // a NaN, +infinity, -infinity, a value without sign
);

  localparam int Window = 44;

  always_comb begin
    flags_o = '0;
    for (int b = 0; b < 4; b++) begin : bank
      logic [31:0] word;
      logic [7:0] exp, low;  // low: places below the window's top
      logic [23:0] sig;
      logic [Window-1:0] units;
      word = rf_data_i[32*b +: 32];
      exp = word[30:23] == 8'd0 ? 8'd1 : word[30:23];
      sig = {word[30:23] != 8'd0, word[22:0]};
      if (!sig[23]) sig = '0;
      low = {max_bin_i, 3'b111} - exp;
      units = '0;
      for (int place = 0; place < Window; place++) begin
        if (low == place[7:0]) units = {sig, {(Window - 24) {1'b0}}} >> place;
      end
      if (!read_i[b]) units = '0;
      total_o[46*b +: 46] = word[31] ? (46'd1 << Window) - 46'(units)
                                     : (46'd1 << Window) + 46'(units);
      if (read_i[b] && word[30:26] > max_bin_i) total_o[46*b +: 46] = '0;
      if (read_i[b]) begin
        if (word[30:23] == 8'd255 && word[22:0] != '0) flags_o[3] = 1'b1;
        if (word == 32'h7f80_0000) flags_o[2] = 1'b1;
        if (word == 32'hff80_0000) flags_o[1] = 1'b1;
        if (!word[31]) flags_o[0] = 1'b1;
      end
    end
  end

endmodule
