// SPDX-License-Identifier: Apache-2.0
// Reference FP32 adder for the equivalence proof: an exact fixed-point sum, rounded once.
//
// Contract: the same function as arc_fp32_adder, by another way. Both significands are written
// into one wide number at the places that their exponents say, negated where the sign says so,
// added, and only the finished sum is cut to 24 bits. Operands are not put in order of magnitude,
// there are no guard, round and sticky bits, every shift is a table of constant shifts, and
// rounding looks at all bits below the cut. So a mistake of arc_fp32_adder has no twin here. Built
// for clarity, not size.
//
//     bit    51    50 ........ 27  26 ................ 0
//          carry | significand   | 27 places below it
//                  of the operand with the larger exponent
//
// An operand that lies more than 27 places lower is smaller than 1/8 of the last place even of a
// sum that has lost its leading one, whatever its value. Only its sign counts: it becomes one unit.

module fp32_adder_exact #(
  // 1: subnormal operands and results count as zero. 0: gradual underflow.
  parameter int FlushSubnormals = 1
) (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] sum_o
);

  localparam int Below = 27;             // places below the significand
  localparam int Width = 1 + 24 + Below;

  // ------------------------------------------------------------------------------------------
  // Operands as whole numbers of 2^(top_exp - 177)
  // ------------------------------------------------------------------------------------------
  // A subnormal has exponent 1 without the hidden bit.

  logic [7:0] a_exp, b_exp, top_exp, a_low, b_low;  // low: places below the larger exponent
  logic [23:0] a_sig, b_sig;
  logic [Width-1:0] a_units, b_units;

  always_comb begin
    a_exp = a_i[30:23] == 8'd0 ? 8'd1 : a_i[30:23];
    b_exp = b_i[30:23] == 8'd0 ? 8'd1 : b_i[30:23];
    a_sig = {a_i[30:23] != 8'd0, a_i[22:0]};
    b_sig = {b_i[30:23] != 8'd0, b_i[22:0]};
    if (FlushSubnormals != 0 && !a_sig[23]) a_sig = '0;
    if (FlushSubnormals != 0 && !b_sig[23]) b_sig = '0;
    top_exp = a_exp > b_exp ? a_exp : b_exp;
    a_low = top_exp - a_exp;
    b_low = top_exp - b_exp;
    a_units = Width'(a_sig != '0);
    b_units = Width'(b_sig != '0);
    for (int low = 0; low <= Below; low++) begin
      if (a_low == low[7:0]) a_units = Width'(a_sig) << (Below - low);
      if (b_low == low[7:0]) b_units = Width'(b_sig) << (Below - low);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Exact sum, then its magnitude
  // ------------------------------------------------------------------------------------------

  logic negative;
  logic [Width:0] total;
  logic [Width-1:0] units;

  always_comb begin
    total = (a_i[31] ? -{1'b0, a_units} : {1'b0, a_units})
          + (b_i[31] ? -{1'b0, b_units} : {1'b0, b_units});
    negative = total[Width];
    units = negative ? -total[Width-1:0] : total[Width-1:0];
  end

  // ------------------------------------------------------------------------------------------
  // Normal result: cut 23 places below the leading one, to nearest even
  // ------------------------------------------------------------------------------------------

  logic half, rest;
  logic [9:0] cut_exp;    // two's complement
  logic [Width-1:0] cut;  // leading one at the top
  logic [32:0] normal;

  always_comb begin
    cut_exp = '0;
    cut = '0;
    for (int top = 0; top < Width; top++) begin
      if (units[top]) begin
        cut = units << (Width - 1 - top);
        cut_exp = {2'b00, top_exp} + 10'(top) - 10'd50;
      end
    end
    half = cut[Width-25];
    rest = cut[Width-26:0] != '0;
    normal = {cut_exp, cut[Width-2 -: 23]} + 33'(half & (rest | cut[Width-24]));
  end

  // ------------------------------------------------------------------------------------------
  // Subnormal result: exact, as both operands are whole numbers of 2^-149
  // ------------------------------------------------------------------------------------------
  // Only operands within one place of each other cancel that far, and from exponent 25 on not even
  // they do.

  logic below_normal;
  logic [22:0] subnormal;

  always_comb begin
    below_normal = cut_exp[9] || cut_exp == '0;
    subnormal = '0;
    for (int e = 1; e <= 24; e++) begin
      if (FlushSubnormals == 0 && top_exp == e[7:0]) subnormal = units[Below + 1 - e +: 23];
    end
  end

  // ------------------------------------------------------------------------------------------
  // Choice of the result
  // ------------------------------------------------------------------------------------------

  logic a_nan, b_nan, a_inf, b_inf;

  always_comb begin
    a_nan = a_i[30:23] == 8'd255 && a_i[22:0] != '0;
    b_nan = b_i[30:23] == 8'd255 && b_i[22:0] != '0;
    a_inf = a_i[30:23] == 8'd255 && a_i[22:0] == '0;
    b_inf = b_i[30:23] == 8'd255 && b_i[22:0] == '0;
    if (a_nan || b_nan)                                sum_o = 32'h7fff_ffff;
    else if (a_inf && b_inf && a_i[31] != b_i[31])     sum_o = 32'h7fff_ffff;
    else if (a_inf)                                    sum_o = a_i;
    else if (b_inf)                                    sum_o = b_i;
    else if (units == '0)                              sum_o = {a_i[31] & b_i[31], 31'd0};
    else if (below_normal)                             sum_o = {negative, 8'd0, subnormal};
    else if (normal[31:23] >= 9'd255)                  sum_o = {negative, 8'd255, 23'd0};
    else                                               sum_o = {negative, normal[30:0]};
  end

endmodule
