// SPDX-License-Identifier: Apache-2.0
// Back of the paired unit's data path: a complete sum becomes an FP32 word, in two stages.
//
// Contract: sum_i, a signed whole number of places of the window, bin_i, whose last exponent is that of
// the window's top place, and flags_i give data_o two cycles later, if keep_i was high in the cycle between.
// data_o stays until the next such cycle; it is zero without valid_i. It is the sum, rounded once to
// nearest even; 7fffffff with a NaN or infinities of both signs, else an infinity if there is one. An exact
// zero is +0, but -0 if no value was without sign. A sum below the normal range becomes the zero of its
// sign.
//
// The magnitude of a negative sum is its complement, one place too small: as if ones without end
// followed it. A bin is a byte of the sum, so the byte with the leading one gives the exponent. The
// registers have no reset.

module arc_paired_round (
  input  logic                               clk_i,
  // magnitude stage
  input  logic [arc_pkg::PairedSumWidth-1:0] sum_i,
  input  logic [arc_pkg::BinWidth-1:0]       bin_i,
  input  logic [3:0]                         flags_i,  // NaN, +inf, -inf, one without sign
  // normalise stage, one cycle later: what comes out of it is the next result
  input  logic                               keep_i,
  // result, one cycle later
  input  logic                               valid_i,
  output logic [arc_pkg::DataWidth-1:0]      data_o
);

  localparam int MagWidth = arc_pkg::PairedSumWidth - 1;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int FracWidth = arc_pkg::FracWidth;
  localparam int SigWidth = arc_pkg::SigWidth;
  localparam int Bytes = 5;  // of the magnitude; the highest one has five bits

  // ------------------------------------------------------------------------------------------
  // Magnitude
  // ------------------------------------------------------------------------------------------

  logic neg_q, any_inf;
  logic [MagWidth-1:0] mag_q;
  logic [BinWidth-1:0] bin_q;
  logic [2:0] flags_q;  // NaN, infinity, its sign or that of a zero

  assign any_inf = flags_i[2] || flags_i[1];

  always_ff @(posedge clk_i) begin
    neg_q <= sum_i[MagWidth];
    mag_q <= sum_i[MagWidth-1:0] ^ {MagWidth{sum_i[MagWidth]}};
    bin_q <= bin_i;
    flags_q <= {flags_i[3] || (flags_i[2] && flags_i[1]), any_inf, any_inf ? flags_i[1] : !flags_i[0]};
  end

  // ------------------------------------------------------------------------------------------
  // Normalise
  // ------------------------------------------------------------------------------------------

  logic round_up;
  logic [31:0] norm;
  logic [BinWidth:0] exp_high;  // signed
  logic [2:0] shift;

  always_comb begin : normalise
    logic found, leads, tail;
    logic [71:0] bytes;
    bytes = {3'b0, mag_q, {32{neg_q}}};
    found = 1'b0;
    norm = '0;
    exp_high = '0;
    tail = 1'b1;
    for (int k = 0; k <= Bytes; k++) begin
      leads = !found && (k == Bytes || bytes[64-8*k +: 8] != '0);
      found = found || leads;
      norm = norm | ((k < Bytes ? bytes[40-8*(k%Bytes) +: 32] : {32{neg_q}}) & {32{leads}});
      exp_high = exp_high | (({1'b0, bin_q} + 6'd1 - 6'(k)) & {6{leads}});
      if (k == 0) tail = !leads || mag_q[7:0] == {8{neg_q}};
    end
    shift = '0;
    if (norm[31:28] == '0) begin
      shift[2] = 1'b1;
      norm = {norm[27:0], {4{neg_q}}};
    end
    if (norm[31:30] == '0) begin
      shift[1] = 1'b1;
      norm = {norm[29:0], {2{neg_q}}};
    end
    if (!norm[31]) begin
      shift[0] = 1'b1;
      norm = {norm[30:0], neg_q};
    end
    tail = tail && norm[6:0] == {7{neg_q}};
    round_up = norm[7];
    if (tail) round_up = neg_q ? norm[7] | norm[8] : norm[7] & norm[8];
  end

  logic result_neg_q, result_up_q;
  logic [SigWidth-1:0] result_sig_q;
  logic [ExpWidth:0] result_exp_q;
  logic [2:0] result_flags_q;

  always_ff @(posedge clk_i) begin
    if (keep_i) begin
      result_neg_q <= neg_q;
      result_sig_q <= norm[31:8];
      result_up_q <= round_up;
      result_exp_q <= {exp_high, ~shift};
      result_flags_q <= flags_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Round and pack
  // ------------------------------------------------------------------------------------------

  always_comb begin : pack
    logic nan, inf, something, zero, huge_sum, sign;
    logic [ExpWidth:0] exp;
    logic [FracWidth-1:0] frac;
    {nan, inf, sign} = result_flags_q;
    something = result_sig_q[SigWidth-1];
    {exp, frac} = {result_exp_q, result_sig_q[FracWidth-1:0]} + {31'b0, result_up_q};
    zero = !something || (exp[ExpWidth] && exp[ExpWidth-1]) || exp == '0;
    huge_sum = !zero && (exp[ExpWidth] || exp[ExpWidth-1:0] == arc_pkg::ExpMax);
    if (something && !inf) sign = result_neg_q;
    data_o = {sign && !nan,
              (exp[ExpWidth-1:0] & {ExpWidth{!zero}}) | {ExpWidth{inf || nan || huge_sum}},
              (frac & {FracWidth{!zero && !huge_sum && !inf}}) | {FracWidth{nan}}} & {DataWidth{valid_i}};
  end

endmodule
