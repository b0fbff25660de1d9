// SPDX-License-Identifier: Apache-2.0
// What ARC adds to one SM sub-core: scheduler, reduction unit, output select. The coalescer in front
// of it, arc_addr_match or that of a GPU, groups the lanes of a request.
//
// Contract: the coalescer offers a transaction, lanes of one address (txn_*), and, once it has found
// two lanes of the request that are not worth a sum, all lanes that are left (left_*), the
// transaction's among them. At most one of the two is taken in a cycle. What is taken leaves at the
// lsu port: in the mask of a plain RED (lsu_reduced_o 0, values and addresses are still in the
// register file), or within the sum of a reduced transaction (lsu_reduced_o 1, one addition of
// lsu_data_o, lsu_mask_o 1). A plain RED takes all lanes that are left if they are offered, lsu_addr_o
// is then 0, else a transaction. It may overtake a reduction that was accepted earlier. Reductions
// stay in order. req_* is of the request that is offered, held until its last lanes are taken.
//
// Greedy scheduler: what finds room in the memory queue passes on as a plain RED, the rest is reduced.
// Groups scheduler: the same, but while the memory path is congested groups of lanes are reduced, and
// lanes alone on their addresses are not. With several words it takes the path for congested at all
// times.
//
// MaxWords above 1: a request has req_words_i + 1 words a lane, at most MaxWords, for the words at its
// address and behind. A plain RED is of all of them. A reduced transaction leaves as so many sums, of
// word lsu_word_o each, in their order, and no other sum between them; a plain RED may pass between.
// With MaxWords 1 a request has one word, whatever req_words_i says; word numbers are 0 and every
// transaction is the last.
//
// Register file: a read that is refused is held until it is granted. Nothing else keeps a lane from
// being read, so a transaction ends when each read is granted after a bounded number of refusals.
// rf_data_i is the last granted read, from the cycle after its grant until and including the cycle of
// the next grant.
//
// lsu_room_i is the registered "not full" of the memory queue and must not depend on this cycle's
// outputs. A plain RED is offered only in a cycle in which it is taken; a result waits at the port
// unchanged. All payload outputs are zero while their valid is low. When busy_o and req_valid_i are
// low, a clock edge changes nothing that shows at the ports, then or later.

`include "arc_assert.svh"

module arc_unit #(
  // arc_pkg::DatapathSerial, DatapathPaired, DatapathFused
  parameter int Datapath = arc_pkg::DatapathSerial,
  // arc_pkg::FormatF32, FormatF16x2
  parameter int Format = arc_pkg::FormatF32,
  // words of a lane that a request has at most, 1 to 16
  parameter int MaxWords = 1,
  // arc_pkg::SchedulerGreedy, SchedulerGroups
  parameter int Scheduler = MaxWords > 1 ? arc_pkg::SchedulerGroups : arc_pkg::SchedulerGreedy,
  // lanes that a register-file read delivers
  localparam int ReadLanes = 1 << Datapath
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // the request in front of the coalescer
  input  logic                                        req_valid_i,
  input  logic [arc_pkg::TagWidth-1:0]                req_tag_i,
  input  logic [arc_pkg::WordWidth-1:0]               req_words_i,  // less one
  // from the coalescer: a transaction, all lanes left
  input  logic                                        txn_valid_i,
  output logic                                        txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]               txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]                   txn_mask_i,
  input  logic                                        left_valid_i,
  output logic                                        left_ready_o,
  input  logic [arc_pkg::Lanes-1:0]                   left_mask_i,
  input  logic                                        left_last_i,  // no group is to follow
  // transaction to the memory queue
  output logic                                        lsu_valid_o,
  input  logic                                        lsu_room_i,
  output logic [arc_pkg::AddrWidth-1:0]               lsu_addr_o,
  output logic [arc_pkg::Lanes-1:0]                   lsu_mask_o,
  output logic                                        lsu_reduced_o,
  output logic [arc_pkg::DataWidth-1:0]               lsu_data_o,
  output logic [arc_pkg::TagWidth-1:0]                lsu_tag_o,
  output logic [arc_pkg::WordWidth-1:0]               lsu_word_o,  // of a sum
  output logic                                        lsu_last_o,  // not a sum with others to follow
  // register-file read; the data of a granted read is there from the next cycle on
  output logic                                        rf_valid_o,
  input  logic                                        rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                   rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]                rf_tag_o,
  output logic [arc_pkg::WordWidth-1:0]               rf_word_o,
  input  logic [ReadLanes*arc_pkg::DataWidth-1:0]     rf_data_i,
  // upper exponent bits of all lanes of the operand read; for the fused datapath
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] rf_bin_i,
  // a register holds work
  output logic                                        busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int WordWidth = arc_pkg::WordWidth;
  localparam int IsVector = MaxWords > 1 ? 1 : 0;

  // ------------------------------------------------------------------------------------------
  // Scheduler
  // ------------------------------------------------------------------------------------------

  logic red_valid;
  logic reduce_valid, reduce_ready;
  logic result_valid, sends;
  logic [Lanes-1:0] red_mask;

  if (Scheduler == arc_pkg::SchedulerGroups) begin : g_groups
    logic congested;

    if (IsVector != 0) begin : g_always
      logic unused_req_valid;
      assign unused_req_valid = req_valid_i;
      assign congested = 1'b1;
    end else begin : g_watch
      arc_congestion u_congestion (
        .clk_i      (clk_i),
        .rst_ni     (rst_ni),
        .req_valid_i(req_valid_i),
        .lsu_room_i (lsu_room_i),
        .taken_i    (reduce_valid && reduce_ready),
        .congested_o(congested)
      );
    end

    arc_scheduler_groups #(
      .ByRequest(IsVector)
    ) u_scheduler (
      .txn_valid_i   (txn_valid_i),
      .txn_mask_i    (txn_mask_i),
      .txn_ready_o   (txn_ready_o),
      .left_valid_i  (left_valid_i),
      .left_last_i   (left_last_i),
      .left_ready_o  (left_ready_o),
      .lsu_room_i    (lsu_room_i),
      .result_valid_i(result_valid),
      .congested_i   (congested),
      .red_valid_o   (red_valid),
      .reduce_valid_o(reduce_valid),
      .reduce_ready_i(reduce_ready)
    );
  end else begin : g_greedy
    logic unused_req_valid, unused_left_last;
    assign unused_req_valid = req_valid_i;
    assign unused_left_last = left_last_i;

    arc_scheduler u_scheduler (
      .txn_valid_i   (txn_valid_i),
      .txn_ready_o   (txn_ready_o),
      .left_valid_i  (left_valid_i),
      .left_ready_o  (left_ready_o),
      .lsu_room_i    (lsu_room_i),
      .result_valid_i(result_valid),
      .red_valid_o   (red_valid),
      .reduce_valid_o(reduce_valid),
      .reduce_ready_i(reduce_ready)
    );
  end

  assign red_mask = left_valid_i ? left_mask_i : txn_mask_i;

  // ------------------------------------------------------------------------------------------
  // Words of a transaction, and the reduction unit
  // ------------------------------------------------------------------------------------------
  // The number of a word, and whether it is the last one, travel in front of the tag.

  localparam int WordBits = IsVector != 0 ? $clog2(MaxWords) : 0;
  localparam int Width = IsVector + WordBits + TagWidth;

  logic word_valid, word_ready;
  logic [AddrWidth-1:0] word_addr, result_addr;
  logic [Lanes-1:0] word_mask;
  logic [Width-1:0] word_tag, read_tag, sum_tag;
  logic reduction_busy, sums_busy;

  if (IsVector != 0) begin : g_words
    arc_word_sequencer #(
      .MaxWords(MaxWords)
    ) u_sequencer (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .txn_valid_i (reduce_valid),
      .txn_ready_o (reduce_ready),
      .txn_addr_i  (txn_addr_i),
      .txn_mask_i  (txn_mask_i),
      .txn_tag_i   (req_tag_i),
      .txn_words_i (req_words_i[WordBits-1:0]),
      .word_valid_o(word_valid),
      .word_ready_i(word_ready),
      .word_addr_o (word_addr),
      .word_mask_o (word_mask),
      .word_tag_o  (word_tag[TagWidth-1:0]),
      .word_o      (word_tag[TagWidth +: WordBits]),
      .word_last_o (word_tag[Width-1])
    );

    assign rf_word_o = WordWidth'(read_tag[TagWidth +: WordBits]);
    assign lsu_word_o = WordWidth'(sum_tag[TagWidth +: WordBits]);
    assign lsu_last_o = sum_tag[Width-1] || red_valid;
    assign reduction_busy = word_valid || sums_busy;

    logic unused_read_last;
    logic [WordWidth-1:0] unused_words;
    assign unused_read_last = read_tag[Width-1];
    assign unused_words = req_words_i;
    `ARC_ASSUME(NoMoreWordsThanThereMayBe, !req_valid_i || {1'b0, req_words_i} < (WordWidth+1)'(MaxWords))
  end else begin : g_one_word
    assign word_valid = reduce_valid;
    assign reduce_ready = word_ready;
    assign word_addr = txn_addr_i;
    assign word_mask = txn_mask_i;
    assign word_tag = req_tag_i;
    assign rf_word_o = '0;
    assign lsu_word_o = '0;
    assign lsu_last_o = sends;
    assign reduction_busy = sums_busy;

    logic [WordWidth-1:0] unused_words;
    assign unused_words = req_words_i;
  end

  assign rf_tag_o = read_tag[TagWidth-1:0];

  arc_reduction #(
    .Datapath(Datapath),
    .Format  (Format),
    .Width   (Width)
  ) u_reduction (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .txn_valid_i   (word_valid),
    .txn_ready_o   (word_ready),
    .txn_addr_i    (word_addr),
    .txn_mask_i    (word_mask),
    .txn_tag_i     (word_tag),
    .rf_valid_o    (rf_valid_o),
    .rf_ready_i    (rf_ready_i),
    .rf_mask_o     (rf_mask_o),
    .rf_tag_o      (read_tag),
    .rf_data_i     (rf_data_i),
    .rf_bin_i      (rf_bin_i),
    .result_valid_o(result_valid),
    .result_ready_i(lsu_room_i),
    .result_addr_o (result_addr),
    .result_data_o (lsu_data_o),
    .result_tag_o  (sum_tag),
    .busy_o        (sums_busy)
  );

  // ------------------------------------------------------------------------------------------
  // Output select: never both at once, and who is not selected drives zero
  // ------------------------------------------------------------------------------------------

  assign sends = result_valid || red_valid;

  always_comb begin
    lsu_valid_o = sends;
    lsu_reduced_o = result_valid;
    lsu_addr_o = result_addr | (txn_addr_i & {AddrWidth{red_valid && !left_valid_i}});
    lsu_tag_o = sum_tag[TagWidth-1:0] | (req_tag_i & {TagWidth{red_valid}});
    lsu_mask_o = red_mask & {Lanes{red_valid}};
    lsu_mask_o[0] = lsu_mask_o[0] | result_valid;
  end

  assign busy_o = reduction_busy;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(OfferedIsOfARequest, req_valid_i || !(txn_valid_i || left_valid_i))
  `ARC_ASSUME_NEXT(OfferedUntilTaken,
                   txn_valid_i && !txn_ready_o && !(left_valid_i && left_ready_o),
                   txn_valid_i && $stable(txn_addr_i) && $stable(txn_mask_i) && $stable(req_tag_i))
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, lsu_valid_o && !lsu_room_i,
                   lsu_valid_o && lsu_reduced_o && $stable(lsu_addr_o) && $stable(lsu_mask_o) &&
                   $stable(lsu_data_o) && $stable(lsu_tag_o) && $stable(lsu_word_o) &&
                   $stable(lsu_last_o))
  `ARC_ASSERT_NEXT(RefusedReadIsHeld, rf_valid_o && !rf_ready_i,
                   rf_valid_o && $stable(rf_mask_o) && $stable(rf_tag_o) && $stable(rf_word_o))
  `ARC_ASSERT(OneSourceAtATime, !(result_valid && red_valid))
  `ARC_ASSERT(OneOfTheTwoIsTaken, !(txn_valid_i && txn_ready_o && left_valid_i && left_ready_o))
  `ARC_ASSERT(RedOnlyWhenTaken, !lsu_valid_o || lsu_reduced_o || lsu_room_i)
  `ARC_ASSERT(RedHasLanesAndNoData, !red_valid || (lsu_mask_o != '0 && lsu_data_o == '0))
  `ARC_ASSERT(ResultIsOneAddition, !lsu_reduced_o || lsu_mask_o == arc_pkg::Lanes'(1))
  `ARC_ASSERT(PayloadZeroWithoutValid, lsu_valid_o ||
              (lsu_addr_o == '0 && lsu_mask_o == '0 && !lsu_reduced_o && lsu_data_o == '0 &&
               lsu_tag_o == '0 && lsu_word_o == '0 && !lsu_last_o))
  `ARC_ASSERT(RedIsOfAllWords, !red_valid || (lsu_word_o == '0 && lsu_last_o))

  `ARC_REFUSE(MaxWords_is_1_to_16, MaxWords < 1 || MaxWords > arc_pkg::MostWords)
  `ARC_REFUSE(Scheduler_is_0_greedy_or_1_groups,
              Scheduler < arc_pkg::SchedulerGreedy || Scheduler > arc_pkg::SchedulerGroups)
  `ARC_REFUSE(Scheduler_greedy_takes_one_word,
              MaxWords > 1 && Scheduler == arc_pkg::SchedulerGreedy)

endmodule
