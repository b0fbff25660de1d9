// SPDX-License-Identifier: Apache-2.0
// Align stage: two words to terms of a sum, whose top place is that of the largest bin of eight
// exponents so far. A value is cut to 32 bits below the top of that bin.
//
// Contract: combinational but for the bin. rf_data_i and read_i, the banks that were read, with first_i
// in the first read of a transaction, give terms (magnitude and sign) and flags; keep_o tells by how many
// bytes the sum before moves down, none if nothing of it is kept. bin_o is the bin one cycle later.
module two_lanes_align (
  input  logic        clk_i,
  input  logic [63:0] rf_data_i,
  input  logic [1:0]  read_i,
  input  logic        first_i,
  output logic [63:0] term_o,
  output logic [1:0]  neg_o,
  output logic [4:0]  keep_o,   // one-hot or none
  output logic [3:0]  flags_o,  // NaN, +infinity, -infinity, a value without sign
  output logic [4:0]  bin_o
);

  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int FracWidth = arc_pkg::FracWidth;
  localparam int ExpWidth = arc_pkg::ExpWidth;

  // ------------------------------------------------------------------------------------------
  // The largest bin, and how far each is below it
  // ------------------------------------------------------------------------------------------
  // All three differences at once; the top bit is a borrow and tells which is larger.

  logic largest_0, largest_1, largest_old;
  logic [BinWidth-1:0] bin_0, bin_1, bin_q, bin_d;
  logic [BinWidth:0] from_0_to_1, from_0_to_old, from_1_to_old;
  logic [3:0] down_0, down_1;  // bytes, one-hot; none: out of the window

  assign bin_0 = rf_data_i[26 +: BinWidth];
  assign bin_1 = rf_data_i[58 +: BinWidth];
  assign from_0_to_1 = {1'b0, bin_1} - {1'b0, bin_0};
  assign from_0_to_old = {1'b0, bin_q} - {1'b0, bin_0};
  assign from_1_to_old = {1'b0, bin_q} - {1'b0, bin_1};
  assign largest_0 = read_i[0] && (from_0_to_1[BinWidth] || !read_i[1]) &&
                     (from_0_to_old[BinWidth] || first_i);
  assign largest_1 = read_i[1] && (!from_0_to_1[BinWidth] || !read_i[0]) &&
                     (from_1_to_old[BinWidth] || first_i);
  assign largest_old = !largest_0 && !largest_1;
  assign bin_d = (bin_0 & {BinWidth{largest_0}}) | (bin_1 & {BinWidth{largest_1}}) |
                 (bin_q & {BinWidth{largest_old}});

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

  always_ff @(posedge clk_i) begin
    bin_q <= bin_d;
  end

  assign bin_o = bin_q;

  // ------------------------------------------------------------------------------------------
  // Values: to their place within their bin, then down by whole bins
  // ------------------------------------------------------------------------------------------

  logic [1:0] is_nan, is_pos_inf, is_neg_inf, is_pos;

  for (genvar b = 0; b < 2; b++) begin : g_bank
    logic hidden, exp_max, frac_any;
    logic [31:0] word, fine, coarse;
    logic [3:0] down;

    assign down = b == 0 ? down_0 : down_1;

    always_comb begin
      word = rf_data_i[32*b +: 32];
      hidden = word[FracWidth +: ExpWidth] != '0 && read_i[b];
      exp_max = word[FracWidth +: ExpWidth] == arc_pkg::ExpMax && read_i[b];
      frac_any = word[FracWidth-1:0] != '0;
      is_nan[b] = exp_max && frac_any;
      is_pos_inf[b] = exp_max && !frac_any && !word[31];
      is_neg_inf[b] = exp_max && !frac_any && word[31];
      is_pos[b] = read_i[b] && !word[31];
      fine = {7'b0, hidden, word[FracWidth-1:0] & {FracWidth{hidden}}, 1'b0};
      if (word[FracWidth]) fine = fine << 1;
      if (word[FracWidth+1]) fine = fine << 2;
      if (word[FracWidth+2]) fine = fine << 4;
      coarse = '0;
      for (int k = 0; k < 4; k++) coarse = coarse | ((fine >> (8 * k)) & {32{down[k]}});
    end

    assign term_o[32*b +: 32] = coarse;
    assign neg_o[b] = word[31];
  end

  assign flags_o = {is_nan != '0, is_pos_inf != '0, is_neg_inf != '0, is_pos != '0};

endmodule
