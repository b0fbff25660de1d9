// SPDX-License-Identifier: Apache-2.0
// Reference for arc_paired_align: two words and the largest bin so far to the next, two values, the way
// down of the sum before, and the flags.
//
// Contract: bin_o is the largest of the bins that were read and, but for a first read, bin_i. The
// magnitude of a value stands in a window of 32 places, whose top place has the last exponent of bin_o, and
// is cut below it; value_o[b] is the value, two's complement. keep_o[k] says that bin_o is k bins above
// bin_i, k up to 4; none in a first read. Built for clarity, not size.

module paired_align_exact (
  input  logic [63:0] rf_data_i,
  input  logic [1:0]  read_i,  // banks that were read
  input  logic        first_i,
  input  logic [4:0]  bin_i,
  output logic [65:0] value_o,  // 33 bits for each bank
  output logic [4:0]  keep_o,
  output logic [3:0]  flags_o,  // a NaN, +infinity, -infinity, a value without sign
  output logic [4:0]  bin_o
);

  localparam int Window = 32;

  always_comb begin
    bin_o = first_i && read_i != '0 ? 5'd0 : bin_i;
    for (int b = 0; b < 2; b++) begin
      if (read_i[b] && rf_data_i[32*b+26 +: 5] > bin_o) bin_o = rf_data_i[32*b+26 +: 5];
    end
    for (int k = 0; k < 5; k++) keep_o[k] = !first_i && bin_o - bin_i == 5'(k);
  end

  always_comb begin
    flags_o = '0;
    for (int b = 0; b < 2; b++) begin : bank
      logic [31:0] word;
      logic [7:0] low;  // places below the window's top
      logic [Window-1:0] units;
      word = rf_data_i[32*b +: 32];
      low = {bin_o, 3'b111} - word[30:23];
      units = '0;
      for (int place = 0; place < Window; place++) begin
        if (low == place[7:0]) units = {1'b1, word[22:0], 8'd0} >> place;
      end
      if (!read_i[b] || word[30:23] == 8'd0) units = '0;
      value_o[33*b +: 33] = word[31] ? -{1'b0, units} : {1'b0, units};
      if (read_i[b]) begin
        if (word[30:23] == 8'd255 && word[22:0] != '0) flags_o[3] = 1'b1;
        if (word == 32'h7f80_0000) flags_o[2] = 1'b1;
        if (word == 32'hff80_0000) flags_o[1] = 1'b1;
        if (!word[31]) flags_o[0] = 1'b1;
      end
    end
  end

endmodule
