// SPDX-License-Identifier: Apache-2.0
// IEEE 754 adder, round to nearest even, combinational or in four stages: of single precision, or
// without stages of another width, such as binary16.
//
// Contract: sum_o = a_i + b_i, commutative bit for bit, no flags; of this cycle's operands, or with
// Pipelined of those three cycles ago, a new pair in every cycle. Every NaN result is all ones but
// for its sign (7fffffff), also for infinity minus infinity. An exact zero from unlike signs is +0;
// -0 + -0 is -0.
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
//
// The four stages: compare, swap, align by less than 8; align by multiples of 8, add; normalise;
// round, pack. What crosses a cut has the prefix s1_, s2_ or s3_: a flop, or a wire where there are
// no stages. No stage has a reset or a hold.

`include "arc_assert.svh"

module arc_fp_adder #(
  // 1: subnormal operands and results count as zero. 0: gradual underflow.
  parameter int FlushSubnormals = 1,
  // 1: four stages, cut by flops; of FP32 alone. 0: combinational, and smaller.
  parameter int Pipelined = 0,
  // bits of the exponent, of the fraction
  parameter int ExpWidth = arc_pkg::ExpWidth,
  parameter int FracWidth = arc_pkg::FracWidth
) (
  input  logic                        clk_i,  // without stages not used
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

  logic s1_subtract, s1_sign, s1_hidden, s1_max;
  logic [ExpWidth-1:0] s1_exp;
  logic [FracWidth-1:0] s1_frac;

  if (Pipelined != 0) begin : g_align_in_stages
    logic s1_little_sign;

    arc_fp32_align_staged #(
      .FlushSubnormals(FlushSubnormals)
    ) u_align (
      .clk_i          (clk_i),
      .a_exp_i        (a_i[MagWidth-1:FracWidth]),
      .b_exp_i        (b_i[MagWidth-1:FracWidth]),
      .swap_i         (swap),
      .little_hidden_i(little_hidden),
      .little_frac_i  (little[FracWidth-1:0]),
      .aligned_o      (aligned),
      .sticky_o       (sticky)
    );

    always_ff @(posedge clk_i) begin
      s1_sign <= big_sign;
      s1_little_sign <= swap ? a_i[MagWidth] : b_i[MagWidth];
      s1_hidden <= big_hidden;
      s1_exp <= big_exp;
      s1_frac <= big[FracWidth-1:0];
    end

    always_comb begin
      s1_subtract = s1_sign ^ s1_little_sign;
      s1_max = s1_exp == ExpMax;
    end
  end else begin : g_align
    logic unused_clk;
    assign unused_clk = clk_i;

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

    always_comb begin
      s1_subtract = a_i[MagWidth] ^ b_i[MagWidth];
      s1_sign = big_sign;
      s1_hidden = big_hidden;
      s1_exp = big_exp;
      s1_max = big[MagWidth-1:FracWidth] == ExpMax;
      s1_frac = big[FracWidth-1:0];
    end
  end

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
    sig_sum = {1'b0, s1_hidden, s1_frac, 1'b1}
            + {1'b0, aligned[SigWidth+1:2] ^ {SigWidth{s1_subtract}},
               s1_subtract && aligned[1:0] == '0 && !sticky};
    carry = sig_sum[SigWidth+1] & ~s1_subtract;
    low[2] = aligned[1] ^ (s1_subtract & (aligned[0] | sticky));
    low[1] = aligned[0] ^ (s1_subtract & sticky);
    low[0] = sticky;
  end

  logic s2_subtract, s2_sign, s2_frac_any, s2_max, s2_carry;
  logic [ExpWidth-1:0] s2_exp;
  logic [SigWidth-1:0] s2_sig;
  logic [2:0] s2_low;

  if (Pipelined != 0) begin : g_cut2
    always_ff @(posedge clk_i) begin
      s2_subtract <= s1_subtract;
      s2_sign <= s1_sign;
      s2_frac_any <= s1_frac != '0;
      s2_max <= s1_max;
      s2_exp <= s1_exp;
      s2_carry <= carry;
      s2_sig <= sig_sum[SigWidth:1];
      s2_low <= low;
    end
  end else begin : g_wires2
    always_comb begin
      s2_subtract = s1_subtract;
      s2_sign = s1_sign;
      s2_frac_any = s1_frac != '0;
      s2_max = s1_max;
      s2_exp = s1_exp;
      s2_carry = carry;
      s2_sig = sig_sum[SigWidth:1];
      s2_low = low;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Normalise: bring the leading one to the top, or as far as the exponent allows
  // ------------------------------------------------------------------------------------------

  logic [ShiftBits-1:0] shift;
  logic [ExpWidth-1:0] room;  // places that the exponent still allows
  logic [WorkWidth-1:0] norm;

  always_comb begin
    norm = {s2_carry, s2_sig, s2_low};
    room = s2_exp;
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

  logic s3_subtract, s3_sign, s3_frac_any, s3_max;
  logic [ShiftBits-1:0] s3_shift;
  logic [ExpWidth-1:0] s3_exp;
  logic [WorkWidth-1:0] s3_norm;

  if (Pipelined != 0) begin : g_cut3
    always_ff @(posedge clk_i) begin
      s3_subtract <= s2_subtract;
      s3_sign <= s2_sign;
      s3_frac_any <= s2_frac_any;
      s3_max <= s2_max;
      s3_exp <= s2_exp;
      s3_shift <= shift;
      s3_norm <= norm;
    end
  end else begin : g_wires3
    always_comb begin
      s3_subtract = s2_subtract;
      s3_sign = s2_sign;
      s3_frac_any = s2_frac_any;
      s3_max = s2_max;
      s3_exp = s2_exp;
      s3_shift = shift;
      s3_norm = norm;
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
        {1'b0, s3_exp} - {{(ExpWidth + 1 - ShiftBits) {1'b0}}, s3_shift};
    leading_one = s3_norm[WorkWidth-1] | (FlushSubnormals != 0);
    round_up = s3_norm[3] & (s3_norm[4] | (s3_norm[2:0] != '0));
    rounded = {exp_less_one, s3_norm[WorkWidth-2:4], 1'b1}
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
      is_exact_zero = !s3_norm[WorkWidth-1] || s3_exp == '0;
      is_zero = !s3_norm[WorkWidth-1] || exp_borrow;
    end else begin
      is_exact_zero = s3_norm == '0;
      is_zero = is_exact_zero;
    end
    // Among unlike signs with the largest exponent only infinities cancel to nothing, or equal
    // NaNs.
    is_nan = s3_max && (s3_frac_any || (s3_subtract && is_exact_zero));
    is_huge = s3_max || rounded[MagWidth:FracWidth+1] == ExpMax;
    sum_exp = (rounded[MagWidth:FracWidth+1] & {ExpWidth{!is_zero}}) | {ExpWidth{s3_max}};
    sum_frac = (rounded[FracWidth:1] & {FracWidth{!(is_zero || is_huge)}}) | {FracWidth{is_nan}};
    sum_o = {s3_sign & ~is_nan & ~(s3_subtract & is_exact_zero), sum_exp, sum_frac};
  end

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  // Flops start with anything, so what holds of a pair of operands does not hold behind a cut until
  // it has been filled. With stages, the proof of the sum stands in for those.

  logic sum_exp_is_max, sum_frac_is_zero;
  assign sum_exp_is_max = sum_exp == ExpMax;
  assign sum_frac_is_zero = sum_frac == '0;

  `ARC_ASSERT_COMB(LargeIsNotSmaller, big >= little)
  `ARC_ASSERT_COMB(DifferenceIsNotNegative,
                   Pipelined != 0 || !s1_subtract || sig_sum[SigWidth+1])
  `ARC_ASSERT_COMB(NanIsCanonical,
                   Pipelined != 0 || !sum_exp_is_max || sum_frac_is_zero ||
                   sum_o == {1'b0, {MagWidth{1'b1}}})
  `ARC_ASSERT_COMB(NoSubnormalWhenFlushing,
                   Pipelined != 0 || FlushSubnormals == 0 || sum_exp != '0 || sum_frac_is_zero)
  `ARC_ASSERT_COMB(GradualUnderflowNeverBorrows,
                   Pipelined != 0 || FlushSubnormals != 0 || !exp_borrow)

  // Icarus has no messages at elaboration.
`ifndef SYNTHESIS
`ifndef __ICARUS__
  if (Pipelined != 0 && (ExpWidth != arc_pkg::ExpWidth || FracWidth != arc_pkg::FracWidth)) begin : g_no_stages
    $error("Pipelined: there are stages for FP32 alone");
  end
`endif
`endif

endmodule
