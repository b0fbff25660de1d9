// SPDX-License-Identifier: Apache-2.0
// Reference adder for the equivalence proof: an exact fixed-point sum, rounded once.
//
// Contract: the same function as arc_fp_adder, by another way. Both significands are written
// into one wide number at the places that their exponents say, negated where the sign says so,
// added, and only the finished sum is cut to the width of a significand. Operands are not put in order of magnitude,
// there are no guard, round and sticky bits, every shift is a table of constant shifts, and
// rounding looks at all bits below the cut. So a mistake of arc_fp_adder has no twin here. Built
// for clarity, not size.
//
//     bit    51    50 ........ 27  26 ................ 0
//          carry | significand   | 27 places below it
//                  of the operand with the larger exponent
//
// These are the bits of FP32; in general there are FracWidth + 4 places below the significand. An
// operand that lies more places lower is smaller than 1/8 of the last place even of a
// sum that has lost its leading one, whatever its value. Only its sign counts: it becomes one unit.

module fp_adder_exact #(
  // 1: subnormal operands and results count as zero. 0: gradual underflow.
  parameter int FlushSubnormals = 1,
  // bits of the exponent, of the fraction
  parameter int ExpWidth = 8,
  parameter int FracWidth = 23
) (
  input  logic [ExpWidth+FracWidth:0] a_i,
  input  logic [ExpWidth+FracWidth:0] b_i,
  output logic [ExpWidth+FracWidth:0] sum_o
);

  localparam int SigWidth = FracWidth + 1;
  localparam int Below = FracWidth + 4;         // places below the significand
  localparam int Width = 1 + SigWidth + Below;
  localparam int Sign = ExpWidth + FracWidth;   // its bit
  localparam int CutWidth = ExpWidth + 2;
  localparam int NormalWidth = CutWidth + FracWidth;
  localparam logic [ExpWidth-1:0] One = 1;
  localparam logic [ExpWidth-1:0] ExpMax = {ExpWidth{1'b1}};

  // ------------------------------------------------------------------------------------------
  // Operands as whole numbers: those of FP32 of 2^(top_exp - 177)
  // ------------------------------------------------------------------------------------------
  // A subnormal has exponent 1 without the hidden bit.

  logic [ExpWidth-1:0] a_exp, b_exp, top_exp, a_low, b_low;  // low: places below the larger one
  logic [SigWidth-1:0] a_sig, b_sig;
  logic [Width-1:0] a_units, b_units;

  always_comb begin
    a_exp = a_i[Sign-1:FracWidth] == '0 ? One : a_i[Sign-1:FracWidth];
    b_exp = b_i[Sign-1:FracWidth] == '0 ? One : b_i[Sign-1:FracWidth];
    a_sig = {a_i[Sign-1:FracWidth] != '0, a_i[FracWidth-1:0]};
    b_sig = {b_i[Sign-1:FracWidth] != '0, b_i[FracWidth-1:0]};
    if (FlushSubnormals != 0 && !a_sig[FracWidth]) a_sig = '0;
    if (FlushSubnormals != 0 && !b_sig[FracWidth]) b_sig = '0;
    top_exp = a_exp > b_exp ? a_exp : b_exp;
    a_low = top_exp - a_exp;
    b_low = top_exp - b_exp;
    a_units = Width'(a_sig != '0);
    b_units = Width'(b_sig != '0);
    for (int low = 0; low <= Below; low++) begin
      if (a_low == low[ExpWidth-1:0]) a_units = Width'(a_sig) << (Below - low);
      if (b_low == low[ExpWidth-1:0]) b_units = Width'(b_sig) << (Below - low);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Exact sum, then its magnitude
  // ------------------------------------------------------------------------------------------

  logic negative;
  logic [Width:0] total;
  logic [Width-1:0] units;

  always_comb begin
    total = (a_i[Sign] ? -{1'b0, a_units} : {1'b0, a_units})
          + (b_i[Sign] ? -{1'b0, b_units} : {1'b0, b_units});
    negative = total[Width];
    units = negative ? -total[Width-1:0] : total[Width-1:0];
  end

  // ------------------------------------------------------------------------------------------
  // Normal result: cut FracWidth places below the leading one, to nearest even
  // ------------------------------------------------------------------------------------------

  logic half, rest;
  logic [CutWidth-1:0] cut_exp;  // two's complement
  logic [Width-1:0] cut;         // leading one at the top
  logic [NormalWidth-1:0] normal;

  always_comb begin
    cut_exp = '0;
    cut = '0;
    for (int top = 0; top < Width; top++) begin
      if (units[top]) begin
        cut = units << (Width - 1 - top);
        cut_exp = {2'b00, top_exp} + CutWidth'(top) - CutWidth'(Width - 2);
      end
    end
    half = cut[Width-SigWidth-1];
    rest = cut[Width-SigWidth-2:0] != '0;
    normal = {cut_exp, cut[Width-2 -: FracWidth]} + NormalWidth'(half & (rest | cut[Width-SigWidth]));
  end

  // ------------------------------------------------------------------------------------------
  // Subnormal result: exact, as both operands are whole numbers of the least subnormal
  // ------------------------------------------------------------------------------------------
  // Only operands within one place of each other cancel that far, and from exponent SigWidth + 1 on
  // not even they do.

  logic below_normal;
  logic [FracWidth-1:0] subnormal;

  always_comb begin
    below_normal = cut_exp[CutWidth-1] || cut_exp == '0;
    subnormal = '0;
    for (int e = 1; e <= SigWidth; e++) begin
      if (FlushSubnormals == 0 && top_exp == e[ExpWidth-1:0]) subnormal = units[Below + 1 - e +: FracWidth];
    end
  end

  // ------------------------------------------------------------------------------------------
  // Choice of the result
  // ------------------------------------------------------------------------------------------

  logic a_nan, b_nan, a_inf, b_inf;

  always_comb begin
    a_nan = a_i[Sign-1:FracWidth] == ExpMax && a_i[FracWidth-1:0] != '0;
    b_nan = b_i[Sign-1:FracWidth] == ExpMax && b_i[FracWidth-1:0] != '0;
    a_inf = a_i[Sign-1:FracWidth] == ExpMax && a_i[FracWidth-1:0] == '0;
    b_inf = b_i[Sign-1:FracWidth] == ExpMax && b_i[FracWidth-1:0] == '0;
    if (a_nan || b_nan)                                  sum_o = {1'b0, {Sign{1'b1}}};
    else if (a_inf && b_inf && a_i[Sign] != b_i[Sign])   sum_o = {1'b0, {Sign{1'b1}}};
    else if (a_inf)                                      sum_o = a_i;
    else if (b_inf)                                      sum_o = b_i;
    else if (units == '0)                                sum_o = {a_i[Sign] & b_i[Sign], {Sign{1'b0}}};
    else if (below_normal)                               sum_o = {negative, {ExpWidth{1'b0}}, subnormal};
    else if (normal[Sign:FracWidth] >= {1'b0, ExpMax})   sum_o = {negative, ExpMax, {FracWidth{1'b0}}};
    else                                                 sum_o = {negative, normal[Sign-1:0]};
  end

endmodule
