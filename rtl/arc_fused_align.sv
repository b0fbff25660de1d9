// SPDX-License-Identifier: Apache-2.0
// Front of the fused unit's data path: the words of a read become terms of one sum, in two stages.
//
// Contract: rf_data_i and read_i, the banks that were read, give neg_o, term_o and flags_o in the
// next cycle, with the largest bin of the transaction, max_bin_i, of that cycle. A value is cut to
// Window bits, of which the top one has the last exponent of the largest bin; a larger value is
// not expected. Bank b's term and neg_o[b] together are 2^Window plus the value, in units of the
// lowest bit. A bank that was not read has the value zero and no flag.
//
// unpack: a value is its significand with the sign's complement, everywhere within its bin, and
// filled up with the sign: the two's complement but for a one at the lowest bit of the window.
// align: from its bin to the largest. The registers between have no reset and no hold.

module arc_fused_align #(
  localparam int Window = arc_pkg::FusedWindow
) (
  input  logic                                         clk_i,
  // unpack stage: a word of each bank, whether it was read
  input  logic [arc_pkg::Banks*arc_pkg::DataWidth-1:0] rf_data_i,
  input  logic [arc_pkg::Banks-1:0]                    read_i,
  // align stage, one cycle later
  input  logic [arc_pkg::BinWidth-1:0]                 max_bin_i,
  output logic [arc_pkg::Banks-1:0]                    neg_o,    // sign: the one that a term lacks
  output logic [arc_pkg::Banks*(Window+1)-1:0]         term_o,
  output logic [3:0]                                   flags_o   // NaN, +inf, -inf, one without sign
);

  localparam int Banks = arc_pkg::Banks;
  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int FracWidth = arc_pkg::FracWidth;
  localparam int SigWidth = arc_pkg::SigWidth;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int BinShift = arc_pkg::BinShift;
  localparam int FineWidth = SigWidth + (1 << BinShift) - 1;  // a significand anywhere in its bin

  logic [Banks-1:0] is_nan, is_pos_inf, is_neg_inf, is_pos;
  logic [3:0] flags_q;

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic [DataWidth-1:0] word;
    logic sign, hidden, exp_max, frac_any, neg_q, far;
    logic [FineWidth-1:0] fine, fine_q;
    logic [BinWidth-1:0] bin_q, down;
    logic [Window-1:0] coarse;

    always_comb begin
      word = rf_data_i[DataWidth*b +: DataWidth] & {DataWidth{read_i[b]}};
      sign = word[DataWidth-1];
      hidden = word[FracWidth +: ExpWidth] != '0;
      exp_max = word[FracWidth +: ExpWidth] == arc_pkg::ExpMax;
      frac_any = word[FracWidth-1:0] != '0;
      is_nan[b] = exp_max && frac_any;
      is_pos_inf[b] = exp_max && !frac_any && !sign;
      is_neg_inf[b] = exp_max && !frac_any && sign;
      is_pos[b] = read_i[b] && !sign;
      fine = {{hidden, word[FracWidth-1:0] & {FracWidth{hidden}}} ^
              {SigWidth{sign}}, {(FineWidth - SigWidth) {sign}}};
      for (int s = 0; s < BinShift; s++) begin
        if (!word[FracWidth+s]) begin
          fine = (fine >> (1 << s)) | ({FineWidth{sign}} & ~({FineWidth{1'b1}} >> (1 << s)));
        end
      end
    end

    always_ff @(posedge clk_i) begin
      neg_q <= sign;
      fine_q <= fine;
      bin_q <= word[FracWidth+BinShift +: BinWidth];
    end

    always_comb begin
      down = max_bin_i - bin_q;
      far = down[BinWidth-1:3] != '0;  // known last
      coarse = {fine_q, {(Window - FineWidth) {neg_q}}};
      if (down[0]) coarse = {{8{neg_q}}, coarse[Window-1:8]};
      if (down[1]) coarse = {{16{neg_q}}, coarse[Window-1:16]};
      if (down[2] || far) coarse = {{32{neg_q}}, coarse[Window-1:32]};
      if (far) coarse[Window-33:0] = {(Window - 32) {neg_q}};
    end

    // Above the window stands the sign with its complement, which is one too many of its weight in

    // Above the window stands the sign with its complement, which is one too many of its weight in
    // every value; the sum takes Banks of them away.
    assign neg_o[b] = neg_q;
    assign term_o[(Window+1)*b +: Window+1] = {~neg_q, coarse};
  end

  always_ff @(posedge clk_i) begin
    flags_q <= {is_nan != '0, is_pos_inf != '0, is_neg_inf != '0, is_pos != '0};
  end

  assign flags_o = flags_q;

endmodule
