// SPDX-License-Identifier: Apache-2.0
// Reference for arc_fused_round: a complete sum to an FP32 word, rounded to
// nearest even.
//
// Contract: sum_i is a signed whole number of places of the window, whose top place has the last
// exponent of bin bin_i. The magnitude is formed by negation, its leading one found by a search, and
// all bits below the cut decide the rounding. The unit never negates: it works on the complement and
// makes up for the missing one when it rounds. Built for clarity, not size.
//
// All values are whole numbers of 2^-149, so the places of the two lowest bins below that are zero:
// what comes in there counts as zero here, and the unit is given the same.

module fused_round_exact (
  input  logic [49:0] sum_i,
  input  logic [4:0]  bin_i,
  input  logic        nan_i,
  input  logic        pos_inf_i,
  input  logic        neg_inf_i,
  input  logic        any_pos_i,  // a value without sign
  output logic [31:0] data_o
);

  localparam int Width = 50;
  localparam int Window = 44;

  logic negative;
  logic [Width-1:0] sum, units, cut;  // cut: leading one at the top

  always_comb begin
    sum = sum_i;
    if (bin_i == 5'd0) sum[13:0] = '0;
    if (bin_i == 5'd1) sum[5:0] = '0;
    negative = sum[Width-1];
    units = negative ? -sum : sum;
  end

  // Normal result. A biased exponent of 10 bits, two's complement: the window's top place has
  // 8 bin + 7.
  logic half, rest;
  logic [9:0] cut_exp;
  logic [32:0] normal;

  always_comb begin
    cut = '0;
    cut_exp = '0;
    for (int top = 0; top < Width; top++) begin
      if (units[top]) begin
        cut = units << (Width - 1 - top);
        cut_exp = {2'b00, bin_i, 3'b111} + 10'(top) - 10'(Window - 1);
      end
    end
    half = cut[Width-25];
    rest = cut[Width-26:0] != '0;
    normal = {cut_exp, cut[Width-2 -: 23]} + 33'(half & (rest | cut[Width-24]));
  end

  // Below the normal range a sum counts as zero.
  logic below_normal;

  assign below_normal = cut_exp[9] || cut_exp == '0;

  always_comb begin
    if (nan_i || (pos_inf_i && neg_inf_i)) data_o = 32'h7fff_ffff;
    else if (pos_inf_i)                    data_o = 32'h7f80_0000;
    else if (neg_inf_i)                    data_o = 32'hff80_0000;
    else if (units == '0)                  data_o = {!any_pos_i, 31'd0};
    else if (below_normal)                 data_o = {negative, 31'd0};
    else if (normal[31:23] >= 9'd255)      data_o = {negative, 8'd255, 23'd0};
    else                                   data_o = {negative, normal[30:0]};
  end

endmodule
