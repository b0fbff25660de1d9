// SPDX-License-Identifier: Apache-2.0
// The ARC unit behind a coalescer, as one SM sub-core has it.
//
// Contract: every active lane of every accepted request leaves exactly once at the lsu port, either
// in the mask of a plain RED or within the sum of a reduced transaction; see arc_unit, which says what
// leaves how, and the coalescer, which cuts requests into transactions by address: arc_addr_match at
// once, arc_addr_match_staged in stages. A request is held by the requester until it is accepted.

`include "arc_assert.svh"

module arc_subcore #(
  // as of arc_unit
  parameter int Datapath = arc_pkg::DatapathSerial,
  parameter int Format = arc_pkg::FormatF32,
  parameter int MaxWords = 1,
  parameter int Scheduler = MaxWords > 1 ? arc_pkg::SchedulerGroups : arc_pkg::SchedulerGreedy,
  // 0 arc_addr_match, 1 arc_addr_match_staged
  parameter int Coalescer = 0,
  // lanes that a register-file read delivers
  localparam int ReadLanes = 1 << Datapath
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  // atomred request: lane l's byte address in [AddrWidth*l +: AddrWidth]
  input  logic                                         req_valid_i,
  output logic                                         req_ready_o,
  input  logic [arc_pkg::Lanes-1:0]                    req_mask_i,
  input  logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  input  logic [arc_pkg::TagWidth-1:0]                 req_tag_i,
  input  logic [arc_pkg::WordWidth-1:0]                req_words_i,  // less one
  // transaction to the memory queue
  output logic                                         lsu_valid_o,
  input  logic                                         lsu_room_i,
  output logic [arc_pkg::AddrWidth-1:0]                lsu_addr_o,
  output logic [arc_pkg::Lanes-1:0]                    lsu_mask_o,
  output logic                                         lsu_reduced_o,
  output logic [arc_pkg::DataWidth-1:0]                lsu_data_o,
  output logic [arc_pkg::TagWidth-1:0]                 lsu_tag_o,
  output logic [arc_pkg::WordWidth-1:0]                lsu_word_o,  // of a sum
  output logic                                         lsu_last_o,  // not a sum with others to follow
  // register-file read; the data of a granted read is there from the next cycle on
  output logic                                         rf_valid_o,
  input  logic                                         rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                    rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]                 rf_tag_o,
  output logic [arc_pkg::WordWidth-1:0]                rf_word_o,
  input  logic [ReadLanes*arc_pkg::DataWidth-1:0]      rf_data_i,
  // upper exponent bits of all lanes of the operand read; for the fused datapath
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0]  rf_bin_i,
  // a register holds work
  output logic                                         busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;

  // ------------------------------------------------------------------------------------------
  // Coalescer
  // ------------------------------------------------------------------------------------------

  logic txn_valid, txn_ready;
  logic [AddrWidth-1:0] txn_addr;
  logic [Lanes-1:0] txn_mask;
  logic left_valid, left_ready;
  logic [Lanes-1:0] left_mask;
  logic left_last;
  logic match_busy;

  if (Coalescer == 1) begin : g_staged
    arc_addr_match_staged u_addr_match (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .req_valid_i (req_valid_i),
      .req_ready_o (req_ready_o),
      .req_mask_i  (req_mask_i),
      .req_addr_i  (req_addr_i),
      .txn_valid_o (txn_valid),
      .txn_ready_i (txn_ready),
      .txn_addr_o  (txn_addr),
      .txn_mask_o  (txn_mask),
      .left_valid_o(left_valid),
      .left_ready_i(left_ready),
      .left_mask_o (left_mask),
      .left_last_o (left_last),
      .busy_o      (match_busy)
    );
  end else begin : g_direct
    arc_addr_match u_addr_match (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .req_valid_i (req_valid_i),
      .req_ready_o (req_ready_o),
      .req_mask_i  (req_mask_i),
      .req_addr_i  (req_addr_i),
      .txn_valid_o (txn_valid),
      .txn_ready_i (txn_ready),
      .txn_addr_o  (txn_addr),
      .txn_mask_o  (txn_mask),
      .left_valid_o(left_valid),
      .left_ready_i(left_ready),
      .left_mask_o (left_mask),
      .left_last_o (left_last),
      .busy_o      (match_busy)
    );
  end

  // ------------------------------------------------------------------------------------------
  // Scheduler, reduction unit, output select
  // ------------------------------------------------------------------------------------------

  logic unit_busy;

  arc_unit #(
    .Datapath (Datapath),
    .Format   (Format),
    .MaxWords (MaxWords),
    .Scheduler(Scheduler)
  ) u_unit (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .req_valid_i  (req_valid_i),
    .req_tag_i    (req_tag_i),
    .req_words_i  (req_words_i),
    .txn_valid_i  (txn_valid),
    .txn_ready_o  (txn_ready),
    .txn_addr_i   (txn_addr),
    .txn_mask_i   (txn_mask),
    .left_valid_i (left_valid),
    .left_ready_o (left_ready),
    .left_mask_i  (left_mask),
    .left_last_i  (left_last),
    .lsu_valid_o  (lsu_valid_o),
    .lsu_room_i   (lsu_room_i),
    .lsu_addr_o   (lsu_addr_o),
    .lsu_mask_o   (lsu_mask_o),
    .lsu_reduced_o(lsu_reduced_o),
    .lsu_data_o   (lsu_data_o),
    .lsu_tag_o    (lsu_tag_o),
    .lsu_word_o   (lsu_word_o),
    .lsu_last_o   (lsu_last_o),
    .rf_valid_o   (rf_valid_o),
    .rf_ready_i   (rf_ready_i),
    .rf_mask_o    (rf_mask_o),
    .rf_tag_o     (rf_tag_o),
    .rf_word_o    (rf_word_o),
    .rf_data_i    (rf_data_i),
    .rf_bin_i     (rf_bin_i),
    .busy_o       (unit_busy)
  );

  assign busy_o = match_busy || unit_busy;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

`ifndef SYNTHESIS
  // Conservation: when a request is accepted, all its active lanes have gone one of the two ways.
  logic red;
  logic [5:0] sent_q, sent_now;  // lanes of the held request sent before, and in this cycle

  always_comb begin
    red = lsu_valid_o && !lsu_reduced_o;
    sent_now = '0;
    if (red)                         sent_now = 6'($countones(lsu_mask_o));
    else if (txn_valid && txn_ready) sent_now = 6'($countones(txn_mask));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                         sent_q <= '0;
    else if (req_valid_i && req_ready_o) sent_q <= '0;
    else                                 sent_q <= sent_q + sent_now;
  end
`endif

  `ARC_ASSERT(NoLaneLostOrDoubled, !(req_valid_i && req_ready_o) ||
              sent_q + sent_now == 6'($countones(req_mask_i)))
  // Mask and addresses are watched where they are used, in the coalescer.
  `ARC_ASSUME_NEXT(TagHeldUntilReady, req_valid_i && !req_ready_o,
                   $stable(req_tag_i) && (MaxWords == 1 || $stable(req_words_i)))

  `ARC_REFUSE(Coalescer_is_0_direct_or_1_staged,
              Coalescer < 0 || Coalescer > 1)

endmodule
