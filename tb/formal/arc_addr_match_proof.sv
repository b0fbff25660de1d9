// SPDX-License-Identifier: Apache-2.0
// Proof: arc_addr_match cuts every request into the groups of its equal addresses, or into those and
// all lanes left once two of them are in groups that do not pay. What pays is arc_group_pays, which
// has a proof of its own; here it is seen that it is asked about the leader's group and sector.
//
// Two proofs, between which the results of the comparisons are cut (`prove.sh`). With COMPARE: the address
// is the leader's, and each lane is compared with it, for all addresses and in any state. Without: what
// leaves when, for any results of comparisons, of which is assumed what the first proof gives: the leader
// has its own address, an address is in its own sector, and a request that waits compares as before.
//
// The requester holds its request and no cycle takes both a transaction and all lanes left (the
// ARC_ASSUMEs of the module); everything else is free: masks, addresses at full width, both readies,
// and reset at any time after the first cycle. The wrapper keeps its own record of the lanes sent,
// made from the ports only, and of the lanes gathered, by the rule in words.

module arc_addr_match_proof (
  input logic                                        clk_i,
  input logic                                        rst_ni,
  input logic                                        req_valid_i,
  input logic [arc_pkg::Lanes-1:0]                   req_mask_i,
  input logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  input logic                                        txn_ready_i,
  input logic                                        left_ready_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;

  logic req_ready, txn_valid, left_valid, busy;
  logic [AddrWidth-1:0] txn_addr;
  logic [Lanes-1:0] txn_mask, left_mask;
  logic left_last;

  arc_addr_match u_dut (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .req_valid_i (req_valid_i),
    .req_ready_o (req_ready),
    .req_mask_i  (req_mask_i),
    .req_addr_i  (req_addr_i),
    .txn_valid_o (txn_valid),
    .txn_ready_i (txn_ready_i),
    .txn_addr_o  (txn_addr),
    .txn_mask_o  (txn_mask),
    .left_valid_o(left_valid),
    .left_ready_i(left_ready_i),
    .left_mask_o (left_mask),
    .left_last_o (left_last),
    .busy_o      (busy)
  );

  // Seen by name: the registers, for the invariant that ties the record to the module, the leader, and
  // the results of the comparisons.
  (* hierconn *) logic [Lanes-1:0] \u_dut.done_q , \u_dut.lone_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.leader , \u_dut.same_addr , \u_dut.same_sector ;
  // The question to arc_group_pays, and its answer.
  localparam int IndexWidth = arc_pkg::SectorBits - arc_pkg::WordBits;
  (* hierconn *) logic [Lanes-1:0] \u_dut.u_pays.group_i , \u_dut.u_pays.here_i ;
  (* hierconn *) logic [Lanes*IndexWidth-1:0] \u_dut.u_pays.word_i ;
  (* hierconn *) logic \u_dut.u_pays.pays_o ;

`ifdef COMPARE

  // ------------------------------------------------------------------------------------------
  // Comparisons
  // ------------------------------------------------------------------------------------------

  for (genvar l = 0; l < Lanes; l++) begin : g_compare
    logic [AddrWidth-1:0] addr;
    assign addr = req_addr_i[AddrWidth*l +: AddrWidth];
    always_comb begin : AddressIsTheLeaders
      if (\u_dut.leader == Lanes'(1) << l) assert (txn_addr == addr);
    end
    always_comb begin : EachBitOfTheAddressCounts
      assert (\u_dut.same_addr [l] == (addr == txn_addr));
    end
    always_comb begin : EachBitOfTheSectorCounts
      assert (\u_dut.same_sector [l] == (((addr ^ txn_addr) >> arc_pkg::SectorBits) == '0));
    end
    always_comb begin : WordIsThatOfTheAddress
      assert (\u_dut.u_pays.word_i [IndexWidth*l +: IndexWidth] == addr[arc_pkg::WordBits +: IndexWidth]);
    end
  end
  always_comb begin : CoverTwoOfASector
    cover ($countones(\u_dut.leader ) == 1 && $countones(\u_dut.same_sector ) == 2 && $countones(\u_dut.same_addr ) == 1);
  end

`else

  // ------------------------------------------------------------------------------------------
  // Record, from the ports only
  // ------------------------------------------------------------------------------------------

  logic in_reset_q = 1'b1;          // the first cycle is a reset
  logic [Lanes-1:0] sent_q, left;   // lanes of the held request sent, still to send
  logic [Lanes-1:0] lone_q;         // lanes gathered
  logic [Lanes-1:0] now;            // lanes sent in this cycle
  logic [5:0] groups_q;             // groups sent of the held request

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end

  assign now = left_valid && left_ready_i ? left_mask : txn_valid && txn_ready_i ? txn_mask : '0;
  assign left = req_mask_i & ~sent_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (req_valid_i && req_ready)) begin
      sent_q <= '0;
      lone_q <= '0;
      groups_q <= '0;
    end else if (req_valid_i) begin
      sent_q <= sent_q | now;
      if (gathers) lone_q <= lone_q | group;
      groups_q <= groups_q + 6'(txn_valid && txn_ready_i);
    end
  end

  // Lowest lane neither sent nor gathered, by search, and the lanes of its address.
  logic [Lanes-1:0] lead, group;
  logic [Lanes-1:0] sector;  // lanes not sent of its sector
  logic gathers;             // its group does not pay, and is not all that is left

  always_comb begin
    lead = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      if (left[l] && !lone_q[l]) begin
        lead = '0;
        lead[l] = 1'b1;
      end
    end
  end

  assign group = left & ~lone_q & \u_dut.same_addr ;
  assign sector = left & \u_dut.same_sector ;

  logic [Lanes-1:0] gathered;  // the group counted
  assign gathered = lone_q | (group & {Lanes{gathers}});
  assign gathers = lead != '0 && !\u_dut.u_pays.pays_o && left != group;

  // ------------------------------------------------------------------------------------------
  // Comparisons and the answer, cut
  // ------------------------------------------------------------------------------------------

  // While a request waits, the leader and its active lanes compare as before, as the leader and their
  // addresses do not change. So arc_group_pays is asked the same, which is asserted below, and its answer is
  // the same.
  logic waits_q = 1'b0, same_request, answer_q;
  logic [Lanes-1:0] done_before_q, lone_before_q, same_addr_q, same_sector_q;
  logic [AddrWidth-1:0] txn_addr_q;
  logic [Lanes-1:0] asked_group_q, asked_here_q;
  logic [Lanes*IndexWidth-1:0] asked_words, asked_words_q;  // those of other lanes are none of it

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      asked_words[IndexWidth*l +: IndexWidth] =
          \u_dut.u_pays.word_i [IndexWidth*l +: IndexWidth] & {IndexWidth{\u_dut.u_pays.here_i [l]}};
    end
  end

  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && req_valid_i && !req_ready;
    done_before_q <= \u_dut.done_q ;
    lone_before_q <= \u_dut.lone_q ;
    same_addr_q <= \u_dut.same_addr ;
    same_sector_q <= \u_dut.same_sector ;
    txn_addr_q <= txn_addr;
    asked_group_q <= \u_dut.u_pays.group_i ;
    asked_here_q <= \u_dut.u_pays.here_i ;
    asked_words_q <= asked_words;
    answer_q <= \u_dut.u_pays.pays_o ;
  end

  assign same_request = rst_ni && waits_q && \u_dut.done_q == done_before_q && \u_dut.lone_q == lone_before_q;

  always_comb begin : SameRequestComparesTheSame
    if (same_request) begin
      assume (((\u_dut.same_addr ^ same_addr_q) & req_mask_i) == '0);
      assume (((\u_dut.same_sector ^ same_sector_q) & req_mask_i) == '0);
      assume (txn_addr == txn_addr_q);
    end
  end
  always_comb begin : LeaderHasItsAddressAndSector
    assume ((\u_dut.same_addr & ~\u_dut.same_sector ) == '0);
    assume ($countones(\u_dut.leader ) != 1 || (\u_dut.leader & ~\u_dut.same_addr ) == '0);
  end
  always_comb begin : SameQuestionSameAnswer
    if (same_request) assume (\u_dut.u_pays.pays_o == answer_q);
  end

  // ------------------------------------------------------------------------------------------
  // Properties
  // ------------------------------------------------------------------------------------------

`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) assert (\u_dut.done_q == sent_q && \u_dut.lone_q == lone_q && (lone_q & ~left) == '0);
  end
`endif
  always_ff @(posedge clk_i) begin : LowestLaneLeads
    if (rst_ni && req_valid_i && lead != '0) assert (\u_dut.leader == lead);
  end
  always_ff @(posedge clk_i) begin : QuestionStaysWhileNothingGoes
    if (same_request) begin
      assert (asked_group_q == \u_dut.u_pays.group_i && asked_here_q == \u_dut.u_pays.here_i &&
              asked_words_q == asked_words);
    end
  end
  always_ff @(posedge clk_i) begin : GroupIsOfferedUnlessItIsGathered
    if (rst_ni && lead != '0) begin
      assert (txn_valid == (req_valid_i && !gathers));
      if (txn_valid) assert (txn_mask == group);
    end
  end
  always_ff @(posedge clk_i) begin : LeadersGroupAndSectorAreLookedAt
    if (rst_ni && req_valid_i && lead != '0) begin
      assert (\u_dut.u_pays.group_i == group && \u_dut.u_pays.here_i == sector);
    end
  end
  always_ff @(posedge clk_i) begin : LastWhenAllAreGathered
    if (rst_ni && req_valid_i) assert (left_last == ((left & ~lone_q) == '0));
  end
  always_ff @(posedge clk_i) begin : OneGatheredLaneIsTheLast
    if (rst_ni && lead == '0) begin
      assert (txn_valid == (req_valid_i && $countones(left) == 1));
      if (txn_valid) assert (txn_mask == left);
    end
  end
  always_ff @(posedge clk_i) begin : AllLanesLeftOnceTwoAreGathered
    if (rst_ni) begin
      assert (left_valid == (req_valid_i && (gathered & (gathered - 1)) != '0));
    end
  end
  always_ff @(posedge clk_i) begin : LeftIsAllThatIsLeft
    if (rst_ni && req_valid_i) assert (left_mask == left);
  end
  always_ff @(posedge clk_i) begin : NoLaneTwice
    if (rst_ni) assert ((now & sent_q) == '0 && (now & ~req_mask_i) == '0);
  end
  always_ff @(posedge clk_i) begin : AcceptedWithItsLastLane
    if (rst_ni) assert (req_ready == (req_valid_i && (left & ~now) == '0));
  end
  always_ff @(posedge clk_i) begin : EveryReadyCycleSendsOrGathers
    if (rst_ni && req_valid_i && left != '0 && (left_valid ? left_ready_i : txn_ready_i)) begin
      assert (now != '0 || gathers);
    end
  end
  always_ff @(posedge clk_i) begin : BusyWhilePartlySentOrGathered
    if (rst_ni) assert (busy == ((sent_q | lone_q) != '0));
  end
  always_ff @(posedge clk_i) begin : NothingLeftAfterReset
    if (!rst_ni) assert (\u_dut.done_q == '0 && \u_dut.lone_q == '0 && !busy);
  end

  // ------------------------------------------------------------------------------------------
  // Reached states
  // ------------------------------------------------------------------------------------------

  logic accepted_q, waited_q;  // a request of three groups was accepted; a group had to wait
  logic together_q;            // the last lanes of a request left together

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      accepted_q <= 1'b0;
      waited_q <= 1'b0;
      together_q <= 1'b0;
    end else begin
      if (req_valid_i && req_ready && groups_q == 6'd2) accepted_q <= 1'b1;
      if (txn_valid && now == '0) waited_q <= 1'b1;
      if (left_valid && left_ready_i && txn_valid && groups_q == 6'd1) together_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin : CoverNextAfterThreeGroups
    if (rst_ni) cover (accepted_q && waited_q && txn_valid && $countones(txn_mask) == 5);
  end
  always_ff @(posedge clk_i) begin : CoverNextAfterLanesTogether
    if (rst_ni) cover (together_q && txn_valid && !busy);
  end
  always_ff @(posedge clk_i) begin : CoverEmptyRequest
    if (rst_ni) cover (req_valid_i && req_ready && req_mask_i == '0);
  end
  always_ff @(posedge clk_i) begin : CoverWholeWarp
    if (rst_ni) cover (req_valid_i && req_ready && txn_mask == '1);
  end

`endif

endmodule
