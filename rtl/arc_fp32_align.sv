// SPDX-License-Identifier: Apache-2.0
// Alignment of the combinational FP32 adder: the little operand's significand under the big one's.
//
// Contract: combinational. aligned_o is the significand shifted right by big_exp_i - little_exp_i,
// which is not negative, with two places below its last one; sticky_o tells whether any bit was
// shifted out below those. From 32 places on the little operand is dropped without a trace: below a
// quarter of the last place of the big one it cannot change a sum that is rounded to nearest. A
// subnormal has no hidden bit and, where it counts, exponent 1.
//
// arc_fp32_align_staged does the same in two stages, faster and with more gates.

module arc_fp32_align #(
  // 1: a subnormal counts as zero
  parameter int FlushSubnormals = 1
) (
  input  logic [arc_pkg::ExpWidth-1:0]  big_exp_i,
  // little operand
  input  logic [arc_pkg::ExpWidth-1:0]  little_exp_i,
  input  logic                          little_hidden_i,
  input  logic [arc_pkg::FracWidth-1:0] little_frac_i,
  // significand, guard, round; the rest
  output logic [arc_pkg::SigWidth+1:0]  aligned_o,
  output logic                          sticky_o
);

  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int SigWidth = arc_pkg::SigWidth;
  localparam int ShiftBits = 5;  // by 0 to 31 places

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
