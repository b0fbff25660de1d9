// SPDX-License-Identifier: Apache-2.0
// IEEE 754 adder, round to nearest even: of single precision, or of another width, such as binary16.
//
// Contract: combinational. sum_o = a_i + b_i, commutative bit for bit, no flags. Every NaN result is
// all ones but for its sign (7fffffff), also for infinity minus infinity. An exact zero from unlike
// signs is +0; -0 + -0 is -0.
// With FlushSubnormals a subnormal operand counts as zero of its sign, and a sum below the normal
// range becomes zero with the sign of the exact sum. (Such a sum is a multiple of the smallest
// subnormal and therefore exact, so before or after rounding makes no difference.)
//
// The operands are put in order of magnitude first, so the difference is never negative and only
// one operand needs the alignment shifter. The position of the binary point is kept through the
// module, here of single precision:
//
//     bit      27     26 ......... 4  3      2      1      0
//            carry  | significand (24)     | guard  round  sticky
//                     (27 is the carry of like signs; normalisation moves the leading one there)

`include "arc_assert.svh"

module arc_fp_adder #(
  // 1: subnormal operands and results count as zero. 0: gradual underflow.
  parameter int FlushSubnormals = 1,
  // bits of the exponent, of the fraction
  parameter int ExpWidth = arc_pkg::ExpWidth,
  parameter int FracWidth = arc_pkg::FracWidth
) (
  // operands
  input  logic [ExpWidth+FracWidth:0] a_i,
  input  logic [ExpWidth+FracWidth:0] b_i,
  // sum
  output logic [ExpWidth+FracWidth:0] sum_o
);

  localparam int SigWidth = FracWidth + 1;
  localparam int MagWidth = ExpWidth + FracWidth;
  localparam int WorkWidth = SigWidth + 4;  // carry, significand, guard, round, sticky
  // Both shifters move by 0 to 31 places, those of binary16 by 0 to 15.
  localparam int ShiftBits = $clog2(WorkWidth);
  localparam logic [ExpWidth-1:0] ExpMax = {ExpWidth{1'b1}};  // exponent of infinity and NaN

  // ------------------------------------------------------------------------------------------
  // Compare and swap: sign apart, a number orders like an integer
  // ------------------------------------------------------------------------------------------
  // The comparison is written as a borrow chain from the lowest bit up. The operator `>` becomes a
  // carry-lookahead tree, which is larger and of which only one bit is needed.

  logic swap, big_sign;
  logic [MagWidth-1:0] big, little;

  always_comb begin
    swap = 1'b0;
    for (int i = 0; i < MagWidth; i++) begin
      swap = (b_i[i] & ~a_i[i]) | ((b_i[i] | ~a_i[i]) & swap);
    end
    big = swap ? b_i[MagWidth-1:0] : a_i[MagWidth-1:0];
    little = swap ? a_i[MagWidth-1:0] : b_i[MagWidth-1:0];
    big_sign = swap ? b_i[MagWidth] : a_i[MagWidth];
  end

  // ------------------------------------------------------------------------------------------
  // Unpack
  // ------------------------------------------------------------------------------------------
  // A subnormal has exponent 1 without the hidden bit. When subnormals flush, the little one is
  // blanked before alignment; a big one needs no care: both operands are zero then, and the
  // exponent underflow below turns the sum into zero.

  logic big_hidden, little_hidden;
  logic [ExpWidth-1:0] big_exp, little_exp;

  always_comb begin
    big_exp = big[MagWidth-1:FracWidth];
    little_exp = little[MagWidth-1:FracWidth];
    big_hidden = big_exp != '0;
    little_hidden = little_exp != '0;
    if (FlushSubnormals == 0) begin
      big_exp[0] = big_exp[0] | ~big_hidden;
      little_exp[0] = little_exp[0] | ~little_hidden;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Align: shift the little significand right, keep guard and round, gather the rest in sticky
  // ------------------------------------------------------------------------------------------

  logic sticky;
  logic [SigWidth+1:0] aligned;  // significand, guard, round

  logic subtract, is_max;

  arc_fp_align #(
    .FlushSubnormals(FlushSubnormals),
    .ExpWidth       (ExpWidth),
    .FracWidth      (FracWidth)
  ) u_align (
    .big_exp_i      (big_exp),
    .little_exp_i   (little_exp),
    .little_hidden_i(little_hidden),
    .little_frac_i  (little[FracWidth-1:0]),
    .aligned_o      (aligned),
    .sticky_o       (sticky)
  );

  assign subtract = a_i[MagWidth] ^ b_i[MagWidth];
  assign is_max = big[MagWidth-1:FracWidth] == ExpMax;

  // ------------------------------------------------------------------------------------------
  // Add or subtract
  // ------------------------------------------------------------------------------------------
  // The big operand has zeros in guard, round and sticky, so these bits are the little one's or
  // their two's complement, and the carry into the significand is known without an adder. The
  // extra lowest bit of both addends makes it.

  logic [SigWidth+1:0] sig_sum;
  logic carry;
  logic [2:0] low;  // guard, round, sticky

  always_comb begin
    sig_sum = {1'b0, big_hidden, big[FracWidth-1:0], 1'b1}
            + {1'b0, aligned[SigWidth+1:2] ^ {SigWidth{subtract}},
               subtract && aligned[1:0] == '0 && !sticky};
    carry = sig_sum[SigWidth+1] & ~subtract;
    low[2] = aligned[1] ^ (subtract & (aligned[0] | sticky));
    low[1] = aligned[0] ^ (subtract & sticky);
    low[0] = sticky;
  end

  // ------------------------------------------------------------------------------------------
  // Normalise: bring the leading one to the top, or as far as the exponent allows
  // ------------------------------------------------------------------------------------------

  logic [ShiftBits-1:0] shift;
  logic [ExpWidth-1:0] room;  // places that the exponent still allows
  logic [WorkWidth-1:0] norm;

  always_comb begin
    norm = {carry, sig_sum[SigWidth:1], low};
    room = big_exp;
    shift = '0;
    for (int s = ShiftBits - 1; s >= 0; s--) begin
      if ((norm >> (WorkWidth - (1 << s))) == '0 &&
          (FlushSubnormals != 0 || (room >> s) != '0)) begin
        norm = norm << (1 << s);
        room = room - ExpWidth'(1 << s);
        shift[s] = 1'b1;
      end
    end
  end

  // ------------------------------------------------------------------------------------------
  // Round to nearest even
  // ------------------------------------------------------------------------------------------
  // Exponent of the result less one; the leading one is added to it in the rounding step.
  // Borrow means that the sum is below the normal range, which only happens when subnormals flush.
  // One addition does the rounding, its carry into the exponent, and the leading one. (When
  // subnormals flush, a sum without a leading one is zero whatever the exponent, so the bit may be
  // a constant.) The extra lowest bit is again the carry in.

  logic exp_borrow, round_up, leading_one;
  logic [ExpWidth-1:0] exp_less_one;
  logic [MagWidth:0] rounded;

  always_comb begin
    {exp_borrow, exp_less_one} =
        {1'b0, big_exp} - {{(ExpWidth + 1 - ShiftBits) {1'b0}}, shift};
    leading_one = norm[WorkWidth-1] | (FlushSubnormals != 0);
    round_up = norm[3] & (norm[4] | (norm[2:0] != '0));
    rounded = {exp_less_one, norm[WorkWidth-2:4], 1'b1}
            + {{(ExpWidth - 1) {1'b0}}, leading_one, {FracWidth{1'b0}}, round_up};
  end

  // ------------------------------------------------------------------------------------------
  // Pack
  // ------------------------------------------------------------------------------------------

  logic is_nan, is_zero, is_huge, is_exact_zero;
  logic [ExpWidth-1:0] sum_exp;
  logic [FracWidth-1:0] sum_frac;

  always_comb begin
    if (FlushSubnormals != 0) begin
      is_exact_zero = !norm[WorkWidth-1] || big_exp == '0;
      is_zero = !norm[WorkWidth-1] || exp_borrow;
    end else begin
      is_exact_zero = norm == '0;
      is_zero = is_exact_zero;
    end
    // Among unlike signs with the largest exponent only infinities cancel to nothing, or equal
    // NaNs.
    is_nan = is_max && (big[FracWidth-1:0] != '0 || (subtract && is_exact_zero));
    is_huge = is_max || rounded[MagWidth:FracWidth+1] == ExpMax;
    sum_exp = (rounded[MagWidth:FracWidth+1] & {ExpWidth{!is_zero}}) | {ExpWidth{is_max}};
    sum_frac = (rounded[FracWidth:1] & {FracWidth{!(is_zero || is_huge)}}) | {FracWidth{is_nan}};
    sum_o = {big_sign & ~is_nan & ~(subtract & is_exact_zero), sum_exp, sum_frac};
  end

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  logic sum_exp_is_max, sum_frac_is_zero;
  assign sum_exp_is_max = sum_exp == ExpMax;
  assign sum_frac_is_zero = sum_frac == '0;

  `ARC_ASSERT_COMB(LargeIsNotSmaller, big >= little)
  `ARC_ASSERT_COMB(DifferenceIsNotNegative,
                   !subtract || sig_sum[SigWidth+1])
  `ARC_ASSERT_COMB(NanIsCanonical,
                   !sum_exp_is_max || sum_frac_is_zero ||
                   sum_o == {1'b0, {MagWidth{1'b1}}})
  `ARC_ASSERT_COMB(NoSubnormalWhenFlushing,
                   FlushSubnormals == 0 || sum_exp != '0 || sum_frac_is_zero)
  `ARC_ASSERT_COMB(GradualUnderflowNeverBorrows,
                   FlushSubnormals != 0 || !exp_borrow)

endmodule
