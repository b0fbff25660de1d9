// SPDX-License-Identifier: Apache-2.0
// Scheduler that is not greedy: groups of lanes are reduced, lanes that are alone pass on.
//
// Contract: combinational. A transaction of several lanes, which have one address, goes to the
// reduction unit and waits for it. A transaction of one lane, and the lanes left when no transaction
// is there and none is about to be, so that each is alone on its address, go out as a plain RED. They
// wait until the LSU path is free: the memory queue has room (lsu_room_i) and no finished sum claims
// the output in this cycle. So what leaves, and with which sums, does not depend on time. At most one
// of the two valids is high. red_valid_o is raised only in a cycle in which the RED is taken.
//
// From the coalescer (arc_addr_match) comes txn_mask_i, whether txn_valid_i is high or not: lanes of
// the leader's address, or all that have been gathered when nothing else is left. So several lanes in
// it without txn_valid_i are what is left, and a single one is about to be gathered.

`include "arc_assert.svh"

module arc_scheduler_groups (
  // from the coalescer: a transaction, all lanes left
  input  logic                      txn_valid_i,
  output logic                      txn_ready_o,
  input  logic [arc_pkg::Lanes-1:0] txn_mask_i,
  input  logic                      left_valid_i,
  output logic                      left_ready_o,
  // state of the LSU path: room in the memory queue, a finished sum that goes first
  input  logic                      lsu_room_i,
  input  logic                      result_valid_i,
  // plain RED to the LSU path: of all lanes left if they are offered
  output logic                      red_valid_o,
  // transaction to the reduction unit
  output logic                      reduce_valid_o,
  input  logic                      reduce_ready_i
);

  localparam int Lanes = arc_pkg::Lanes;

  logic several;    // lanes, found by halving the warp
  logic left_lone;  // all lanes left are alone on their addresses
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

  assign left_lone = left_valid_i && !txn_valid_i && several;
  assign red_free = lsu_room_i && !result_valid_i;
  assign red_valid_o = ((txn_valid_i && !several) || left_lone) && red_free;
  assign reduce_valid_o = txn_valid_i && several;
  assign left_ready_o = left_lone && red_free;
  assign txn_ready_o = several ? reduce_ready_i : red_free;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_COMB(NeverBothWays, !(red_valid_o && reduce_valid_o))
  `ARC_ASSERT_COMB(RedOnlyWhenTaken, !red_valid_o || (lsu_room_i && (left_ready_o || txn_ready_o)))
  `ARC_ASSERT_COMB(ResultGoesFirst, !(result_valid_i && red_valid_o))
  `ARC_ASSERT_COMB(TakenMeansSent, !(txn_valid_i && txn_ready_o) ||
                                   red_valid_o || (reduce_valid_o && reduce_ready_i))
  `ARC_ASSERT_COMB(OneOfTheTwoIsTaken, !(txn_valid_i && txn_ready_o && left_valid_i && left_ready_o))
  `ARC_ASSERT_COMB(GroupsAreReduced,
                   reduce_valid_o == (txn_valid_i && (txn_mask_i & (txn_mask_i - 1)) != '0))
  `ARC_ASSERT_COMB(LanesLeftGoAsRed, !(left_valid_i && left_ready_o) || red_valid_o)

endmodule
