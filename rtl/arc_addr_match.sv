// SPDX-License-Identifier: Apache-2.0
// Coalescer: groups the active lanes of an atomred request by address, one group a cycle, and
// gathers those groups that are not worth a sum.
//
// Contract: while a request is held, its lowest lane neither sent nor gathered leads, and all such
// lanes with exactly its address are its group. A group pays if it has more lanes than its sector has
// words to which lanes not yet sent add (arc_group_pays), so a lone lane never does. A group that
// pays, or is all that is left, is the transaction offered at txn_*. One that does not, with others
// left, is gathered instead, one a cycle. Once two lanes are gathered, the group counted, left_valid_o
// offers all lanes not yet sent, whatever their addresses, beside the transaction; in a cycle at most
// one of the two is taken. left_last_o is high while all lanes left are gathered.
// Groups that pay therefore leave in the order of their lowest lanes, and each active
// lane leaves once. The request is accepted with its last lanes, or at once when no lane is active;
// the next one may follow in the next cycle. The requester holds the request unchanged until it is
// accepted, and the request is not stored here: only which lanes are sent or gathered is. The
// valids do not wait for the readies; txn_addr_o and txn_mask_o mean nothing without txn_valid_o.

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
  // all lanes left, the transaction's among them
  output logic                                        left_valid_o,
  input  logic                                        left_ready_i,
  output logic [arc_pkg::Lanes-1:0]                   left_mask_o,
  output logic                                        left_last_o,  // they are all gathered
  // a lane of the held request has been sent or gathered
  output logic                                        busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;

  // ------------------------------------------------------------------------------------------
  // Leader: the lowest lane neither sent nor gathered; when all are, the gathered lane if it is one
  // ------------------------------------------------------------------------------------------

  logic [Lanes-1:0] done_q, done_d;  // lanes of the held request already sent
  logic [Lanes-1:0] lone_q, lone_d;  // lanes of it gathered, lone ones most of the time
  logic two_lone_q, two_lone_d;      // more than one
  logic [Lanes-1:0] pending, first, at_last, leader;
  logic any_pending, any_lone;

  assign pending = req_mask_i & ~done_q & ~lone_q;
  assign any_lone = lone_q != '0;

  logic [Lanes-1:0] unused_rest;

  arc_lane_picker u_first (
    .mask_i   (pending),
    .any_o    (any_pending),
    .one_hot_o(first),
    .rest_o   (unused_rest)
  );

  assign at_last = lone_q & {Lanes{!any_pending}};
  assign leader = first | at_last;

  // ------------------------------------------------------------------------------------------
  // Group: the leader's address, and the lanes that share it
  // ------------------------------------------------------------------------------------------

  localparam int SectorBits = arc_pkg::SectorBits;
  localparam int WordBits = arc_pkg::WordBits;
  localparam int IndexWidth = SectorBits - WordBits;

  logic [Lanes-1:0] same_sector, same_addr;
  logic [Lanes*IndexWidth-1:0] word;  // within the sector

  always_comb begin
    txn_addr_o = '0;
    for (int l = 0; l < Lanes; l++) begin
      txn_addr_o = txn_addr_o | (req_addr_i[AddrWidth*l +: AddrWidth] & {AddrWidth{leader[l]}});
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    logic [AddrWidth-1:0] addr;
    assign addr = req_addr_i[AddrWidth*l +: AddrWidth];
    assign same_sector[l] = (addr >> SectorBits) == (txn_addr_o >> SectorBits);
    assign same_addr[l] = same_sector[l] && addr[SectorBits-1:0] == txn_addr_o[SectorBits-1:0];
    assign word[IndexWidth*l +: IndexWidth] = addr[SectorBits-1:WordBits];
    `ARC_ASSUME_NEXT(AddressHeldUntilReady, req_valid_i && !req_ready_o && req_mask_i[l],
                     $stable(addr))
  end

  // ------------------------------------------------------------------------------------------
  // What may go: the group, all lanes left, or neither yet
  // ------------------------------------------------------------------------------------------

  logic [Lanes-1:0] group;
  logic pays, others, gather;  // the group is worth a sum; lanes are left beside it
  logic several;

  assign group = pending & same_addr;

  arc_group_pays u_pays (
    .group_i(group),
    .here_i (left_mask_o & same_sector),
    .word_i (word),
    .pays_o (pays)
  );

  always_comb begin
    txn_mask_o = group | at_last;
    left_mask_o = pending | lone_q;
    several = any_lone || (group & ~first) != '0;  // gathered, the group counted
    others = any_pending && ((pending & ~same_addr) != '0 || any_lone);
    gather = !pays && others;
    txn_valid_o = req_valid_i && (any_pending ? !gather : any_lone && !two_lone_q);
    left_valid_o = req_valid_i && (two_lone_q || (gather && several));
    left_last_o = !any_pending;
  end

  // ------------------------------------------------------------------------------------------
  // Lanes sent and gathered
  // ------------------------------------------------------------------------------------------

  assign req_ready_o = req_valid_i && ((!any_pending && !any_lone) ||
                                       (left_valid_o && left_ready_i) ||
                                       (txn_valid_o && txn_ready_i && !others));

  always_comb begin
    done_d = done_q;
    lone_d = lone_q;
    two_lone_d = two_lone_q;
    if (req_ready_o) begin
      done_d = '0;
      lone_d = '0;
      two_lone_d = 1'b0;
    end else if (txn_valid_o && txn_ready_i) begin
      done_d = done_q | txn_mask_o;
    end else if (req_valid_i && gather) begin
      lone_d = lone_q | group;
      two_lone_d = several;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_q <= '0;
      lone_q <= '0;
      two_lone_q <= 1'b0;
    end else begin
      done_q <= done_d;
      lone_q <= lone_d;
      two_lone_q <= two_lone_d;
    end
  end

  assign busy_o = done_q != '0 || any_lone;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME_NEXT(RequestHeldUntilReady, req_valid_i && !req_ready_o,
                   req_valid_i && $stable(req_mask_i))
  `ARC_ASSUME(OneOfTheTwoIsTaken, !(txn_valid_o && txn_ready_i && left_valid_o && left_ready_i))
  `ARC_ASSERT_NEXT(TransactionHeldUntilReady, txn_valid_o && !txn_ready_i && !req_ready_o,
                   txn_valid_o && $stable(txn_addr_o) && $stable(txn_mask_o))
  `ARC_ASSERT_NEXT(LanesLeftOfferedUntilReady, left_valid_o && !left_ready_i, left_valid_o)
  `ARC_ASSERT(TransactionHasItsLeader, !txn_valid_o || (txn_mask_o & leader) != '0)
  `ARC_ASSERT(OnlyLanesLeftAreSent, (txn_mask_o & ~left_mask_o) == '0)
  `ARC_ASSERT(NoLaneSentTwice, (left_mask_o & done_q) == '0)
  `ARC_ASSERT(SentLanesWereActive, !req_valid_i || ((done_q | lone_q) & ~req_mask_i) == '0)
  `ARC_ASSERT(HeldRequestHasLanesLeft, !busy_o || (req_valid_i && left_mask_o != '0))
  `ARC_ASSERT(AcceptedMeansAllSent,
              !(req_valid_i && req_ready_o) || left_mask_o == '0 || (left_valid_o && left_ready_i) ||
              (done_q | txn_mask_o) == req_mask_i)
  `ARC_ASSERT(TwoAreMoreThanOne, two_lone_q == ((lone_q & (lone_q - 1)) != '0))
  `ARC_ASSERT_NEXT(NothingRemainsOfAnAcceptedRequest, req_valid_i && req_ready_o, !busy_o)

endmodule
