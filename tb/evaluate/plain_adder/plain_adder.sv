// SPDX-License-Identifier: Apache-2.0
// IEEE 754 single-precision adder as one writes it down: align, add, normalise and round, a block
// each. Ports and parameters of the one in rtl/, of which it takes the place; subnormal numbers are
// flushed, and there are no other widths.
module arc_fp_adder #(
  parameter int FlushSubnormals = 1,
  parameter int ExpWidth = 8,
  parameter int FracWidth = 23
) (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] sum_o
);

  // 24 bits of significand with 26 below, so that nothing but a sticky bit falls off.
  logic swap;
  logic [31:0] big, little;
  logic [7:0] distance;
  logic [49:0] big_sig, little_sig, rest;

  always @* begin : align
    swap = b_i[30:0] > a_i[30:0];
    big = swap ? b_i : a_i;
    little = swap ? a_i : b_i;
    big_sig = {big[30:23] != 8'd0, big[22:0] & {23{big[30:23] != 8'd0}}, 26'd0};
    little_sig = {little[30:23] != 8'd0, little[22:0] & {23{little[30:23] != 8'd0}}, 26'd0};
    distance = big[30:23] - little[30:23];
    rest = distance < 8'd50 ? little_sig >> distance : 50'd0;
    // what has fallen off
    rest[0] = rest[0] || (little_sig != 50'd0 && (rest << distance) != little_sig);
  end

  logic [50:0] total;

  always @* begin : add
    total = big[31] == little[31] ? {1'b0, big_sig} + {1'b0, rest} : {1'b0, big_sig} - {1'b0, rest};
  end

  integer i;
  logic signed [9:0] exponent;
  logic [50:0] shifted;
  logic [24:0] rounded;
  logic round_up;

  always @* begin : normalise
    exponent = $signed({2'b00, big[30:23]}) + 10'sd1;
    shifted = total;
    for (i = 0; i < 51; i = i + 1) begin
      if (!shifted[50]) begin
        shifted = shifted << 1;
        exponent = exponent - 10'sd1;
      end
    end
    round_up = shifted[26] && (shifted[27] || shifted[25:0] != 26'd0);
    rounded = {1'b0, shifted[50:27]} + {24'd0, round_up};
    if (rounded[24]) exponent = exponent + 10'sd1;
    if (big[30:23] == 8'hff) begin
      if (big[22:0] != 23'd0 || (little[30:23] == 8'hff &&
          (little[22:0] != 23'd0 || big[31] != little[31]))) sum_o = 32'h7fff_ffff;
      else sum_o = {big[31], 8'hff, 23'd0};
    end else if (total == 51'd0) begin
      sum_o = {big[31] && little[31], 31'd0};
    end else if (exponent <= 10'sd0) begin
      sum_o = {big[31], 31'd0};
    end else if (exponent >= 10'sd255) begin
      sum_o = {big[31], 8'hff, 23'd0};
    end else begin
      sum_o = {big[31], exponent[7:0], rounded[24] ? 23'd0 : rounded[22:0]};
    end
  end

  logic unused;
  assign unused = (FlushSubnormals != 1) ^ (ExpWidth != 8) ^ (FracWidth != 23);

endmodule
