// SPDX-License-Identifier: Apache-2.0
// Pipelined reduction unit: four transactions take turns in an FP32 adder of four stages. Each is
// summed lane by lane, lowest first, to the bit as the serial unit does it.
//
// Contract: one lane is read in every cycle, and a transaction that is alone has every fourth one:
// accepted in cycle t with n lanes (n >= 1), it is read in cycles t+1, t+5 .. t+4n-3 and its result
// is offered in cycle t+4n+1, when every read is granted at once and results are taken at once.
// Transactions do not wait for each other, so a short one may overtake a long one. The sum is the
// chain of FP32 additions in lane order that starts with -0.0, which is neutral.
//
// Register file: as arc_subcore says; a read comes again every four cycles until it is granted, and
// rf_data_i is looked at in the cycle after a grant alone. Result: held until taken; while one waits,
// reads go on. All payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_reduction_pipelined #(
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
  // The barrel: four places, and in every cycle each transaction moves on to the next
  // ------------------------------------------------------------------------------------------
  //
  //     read --> add --> align --> last --+--> result
  //       ^                               |
  //       +-- txn or once more <----------+
  //
  // Its sum moves beside it through the stages of the adder: a value read in place `read` joins the
  // sum in place `add`, and the new sum leaves the adder in place `read`.

  logic read_valid_q, add_valid_q, align_valid_q, last_valid_q;
  logic [Lanes-1:0] read_mask_q, add_mask_q, align_mask_q, last_mask_q;  // lanes still to read
  logic [AddrWidth-1:0] read_addr_q, add_addr_q, align_addr_q, last_addr_q;
  logic [TagWidth-1:0] read_tag_q, add_tag_q, align_tag_q, last_tag_q;

  // ------------------------------------------------------------------------------------------
  // Read: ask for the lowest lane still to read
  // ------------------------------------------------------------------------------------------

  logic grant;
  logic read_any_q;    // holds a transaction with lanes to read
  logic read_first_q;  // holds one that came with the last edge
  logic [Lanes-1:0] read_lane, read_rest;  // one-hot, the others
  logic unused_any;

  arc_lane_picker u_picker (
    .mask_i   (read_mask_q),
    .any_o    (unused_any),
    .one_hot_o(read_lane),
    .rest_o   (read_rest)
  );

  always_comb begin
    rf_valid_o = read_any_q;
    rf_mask_o = read_lane & {Lanes{read_any_q}};
    rf_tag_o = read_tag_q & {TagWidth{read_any_q}};
    grant = read_any_q && rf_ready_i;
  end

  // ------------------------------------------------------------------------------------------
  // Add: the value of the lane that was read, or nothing, joins the sum
  // ------------------------------------------------------------------------------------------
  // Nothing is -0.0. When subnormals flush, the fraction of a zero does not count and may stay.

  localparam int Kept = FlushSubnormals != 0 ? arc_pkg::FracWidth : 0;
  logic add_read_q;  // a lane was read
  logic [DataWidth-1:0] sum, sum_d, sum_q, value;

  always_comb begin
    value = rf_data_i;
    sum_d = sum;
    if (!add_read_q) value[DataWidth-1:Kept] = arc_pkg::NegativeZero[DataWidth-1:Kept];
    if (read_first_q) sum_d[DataWidth-1:Kept] = arc_pkg::NegativeZero[DataWidth-1:Kept];
  end

  arc_fp_adder #(
    .FlushSubnormals(FlushSubnormals),
    .Pipelined      (1)
  ) u_adder (
    .clk_i(clk_i),
    .a_i  (sum_q),
    .b_i  (value),
    .sum_o(sum)
  );

  // ------------------------------------------------------------------------------------------
  // Last: a transaction without lanes leaves as soon as the result port has room
  // ------------------------------------------------------------------------------------------
  // Its sum leaves the adder in the next cycle, and with it the result is offered. Until it has
  // left, the sum goes round with it and nothing is added.

  logic load, leave, stay;
  logic last_empty_q;         // no lane to read
  logic fresh_q, waiting_q;   // result whose sum leaves the adder now, or is kept
  logic [AddrWidth-1:0] result_addr_q;
  logic [DataWidth-1:0] result_data_q;
  logic [TagWidth-1:0] result_tag_q;

  always_comb begin
    result_valid_o = fresh_q || waiting_q;
    result_addr_o = result_addr_q & {AddrWidth{result_valid_o}};
    result_data_o = (sum & {DataWidth{fresh_q}}) | (result_data_q & {DataWidth{waiting_q}});
    result_tag_o = result_tag_q & {TagWidth{result_valid_o}};
  end

  assign stay = result_valid_o && !result_ready_i;
  assign leave = last_valid_q && last_empty_q && !stay;
  assign txn_ready_o = !last_valid_q || leave;
  assign load = txn_valid_i && txn_ready_o;

  // ------------------------------------------------------------------------------------------
  // Registers
  // ------------------------------------------------------------------------------------------
  // A place without a valid transaction holds anything, and its sum is anything.

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_valid_q <= 1'b0;
      read_any_q <= 1'b0;
      add_valid_q <= 1'b0;
      align_valid_q <= 1'b0;
      last_valid_q <= 1'b0;
      fresh_q <= 1'b0;
      waiting_q <= 1'b0;
    end else begin
      read_valid_q <= load || (last_valid_q && !leave);
      read_any_q <= load || (last_valid_q && !last_empty_q);
      add_valid_q <= read_valid_q;
      align_valid_q <= add_valid_q;
      last_valid_q <= align_valid_q;
      fresh_q <= leave;
      waiting_q <= stay;
    end
  end

  always_ff @(posedge clk_i) begin
    read_mask_q <= txn_ready_o ? txn_mask_i : last_mask_q;
    read_addr_q <= txn_ready_o ? txn_addr_i : last_addr_q;
    read_tag_q <= txn_ready_o ? txn_tag_i : last_tag_q;
    read_first_q <= txn_ready_o;
    add_mask_q <= grant ? read_rest : read_mask_q;
    add_addr_q <= read_addr_q;
    add_tag_q <= read_tag_q;
    add_read_q <= grant;
    sum_q <= sum_d;
    align_mask_q <= add_mask_q;
    align_addr_q <= add_addr_q;
    align_tag_q <= add_tag_q;
    last_mask_q <= align_mask_q;
    last_empty_q <= align_mask_q == '0;
    last_addr_q <= align_addr_q;
    last_tag_q <= align_tag_q;
    result_data_q <= result_data_o;
    if (!stay) begin
      result_addr_q <= last_addr_q;
      result_tag_q <= last_tag_q;
    end
  end

  assign busy_o = read_valid_q || add_valid_q || align_valid_q || last_valid_q || result_valid_o;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(TransactionHasLanes, !txn_valid_i || txn_mask_i != '0)
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, result_valid_o && !result_ready_i,
                   result_valid_o && $stable(result_addr_o) && $stable(result_data_o) &&
                   $stable(result_tag_o))
  `ARC_ASSERT(OneLaneIsRead, !rf_valid_o || $onehot(rf_mask_o))
  `ARC_ASSERT(LanesToReadAreSeen, read_any_q == (read_valid_q && read_mask_q != '0))
  `ARC_ASSERT(LeavesWithoutLanes, !leave || last_mask_q == '0)
  `ARC_ASSERT(OneResultAtATime, !(fresh_q && waiting_q) && !(leave && stay))
  `ARC_ASSERT(ReadPayloadZeroWithoutValid, rf_valid_o || (rf_mask_o == '0 && rf_tag_o == '0))
  `ARC_ASSERT(ResultPayloadZeroWithoutValid, result_valid_o ||
              (result_addr_o == '0 && result_data_o == '0 && result_tag_o == '0))

`ifndef SYNTHESIS
  // Conservation: lanes accepted = lanes read + lanes still here, and so with transactions and
  // results. The counters wrap.
  logic [15:0] lanes_in_q, lanes_read_q, lanes_here;
  logic [15:0] txns_in_q, results_out_q, txns_here;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lanes_in_q <= '0;
      lanes_read_q <= '0;
      txns_in_q <= '0;
      results_out_q <= '0;
    end else begin
      if (load) lanes_in_q <= lanes_in_q + 16'($countones(txn_mask_i));
      if (grant) lanes_read_q <= lanes_read_q + 16'd1;
      if (load) txns_in_q <= txns_in_q + 16'd1;
      if (result_valid_o && result_ready_i) results_out_q <= results_out_q + 16'd1;
    end
  end

  always_comb begin
    lanes_here = '0;
    if (read_valid_q) lanes_here = lanes_here + 16'($countones(read_mask_q));
    if (add_valid_q) lanes_here = lanes_here + 16'($countones(add_mask_q));
    if (align_valid_q) lanes_here = lanes_here + 16'($countones(align_mask_q));
    if (last_valid_q) lanes_here = lanes_here + 16'($countones(last_mask_q));
    txns_here = 16'(read_valid_q) + 16'(add_valid_q) + 16'(align_valid_q) + 16'(last_valid_q) +
                16'(result_valid_o);
  end
`endif

  `ARC_ASSERT(NoLaneLostOrDoubled, lanes_in_q == lanes_read_q + lanes_here)
  `ARC_ASSERT(NoTransactionLostOrDoubled, txns_in_q == results_out_q + txns_here)

endmodule
