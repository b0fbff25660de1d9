// SPDX-License-Identifier: Apache-2.0
// Reference for arc_fused_sum: four terms and the running sum to the next.
//
// Contract: sum_o is what was there before, unless this is the first step, plus the four values,
// modulo 2^50. A term is the sign's complement and the 44 places of the window; with its missing one
// it is 2^44 plus a value (fused_align_exact), so four times 2^44 are taken away.
//
// Ten numbers, added with plain additions, are beyond the equivalence check. So three numbers at a
// time become two of the same sum here too, by counting the ones of each place (count_row, which is
// proved to keep the sum). What is proved here is that the unit's gates count, that all weights are
// right, and its adder.

module fused_sum_exact (
  input  logic [49:0]  sum_i,
  input  logic         first_i,
  input  logic [175:0] window_i,  // 44 bits for each bank
  input  logic [3:0]   neg_i,     // signs: the missing ones
  output logic [49:0]  sum_o
);

  localparam int Width = 50;

  logic [Width-1:0] t0, t1, t2, t3, before, less_4;
  logic [Width-1:0] ones_1, twos_1, ones_2, twos_2, ones_3, twos_3;

  assign t0 = Width'({~neg_i[0], window_i[43:0]});
  assign t1 = Width'({~neg_i[1], window_i[87:44]});
  assign t2 = Width'({~neg_i[2], window_i[131:88]});
  assign t3 = Width'({~neg_i[3], window_i[175:132]});
  assign before = first_i ? '0 : sum_i;

  // twos are even, so that a missing one is added by setting their lowest bit.
  count_row u_row_1 (
    .x_i   (t0),
    .y_i   (t1),
    .z_i   (t2),
    .ones_o(ones_1),
    .twos_o(twos_1)
  );
  count_row u_row_2 (
    .x_i   (ones_1),
    .y_i   (twos_1 | Width'(neg_i[0])),
    .z_i   (t3),
    .ones_o(ones_2),
    .twos_o(twos_2)
  );

  assign less_4 = ones_2 - (50'd4 << 44);

  count_row u_row_3 (
    .x_i   (before),
    .y_i   (less_4),
    .z_i   (twos_2 | Width'(neg_i[1])),
    .ones_o(ones_3),
    .twos_o(twos_3)
  );

  assign sum_o = ones_3 + twos_3 + Width'(neg_i[2]) + Width'(neg_i[3]);

endmodule
