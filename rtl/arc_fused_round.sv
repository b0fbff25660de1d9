// SPDX-License-Identifier: Apache-2.0
// Back of the fused unit's data path: a complete sum becomes an FP32 word, in three stages.
//
// Contract: sum_i, a signed whole number of places of the window, bin_i, whose last exponent is that
// of the top place, and flags_i give data_o two cycles later, if keep_i was high in the cycle between.
// data_o stays until the next such cycle; it is zero without valid_i. It is the sum, rounded once to
// nearest even; 7fffffff with a NaN or infinities of both signs, else an infinity if there is one. An
// exact zero is +0, but -0 if no value was without sign. A sum below the normal range becomes the
// zero of its sign.
//
// count: places of the magnitude before its leading one. normalise: leading one to the top. Then
// round and pack. The registers between have no reset.

module arc_fused_round #(
  localparam int SumWidth = arc_pkg::FusedWindow + 6
) (
  input  logic                          clk_i,
  // count stage
  input  logic [SumWidth-1:0]           sum_i,
  input  logic [arc_pkg::BinWidth-1:0]  bin_i,
  input  logic [3:0]                    flags_i,  // a NaN, +infinity, -infinity, a value without sign
  // normalise stage, one cycle later: what comes out of it is the next result
  input  logic                          keep_i,
  // result, one cycle later
  input  logic                          valid_i,
  output logic [arc_pkg::DataWidth-1:0] data_o
);

  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int FracWidth = arc_pkg::FracWidth;
  localparam int SigWidth = arc_pkg::SigWidth;
  localparam int BinShift = arc_pkg::BinShift;
  localparam int MagWidth = SumWidth - 1;
  localparam int LzcWidth = 6;                      // $clog2(MagWidth + 1)
  localparam logic [BinShift-1:0] ExpLow = 3'b100;  // 7 + 5, less 8

  // ------------------------------------------------------------------------------------------
  // Count
  // ------------------------------------------------------------------------------------------
  // The magnitude of a negative sum is taken as its complement, which is one place too small: as if
  // ones without end followed it, and they do in the shifter below.

  logic norm_neg_q;
  logic [MagWidth-1:0] mag, norm_mag_q;
  logic [LzcWidth-1:0] lzc, norm_shift_q;
  // Exponent of a leading one at the top of mag, less its lowest bits, which are ExpLow: 5 above the
  // top of the window, which is the last exponent of the bin.
  logic [ExpWidth-BinShift:0] norm_exp_q;
  logic [3:0] norm_flags_q;

  always_comb begin : count
    logic [(1<<LzcWidth)-1:0] rest;
    mag = sum_i[MagWidth-1:0] ^ {MagWidth{sum_i[SumWidth-1]}};
    rest = {mag, {((1 << LzcWidth) - MagWidth) {1'b1}}};
    lzc = '0;
    for (int k = LzcWidth - 1; k >= 0; k--) begin
      if ((rest >> ((1 << LzcWidth) - (1 << k))) == '0) begin
        lzc[k] = 1'b1;
        rest = rest << (1 << k);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    norm_neg_q <= sum_i[SumWidth-1];
    norm_mag_q <= mag;
    norm_shift_q <= lzc;
    norm_exp_q <= {1'b0, bin_i} + (ExpWidth - BinShift + 1)'(1);
    norm_flags_q <= flags_i;
  end

  // ------------------------------------------------------------------------------------------
  // Normalise
  // ------------------------------------------------------------------------------------------

  logic result_neg_q, round_up, result_up_q;
  logic [SigWidth-1:0] result_sig_q;
  logic [ExpWidth:0] result_exp_q;  // signed
  logic [3:0] result_flags_q;
  logic [MagWidth-1:0] norm;

  always_comb begin : normalise
    logic tail;  // below the rounding bit nothing: zeros, or the ones without end
    norm = norm_mag_q;
    for (int k = LzcWidth - 1; k >= 0; k--) begin
      if (norm_shift_q[k]) begin
        norm = (norm << (1 << k)) | ({MagWidth{norm_neg_q}} & ~({MagWidth{1'b1}} << (1 << k)));
      end
    end
    tail = norm[MagWidth-SigWidth-2:0] == {(MagWidth - SigWidth - 1) {norm_neg_q}};
    round_up = norm[MagWidth-SigWidth-1];
    if (tail) round_up = norm_neg_q ? round_up | norm[MagWidth-SigWidth]
                                    : round_up & norm[MagWidth-SigWidth];
  end

  always_ff @(posedge clk_i) begin
    if (keep_i) begin
      result_neg_q <= norm_neg_q;
      result_sig_q <= norm[MagWidth-1 -: SigWidth];
      result_up_q <= round_up;
      result_exp_q <= {norm_exp_q, ExpLow} - {3'b000, norm_shift_q};
      result_flags_q <= norm_flags_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Round to nearest even and pack
  // ------------------------------------------------------------------------------------------
  // A sum below the normal range is a whole number of the smallest subnormals and needs no rounding,
  // so a carry out of it only comes from the missing one of a negative sum.

  always_comb begin : pack
    logic [ExpWidth+FracWidth:0] rounded;
    logic something, nan, inf, zero, huge_sum, sign;
    logic [FracWidth-1:0] frac;
    logic [ExpWidth:0] exp;
    exp = result_exp_q;
    something = result_sig_q[SigWidth-1];
    rounded = {exp, result_sig_q[FracWidth-1:0]} + {{(ExpWidth + FracWidth) {1'b0}}, result_up_q};
    exp = rounded[ExpWidth+FracWidth:FracWidth];
    nan = result_flags_q[3] || (result_flags_q[2] && result_flags_q[1]);
    inf = result_flags_q[2] || result_flags_q[1];
    zero = !something || (exp[ExpWidth] && exp[ExpWidth-1]) || exp == '0;
    huge_sum = !zero && (exp[ExpWidth] || exp[ExpWidth-1:0] == arc_pkg::ExpMax);
    sign = !nan && (inf ? result_flags_q[1] : something ? result_neg_q : !result_flags_q[0]);
    exp = (exp & {(ExpWidth + 1) {!zero}}) | {(ExpWidth + 1) {inf || nan || huge_sum}};
    frac = (rounded[FracWidth-1:0] & {FracWidth{!zero && !huge_sum && !inf}}) | {FracWidth{nan}};
    data_o = {sign, exp[ExpWidth-1:0], frac} & {arc_pkg::DataWidth{valid_i}};
  end

endmodule
