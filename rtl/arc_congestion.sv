// SPDX-License-Identifier: Apache-2.0
// Whether the memory path is congested: it has had no room for long, or had none not long ago.
//
// Contract: while congested_o is low, cycles in a row are counted in which a request is there and
// the memory queue has no room; one with room starts again, one without a request does not count.
// After 2^StallBits of them congested_o is high, until 2^CountBits - 2^StallBits groups have been
// taken by the reduction unit. One counter does both: from 2^StallBits on it counts groups, and its
// overflow ends it. So without a request nothing changes.

`include "arc_assert.svh"

module arc_congestion #(
  parameter int StallBits = arc_pkg::StallBits,
  parameter int CountBits = arc_pkg::CongestionBits
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic req_valid_i,
  input  logic lsu_room_i,
  // the reduction unit takes a transaction, of a request that is there
  input  logic taken_i,
  output logic congested_o
);

  logic [CountBits-1:0] count_q, count_d;
  logic step, again;

  assign congested_o = count_q[CountBits-1:StallBits] != '0;
  assign step = congested_o ? taken_i : req_valid_i && !lsu_room_i;
  assign again = !congested_o && req_valid_i && lsu_room_i;

  always_comb begin
    count_d = count_q + CountBits'(step);
    count_d[StallBits-1:0] = count_d[StallBits-1:0] & {StallBits{!again}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else         count_q <= count_d;
  end

  `ARC_ASSUME(TakenIsOfARequest, !taken_i || req_valid_i)
  `ARC_ASSERT_NEXT(NothingChangesWithoutARequest, !req_valid_i, $stable(congested_o))

endmodule
