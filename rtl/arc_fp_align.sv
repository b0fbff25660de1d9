// SPDX-License-Identifier: Apache-2.0
// Alignment of the adder: the little operand's significand under the big one's.
//
// Contract: combinational. aligned_o is the significand shifted right by big_exp_i - little_exp_i,
// which is not negative, with two places below its last one; sticky_o tells whether any bit was
// shifted out below those. From 2^ShiftBits places on (32 of FP32, 16 of binary16) the little operand
// is dropped without a trace: below a quarter of the last place of the big one it cannot change a sum
// that is rounded to nearest. A subnormal has no hidden bit and, where it counts, exponent 1.

module arc_fp_align #(
  // 1: a subnormal counts as zero
  parameter int FlushSubnormals = 1,
  // bits of the exponent, of the fraction
  parameter int ExpWidth = arc_pkg::ExpWidth,
  parameter int FracWidth = arc_pkg::FracWidth
) (
  input  logic [ExpWidth-1:0]  big_exp_i,
  // little operand
  input  logic [ExpWidth-1:0]  little_exp_i,
  input  logic                 little_hidden_i,
  input  logic [FracWidth-1:0] little_frac_i,
  // significand, guard, round; the rest
  output logic [FracWidth+2:0] aligned_o,
  output logic                 sticky_o
);

  localparam int SigWidth = FracWidth + 1;
  localparam int ShiftBits = $clog2(SigWidth + 4);  // as arc_fp_adder has them

  logic keep_little;
  logic [ExpWidth-1:0] exp_diff;

  always_comb begin
    exp_diff = big_exp_i - little_exp_i;
    keep_little =
        exp_diff[ExpWidth-1:ShiftBits] == '0 && (little_hidden_i || FlushSubnormals == 0);
    aligned_o = {little_hidden_i, little_frac_i, 2'b00} & {(SigWidth + 2) {keep_little}};
    sticky_o = 1'b0;
    for (int s = ShiftBits - 1; s >= 0; s--) begin
      if (exp_diff[s]) begin
        sticky_o = sticky_o | ((aligned_o & ~({(SigWidth + 2) {1'b1}} << (1 << s))) != '0);
        aligned_o = aligned_o >> (1 << s);
      end
    end
  end

endmodule
