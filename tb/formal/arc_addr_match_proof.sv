// SPDX-License-Identifier: Apache-2.0
// Proof: arc_addr_match cuts every request into the groups of its equal addresses, or into those and
// all lanes left once two of them are in groups that do not pay. What pays is arc_group_pays, which
// has a proof of its own; here it is seen that it is asked about the leader's group and sector.
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

  // Seen by name, for the invariant that ties the record to the module.
  (* hierconn *) logic [Lanes-1:0] \u_dut.done_q , \u_dut.lone_q ;
  // The question to arc_group_pays, and its answer.
  localparam int IndexWidth = arc_pkg::SectorBits - arc_pkg::WordBits;
  (* hierconn *) logic [Lanes-1:0] \u_dut.u_pays.group_i , \u_dut.u_pays.here_i ;
  (* hierconn *) logic [Lanes*IndexWidth-1:0] \u_dut.u_pays.word_i ;
  (* hierconn *) logic \u_dut.u_pays.pays_o ;

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
  logic [AddrWidth-1:0] lead_addr;
  logic [Lanes-1:0] sector;  // lanes not sent of its sector
  logic gathers;             // its group does not pay, and is not all that is left

  always_comb begin
    lead = '0;
    lead_addr = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      if (left[l] && !lone_q[l]) begin
        lead = '0;
        lead[l] = 1'b1;
        lead_addr = req_addr_i[AddrWidth*l +: AddrWidth];
      end
    end
    for (int l = 0; l < Lanes; l++) begin
      group[l] = left[l] && !lone_q[l] && req_addr_i[AddrWidth*l +: AddrWidth] == lead_addr;
      sector[l] = left[l] && ((req_addr_i[AddrWidth*l +: AddrWidth] ^ lead_addr) >> arc_pkg::SectorBits) == '0;
    end
  end

  logic [Lanes-1:0] gathered;  // the group counted
  assign gathered = lone_q | (group & {Lanes{gathers}});
  assign gathers = lead != '0 && !\u_dut.u_pays.pays_o && left != group;

  // An unchanged question has an unchanged answer. The words of other lanes are none of it.
  logic [Lanes-1:0] asked_group_q, asked_here_q;
  logic [Lanes*IndexWidth-1:0] asked_words, asked_words_q;
  logic asked_q = 1'b0, answer_q;

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      asked_words[IndexWidth*l +: IndexWidth] =
          \u_dut.u_pays.word_i [IndexWidth*l +: IndexWidth] & {IndexWidth{\u_dut.u_pays.here_i [l]}};
    end
  end

  always_ff @(posedge clk_i) begin
    asked_q <= 1'b1;
    asked_group_q <= \u_dut.u_pays.group_i ;
    asked_here_q <= \u_dut.u_pays.here_i ;
    asked_words_q <= asked_words;
    answer_q <= \u_dut.u_pays.pays_o ;
  end
  always_comb begin : SameQuestionSameAnswer
    if (asked_q && asked_group_q == \u_dut.u_pays.group_i && asked_here_q == \u_dut.u_pays.here_i &&
        asked_words_q == asked_words) begin
      assume (\u_dut.u_pays.pays_o == answer_q);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Properties
  // ------------------------------------------------------------------------------------------

`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) assert (\u_dut.done_q == sent_q && \u_dut.lone_q == lone_q && (lone_q & ~left) == '0);
  end
`endif
  always_ff @(posedge clk_i) begin : GroupIsOfferedUnlessItIsGathered
    if (rst_ni && lead != '0) begin
      assert (txn_valid == (req_valid_i && !gathers));
      if (txn_valid) assert (txn_mask == group && txn_addr == lead_addr);
    end
  end
  always_ff @(posedge clk_i) begin : LeadersGroupAndSectorAreLookedAt
    if (rst_ni && req_valid_i && lead != '0) begin
      assert (\u_dut.u_pays.group_i == group && \u_dut.u_pays.here_i == sector);
    end
  end
  for (genvar l = 0; l < Lanes; l++) begin : g_word
    always_ff @(posedge clk_i) begin : WordIsThatOfTheAddress
      assert (\u_dut.u_pays.word_i [IndexWidth*l +: IndexWidth] ==
              req_addr_i[AddrWidth*l + arc_pkg::WordBits +: IndexWidth]);
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
  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    always_ff @(posedge clk_i) begin : TransactionHasOneAddress
      if (rst_ni && txn_valid && txn_mask[l]) begin
        assert (req_addr_i[AddrWidth*l +: AddrWidth] == txn_addr);
      end
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

endmodule
