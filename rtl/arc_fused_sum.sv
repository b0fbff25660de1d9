// SPDX-License-Identifier: Apache-2.0
// Middle of the fused unit's data path: the terms of a read join the running sum, in two stages.
//
// Contract: sum_o is sum_i, or nothing with first_i, plus the values of the terms of the cycle before;
// two's complement, modulo 2^SumWidth. A term and its neg_i together are 2^Window plus a value
// (arc_fused_align).
//
// align: Banks terms to a sum and a carry vector. add: with the running sum to one number. The missing
// ones of four values stand in free lowest places. The registers between have no reset and no hold.

module arc_fused_sum #(
  localparam int Window = arc_pkg::FusedWindow,
  localparam int SumWidth = Window + 6  // 32 values and a sign
) (
  input  logic                                      clk_i,
  // align stage
  input  logic [arc_pkg::Banks-1:0]                 neg_i,
  input  logic [arc_pkg::Banks*(Window+1)-1:0]      term_i,
  // add stage, one cycle later
  input  logic                                      first_i,
  input  logic                                      more_i,  // !first_i, by a register of its own
  input  logic [SumWidth-1:0]                       sum_i,
  output logic [SumWidth-1:0]                       sum_o
);

  // Two rows of full adders; in the free lowest places stand two of the values' missing ones.
  logic [Window+1:0] save_sum;
  logic [Window+1:0] save_carry;

  always_comb begin : compress
    logic [Window:0] t0, t1, t2, sum, carry;
    logic [Window+1:0] x, y, z;
    t0 = term_i[0 +: Window+1];
    t1 = term_i[Window+1 +: Window+1];
    t2 = term_i[2*(Window+1) +: Window+1];
    sum = t0 ^ t1 ^ t2;
    carry = (t0 & t1) | (t2 & (t0 | t1));
    x = {1'b0, sum};
    y = {carry, neg_i[0]};
    z = {1'b0, term_i[3*(Window+1) +: Window+1]};
    save_sum = x ^ y ^ z;
    // x and z end below the top bit, so no carry comes out of it.
    save_carry = {(x[Window:0] & y[Window:0]) |
                  (z[Window:0] & (x[Window:0] | y[Window:0])), neg_i[1]};
  end

  logic [1:0] neg_q;  // the other two missing ones
  logic [Window+1:0] sum_q;
  logic [Window+1:0] carry_q;
  logic [SumWidth-1:0] addend_sum, addend_carry;

  always_ff @(posedge clk_i) begin
    sum_q <= save_sum;
    carry_q <= save_carry;
    neg_q <= neg_i[3:2];
  end

  always_comb begin : accumulate
    logic [SumWidth-1:0] x, y, z;
    // Two registers say the same: one alone would drive all of the row, and late.
    x = sum_i & {{(SumWidth / 2) {!first_i}}, {(SumWidth - SumWidth / 2) {more_i}}};
    y = {{(SumWidth - Window - 2) {1'b1}}, sum_q};  // less Banks signs
    z = {{(SumWidth - Window - 2) {1'b0}}, carry_q};
    addend_sum = x ^ (y ^ z);  // x comes last
    addend_carry = (y & z) | (x & (y ^ z));
    addend_carry = {addend_carry[SumWidth-2:0], neg_q[0]};
  end

  arc_fast_adder #(
    .Width(SumWidth)
  ) u_accumulate (
    .a_i    (addend_sum),
    .b_i    (addend_carry),
    .carry_i(neg_q[1]),
    .sum_o  (sum_o)
  );

endmodule
