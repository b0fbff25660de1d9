// SPDX-License-Identifier: Apache-2.0
// Proof of the contract of any unit with the ports of arc_subcore: the rules of
// arc_contract_checker, and that every active lane leaves exactly once, shown for one lane of one
// request, any of both.
//
// The request that is followed is the one whose tag is any_tag, which comes once at most. Free:
// requests, grants, operand values, and reset at any time after the first cycle. Addresses have
// AddrBits bits: with five of them every grouping of 32 lanes is there. Tags may have fewer bits, too: with one of them
// there are the tag that is followed and another. Values of sums are not looked at, so that the arithmetic falls
// away. python/warpfold/tools/evaluate/proof.py writes evaluated_unit, the unit with the
// parameters and ports that it has.
module evaluate_proof #(
  parameter int Banks = 1,
  parameter int MostLanes = 1,
  parameter int ReadTurn = 1,
  parameter int ZeroPayload = 1,
  // bits of an address that are free, from 1 to 48
  parameter int AddrBits = 2,
  // bits of a tag that are free, from 1 to 12
  parameter int TagBits = 12
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                req_valid_i,
  input logic [31:0]         req_mask_i,
  input logic [AddrBits*32-1:0] req_addr_i,
  input logic [11:0]         req_tag_i,
  input logic                lsu_room_i,
  input logic                rf_ready_i,
  input logic [32*Banks-1:0] rf_data_i,
  input logic [5*32-1:0]     rf_bin_i
);

  localparam int RequestBits = 32 + AddrBits*32 + 12;

  // ------------------------------------------------------------------------------------------
  // Environment
  // ------------------------------------------------------------------------------------------

  (* anyconst *) logic [TagBits-1:0] free_tag;
  (* anyconst *) logic [4:0] any_lane;
  logic [11:0] any_tag;

  assign any_tag = 12'(free_tag);

  logic in_reset_q = 1'b1;  // the first cycle is a reset
  logic held_q = 1'b0, granted_q = 1'b0, came_q = 1'b0;
  logic req_valid, req_ready, comes;
  logic [RequestBits-1:0] request, request_q;
  logic [32*Banks-1:0] data, data_q;
  logic [5*32-1:0] bins, bins_q;
  logic [31:0] req_mask;
  logic [AddrBits*32-1:0] req_short_addr;
  logic [48*32-1:0] req_addr;
  logic [11:0] req_tag;

  logic lsu_valid, lsu_reduced, rf_valid, busy;
  logic [47:0] lsu_addr;
  logic [31:0] lsu_mask, rf_mask;
  logic [11:0] lsu_tag, rf_tag;

  assign req_valid = rst_ni && (held_q || req_valid_i);
  assign request = held_q ? request_q : {req_mask_i, req_addr_i, 12'(req_tag_i[TagBits-1:0])};
  assign {req_mask, req_short_addr, req_tag} = request;
  for (genvar i = 0; i < 32; i++) begin : g_addr
    assign req_addr[48*i +: 48] = 48'(req_short_addr[AddrBits*i +: AddrBits]);
  end
  // A granted read is on the port from the next cycle until and including that of the next grant.
  assign data = granted_q ? rf_data_i : data_q;
  assign bins = granted_q ? rf_bin_i : bins_q;
  assign comes = req_valid && !held_q && req_tag == any_tag;

  always_ff @(posedge clk_i) begin
    in_reset_q <= 1'b0;
    held_q <= req_valid && !req_ready;
    granted_q <= rst_ni && rf_valid && rf_ready_i;
    came_q <= rst_ni && (came_q || comes);
    request_q <= request;
    data_q <= data;
    bins_q <= bins;
  end
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end
  always_comb begin : TheTagComesOnce
    assume (!came_q || !comes);
  end

  evaluated_unit u_unit (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .req_valid_i  (req_valid),
    .req_ready_o  (req_ready),
    .req_mask_i   (req_mask),
    .req_addr_i   (req_addr),
    .req_tag_i    (req_tag),
    .lsu_valid_o  (lsu_valid),
    .lsu_room_i   (lsu_room_i),
    .lsu_addr_o   (lsu_addr),
    .lsu_mask_o   (lsu_mask),
    .lsu_reduced_o(lsu_reduced),
    .lsu_tag_o    (lsu_tag),
    .rf_valid_o   (rf_valid),
    .rf_ready_i   (rf_ready_i),
    .rf_mask_o    (rf_mask),
    .rf_tag_o     (rf_tag),
    .rf_data_i    (data),
    .rf_bin_i     (bins),
    .busy_o       (busy)
  );

  arc_contract_checker #(
    .Banks      (Banks),
    .MostLanes  (MostLanes),
    .ReadTurn   (ReadTurn),
    .ZeroPayload(ZeroPayload)
  ) u_checker (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .req_valid_i  (req_valid),
    .lsu_valid_o  (lsu_valid),
    .lsu_room_i   (lsu_room_i),
    .lsu_addr_o   (lsu_addr),
    .lsu_mask_o   (lsu_mask),
    .lsu_reduced_o(lsu_reduced),
    .lsu_tag_o    (lsu_tag),
    .rf_valid_o   (rf_valid),
    .rf_ready_i   (rf_ready_i),
    .rf_mask_o    (rf_mask),
    .rf_tag_o     (rf_tag),
    .busy_o       (busy)
  );

  // ------------------------------------------------------------------------------------------
  // The lane that is followed
  // ------------------------------------------------------------------------------------------

  logic there, there_q = 1'b0;          // it is active and has not left
  logic read_q = 1'b0;                  // it has been read
  logic accepted_q = 1'b0;              // its request has been accepted
  logic [AddrBits-1:0] addr, addr_q;
  logic red, sum, reads;
  logic red_left_q = 1'b0, sum_left_q = 1'b0;  // for the covers

  assign there = comes ? req_mask[any_lane] : there_q;
  assign addr = comes ? req_short_addr[AddrBits*any_lane +: AddrBits] : addr_q;
  assign red = lsu_valid && lsu_room_i && !lsu_reduced && lsu_tag == any_tag && lsu_mask[any_lane];
  assign sum = lsu_valid && lsu_room_i && lsu_reduced && lsu_tag == any_tag && read_q &&
               lsu_addr == 48'(addr);
  assign reads = rf_valid && rf_ready_i && rf_tag == any_tag && rf_mask[any_lane];

  always_ff @(posedge clk_i) begin
    addr_q <= addr;
    there_q <= rst_ni && there && !red && !sum;
    read_q <= rst_ni && (read_q || reads) && !sum;
    accepted_q <= rst_ni && (accepted_q || (req_valid && req_ready && req_tag == any_tag));
    red_left_q <= rst_ni && red;
    sum_left_q <= rst_ni && sum;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RedOfALaneThatIsThere : assert (!red || (there && !read_q));
      ReadOfALaneThatIsThere : assert (!reads || (there && !read_q));
      BusyWhileALaneIsThere : assert (!there_q || !accepted_q || busy);
      TagsAreThoseOfRequests : assert (came_q || comes || ((!lsu_valid || lsu_tag != any_tag) &&
                                                           (!rf_valid || rf_tag != any_tag)));
      ALaneLeavesAsRed : cover (red_left_q);
      ALaneLeavesInASum : cover (sum_left_q);
    end
  end

endmodule
