// SPDX-License-Identifier: Apache-2.0
// Align stage of the paired unit: the words of a read become terms of a sum, whose top place has the
// last exponent of the largest bin that the transaction has shown so far.
//
// Contract: combinational. rf_data_i and read_i, the banks that were read, with bin_i, the largest bin
// so far, which is not looked at in the first read of a transaction (first_i), give bin_o, the largest
// with these, and term_o and neg_o, magnitudes and signs, and flags_o. A value is cut to PairedWindow bits
// below the top of bin_o; a bank that was not read has a term of zero and no flag. keep_o[k]: the sum
// before moves down by k bytes, a byte being a bin; all low: nothing of it is kept, since this is the first
// read or bin_i is 5 or more below.

module arc_paired_align (
  input  logic [arc_pkg::PairedBanks*arc_pkg::DataWidth-1:0]    rf_data_i,
  input  logic [arc_pkg::PairedBanks-1:0]                       read_i,
  input  logic                                                  first_i,
  input  logic [arc_pkg::BinWidth-1:0]                          bin_i,
  output logic [arc_pkg::PairedBanks*arc_pkg::PairedWindow-1:0] term_o,
  output logic [arc_pkg::PairedBanks-1:0]                       neg_o,
  output logic [4:0]                                            keep_o,   // one-hot or none
  output logic [3:0]                                            flags_o,  // NaN, +inf, -inf, one without sign
  output logic [arc_pkg::BinWidth-1:0]                          bin_o
);

  localparam int Banks = arc_pkg::PairedBanks;
  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int Window = arc_pkg::PairedWindow;
  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int FracWidth = arc_pkg::FracWidth;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int BinLow = FracWidth + arc_pkg::BinShift;

  // ------------------------------------------------------------------------------------------
  // The largest bin, and how far each is below it
  // ------------------------------------------------------------------------------------------
  // All three differences at once; the top bit is a borrow and tells which is larger. Where it is set, a
  // distance the other way is 2^BinWidth less the difference.

  logic largest_0, largest_1, largest_old;
  logic [BinWidth-1:0] bin_0, bin_1;
  logic [BinWidth:0] from_0_to_1, from_0_to_old, from_1_to_old;
  logic [3:0] down_0, down_1;  // bytes, one-hot; none: out of the window

  assign bin_0 = rf_data_i[BinLow +: BinWidth];
  assign bin_1 = rf_data_i[DataWidth+BinLow +: BinWidth];
  assign from_0_to_1 = {1'b0, bin_1} - {1'b0, bin_0};
  assign from_0_to_old = {1'b0, bin_i} - {1'b0, bin_0};
  assign from_1_to_old = {1'b0, bin_i} - {1'b0, bin_1};
  assign largest_0 = read_i[0] && (from_0_to_1[BinWidth] || !read_i[1]) &&
                     (from_0_to_old[BinWidth] || first_i);
  assign largest_1 = read_i[1] && (!from_0_to_1[BinWidth] || !read_i[0]) &&
                     (from_1_to_old[BinWidth] || first_i);
  assign largest_old = !largest_0 && !largest_1;
  assign bin_o = (bin_0 & {BinWidth{largest_0}}) | (bin_1 & {BinWidth{largest_1}}) |
                 (bin_i & {BinWidth{largest_old}});

  always_comb begin
    for (int k = 0; k < 4; k++) begin
      down_0[k] = (largest_0 && k == 0) ||
                  (largest_1 && from_0_to_1[BinWidth-1:0] == BinWidth'(k)) ||
                  (largest_old && from_0_to_old[BinWidth-1:0] == BinWidth'(k));
      down_1[k] = (largest_1 && k == 0) ||
                  (largest_0 && from_0_to_1[BinWidth-1:0] == BinWidth'(32 - k)) ||
                  (largest_old && from_1_to_old[BinWidth-1:0] == BinWidth'(k));
    end
    for (int k = 0; k < 5; k++) begin
      keep_o[k] = !first_i && ((largest_old && k == 0) ||
                               (largest_0 && from_0_to_old[BinWidth-1:0] == BinWidth'(32 - k)) ||
                               (largest_1 && from_1_to_old[BinWidth-1:0] == BinWidth'(32 - k)));
    end
  end

  // ------------------------------------------------------------------------------------------
  // Values: to their place within their bin, then down by whole bins
  // ------------------------------------------------------------------------------------------

  logic [Banks-1:0] is_nan, is_pos_inf, is_neg_inf, is_pos;

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic hidden, exp_max, frac_any;
    logic [DataWidth-1:0] word;
    logic [Window-1:0] fine, coarse;
    logic [3:0] down;

    assign down = b == 0 ? down_0 : down_1;

    always_comb begin
      word = rf_data_i[DataWidth*b +: DataWidth];
      hidden = word[FracWidth +: ExpWidth] != '0 && read_i[b];
      exp_max = word[FracWidth +: ExpWidth] == arc_pkg::ExpMax && read_i[b];
      frac_any = word[FracWidth-1:0] != '0;
      is_nan[b] = exp_max && frac_any;
      is_pos_inf[b] = exp_max && !frac_any && !word[DataWidth-1];
      is_neg_inf[b] = exp_max && !frac_any && word[DataWidth-1];
      is_pos[b] = read_i[b] && !word[DataWidth-1];
      fine = {7'b0, hidden, word[FracWidth-1:0] & {FracWidth{hidden}}, 1'b0};
      if (word[FracWidth]) fine = fine << 1;
      if (word[FracWidth+1]) fine = fine << 2;
      if (word[FracWidth+2]) fine = fine << 4;
      coarse = '0;
      for (int k = 0; k < 4; k++) coarse = coarse | ((fine >> (8 * k)) & {Window{down[k]}});
    end

    assign term_o[Window*b +: Window] = coarse;
    assign neg_o[b] = word[DataWidth-1];
  end

  assign flags_o = {is_nan != '0, is_pos_inf != '0, is_neg_inf != '0, is_pos != '0};

endmodule
