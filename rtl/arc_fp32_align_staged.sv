// SPDX-License-Identifier: Apache-2.0
// Alignment of the pipelined FP32 adder, in its first two stages: what arc_fp_align does, by less
// than 8 places before a register and by multiples of 8 behind it.
//
// Contract: the operands' exponents, which of them is the little one, and its significand give
// aligned_o and sticky_o in the next cycle. No flop has a reset or a hold.
//
// Both differences of the exponents are made while the operands are compared, which leaves time for
// the shift by less than 8. The shift by multiples of 8 has its distance decoded before the register:
// a line that every bit listens to is slow enough behind a flop.

module arc_fp32_align_staged #(
  // 1: a subnormal counts as zero
  parameter int FlushSubnormals = 1
) (
  input  logic                          clk_i,
  // exponents; b's is the larger operand
  input  logic [arc_pkg::ExpWidth-1:0]  a_exp_i,
  input  logic [arc_pkg::ExpWidth-1:0]  b_exp_i,
  input  logic                          swap_i,
  // little operand
  input  logic                          little_hidden_i,
  input  logic [arc_pkg::FracWidth-1:0] little_frac_i,
  // significand, guard, round; the rest; one cycle later
  output logic [arc_pkg::SigWidth+1:0]  aligned_o,
  output logic                          sticky_o
);

  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int SigWidth = arc_pkg::SigWidth;
  localparam int ShiftBits = 5;  // by 0 to 31 places

  // ------------------------------------------------------------------------------------------
  // By less than 8
  // ------------------------------------------------------------------------------------------

  logic keep_little;
  logic [ExpWidth-1:0] a_exp, b_exp, exp_diff;
  logic [SigWidth+6:0] significand, fine;
  logic [3:0] by_eights;  // one-hot, none if the little operand is dropped

  always_comb begin
    a_exp = a_exp_i;
    b_exp = b_exp_i;
    if (FlushSubnormals == 0) begin
      a_exp[0] = a_exp[0] | (a_exp == '0);
      b_exp[0] = b_exp[0] | (b_exp == '0);
    end
  end

  assign exp_diff = swap_i ? b_exp - a_exp : a_exp - b_exp;
  assign keep_little =
      exp_diff[ExpWidth-1:ShiftBits] == '0 && (little_hidden_i || FlushSubnormals == 0);

  always_comb begin
    significand = {little_hidden_i || FlushSubnormals != 0, little_frac_i, 7'b0};
    fine = '0;
    for (int d = 0; d < 4; d++) begin
      fine = fine | ((significand >> d) & {(SigWidth + 7) {exp_diff[1:0] == d[1:0]}});
    end
    if (exp_diff[2]) fine = fine >> 4;
    for (int d = 0; d < 4; d++) begin
      by_eights[d] = keep_little && exp_diff[ShiftBits-1:3] == d[1:0];
    end
  end

  // ------------------------------------------------------------------------------------------
  // By multiples of 8
  // ------------------------------------------------------------------------------------------

  logic [3:0] s1_by_eights;
  logic [SigWidth+2:0] s1_fine, coarse;

  always_ff @(posedge clk_i) begin
    s1_fine <= {fine[SigWidth+6:5], fine[4:0] != '0};
    s1_by_eights <= by_eights;
  end

  always_comb begin
    coarse = '0;
    sticky_o = 1'b0;
    for (int d = 0; d < 4; d++) begin
      coarse = coarse | ((s1_fine >> (8 * d)) & {(SigWidth + 3) {s1_by_eights[d]}});
      sticky_o = sticky_o | (s1_by_eights[d] &&
                             (s1_fine & ~({(SigWidth + 3) {1'b1}} << (8 * d))) != '0);
    end
    aligned_o = coarse[SigWidth+2:1];
    sticky_o = sticky_o | coarse[0];
  end

endmodule
