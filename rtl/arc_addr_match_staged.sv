// SPDX-License-Identifier: Apache-2.0
// Coalescer in stages, for a clock that arc_addr_match cannot keep.
//
// Contract: that of arc_addr_match, but for time and for the order of groups. Sectors come in the order
// of their lowest lanes, the groups of a sector in the order of their words. A group that pays, or is all
// that is left, is offered as a transaction; another is gathered, and leaves with left_*, even if it is a
// lane alone. What is offered comes from registers, and left_mask_o from req_mask_i, too; no ready reaches a
// valid. Addresses that differ below a word are of different sectors.
//
//   find   the address of the sector of the lowest lane whose sector has not been found
//   match  the lanes of that sector
//   words  the words that they add to
//   split  the lanes of the next word
//   count  whether they pay: they are offered or gathered
//
// A group is offered five cycles after its request at the earliest. Groups of a sector follow in every
// other cycle, sectors of one group in every fourth. A request without active lanes is accepted at once.

`include "arc_assert.svh"

module arc_addr_match_staged (
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
  // a register holds a part of the held request
  output logic                                        busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int SectorBits = arc_pkg::SectorBits;
  localparam int WordBits = arc_pkg::WordBits;
  localparam int IndexWidth = SectorBits - WordBits;
  localparam int Words = 1 << IndexWidth;
  localparam int PlaceWidth = AddrWidth - IndexWidth;  // an address without its word within the sector

  // ------------------------------------------------------------------------------------------
  // Find: the sector of the lowest lane not found
  // ------------------------------------------------------------------------------------------
  // Of each part of the lanes the lowest one, and of the parts the lowest that has one. A place is the
  // address without the word within the sector.

  localparam int PartLanes = 8;
  localparam int Parts = Lanes / PartLanes;

  logic [Lanes-1:0] found_q;  // lanes of the sectors that were matched
  logic lead_valid_q;
  logic [PlaceWidth-1:0] lead_q, lead_d;
  logic [Lanes-1:0] unfound, here_d;
  logic [Parts-1:0] part_any, first_part;

  assign unfound = req_mask_i & ~found_q;
  assign first_part = part_any & (~part_any + 1'b1);

  logic [PlaceWidth*Lanes-1:0] place;
  logic [PlaceWidth*Parts-1:0] part_lead;

  for (genvar l = 0; l < Lanes; l++) begin : g_place
    logic [AddrWidth-1:0] addr;
    assign addr = req_addr_i[AddrWidth*l +: AddrWidth];
    assign place[PlaceWidth*l +: PlaceWidth] = {addr[AddrWidth-1:SectorBits], addr[WordBits-1:0]};
    assign here_d[l] = unfound[l] && place[PlaceWidth*l +: PlaceWidth] == lead_q;
    `ARC_ASSUME_NEXT(AddressHeldUntilReady, req_valid_i && !req_ready_o && req_mask_i[l],
                     $stable(addr))
  end

  for (genvar p = 0; p < Parts; p++) begin : g_part
    logic [PartLanes-1:0] part, first;
    logic [PlaceWidth-1:0] lead;
    assign part = unfound[PartLanes*p +: PartLanes];
    assign part_any[p] = part != '0;
    assign first = part & (~part + 1'b1);
    always_comb begin
      lead = '0;
      for (int l = 0; l < PartLanes; l++) begin
        lead = lead | (place[PlaceWidth*(PartLanes*p+l) +: PlaceWidth] & {PlaceWidth{first[l]}});
      end
    end
    assign part_lead[PlaceWidth*p +: PlaceWidth] = lead & {PlaceWidth{first_part[p]}};
  end

  always_comb begin
    lead_d = '0;
    for (int p = 0; p < Parts; p++) lead_d = lead_d | part_lead[PlaceWidth*p +: PlaceWidth];
  end

  // ------------------------------------------------------------------------------------------
  // Match: the lanes of the sector
  // ------------------------------------------------------------------------------------------

  logic match;         // this stage is done with its sector
  logic here_valid_q;  // the lanes are there, until their last word is split
  logic [Lanes-1:0] here_q;

  // ------------------------------------------------------------------------------------------
  // Words: those of the sector
  // ------------------------------------------------------------------------------------------

  logic list;                       // this stage is done with its sector
  logic [PlaceWidth-1:0] place_q;
  logic listed_q;                   // words are to be split
  logic last_q;                     // no sector is to follow
  logic [Words-1:0] rest_q;         // words that are to be split
  logic [Words-1:0] used_q, used_d; // words of lanes that are not in a group that pays
  logic [Lanes*Words-1:0] word_of;  // of each lane, one-hot

  always_comb begin
    used_d = '0;
    for (int l = 0; l < Lanes; l++) begin
      word_of[Words*l +: Words] = Words'(1) << req_addr_i[AddrWidth*l+WordBits +: IndexWidth];
      used_d = used_d | (word_of[Words*l +: Words] & {Words{here_q[l]}});
    end
  end

  // ------------------------------------------------------------------------------------------
  // Split: the lanes of the lowest word
  // ------------------------------------------------------------------------------------------

  logic split;
  logic group_valid_q;  // they are there, and not counted
  logic [Words-1:0] word, word_q;
  logic last_word;
  logic [Lanes-1:0] group_q, group_d;
  logic [Lanes-1:0] fours_q, fours_d;
  logic several_q, several_d;  // they are more than one

  assign word = rest_q & (~rest_q + 1'b1);
  assign last_word = (rest_q & (rest_q - 1'b1)) == '0;

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      group_d[l] = here_q[l] && (word_of[Words*l +: Words] & word) != '0;
    end
  end

  // Lanes of each four, in fields of four bits; whether there are several, by halves.
  always_comb begin : count_fours
    logic [Lanes-1:0] any, more;
    fours_d = (group_d & 32'h5555_5555) + ((group_d >> 1) & 32'h5555_5555);
    fours_d = (fours_d & 32'h3333_3333) + ((fours_d >> 2) & 32'h3333_3333);
    any = group_d;
    more = '0;
    for (int step = 1; step < Lanes; step = 2*step) begin
      more = more | (more >> step) | (any & (any >> step));
      any = any | (any >> step);
    end
    several_d = more[0];
  end

  // ------------------------------------------------------------------------------------------
  // Count: whether they pay
  // ------------------------------------------------------------------------------------------

  logic gather;
  logic [5:0] lanes, words;

  always_comb begin : count_lanes
    logic [Lanes-1:0] sum;  // fields of 8, 16 bits
    sum = (fours_q & 32'h0707_0707) + ((fours_q >> 4) & 32'h0707_0707);
    sum = (sum & 32'h000f_000f) + ((sum >> 8) & 32'h000f_000f);
    lanes = 6'(sum[4:0]) + 6'(sum[20:16]);
  end

  always_comb begin : count_words
    logic [Words-1:0] sum;
    sum = (used_q & 8'h55) + ((used_q >> 1) & 8'h55);
    sum = (sum & 8'h33) + ((sum >> 2) & 8'h33);
    words = 6'(sum[2:0]) + 6'(sum[6:4]);
  end

  // ------------------------------------------------------------------------------------------
  // What may go: the group, all lanes left, or neither yet
  // ------------------------------------------------------------------------------------------

  logic txn_valid_q;
  logic lone_q, two_lone_q;  // lanes are gathered, more than one
  logic ended_q;             // nothing is left to split
  logic [Lanes-1:0] sent_q;
  logic [IndexWidth-1:0] word_index;
  logic free;                // no transaction is kept waiting

  // It pays if it has more lanes than its sector has words (arc_group_pays).
  assign gather = lanes <= words && !(ended_q && !lone_q);  // else it is all that is left
  assign free = !txn_valid_q || txn_ready_i;
  assign match = lead_valid_q && !here_valid_q;
  assign list = here_valid_q && !listed_q && !group_valid_q && !txn_valid_q;
  assign split = listed_q && !group_valid_q && free;

  always_comb begin
    word_index = '0;
    for (int w = 0; w < Words; w++) begin
      word_index = word_index | (IndexWidth'(w) & {IndexWidth{word_q[w]}});
    end
    txn_addr_o = {place_q[PlaceWidth-1:WordBits], word_index, place_q[WordBits-1:0]};
  end

  assign txn_valid_o = txn_valid_q;
  assign txn_mask_o = group_q;
  assign left_last_o = ended_q && !group_valid_q && !txn_valid_q;
  assign left_valid_o = two_lone_q || (lone_q && left_last_o);
  assign left_mask_o = req_mask_i & ~sent_q;

  assign req_ready_o = req_valid_i && (req_mask_i == '0 || (left_valid_o && left_ready_i) ||
                                       (txn_valid_q && txn_ready_i && ended_q && !lone_q));

  // ------------------------------------------------------------------------------------------
  // Registers
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      found_q <= '0;
      lead_valid_q <= 1'b0;
      here_valid_q <= 1'b0;
      listed_q <= 1'b0;
      group_valid_q <= 1'b0;
      txn_valid_q <= 1'b0;
      lone_q <= 1'b0;
      two_lone_q <= 1'b0;
      ended_q <= 1'b0;
      sent_q <= '0;
    end else if (req_ready_o) begin
      found_q <= '0;
      lead_valid_q <= 1'b0;
      here_valid_q <= 1'b0;
      listed_q <= 1'b0;
      group_valid_q <= 1'b0;
      txn_valid_q <= 1'b0;
      lone_q <= 1'b0;
      two_lone_q <= 1'b0;
      ended_q <= 1'b0;
      sent_q <= '0;
    end else begin
      lead_valid_q <= lead_valid_q ? !match : req_valid_i && part_any != '0 && (!here_valid_q || listed_q);
      if (match) found_q <= found_q | here_d;
      here_valid_q <= here_valid_q ? !(split && last_word) : match;
      listed_q <= listed_q ? !(split && last_word) : list;
      group_valid_q <= split;
      txn_valid_q <= group_valid_q ? !gather : txn_valid_q && !txn_ready_i;
      if (group_valid_q && gather) begin
        lone_q <= 1'b1;
        two_lone_q <= two_lone_q || lone_q || several_q;
      end
      if (txn_valid_q && txn_ready_i) sent_q <= sent_q | group_q;
      if (split) ended_q <= last_q && last_word;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!lead_valid_q && (!here_valid_q || listed_q)) lead_q <= lead_d;
    if (match) here_q <= here_d;
    if (list) begin
      place_q <= lead_q;
      last_q <= unfound == '0;
    end
    if (list) used_q <= used_d;
    else if (txn_valid_q) used_q <= used_q & ~word_q;  // the next group is counted later
    if (list) rest_q <= used_d;
    else if (split) rest_q <= rest_q & (rest_q - 1'b1);
    if (split) begin
      group_q <= group_d;
      fours_q <= fours_d;
      several_q <= several_d;
      word_q <= word;
    end
  end

  assign busy_o = lead_valid_q || found_q != '0;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME_NEXT(RequestHeldUntilReady, req_valid_i && !req_ready_o,
                   req_valid_i && $stable(req_mask_i))
  `ARC_ASSUME(OneOfTheTwoIsTaken, !(txn_valid_o && txn_ready_i && left_valid_o && left_ready_i))
  `ARC_ASSERT_NEXT(TransactionHeldUntilReady, txn_valid_o && !txn_ready_i && !req_ready_o,
                   txn_valid_o && $stable(txn_addr_o) && $stable(txn_mask_o))
  `ARC_ASSERT_NEXT(LanesLeftOfferedUntilReady, left_valid_o && !left_ready_i, left_valid_o)
  `ARC_ASSERT(TransactionPaysOrIsTheLast, !txn_valid_o || (txn_mask_o & (txn_mask_o - 1)) != '0 ||
              txn_mask_o == left_mask_o)
  `ARC_ASSERT(OnlyLanesLeftAreSent, !txn_valid_o || (txn_mask_o & ~left_mask_o) == '0)
  `ARC_ASSERT(FoundLanesWereActive, !req_valid_i || (found_q & ~req_mask_i) == '0)
  `ARC_ASSERT(SentLanesWereFound, (sent_q & ~found_q) == '0)
  `ARC_ASSERT(HeldRequestHasLanesLeft, !busy_o || (req_valid_i && left_mask_o != '0))
  `ARC_ASSERT(AcceptedMeansAllSent,
              !(req_valid_i && req_ready_o) || left_mask_o == '0 || (left_valid_o && left_ready_i) ||
              (sent_q | txn_mask_o) == req_mask_i)
  `ARC_ASSERT(EndedMeansAllWereFound, !ended_q || (found_q == req_mask_i && !listed_q))
  `ARC_ASSERT_NEXT(NothingRemainsOfAnAcceptedRequest, req_valid_i && req_ready_o, !busy_o)

endmodule
