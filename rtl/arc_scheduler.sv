// SPDX-License-Identifier: Apache-2.0
// Greedy scheduler: sends lanes of an atomred to the LSU path or to the reduction unit.
//
// Contract: combinational. What the coalescer offers goes out as a plain RED whenever the LSU path
// is free: the memory queue has room (lsu_room_i) and no finished sum claims the output in this
// cycle. It is all lanes left if those are offered (left_valid_i), else the transaction. When the
// path is not free, the transaction, lanes of one address, is offered to the reduction unit, and it
// waits when that is busy too; lanes left of several addresses always wait. At most one of the two
// valids is high. red_valid_o is raised only in a cycle in which the RED is taken; a transaction
// offered to the reduction unit may leave in a RED in a later cycle.

`include "arc_assert.svh"

module arc_scheduler (
  // from the coalescer: a transaction, all lanes left
  input  logic txn_valid_i,
  output logic txn_ready_o,
  input  logic left_valid_i,
  output logic left_ready_o,
  // state of the LSU path: room in the memory queue, a finished sum that goes first
  input  logic lsu_room_i,
  input  logic result_valid_i,
  // plain RED to the LSU path: of all lanes left if they are offered
  output logic red_valid_o,
  // transaction to the reduction unit
  output logic reduce_valid_o,
  input  logic reduce_ready_i
);

  logic red_free;

  assign red_free = lsu_room_i && !result_valid_i;
  assign red_valid_o = (txn_valid_i || left_valid_i) && red_free;
  assign reduce_valid_o = txn_valid_i && !red_free;
  assign left_ready_o = red_free;
  assign txn_ready_o = red_free ? !left_valid_i : reduce_ready_i;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_COMB(AWayForEachTransaction, !txn_valid_i || (red_valid_o ^ reduce_valid_o))
  `ARC_ASSERT_COMB(NeverBothWays, !(red_valid_o && reduce_valid_o))
  `ARC_ASSERT_COMB(RedOnlyWhenTaken, !red_valid_o || (lsu_room_i && (txn_ready_o || left_ready_o)))
  `ARC_ASSERT_COMB(ResultGoesFirst, !(result_valid_i && red_valid_o))
  `ARC_ASSERT_COMB(TakenMeansSent, !(txn_valid_i && txn_ready_o) ||
                                   red_valid_o || (reduce_valid_o && reduce_ready_i))
  `ARC_ASSERT_COMB(LanesLeftGoAsRed, !(left_valid_i && left_ready_o) || (red_valid_o && !txn_ready_o))

endmodule
