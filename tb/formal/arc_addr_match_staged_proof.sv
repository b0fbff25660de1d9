// SPDX-License-Identifier: Apache-2.0
// Proof: arc_addr_match_staged cuts every request into the groups of its equal addresses, sector by sector
// and word by word, and offers those that pay, or all lanes left once two of them are in groups that do not.
//
// The requester holds its request and no cycle takes both a transaction and all lanes left (the ARC_ASSUMEs
// of the module); all else is free. The record of lanes sent is made from the ports, that of groups by the
// rule in words; that one is counted is seen at group_valid_q. Three proofs (prove.sh): COMPARE, that places
// are chosen and compared, at 48 bits and in any state; without, what leaves when; WHOLE, that lanes of an
// address stay together, given the claims before. REACHED: a state is claimed not to be, for ABC to refute.

`ifdef WHOLE
`define KNOWN assume
`ifndef INVARIANTS
`define ALONE
`endif
`else
`define KNOWN assert
`endif
`ifdef REACHED
`ifndef ALONE
`define ALONE
`endif
`define REACH(State) assert (!(State))
`else
`define REACH(State) cover (State)
`endif

module arc_addr_match_staged_proof (
  input logic                                        clk_i,
  input logic                                        rst_ni,
  input logic                                        req_valid_i,
  input logic [arc_pkg::Lanes-1:0]                   req_mask_i,
  input logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  input logic                                        txn_ready_i,
  input logic                                        left_ready_i,
  // any address, chosen in the first cycle
  input logic [arc_pkg::AddrWidth-1:0]               any_addr_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int SectorBits = arc_pkg::SectorBits;
  localparam int WordBits = arc_pkg::WordBits;
  localparam int IndexWidth = SectorBits - WordBits;
  localparam int Words = 1 << IndexWidth;
  localparam int PlaceWidth = AddrWidth - IndexWidth;

  logic req_ready, txn_valid, left_valid, busy;
  logic [AddrWidth-1:0] txn_addr;
  logic [Lanes-1:0] txn_mask, left_mask;
  logic left_last;

  arc_addr_match_staged u_dut (
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

  // Seen by name: that a group is in the stage count; with INVARIANTS, all registers.
  (* hierconn *) logic \u_dut.group_valid_q ;
  (* hierconn *) logic \u_dut.lead_valid_q , \u_dut.here_valid_q , \u_dut.listed_q , \u_dut.txn_valid_q ;
  (* hierconn *) logic \u_dut.last_q , \u_dut.several_q , \u_dut.lone_q , \u_dut.two_lone_q , \u_dut.ended_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.found_q , \u_dut.here_q , \u_dut.group_q , \u_dut.fours_q , \u_dut.sent_q ;
  (* hierconn *) logic [PlaceWidth-1:0] \u_dut.lead_q , \u_dut.place_q ;
  (* hierconn *) logic [Words-1:0] \u_dut.rest_q , \u_dut.used_q , \u_dut.word_q ;

  // ------------------------------------------------------------------------------------------
  // Addresses
  // ------------------------------------------------------------------------------------------

  logic [Lanes*PlaceWidth-1:0] places;  // of each lane, the address without its word in the sector
  logic [Lanes*Words-1:0] words;        // of each lane, that word as one of eight bits

  for (genvar l = 0; l < Lanes; l++) begin : g_address
    assign places[PlaceWidth*l +: PlaceWidth] =
        {req_addr_i[AddrWidth*l+SectorBits +: AddrWidth-SectorBits], req_addr_i[AddrWidth*l +: WordBits]};
    for (genvar w = 0; w < Words; w++) begin : g_word
      assign words[Words*l+w] = req_addr_i[AddrWidth*l+WordBits +: IndexWidth] == IndexWidth'(w);
    end
  end

`ifdef COMPARE

  // ------------------------------------------------------------------------------------------
  // Choices and comparisons of addresses
  // ------------------------------------------------------------------------------------------

  (* hierconn *) logic [Lanes-1:0] \u_dut.here_d ;
  (* hierconn *) logic [PlaceWidth-1:0] \u_dut.lead_d ;
  (* hierconn *) logic [Lanes*Words-1:0] \u_dut.word_of ;

  logic [Lanes-1:0] unfound;
  assign unfound = req_mask_i & ~\u_dut.found_q ;

  for (genvar l = 0; l < Lanes; l++) begin : g_compare
    always_comb begin : LeadIsTheLowestLanes
      if (unfound[l] && (unfound & ((Lanes'(1) << l) - 1'b1)) == '0) begin
        assert (\u_dut.lead_d == places[PlaceWidth*l +: PlaceWidth]);
      end
    end
    always_comb begin : EachBitOfThePlaceCounts
      assert (\u_dut.here_d [l] ==
              (unfound[l] && (places[PlaceWidth*l +: PlaceWidth] ^ \u_dut.lead_q ) == '0));
    end
    always_comb begin : WordIsThatOfTheAddress
      assert (\u_dut.word_of [Words*l +: Words] == words[Words*l +: Words]);
    end
  end
  for (genvar w = 0; w < Words; w++) begin : g_compose
    always_comb begin : AddressIsPlaceAndWord
      if (\u_dut.word_q == Words'(1) << w) begin
        assert (txn_addr == {\u_dut.place_q [PlaceWidth-1:WordBits], IndexWidth'(w), \u_dut.place_q [WordBits-1:0]});
      end
    end
  end
  always_comb begin : CoverTwoOfASector
    cover ($countones(unfound) == 3 && $countones(\u_dut.here_d ) == 2 && txn_addr == {AddrWidth/2{2'b01}});
  end

`else

  // ------------------------------------------------------------------------------------------
  // Record
  // ------------------------------------------------------------------------------------------

  logic in_reset_q = 1'b1;         // the first cycle is a reset
  logic waits_q;                   // the request was there before
  logic [Lanes-1:0] sent_q, left;  // lanes of the held request sent, still to send; from the ports only
  logic [Lanes-1:0] lone_q;        // lanes gathered
  logic [Lanes-1:0] offer_q;       // lanes offered as a transaction
  logic [Lanes-1:0] counted;       // all these
  logic [Lanes-1:0] sector_q;      // the sector of the last group
  logic [Lanes-1:0] now;           // lanes sent in this cycle
  logic counts;                    // the next group is counted
  logic gathers;                   // it does not pay, and is not all that is left

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end

  assign now = left_valid && left_ready_i ? left_mask : txn_valid && txn_ready_i ? txn_mask : '0;
  assign left = req_mask_i & ~sent_q;
  assign counted = sent_q | lone_q | offer_q;
  assign counts = \u_dut.group_valid_q ;

  logic [Lanes-1:0] lead;         // the lowest lane not counted
  logic [PlaceWidth-1:0] place;   // its place
  logic [Lanes-1:0] sector;       // the lanes of the sector whose turn it is
  logic [Words-1:0] sector_words; // words of it that lanes not counted add to
  logic [Words-1:0] first_word;   // the lowest of them
  logic [Words-1:0] left_words;   // words of it that lanes not sent add to
  logic [Lanes-1:0] group;        // the lanes of that word

  always_comb begin
    lead = '0;
    place = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      if (req_mask_i[l] && !counted[l]) begin
        lead = '0;
        lead[l] = 1'b1;
        place = places[PlaceWidth*l +: PlaceWidth];
      end
    end
  end

  always_comb begin
    sector = sector_q;
    if ((sector_q & ~counted) == '0) begin
      for (int l = 0; l < Lanes; l++) begin
        sector[l] = req_mask_i[l] && !counted[l] && places[PlaceWidth*l +: PlaceWidth] == place;
      end
    end
  end

  always_comb begin
    sector_words = '0;
    left_words = '0;
    for (int l = 0; l < Lanes; l++) begin
      if (sector[l] && !counted[l]) sector_words = sector_words | words[Words*l +: Words];
      if (sector[l] && !sent_q[l] && !offer_q[l]) left_words = left_words | words[Words*l +: Words];
    end
    first_word = '0;
    for (int w = Words - 1; w >= 0; w--) begin
      if (sector_words[w]) begin
        first_word = '0;
        first_word[w] = 1'b1;
      end
    end
    for (int l = 0; l < Lanes; l++) begin
      group[l] = sector[l] && !counted[l] && (words[Words*l +: Words] & first_word) != '0;
    end
  end

  // Lanes are added up four by four, words one by one.
  logic [5:0] lanes_of_group, words_of_sector;
  always_comb begin
    lanes_of_group = '0;
    for (int l = 0; l < Lanes; l++) lanes_of_group = lanes_of_group + 6'(group[l]);
    words_of_sector = '0;
    for (int w = 0; w < Words; w++) words_of_sector = words_of_sector + 6'(left_words[w]);
  end
  assign gathers = lanes_of_group <= words_of_sector && group != left;

  logic [2:0] quiet_q;  // cycles since the last group, or since the request began, in which none was counted
                        // and no transaction had to wait
  logic [2:0] age_q;    // cycles since the request began, up to 7
  logic [5:0] groups_q; // transactions taken of the held request

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (req_valid_i && req_ready)) begin
      waits_q <= 1'b0;
      sent_q <= '0;
      lone_q <= '0;
      offer_q <= '0;
      sector_q <= '0;
      quiet_q <= '0;
      age_q <= '0;
      groups_q <= '0;
    end else if (req_valid_i) begin
      waits_q <= 1'b1;
      sent_q <= sent_q | now;
      if (counts && gathers) lone_q <= lone_q | group;
      if (counts && !gathers) offer_q <= group;
      else if (txn_ready_i) offer_q <= '0;
      if (counts) sector_q <= sector;
      quiet_q <= counts ? '0 : quiet_q + 3'(!(txn_valid && !txn_ready_i));
      age_q <= age_q + 3'(age_q != '1);
      groups_q <= groups_q + 6'(txn_valid && txn_ready_i);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Any address, and the lanes of its sector and of itself
  // ------------------------------------------------------------------------------------------

  logic [AddrWidth-1:0] any_addr_q;
  logic [Lanes-1:0] its_sector, its_lanes;

  always_ff @(posedge clk_i) if (in_reset_q) any_addr_q <= any_addr_i;

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      its_sector[l] = req_mask_i[l] && places[PlaceWidth*l +: PlaceWidth] ==
                      {any_addr_q[AddrWidth-1:SectorBits], any_addr_q[WordBits-1:0]};
      its_lanes[l] = req_mask_i[l] && req_addr_i[AddrWidth*l +: AddrWidth] == any_addr_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Properties
  // ------------------------------------------------------------------------------------------

`ifdef INVARIANTS

  logic [Lanes-1:0] pending, split;  // lanes in the stage count; these and those counted
  logic [Lanes-1:0] unsplit, unfound;
  assign pending = \u_dut.group_q & {Lanes{\u_dut.group_valid_q }};
  assign split = counted | pending;
  assign unsplit = req_mask_i & ~split;
  assign unfound = req_mask_i & ~\u_dut.found_q ;

  logic [Lanes-1:0] of_lead, of_place;  // lanes of the sector of lead_q, of place_q
  logic [Lanes-1:0] of_word;            // of the word of word_q
  logic [Lanes-1:0] of_rest;            // of the words of rest_q
  logic [Words-1:0] unsplit_words;
  logic [Lanes-1:0] fours;

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      of_lead[l] = places[PlaceWidth*l +: PlaceWidth] == \u_dut.lead_q ;
      of_place[l] = places[PlaceWidth*l +: PlaceWidth] == \u_dut.place_q ;
      of_word[l] = (words[Words*l +: Words] & \u_dut.word_q ) != '0;
      of_rest[l] = (words[Words*l +: Words] & \u_dut.rest_q ) != '0;
    end
    unsplit_words = '0;
    for (int l = 0; l < Lanes; l++) begin
      if (\u_dut.here_q [l] && !split[l]) unsplit_words = unsplit_words | words[Words*l +: Words];
    end
    fours = '0;
    for (int l = 0; l < Lanes; l += 4) begin
      fours[l +: 4] = 4'(\u_dut.group_q [l]) + 4'(\u_dut.group_q [l+1]) + 4'(\u_dut.group_q [l+2]) +
                      4'(\u_dut.group_q [l+3]);
    end
  end

  always_ff @(posedge clk_i) begin : IdleWithoutARequest
    if (rst_ni) begin
      `KNOWN (!waits_q || (req_valid_i && req_mask_i != '0));
      `KNOWN (waits_q || (counted | sector_q) == '0);
      `KNOWN (waits_q || (\u_dut.found_q == '0 && !\u_dut.lead_valid_q && !\u_dut.here_valid_q &&
                          !\u_dut.listed_q && !\u_dut.group_valid_q && !\u_dut.txn_valid_q && !\u_dut.lone_q &&
                          !\u_dut.two_lone_q && !\u_dut.ended_q && \u_dut.sent_q == '0));
      `KNOWN (waits_q || (quiet_q == '0 && age_q == '0));
      `KNOWN (!waits_q || \u_dut.lead_valid_q || \u_dut.found_q != '0);
    end
  end
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) begin
      `KNOWN (\u_dut.sent_q == sent_q);
      `KNOWN (\u_dut.txn_valid_q == (offer_q != '0));
      `KNOWN (!\u_dut.txn_valid_q || \u_dut.group_q == offer_q);
      `KNOWN (\u_dut.lone_q == (lone_q != '0));
      `KNOWN (\u_dut.two_lone_q == ((lone_q & (lone_q - 1'b1)) != '0));
      `KNOWN ((sent_q & lone_q) == '0 && (sent_q & offer_q) == '0 && (lone_q & offer_q) == '0);
      `KNOWN (!waits_q || (counted & ~req_mask_i) == '0);
    end
  end
  always_ff @(posedge clk_i) begin : LeadIsOfTheLowestLane
    if (rst_ni && \u_dut.lead_valid_q ) begin
      `KNOWN ((unfound & (~unfound + 1'b1) & of_lead) != '0);
      `KNOWN (!\u_dut.here_valid_q || \u_dut.listed_q );
    end
  end
  always_ff @(posedge clk_i) begin : FoundIsSplitOrHere
    if (rst_ni && waits_q) begin
      `KNOWN (\u_dut.found_q == (split | (\u_dut.here_q & {Lanes{\u_dut.here_valid_q }})));
      `KNOWN ((\u_dut.found_q & ~req_mask_i) == '0);
    end
  end
  always_ff @(posedge clk_i) begin : HereIsTheNextSector
    if (rst_ni && \u_dut.here_valid_q ) begin
      if (\u_dut.listed_q ) begin
        `KNOWN (\u_dut.here_q == sector);
        `KNOWN ((\u_dut.here_q & ~of_place) == '0);
        `KNOWN (\u_dut.rest_q == unsplit_words && \u_dut.rest_q != '0);
        `KNOWN ((\u_dut.here_q & of_rest & split) == '0);
        `KNOWN (\u_dut.last_q == (unfound == '0));
      end else begin
        `KNOWN (\u_dut.here_q == (unsplit & of_lead));
        `KNOWN ((unsplit & (~unsplit + 1'b1) & \u_dut.here_q ) != '0);
      end
    end
  end
  always_ff @(posedge clk_i) begin : NoSectorIsLeftBehind
    if (rst_ni) begin
      `KNOWN (!\u_dut.listed_q || \u_dut.here_valid_q );
      `KNOWN (\u_dut.listed_q || (sector_q & ~split) == '0);
      `KNOWN (!\u_dut.group_valid_q || \u_dut.listed_q || (sector & ~split) == '0);
    end
  end
  always_ff @(posedge clk_i) begin : GroupIsOfItsPlaceAndWord
    if (rst_ni && (\u_dut.group_valid_q || \u_dut.txn_valid_q )) begin
      `KNOWN (!(\u_dut.group_valid_q && \u_dut.txn_valid_q ));
      `KNOWN (\u_dut.group_q != '0);
      `KNOWN ((\u_dut.group_q & ~of_place) == '0 && (\u_dut.group_q & ~of_word) == '0);
      `KNOWN (\u_dut.word_q != '0 && (\u_dut.word_q & (\u_dut.word_q - 1'b1)) == '0);
    end
  end
  always_ff @(posedge clk_i) begin : CountsAreThose
    if (rst_ni && \u_dut.group_valid_q ) begin
      `KNOWN (\u_dut.fours_q == fours);
      `KNOWN (\u_dut.several_q == ((\u_dut.group_q & (\u_dut.group_q - 1'b1)) != '0));
      `KNOWN ((sector & of_word & counted) == '0);
    end
    if (rst_ni && (\u_dut.group_valid_q || \u_dut.listed_q )) begin
      `KNOWN ((\u_dut.used_q & ~(\u_dut.word_q & {Words{\u_dut.txn_valid_q }})) == left_words);
    end
  end
  always_ff @(posedge clk_i) begin : EndedWhenAllIsSplit
    if (rst_ni && waits_q) `KNOWN (\u_dut.ended_q == (unsplit == '0));
  end
  // A stage for each cycle after the last group, but for one in which its transaction is offered.
  logic [2:0] stage;
  assign stage = \u_dut.group_valid_q ? 3'd4 : \u_dut.listed_q ? 3'd3 : \u_dut.here_valid_q ? 3'd2 :
                 3'(\u_dut.lead_valid_q );
  always_ff @(posedge clk_i) begin : StagesTakeTheirCycles
    if (rst_ni && waits_q) begin
      `KNOWN (age_q >= (\u_dut.txn_valid_q || \u_dut.lone_q ? 3'd5 : stage));
      `KNOWN (!\u_dut.txn_valid_q || \u_dut.ended_q || quiet_q == '0);
      if (!\u_dut.ended_q || \u_dut.group_valid_q ) begin
        `KNOWN (stage != '0 && quiet_q <= stage - 3'(counted != '0));
        `KNOWN ((sector_q & ~counted) == '0 || quiet_q <= 3'(\u_dut.group_valid_q ));
      end
      if (!\u_dut.ended_q ) begin
        `KNOWN (counted == '0 || \u_dut.here_valid_q || \u_dut.group_valid_q );
        `KNOWN (!\u_dut.group_valid_q || \u_dut.listed_q || \u_dut.here_valid_q || \u_dut.lead_valid_q );
      end
    end
  end

`ifdef WHOLE
  always_ff @(posedge clk_i) begin : SectorsAndAddressesAreWhole
    if (rst_ni && waits_q) begin
      assert ((\u_dut.found_q & its_sector) == '0 || (its_sector & ~\u_dut.found_q ) == '0);
      assert ((sector_q & its_sector) == '0 || sector_q == its_sector);
      assert (!\u_dut.here_valid_q || (\u_dut.here_q & its_sector) == '0 || \u_dut.here_q == its_sector);
      assert ((split & its_lanes) == '0 || (its_lanes & ~split) == '0);
      assert ((sent_q & its_lanes) == '0 || (its_lanes & ~sent_q) == '0);
      assert ((lone_q & its_lanes) == '0 || (its_lanes & ~lone_q) == '0);
    end
  end
`endif
`endif

`ifndef ALONE

  always_ff @(posedge clk_i) begin : CountedGroupIsTheNext
    if (rst_ni && counts) `KNOWN (req_valid_i && \u_dut.group_q == group && group != '0);
  end
  always_ff @(posedge clk_i) begin : OfferedIfItPaysOrIsTheLast
    if (rst_ni) begin
      `KNOWN (txn_valid == (offer_q != '0));
      if (txn_valid) `KNOWN (txn_mask == offer_q);
    end
  end
  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    always_ff @(posedge clk_i) begin : AddressIsThatOfEachLane
      if (rst_ni && txn_valid && txn_mask[l]) `KNOWN (txn_addr == req_addr_i[AddrWidth*l +: AddrWidth]);
    end
  end
  always_ff @(posedge clk_i) begin : LastWhenAllAreGathered
    if (rst_ni && req_valid_i && req_mask_i != '0) `KNOWN (left_last == ((left & ~lone_q) == '0));
  end
  always_ff @(posedge clk_i) begin : AllLanesLeftOnceTwoAreGathered
    if (rst_ni) begin
      `KNOWN (left_valid == (req_valid_i && lone_q != '0 &&
                             ((lone_q & (lone_q - 1'b1)) != '0 || left == lone_q)));
    end
  end
  always_ff @(posedge clk_i) begin : LeftIsAllThatIsLeft
    if (rst_ni && req_valid_i) `KNOWN (left_mask == left);
  end
  always_ff @(posedge clk_i) begin : NoLaneTwice
    if (rst_ni) `KNOWN ((now & sent_q) == '0 && (now & ~req_mask_i) == '0);
  end
  always_ff @(posedge clk_i) begin : AcceptedWithItsLastLane
    if (rst_ni) `KNOWN (req_ready == (req_valid_i && (left & ~now) == '0));
  end
  always_ff @(posedge clk_i) begin : NextGroupInTime
    if (rst_ni && req_valid_i && (counts || (req_mask_i & ~counted) != '0)) begin
      `KNOWN (quiet_q <= ((sector_q & ~counted) != '0 ? 3'd1 : counted != '0 ? 3'd3 : 3'd4));
    end
  end
  always_ff @(posedge clk_i) begin : NothingBeforeTheFifthCycle
    if (rst_ni && (txn_valid || left_valid)) `KNOWN (age_q >= 3'd5);
  end
  always_ff @(posedge clk_i) begin : BusyFromTheSecondCycle
    if (rst_ni) `KNOWN (busy == waits_q);
  end
  always_ff @(posedge clk_i) begin : NothingLeftAfterReset
    if (!rst_ni) `KNOWN (!txn_valid && !left_valid && !busy);
  end

`endif

`ifdef WHOLE
`ifndef REACHED
  always_ff @(posedge clk_i) begin : LanesOfAnAddressGoTogether
    if (rst_ni && txn_valid) assert ((txn_mask & its_lanes) == '0 || txn_mask == its_lanes);
  end
  always_ff @(posedge clk_i) begin : SectorIsWhole
    if (rst_ni && counts) assert ((sector & its_sector) == '0 || sector == its_sector);
  end
`endif
`endif

  // ------------------------------------------------------------------------------------------
  // Reached states
  // ------------------------------------------------------------------------------------------

  logic waited_q;    // a transaction of the held request had to wait
  logic accepted_q;  // a request was accepted with a last transaction, and one had to wait

  always_ff @(posedge clk_i) begin
    if (!rst_ni || (req_valid_i && req_ready)) waited_q <= 1'b0;
    else if (txn_valid && !txn_ready_i) waited_q <= 1'b1;
    if (!rst_ni) accepted_q <= 1'b0;
    else if (txn_valid && req_ready && waited_q) accepted_q <= 1'b1;
  end

`ifndef WHOLE
  always_ff @(posedge clk_i) begin : CoverNextAfterOneThatWaited
    if (rst_ni) `REACH(accepted_q && busy);
  end
  always_ff @(posedge clk_i) begin : CoverEmptyRequest
    if (rst_ni) `REACH(req_valid_i && req_ready && req_mask_i == '0);
  end
  always_ff @(posedge clk_i) begin : CoverWholeWarp
    if (rst_ni) `REACH(txn_valid && req_ready && txn_mask == '1);
  end
  always_ff @(posedge clk_i) begin : CoverPairGathered
    if (rst_ni) `REACH(left_valid && !left_last && left_ready_i && $countones(req_mask_i) == 4);
  end
  always_ff @(posedge clk_i) begin : CoverLastLaneGatheredBehindAGroup
    if (rst_ni) `REACH(left_valid && left_last && sent_q != '0);
  end
`endif
  always_ff @(posedge clk_i) begin : CoverSecondWordOfASector
    if (rst_ni) `REACH(txn_valid && groups_q == 6'd1 && sector_q == req_mask_i);
  end
  always_ff @(posedge clk_i) begin : CoverSecondSector
    if (rst_ni) `REACH(txn_valid && groups_q == 6'd1 && (sector_q & sent_q) == '0);
  end

`endif

endmodule
