// SPDX-License-Identifier: Apache-2.0
// Coalescer: groups the active lanes of an atomred request by address, one group a cycle.
//
// Contract: while a request is held, the lowest lane not yet sent leads; it and all other unsent
// lanes with exactly its address form the transaction offered at txn_*. Groups therefore leave in
// the order of their lowest lanes, and each active lane is in exactly one. The request is accepted
// with its last group, or at once when no lane is active; the next one may follow in the next
// cycle. The requester holds the request unchanged until it is accepted, and the request is not
// stored here: only the lanes already sent are. txn_valid_o does not wait for txn_ready_i;
// txn_addr_o and txn_mask_o mean nothing without it.

`include "arc_assert.svh"

module arc_addr_match (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // request: lane l's byte address in [AddrWidth*l +: AddrWidth]
  input  logic                                        req_valid_i,
  output logic                                        req_ready_o,
  input  logic [arc_pkg::Lanes-1:0]                   req_mask_i,
  input  logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  // transaction: the lanes of one address
  output logic                                        txn_valid_o,
  input  logic                                        txn_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]               txn_addr_o,
  output logic [arc_pkg::Lanes-1:0]                   txn_mask_o,
  // a request is partly sent
  output logic                                        busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;

  // ------------------------------------------------------------------------------------------
  // Leader: the lowest lane not yet sent
  // ------------------------------------------------------------------------------------------

  logic [Lanes-1:0] done_q, done_d;  // lanes of the held request already sent
  logic [Lanes-1:0] pending, leader;
  logic any_pending;

  assign pending = req_mask_i & ~done_q;

  logic [Lanes-1:0] unused_rest;

  arc_lane_picker u_leader (
    .mask_i   (pending),
    .any_o    (any_pending),
    .one_hot_o(leader),
    .rest_o   (unused_rest)
  );

  // ------------------------------------------------------------------------------------------
  // Group: the leader's address, and the unsent lanes that share it
  // ------------------------------------------------------------------------------------------

  logic txn_last;
  logic [Lanes-1:0] same_addr;

  always_comb begin
    txn_addr_o = '0;
    for (int l = 0; l < Lanes; l++) begin
      txn_addr_o = txn_addr_o | (req_addr_i[AddrWidth*l +: AddrWidth] & {AddrWidth{leader[l]}});
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    logic [AddrWidth-1:0] addr;
    assign addr = req_addr_i[AddrWidth*l +: AddrWidth];
    assign same_addr[l] = addr == txn_addr_o;
    `ARC_ASSUME_NEXT(AddressHeldUntilReady, req_valid_i && !req_ready_o && req_mask_i[l],
                     $stable(addr))
  end

  always_comb begin
    txn_mask_o = pending & same_addr;
    txn_last = (pending & ~same_addr) == '0;
    txn_valid_o = req_valid_i && any_pending;
    req_ready_o = req_valid_i && (!any_pending || (txn_last && txn_ready_i));
  end

  // ------------------------------------------------------------------------------------------
  // Lanes already sent
  // ------------------------------------------------------------------------------------------

  always_comb begin
    done_d = done_q;
    if (txn_valid_o && txn_ready_i) begin
      done_d = txn_last ? '0 : done_q | txn_mask_o;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_q <= '0;
    else         done_q <= done_d;
  end

  assign busy_o = done_q != '0;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME_NEXT(RequestHeldUntilReady, req_valid_i && !req_ready_o,
                   req_valid_i && $stable(req_mask_i))
  `ARC_ASSERT_NEXT(TransactionHeldUntilReady, txn_valid_o && !txn_ready_i,
                   txn_valid_o && $stable(txn_addr_o) && $stable(txn_mask_o))
  `ARC_ASSERT(TransactionHasItsLeader, !txn_valid_o || (txn_mask_o & leader) != '0)
  `ARC_ASSERT(OnlyPendingLanesAreSent, (txn_mask_o & ~pending) == '0)
  `ARC_ASSERT(NoLaneSentTwice, (txn_mask_o & done_q) == '0)
  `ARC_ASSERT(SentLanesWereActive, !req_valid_i || (done_q & ~req_mask_i) == '0)
  `ARC_ASSERT(HeldRequestHasPendingLanes, done_q == '0 || (req_valid_i && any_pending))
  `ARC_ASSERT(AcceptedMeansAllSent,
              !(req_valid_i && req_ready_o) || !any_pending || (done_q | txn_mask_o) == req_mask_i)
  `ARC_ASSERT_NEXT(NothingRemainsOfAnAcceptedRequest, req_valid_i && req_ready_o, done_q == '0)

endmodule
