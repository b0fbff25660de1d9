// SPDX-License-Identifier: Apache-2.0
// Reference for arc_paired_sum: two terms and the running sum to the next.
//
// Contract: sum_o is sum_i, a signed number, over 2^(8 down_i), rounded down, or nothing where down_i is 5
// or more, plus the two terms, each a magnitude with a sign, modulo 2^38.

module paired_sum_exact (
  input  logic [37:0] sum_i,
  input  logic [2:0]  down_i,  // bytes
  input  logic [63:0] term_i,  // 32 bits for each bank
  input  logic [1:0]  neg_i,
  output logic [37:0] sum_o
);

  localparam int Width = 38;

  logic [Width-1:0] moved, value_0, value_1;

  always_comb begin
    moved = '0;
    case (down_i)
      3'd0: moved = sum_i;
      3'd1: moved = {{8{sum_i[Width-1]}}, sum_i[Width-1:8]};
      3'd2: moved = {{16{sum_i[Width-1]}}, sum_i[Width-1:16]};
      3'd3: moved = {{24{sum_i[Width-1]}}, sum_i[Width-1:24]};
      3'd4: moved = {{32{sum_i[Width-1]}}, sum_i[Width-1:32]};
      default: moved = '0;
    endcase
    value_0 = neg_i[0] ? 38'd0 - term_i[31:0] : {6'd0, term_i[31:0]};
    value_1 = neg_i[1] ? 38'd0 - term_i[63:32] : {6'd0, term_i[63:32]};
  end

  assign sum_o = moved + (value_0 + value_1);

endmodule
