// SPDX-License-Identifier: Apache-2.0
// Serial reduction unit: reads the lanes of one transaction from the register file, lowest first,
// sums them with one FP32 adder, and offers one addition for the whole transaction.
//
// Contract: a transaction accepted in cycle t with n lanes (n >= 1) is read in cycles t+1 .. t+n
// and its result is offered in cycle t+n+1, when every read is granted at once and results are
// taken at once. One lane a cycle, without a gap from one transaction to the next. The sum is the
// chain of FP32 additions in lane order that starts with -0.0, which is neutral.
//
// Register file: rf_data_i is the value of the last granted read, from the cycle after its grant
// until and including the cycle of the next grant. A read, once asked for, is asked for until
// granted. Result: held until taken; while one waits, nothing moves and no read is asked for. All
// payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_reduction_serial #(
  // 1: subnormal values and sums count as zero, as global RED does. 0: gradual underflow.
  parameter int FlushSubnormals = 1
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // transaction to reduce
  input  logic                             txn_valid_i,
  output logic                             txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]    txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]        txn_mask_i,
  input  logic [arc_pkg::TagWidth-1:0]     txn_tag_i,
  // register-file read
  output logic                             rf_valid_o,
  input  logic                             rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]        rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]     rf_tag_o,
  input  logic [arc_pkg::DataWidth-1:0]    rf_data_i,
  // result: one addition of data to addr
  output logic                             result_valid_o,
  input  logic                             result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]    result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]    result_data_o,
  output logic [arc_pkg::TagWidth-1:0]     result_tag_o,
  // a register holds work
  output logic                             busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int DataWidth = arc_pkg::DataWidth;

  // ------------------------------------------------------------------------------------------
  // Fetch stage: ask for the lowest lane still to read
  // ------------------------------------------------------------------------------------------

  logic add_stall;
  logic load, grant, keep;
  logic fetch_any, fetch_last;
  logic fetch_first_q;  // no lane of this transaction has been read
  logic [Lanes-1:0] mask_q;  // lanes still to read
  logic [AddrWidth-1:0] addr_q;
  logic [TagWidth-1:0] tag_q;
  logic [Lanes-1:0] fetch_lane;  // one-hot
  logic [Lanes-1:0] fetch_rest;  // the lanes after it

  arc_lane_picker u_picker (
    .mask_i   (mask_q),
    .any_o    (fetch_any),
    .last_o   (fetch_last),
    .one_hot_o(fetch_lane),
    .rest_o   (fetch_rest)
  );

  always_comb begin
    rf_valid_o = fetch_any && !add_stall;
    rf_mask_o = fetch_lane & {Lanes{rf_valid_o}};
    rf_tag_o = tag_q & {TagWidth{rf_valid_o}};
    grant = rf_valid_o && rf_ready_i;
    txn_ready_o = !fetch_any || (grant && fetch_last);
  end

  // A transaction is cleared as its last lane is granted, and a load comes then or later. What is
  // kept and what is loaded therefore never meet and are combined by OR, which is smaller than an
  // enable.
  assign load = txn_valid_i && txn_ready_o;
  assign keep = !load && !(grant && fetch_last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else         mask_q <= (mask_q & ~(rf_mask_o & {Lanes{rf_ready_i}})) |
                           (txn_mask_i & {Lanes{load}});
  end

  always_ff @(posedge clk_i) begin
    addr_q <= (addr_q & {AddrWidth{keep}}) | (txn_addr_i & {AddrWidth{load}});
    tag_q <= (tag_q & {TagWidth{keep}}) | (txn_tag_i & {TagWidth{load}});
    if (load || grant) fetch_first_q <= load;
  end

  // ------------------------------------------------------------------------------------------
  // Add stage: one granted read, whose value is now on rf_data_i
  // ------------------------------------------------------------------------------------------

  logic add_valid_q;
  logic add_last_q;  // last lane of its transaction
  logic [AddrWidth-1:0] add_addr_q;
  logic [TagWidth-1:0] add_tag_q;
  logic add, start;
  logic [DataWidth-1:0] acc_q, sum;  // sum of the lanes before this one, and with it

  arc_fp32_adder #(
    .FlushSubnormals(FlushSubnormals)
  ) u_adder (
    .a_i  (acc_q),
    .b_i  (rf_data_i),
    .sum_o(sum)
  );

  always_comb begin
    result_valid_o = add_valid_q && add_last_q;
    result_addr_o = add_addr_q & {AddrWidth{result_valid_o}};
    result_data_o = sum & {DataWidth{result_valid_o}};
    result_tag_o = add_tag_q & {TagWidth{result_valid_o}};
    add_stall = result_valid_o && !result_ready_i;
  end

  // A sum starts when its first lane is granted. Nobody needs the one before any more: nothing is
  // granted while that waits.
  assign add = add_valid_q && !add_last_q;
  assign start = grant && fetch_first_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)         add_valid_q <= 1'b0;
    else if (!add_stall) add_valid_q <= grant;
  end

  always_ff @(posedge clk_i) begin
    if (grant) begin
      add_last_q <= fetch_last;
      add_addr_q <= addr_q;
      add_tag_q <= tag_q;
    end
    acc_q <= (acc_q & {DataWidth{!add && !start}}) | (sum & {DataWidth{add}}) |
             (arc_pkg::NegativeZero & {DataWidth{start}});
  end

  assign busy_o = fetch_any || add_valid_q;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(TransactionHasLanes, !txn_valid_i || txn_mask_i != '0)
  `ARC_ASSUME_NEXT(ReadDataHeldWhileStalled, add_stall, $stable(rf_data_i))
  `ARC_ASSERT_NEXT(ReadHeldUntilGranted, rf_valid_o && !rf_ready_i,
                   rf_valid_o && $stable(rf_mask_o) && $stable(rf_tag_o))
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, result_valid_o && !result_ready_i,
                   result_valid_o && $stable(result_addr_o) && $stable(result_data_o) &&
                   $stable(result_tag_o))
  `ARC_ASSERT(NoSumIsLostToTheNext, !(add && start))
  `ARC_ASSERT(NothingIsReadWhileAResultWaits, !(add_stall && rf_valid_o))
  `ARC_ASSERT(NoLoadOverLanesToRead, !load || mask_q == '0 || (grant && fetch_rest == '0))
  `ARC_ASSERT(ReadPayloadZeroWithoutValid, rf_valid_o || (rf_mask_o == '0 && rf_tag_o == '0))
  `ARC_ASSERT(ResultPayloadZeroWithoutValid, result_valid_o ||
              (result_addr_o == '0 && result_data_o == '0 && result_tag_o == '0))

`ifndef SYNTHESIS
  // Conservation: lanes accepted = lanes in results taken + lanes still here. The counters wrap.
  logic [15:0] lanes_in_q, lanes_out_q, lanes_read;
  logic [15:0] add_lanes_q;  // lanes read of the transaction in the add stage

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lanes_in_q <= '0;
      lanes_out_q <= '0;
      add_lanes_q <= '0;
    end else begin
      if (load) lanes_in_q <= lanes_in_q + 16'($countones(txn_mask_i));
      if (grant) add_lanes_q <= fetch_first_q ? 16'd1 : add_lanes_q + 16'd1;
      if (result_valid_o && result_ready_i) lanes_out_q <= lanes_out_q + add_lanes_q;
    end
  end

  assign lanes_read = result_valid_o || (fetch_any && !fetch_first_q) ? add_lanes_q : '0;
`endif

  `ARC_ASSERT(NoLaneLostOrDoubled,
              lanes_in_q == lanes_out_q + lanes_read + 16'($countones(mask_q)))

endmodule
