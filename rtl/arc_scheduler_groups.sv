// SPDX-License-Identifier: Apache-2.0
// Scheduler that is not greedy: while the memory path is congested, groups of lanes are reduced.
//
// Contract: combinational. A transaction of several lanes, which have one address, goes to the
// reduction unit while congested_i is high, and waits for it. A transaction of one lane, and all lanes
// left if they are offered, go out as a plain RED. They wait until the LSU path is free: the memory
// queue has room (lsu_room_i) and no finished sum claims the output in this cycle. While congested_i
// is low, this is the greedy scheduler: every transaction passes on if the path is free, and else is
// offered to the reduction unit. At most one of the two valids is high. red_valid_o is raised only in
// a cycle in which the RED is taken.
//
// ByRequest 1, for a unit of several words: it is always congested, and lanes left wait until no
// transaction is there and none is about to be. So what leaves, and with which sums, does not depend
// on time.
//
// From the coalescer (arc_addr_match) comes left_last_i: all lanes left have been gathered, so none of
// them is in a group that is still to be offered.

`include "arc_assert.svh"

module arc_scheduler_groups #(
  // 1: what goes which way depends on the request alone
  parameter int ByRequest = 0
) (
  // from the coalescer: a transaction, all lanes left
  input  logic                      txn_valid_i,
  output logic                      txn_ready_o,
  input  logic [arc_pkg::Lanes-1:0] txn_mask_i,
  input  logic                      left_valid_i,
  input  logic                      left_last_i,
  output logic                      left_ready_o,
  // state of the LSU path: room in the memory queue, a finished sum that goes first
  input  logic                      lsu_room_i,
  input  logic                      result_valid_i,
  input  logic                      congested_i,
  // plain RED to the LSU path: of all lanes left if they are offered
  output logic                      red_valid_o,
  // transaction to the reduction unit
  output logic                      reduce_valid_o,
  input  logic                      reduce_ready_i
);

  localparam int Lanes = arc_pkg::Lanes;

  logic congested;
  logic several;    // lanes, found by halving the warp
  logic left_goes;  // all lanes left may leave as a RED
  logic summed;     // a transaction is offered to the reduction unit
  logic red_free;

  always_comb begin : count
    logic [Lanes-1:0] any, two;
    any = txn_mask_i;
    two = '0;
    for (int distance = Lanes / 2; distance >= 1; distance = distance / 2) begin
      two = two | (two >> distance) | (any & (any >> distance));
      any = any | (any >> distance);
    end
    several = two[0];
  end

  assign congested = ByRequest != 0 || congested_i;
  assign left_goes = ByRequest != 0 ? left_valid_i && !txn_valid_i && left_last_i : left_valid_i;
  assign red_free = lsu_room_i && !result_valid_i;
  // By the request alone, no lanes left go beside a transaction.
  assign summed = congested ? several && (ByRequest != 0 || !(left_goes && red_free)) : !red_free;
  assign red_valid_o = ((txn_valid_i && !(congested && several)) || left_goes) && red_free;
  assign reduce_valid_o = txn_valid_i && summed;
  assign left_ready_o = left_goes && red_free;
  assign txn_ready_o = summed ? reduce_ready_i : red_free && (ByRequest != 0 || !left_goes);

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_COMB(NeverBothWays, !(red_valid_o && reduce_valid_o))
  `ARC_ASSERT_COMB(RedOnlyWhenTaken, !red_valid_o || (lsu_room_i && (left_ready_o || txn_ready_o)))
  `ARC_ASSERT_COMB(ResultGoesFirst, !(result_valid_i && red_valid_o))
  `ARC_ASSERT_COMB(TakenMeansSent, !(txn_valid_i && txn_ready_o) ||
                                   red_valid_o || (reduce_valid_o && reduce_ready_i))
  `ARC_ASSERT_COMB(OneOfTheTwoIsTaken, !(txn_valid_i && txn_ready_o && left_valid_i && left_ready_o))
  `ARC_ASSERT_COMB(GroupsDoNotPassOn,
                   !congested || !txn_valid_i || (txn_mask_i & (txn_mask_i - 1)) == '0 ||
                   reduce_valid_o || left_ready_o)
  `ARC_ASSERT_COMB(LanesLeftGoAsRed, !(left_valid_i && left_ready_o) || red_valid_o)

endmodule
