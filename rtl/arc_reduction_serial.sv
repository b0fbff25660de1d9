// SPDX-License-Identifier: Apache-2.0
// Serial reduction unit: reads the lanes of one transaction from the register file, lowest first,
// sums them with one adder, or with one for each number of a word, and offers one addition for the
// whole transaction.
//
// Contract: a transaction with n lanes (n >= 1) accepted in cycle t is read in cycles t .. t+n-1
// and its result is offered in cycle t+n, when every read is granted at once. The next one is
// accepted as the result is taken: one lane a cycle, without a gap from one transaction to the next.
// The sum is the chain of additions in lane order that starts with -0.0, which is neutral; where a
// word is two numbers it is two such chains, of the lower and the upper halves. Subnormal values and
// sums of FP32 count as zero, as global RED has it; of binary16 they count.
//
// Register file: rf_data_i is the value of the last granted read, from the cycle after its grant
// until and including the cycle of the next grant. A read, once asked for, is asked for until
// granted; the first is asked for in the cycle of the acceptance. Result: held until taken; while
// one waits, nothing moves and no read is asked for. All payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_reduction_serial #(
  parameter int Format = arc_pkg::FormatF32,
  parameter int Width = arc_pkg::TagWidth  // of the tag
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // transaction to reduce
  input  logic                             txn_valid_i,
  output logic                             txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]    txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]        txn_mask_i,
  input  logic [Width-1:0]                 txn_tag_i,
  // register-file read
  output logic                             rf_valid_o,
  input  logic                             rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]        rf_mask_o,
  output logic [Width-1:0]                 rf_tag_o,
  input  logic [arc_pkg::DataWidth-1:0]    rf_data_i,
  // result: one addition of data to addr
  output logic                             result_valid_o,
  input  logic                             result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]    result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]    result_data_o,
  output logic [Width-1:0]                 result_tag_o,
  // a register holds work
  output logic                             busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int DataWidth = arc_pkg::DataWidth;

  // ------------------------------------------------------------------------------------------
  // Fetch stage: ask for the lowest lane still to read, of a transaction as soon as it is there
  // ------------------------------------------------------------------------------------------
  // What is kept and what is loaded never meet and are combined by OR, which is smaller than an
  // enable.

  logic load, grant;
  logic left_any;                        // lanes are left to read of the transaction here
  logic add_valid_q;
  logic [Lanes-1:0] mask_q, fetch_mask;  // lanes still to read
  logic [AddrWidth-1:0] addr_q;
  logic [Width-1:0] tag_q;
  logic [Lanes-1:0] fetch_lane;          // one-hot

  logic [Lanes-1:0] unused_rest;

  assign left_any = mask_q != '0;
  assign txn_ready_o = !left_any && (!add_valid_q || result_ready_i);
  assign load = txn_valid_i && txn_ready_o;
  assign fetch_mask = mask_q | (txn_mask_i & {Lanes{load}});

  arc_lane_picker u_picker (
    .mask_i   (fetch_mask),
    .any_o    (rf_valid_o),
    .one_hot_o(fetch_lane),
    .rest_o   (unused_rest)
  );

  always_comb begin
    rf_mask_o = fetch_lane;
    rf_tag_o = (tag_q & {Width{left_any}}) | (txn_tag_i & {Width{load}});
    grant = rf_valid_o && rf_ready_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else         mask_q <= fetch_mask & ~(fetch_lane & {Lanes{rf_ready_i}});
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      addr_q <= txn_addr_i;
      tag_q <= txn_tag_i;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Add stage: one granted read, whose value is now on rf_data_i; the last one if no lane is left
  // ------------------------------------------------------------------------------------------

  logic add;
  logic [DataWidth-1:0] acc_q, sum;  // sum of the lanes before this one, and with it

  // The number in a word, or the lower one of two.
  localparam int Halves = Format == arc_pkg::FormatF16x2 ? 1 : 0;
  localparam int FlushSubnormals = 1 - Halves;
  localparam int NumberWidth = Halves != 0 ? arc_pkg::HalfWidth : DataWidth;
  localparam int ExpWidth = Halves != 0 ? arc_pkg::HalfExpWidth : arc_pkg::ExpWidth;
  localparam int FracWidth = Halves != 0 ? arc_pkg::HalfFracWidth : arc_pkg::FracWidth;
  localparam logic [DataWidth-1:0] Neutral =
      Halves != 0 ? arc_pkg::NegativeZeros : arc_pkg::NegativeZero;

  arc_fp_adder #(
    .FlushSubnormals(FlushSubnormals),
    .ExpWidth       (ExpWidth),
    .FracWidth      (FracWidth)
  ) u_adder (
    .a_i  (acc_q[NumberWidth-1:0]),
    .b_i  (rf_data_i[NumberWidth-1:0]),
    .sum_o(sum[NumberWidth-1:0])
  );

  if (Halves != 0) begin : g_upper
    arc_fp_adder #(
      .FlushSubnormals(FlushSubnormals),
      .ExpWidth       (ExpWidth),
      .FracWidth      (FracWidth)
    ) u_adder (
      .a_i  (acc_q[DataWidth-1:NumberWidth]),
      .b_i  (rf_data_i[DataWidth-1:NumberWidth]),
      .sum_o(sum[DataWidth-1:NumberWidth])
    );
  end

  always_comb begin
    result_valid_o = add_valid_q && !left_any;
    result_addr_o = addr_q & {AddrWidth{result_valid_o}};
    result_data_o = sum & {DataWidth{result_valid_o}};
    result_tag_o = tag_q & {Width{result_valid_o}};
  end

  assign add = add_valid_q && left_any;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) add_valid_q <= 1'b0;
    else         add_valid_q <= grant || (result_valid_o && !result_ready_i);
  end

  always_ff @(posedge clk_i) begin
    acc_q <= (acc_q & {DataWidth{!add && !load}}) | (sum & {DataWidth{add}}) |
             (Neutral & {DataWidth{load}});
  end

  assign busy_o = left_any || add_valid_q;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(TransactionHasLanes, !txn_valid_i || txn_mask_i != '0)
  `ARC_ASSUME_NEXT(ReadDataHeldWhileAResultWaits, result_valid_o && !result_ready_i,
                   $stable(rf_data_i))
  `ARC_ASSERT_NEXT(ReadHeldUntilGranted, rf_valid_o && !rf_ready_i,
                   rf_valid_o && $stable(rf_mask_o) && $stable(rf_tag_o))
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, result_valid_o && !result_ready_i,
                   result_valid_o && $stable(result_addr_o) && $stable(result_data_o) &&
                   $stable(result_tag_o))
  `ARC_ASSERT(NoSumIsLostToTheNext, !(add && load))
  `ARC_ASSERT(NothingIsReadWhileAResultWaits, !(result_valid_o && !result_ready_i && rf_valid_o))
  `ARC_ASSERT(NoLoadOverLanesToRead, !load || mask_q == '0)
  `ARC_ASSERT(ReadPayloadZeroWithoutValid, rf_valid_o || (rf_mask_o == '0 && rf_tag_o == '0))
  `ARC_ASSERT(ResultPayloadZeroWithoutValid, result_valid_o ||
              (result_addr_o == '0 && result_data_o == '0 && result_tag_o == '0))

`ifndef SYNTHESIS
  // Conservation: lanes accepted = lanes in results taken + lanes still here. The counters wrap.
  logic [15:0] lanes_in_q, lanes_out_q;
  logic [15:0] lanes_read_q;  // of the transaction here

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lanes_in_q <= '0;
      lanes_out_q <= '0;
      lanes_read_q <= '0;
    end else begin
      if (load) lanes_in_q <= lanes_in_q + 16'($countones(txn_mask_i));
      if (load) lanes_read_q <= 16'(grant);
      else if (grant) lanes_read_q <= lanes_read_q + 16'd1;
      else if (result_valid_o && result_ready_i) lanes_read_q <= '0;
      if (result_valid_o && result_ready_i) lanes_out_q <= lanes_out_q + lanes_read_q;
    end
  end
`endif

  `ARC_ASSERT(NoLaneLostOrDoubled,
              lanes_in_q == lanes_out_q + lanes_read_q + 16'($countones(mask_q)))

endmodule
