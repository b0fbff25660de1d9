// SPDX-License-Identifier: Apache-2.0
// What ARC adds to one SM sub-core: coalescer, scheduler, reduction unit of one of several kinds,
// output select.
//
// Contract: every active lane of every accepted request leaves exactly once at the lsu port, either
// in the mask of a plain RED (lsu_reduced_o 0, values and addresses are still in the register file)
// or within the sum of a reduced transaction (lsu_reduced_o 1, one addition of lsu_data_o,
// lsu_mask_o 1). Requests are cut into transactions by address in the order of their lowest lanes.
// A plain RED takes a transaction, or, once two lanes of the request have been found alone on their
// addresses, all lanes that are left; lsu_addr_o is then 0. It may overtake a reduction that was
// accepted earlier. Reductions stay in order among themselves; in the pipelined unit a short one may
// overtake a long one.
//
// Greedy scheduler: what finds room in the memory queue passes on as a plain RED, the rest is reduced.
// Groups scheduler: the same, but while the memory path is congested groups of lanes are reduced, and
// lanes alone on their addresses are not. The vector unit has this one and takes the path for
// congested at all times.
//
// Vector unit: a request has req_words_i + 1 words a lane, for the words at its address and behind. A
// plain RED is of all of them. A reduced transaction leaves as so many sums, of word lsu_word_o each,
// in their order, and no other sum between them; a plain RED may pass between. The other kinds take
// one word, whatever req_words_i says; word numbers are 0 and every transaction is the last.
//
// Halves unit: as the serial one, but a word is two binary16 numbers, which are added apart.
//
// Register file, for every kind: a read that is refused is asked for again, the same lanes of the same
// operand, ReadTurn cycles later, and again until it is granted. ReadTurn is 1, the read is held, but
// for the pipelined unit: 4, and in between it asks for reads of other transactions. Nothing else keeps
// a lane from being read, so a transaction ends when each read is granted after a bounded number of
// refusals of that read. rf_data_i is the last granted read, from the cycle after its grant until and
// including the cycle of the next grant.
//
// lsu_room_i is the registered "not full" of the memory queue and must not depend on this cycle's
// outputs. A plain RED is offered only in a cycle in which it is taken; a result waits at the port
// unchanged. All payload outputs are zero while their valid is low. When busy_o and req_valid_i are
// low, a clock edge changes nothing that shows at the ports, then or later.

`include "arc_assert.svh"

module arc_subcore #(
  // reduction unit: arc_pkg::UnitSerial, UnitPipelined, UnitFused, UnitVector, UnitHalves, UnitPaired
  parameter int UnitKind = arc_pkg::UnitSerial,
  // arc_pkg::SchedulerGreedy or SchedulerGroups
  parameter int Scheduler =
      UnitKind == arc_pkg::UnitVector ? arc_pkg::SchedulerGroups : arc_pkg::SchedulerGreedy,
  // 1: subnormal values and sums count as zero, as global RED of FP32 does. 0: gradual underflow, as
  // that of halves has it; not in the paired unit.
  parameter int FlushSubnormals = UnitKind == arc_pkg::UnitHalves ? 0 : 1,
  // fused and vector unit: bits kept of a value, from the top of the largest bin down, 33 to 58
  parameter int WindowWidth = 44,
  // lanes that a register-file read delivers
  localparam int ReadLanes =
      UnitKind == arc_pkg::UnitFused || UnitKind == arc_pkg::UnitVector ? arc_pkg::Banks :
      UnitKind == arc_pkg::UnitPaired ? arc_pkg::PairedBanks : 1
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
  // upper exponent bits of all lanes of the operand read; for the fused and the vector unit
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0]  rf_bin_i,
  // a register holds work
  output logic                                         busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int WordWidth = arc_pkg::WordWidth;
  localparam int IsVector = UnitKind == arc_pkg::UnitVector ? 1 : 0;

  // ------------------------------------------------------------------------------------------
  // Coalescer
  // ------------------------------------------------------------------------------------------

  logic txn_valid, txn_ready;
  logic [AddrWidth-1:0] txn_addr;
  logic [Lanes-1:0] txn_mask;
  logic left_valid, left_ready;
  logic [Lanes-1:0] left_mask;
  logic match_busy;

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
    .busy_o      (match_busy)
  );

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
      .txn_valid_i   (txn_valid),
      .txn_mask_i    (txn_mask),
      .txn_ready_o   (txn_ready),
      .left_valid_i  (left_valid),
      .left_ready_o  (left_ready),
      .lsu_room_i    (lsu_room_i),
      .result_valid_i(result_valid),
      .congested_i   (congested),
      .red_valid_o   (red_valid),
      .reduce_valid_o(reduce_valid),
      .reduce_ready_i(reduce_ready)
    );
  end else begin : g_greedy
    arc_scheduler u_scheduler (
      .txn_valid_i   (txn_valid),
      .txn_ready_o   (txn_ready),
      .left_valid_i  (left_valid),
      .left_ready_o  (left_ready),
      .lsu_room_i    (lsu_room_i),
      .result_valid_i(result_valid),
      .red_valid_o   (red_valid),
      .reduce_valid_o(reduce_valid),
      .reduce_ready_i(reduce_ready)
    );
  end

  assign red_mask = left_valid ? left_mask : txn_mask;

  // ------------------------------------------------------------------------------------------
  // Reduction unit
  // ------------------------------------------------------------------------------------------

  logic reduction_busy;
  logic [AddrWidth-1:0] result_addr;
  logic [TagWidth-1:0] result_tag;

  if (UnitKind == arc_pkg::UnitFused) begin : g_fused
    arc_reduction_fused #(
      .FlushSubnormals(FlushSubnormals),
      .WindowWidth    (WindowWidth)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (reduce_valid),
      .txn_ready_o   (reduce_ready),
      .txn_addr_i    (txn_addr),
      .txn_mask_i    (txn_mask),
      .txn_tag_i     (req_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .rf_bin_i      (rf_bin_i),
      .result_valid_o(result_valid),
      .result_ready_i(lsu_room_i),
      .result_addr_o (result_addr),
      .result_data_o (lsu_data_o),
      .result_tag_o  (result_tag),
      .busy_o        (reduction_busy)
    );
  end else if (UnitKind == arc_pkg::UnitPipelined) begin : g_pipelined
    arc_reduction_pipelined #(
      .FlushSubnormals(FlushSubnormals)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (reduce_valid),
      .txn_ready_o   (reduce_ready),
      .txn_addr_i    (txn_addr),
      .txn_mask_i    (txn_mask),
      .txn_tag_i     (req_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .result_valid_o(result_valid),
      .result_ready_i(lsu_room_i),
      .result_addr_o (result_addr),
      .result_data_o (lsu_data_o),
      .result_tag_o  (result_tag),
      .busy_o        (reduction_busy)
    );
  end else if (UnitKind == arc_pkg::UnitVector) begin : g_vector
    logic word_valid, word_ready, word_last, result_last;
    logic [AddrWidth-1:0] word_addr;
    logic [Lanes-1:0] word_mask;
    logic [TagWidth-1:0] word_tag;
    logic [WordWidth-1:0] word;
    logic sums_busy, unused_rf_last;

    arc_word_sequencer u_sequencer (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .txn_valid_i (reduce_valid),
      .txn_ready_o (reduce_ready),
      .txn_addr_i  (txn_addr),
      .txn_mask_i  (txn_mask),
      .txn_tag_i   (req_tag_i),
      .txn_words_i (req_words_i),
      .word_valid_o(word_valid),
      .word_ready_i(word_ready),
      .word_addr_o (word_addr),
      .word_mask_o (word_mask),
      .word_tag_o  (word_tag),
      .word_o      (word),
      .word_last_o (word_last)
    );

    arc_reduction_fused #(
      .FlushSubnormals(FlushSubnormals),
      .WindowWidth    (WindowWidth),
      .Width          (1 + WordWidth + TagWidth)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (word_valid),
      .txn_ready_o   (word_ready),
      .txn_addr_i    (word_addr),
      .txn_mask_i    (word_mask),
      .txn_tag_i     ({word_last, word, word_tag}),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      ({unused_rf_last, rf_word_o, rf_tag_o}),
      .rf_data_i     (rf_data_i),
      .rf_bin_i      (rf_bin_i),
      .result_valid_o(result_valid),
      .result_ready_i(lsu_room_i),
      .result_addr_o (result_addr),
      .result_data_o (lsu_data_o),
      .result_tag_o  ({result_last, lsu_word_o, result_tag}),
      .busy_o        (sums_busy)
    );

    assign lsu_last_o = result_last || red_valid;
    assign reduction_busy = word_valid || sums_busy;
  end else if (UnitKind == arc_pkg::UnitPaired) begin : g_paired
    arc_reduction_paired u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (reduce_valid),
      .txn_ready_o   (reduce_ready),
      .txn_addr_i    (txn_addr),
      .txn_mask_i    (txn_mask),
      .txn_tag_i     (req_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .result_valid_o(result_valid),
      .result_ready_i(lsu_room_i),
      .result_addr_o (result_addr),
      .result_data_o (lsu_data_o),
      .result_tag_o  (result_tag),
      .busy_o        (reduction_busy)
    );
  end else begin : g_serial
    arc_reduction_serial #(
      .FlushSubnormals(FlushSubnormals),
      .Halves         (UnitKind == arc_pkg::UnitHalves ? 1 : 0)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (reduce_valid),
      .txn_ready_o   (reduce_ready),
      .txn_addr_i    (txn_addr),
      .txn_mask_i    (txn_mask),
      .txn_tag_i     (req_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .result_valid_o(result_valid),
      .result_ready_i(lsu_room_i),
      .result_addr_o (result_addr),
      .result_data_o (lsu_data_o),
      .result_tag_o  (result_tag),
      .busy_o        (reduction_busy)
    );
  end

  if (ReadLanes != arc_pkg::Banks) begin : g_no_bins
    logic unused_rf_bin;
    assign unused_rf_bin = ^rf_bin_i;
  end

  if (IsVector == 0) begin : g_one_word
    logic [WordWidth-1:0] unused_words;
    assign unused_words = req_words_i;
    assign rf_word_o = '0;
    assign lsu_word_o = '0;
    assign lsu_last_o = sends;
  end

  // ------------------------------------------------------------------------------------------
  // Output select: never both at once, and who is not selected drives zero
  // ------------------------------------------------------------------------------------------

  assign sends = result_valid || red_valid;

  always_comb begin
    lsu_valid_o = sends;
    lsu_reduced_o = result_valid;
    lsu_addr_o = result_addr | (txn_addr & {AddrWidth{red_valid && !left_valid}});
    lsu_tag_o = result_tag | (req_tag_i & {TagWidth{red_valid}});
    lsu_mask_o = red_mask & {Lanes{red_valid}};
    lsu_mask_o[0] = lsu_mask_o[0] | result_valid;
  end

  assign busy_o = match_busy || reduction_busy;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, lsu_valid_o && !lsu_room_i,
                   lsu_valid_o && lsu_reduced_o && $stable(lsu_addr_o) && $stable(lsu_mask_o) &&
                   $stable(lsu_data_o) && $stable(lsu_tag_o) && $stable(lsu_word_o) &&
                   $stable(lsu_last_o))
  `ARC_ASSERT(OneSourceAtATime, !(result_valid && red_valid))
  `ARC_ASSERT(RedOnlyWhenTaken, !lsu_valid_o || lsu_reduced_o || lsu_room_i)
  `ARC_ASSERT(RedHasLanesAndNoData, !red_valid || (lsu_mask_o != '0 && lsu_data_o == '0))
  `ARC_ASSERT(ResultIsOneAddition, !lsu_reduced_o || lsu_mask_o == arc_pkg::Lanes'(1))
  `ARC_ASSERT(PayloadZeroWithoutValid, lsu_valid_o ||
              (lsu_addr_o == '0 && lsu_mask_o == '0 && !lsu_reduced_o && lsu_data_o == '0 &&
               lsu_tag_o == '0 && lsu_word_o == '0 && !lsu_last_o))
  `ARC_ASSERT(RedIsOfAllWords, !red_valid || (lsu_word_o == '0 && lsu_last_o))

`ifndef SYNTHESIS
  // Conservation: when a request is accepted, all its active lanes have gone one of the two ways.
  logic [5:0] sent_q, sent_now;  // lanes of the held request sent before, and in this cycle

  always_comb begin
    sent_now = '0;
    if (red_valid && lsu_room_i) sent_now = 6'($countones(red_mask));
    if (reduce_valid && reduce_ready) sent_now = 6'($countones(txn_mask));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                         sent_q <= '0;
    else if (req_valid_i && req_ready_o) sent_q <= '0;
    else                                 sent_q <= sent_q + sent_now;
  end
`endif

  `ARC_ASSERT(NoLaneLostOrDoubled, !(req_valid_i && req_ready_o) ||
              sent_q + sent_now == 6'($countones(req_mask_i)))

`ifndef SYNTHESIS
  localparam int ReadTurn = UnitKind == arc_pkg::UnitPipelined ? 4 : 1;
  localparam int ReadBits = 1 + Lanes + TagWidth + WordWidth;
  logic [ReadBits-1:0] read, refused;              // of this cycle, of ReadTurn cycles ago
  logic [ReadTurn*ReadBits-1:0] refused_q;         // of the last ones, 0 where none was refused

  assign read = {rf_valid_o, rf_mask_o, rf_tag_o, rf_word_o};
  assign refused = refused_q[(ReadTurn-1)*ReadBits +: ReadBits];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) refused_q <= '0;
    else begin
      refused_q <= refused_q << ReadBits;
      refused_q[ReadBits-1:0] <= read & {ReadBits{!rf_ready_i}};
    end
  end
`endif

  `ARC_ASSERT(RefusedReadComesAgain, refused == '0 || read == refused)
  // Mask and addresses are watched where they are used, in the coalescer.
  `ARC_ASSUME_NEXT(TagHeldUntilReady, req_valid_i && !req_ready_o,
                   $stable(req_tag_i) && (IsVector == 0 || $stable(req_words_i)))

  // Icarus has no messages at elaboration.
`ifndef SYNTHESIS
`ifndef __ICARUS__
  if (UnitKind < arc_pkg::UnitSerial || UnitKind > arc_pkg::UnitPaired) begin : g_no_such_kind
    $error("UnitKind %0d: there are 0 serial, 1 pipelined, 2 fused, 3 vector, 4 halves and 5 paired",
           UnitKind);
  end
  if (UnitKind == arc_pkg::UnitPaired && FlushSubnormals == 0) begin : g_gradual_pairs
    $error("UnitKind 5, paired, has no gradual underflow");
  end
  if (Scheduler < arc_pkg::SchedulerGreedy || Scheduler > arc_pkg::SchedulerGroups) begin : g_no_such_rule
    $error("Scheduler %0d: there are 0 greedy and 1 groups", Scheduler);
  end
  if (IsVector != 0 && Scheduler == arc_pkg::SchedulerGreedy) begin : g_greedy_vector
    $error("UnitKind 3, vector, has no greedy scheduler");
  end
`endif
`endif

endmodule
