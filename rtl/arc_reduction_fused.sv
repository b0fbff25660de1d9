// SPDX-License-Identifier: Apache-2.0
// Fused reduction unit: reads up to four lanes of a transaction a cycle, aligns them to the largest
// exponent of all its lanes, adds them as integers, and normalises and rounds once.
//
// Contract: a transaction accepted in cycle t is read in cycles t+1 .. t+k, where k is the largest
// number of its lanes in one bank, and its result is offered in cycle t+k+6, when every read is
// granted at once and results are taken at once. Two transactions are in the unit at most, so that
// one is accepted every max(k, (k+6)/2) cycles; results leave in the order in which transactions
// came. The sum does not depend on the order of the lanes: every value is cut to FusedWindow bits
// below the top of the largest exponent's bin, the sum of these is exact, and is rounded once to
// nearest even.
//
// Register file: lane l belongs to bank l % Banks, and a read asks for one lane of some banks, the
// lowest left in each. From the cycle after a grant until and including the cycle of the next one,
// rf_data_i has the words of the lanes that were read, one for each bank, and rf_bin_i the upper
// exponent bits of all lanes of that operand. A read is held until granted. Result: held until
// taken; reads go on meanwhile. All payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_reduction_fused #(
  parameter int Width = arc_pkg::TagWidth  // of the tag
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // transaction to reduce
  input  logic                                        txn_valid_i,
  output logic                                        txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]               txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]                   txn_mask_i,
  input  logic [Width-1:0]                            txn_tag_i,
  // register-file read
  output logic                                        rf_valid_o,
  input  logic                                        rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                   rf_mask_o,
  output logic [Width-1:0]                            rf_tag_o,
  input  logic [arc_pkg::Banks*arc_pkg::DataWidth-1:0] rf_data_i,
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] rf_bin_i,
  // result: one addition of data to addr
  output logic                                        result_valid_o,
  input  logic                                        result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]               result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]               result_data_o,
  output logic [Width-1:0]                            result_tag_o,
  // a register holds work
  output logic                                        busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Banks = arc_pkg::Banks;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int Window = arc_pkg::FusedWindow;
  localparam int SumWidth = Window + 6;  // 32 values and a sign

  // ------------------------------------------------------------------------------------------
  // Transactions in the unit: back holds the younger one, front the one whose sum is next
  // ------------------------------------------------------------------------------------------

  logic load, grant, taken, advance;
  logic front_valid_q, back_valid_q;
  logic [AddrWidth-1:0] front_addr_q, back_addr_q;
  logic [Width-1:0] front_tag_q, back_tag_q;

  assign advance = !front_valid_q || taken;
  assign busy_o = front_valid_q || back_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      front_valid_q <= 1'b0;
      back_valid_q <= 1'b0;
    end else begin
      front_valid_q <= back_valid_q || (front_valid_q && !taken);
      back_valid_q <= load || (back_valid_q && !advance);
    end
  end

  always_ff @(posedge clk_i) begin
    // What stands at the input, taken or not: whether it is comes too late for so many bits.
    if (!back_valid_q || advance) begin
      back_addr_q <= txn_addr_i;
      back_tag_q <= txn_tag_i;
    end
    if (advance) begin
      front_addr_q <= back_addr_q;
      front_tag_q <= back_tag_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Fetch stage: ask for the lowest lane left in each bank
  // ------------------------------------------------------------------------------------------

  logic fetch_first, fetch_last;
  logic [Lanes-1:0] fetch_left;
  logic [Banks-1:0] fetch_bank;

  arc_fused_fetch u_fetch (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .load_i (load),
    .mask_i (txn_mask_i),
    .valid_o(rf_valid_o),
    .ready_i(rf_ready_i),
    .lanes_o(rf_mask_o),
    .bank_o (fetch_bank),
    .first_o(fetch_first),
    .last_o (fetch_last),
    .grant_o(grant),
    .left_o (fetch_left)
  );

  assign rf_tag_o = (back_valid_q ? back_tag_q : front_tag_q) & {Width{rf_valid_o}};
  assign txn_ready_o = (!rf_valid_o || (grant && fetch_last)) && (!back_valid_q || advance);
  assign load = txn_valid_i && txn_ready_o;

  // ------------------------------------------------------------------------------------------
  // Unpack stage: the words that were read; in the first one the largest bin of the transaction
  // ------------------------------------------------------------------------------------------

  logic unpack_valid_q;
  logic unpack_first_q, unpack_last_q;
  logic [Banks-1:0] unpack_bank_q;  // banks that were read
  logic [Lanes-1:0] unpack_mask_q;  // lanes left when they were

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) unpack_valid_q <= 1'b0;
    else         unpack_valid_q <= grant;
  end

  always_ff @(posedge clk_i) begin
    unpack_first_q <= fetch_first;
    unpack_last_q <= fetch_last;
    unpack_bank_q <= fetch_bank & {Banks{grant}};
    unpack_mask_q <= fetch_left;
  end

  logic [BinWidth-1:0] max_bin, max_bin_q;

  arc_bin_max u_bin_max (
    .valid_i(unpack_mask_q),
    .bin_i  (rf_bin_i),
    .max_o  (max_bin)
  );

  // ------------------------------------------------------------------------------------------
  // Align stage: from its bin to the largest
  // ------------------------------------------------------------------------------------------

  logic align_valid_q;
  logic align_first_q, align_last_q;
  logic [3:0] align_flags;
  logic [Banks-1:0] align_neg;
  logic [Banks*(Window+1)-1:0] align_term;

  arc_fused_align u_align (
    .clk_i    (clk_i),
    .rf_data_i(rf_data_i),
    .read_i   (unpack_bank_q),
    .max_bin_i(max_bin_q),
    .neg_o    (align_neg),
    .term_o   (align_term),
    .flags_o  (align_flags)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) align_valid_q <= 1'b0;
    else         align_valid_q <= unpack_valid_q;
  end

  always_ff @(posedge clk_i) begin
    align_first_q <= unpack_first_q;
    align_last_q <= unpack_last_q;
    if (unpack_valid_q && unpack_first_q) max_bin_q <= max_bin;
  end

  // ------------------------------------------------------------------------------------------
  // Add stage: running sum of the transaction
  // ------------------------------------------------------------------------------------------

  logic add_valid_q;
  logic add_first_q, add_more_q, add_last_q;  // of its transaction; not the first
  logic [3:0] add_flags_q, flags_q;
  logic [BinWidth-1:0] add_bin_q, bin_q;
  logic [SumWidth-1:0] sum_q, sum_d;
  logic done_q, leave;                        // the sum is complete; it goes to the next stage

  arc_fused_sum u_sum (
    .clk_i  (clk_i),
    .neg_i  (align_neg),
    .term_i (align_term),
    .first_i(add_first_q),
    .more_i (add_more_q),
    .sum_i  (sum_q),
    .sum_o  (sum_d)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) add_valid_q <= 1'b0;
    else         add_valid_q <= align_valid_q;
  end

  always_ff @(posedge clk_i) begin
    add_first_q <= align_first_q && align_valid_q;
    add_more_q <= !(align_first_q && align_valid_q);
    add_last_q <= align_last_q;
    add_flags_q <= align_flags;
    add_bin_q <= max_bin_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_q <= 1'b0;
    else         done_q <= (add_valid_q && add_last_q) || (done_q && !leave);
  end

  always_ff @(posedge clk_i) begin
    sum_q <= sum_d;  // plus nothing when no values came
    if (add_valid_q) begin
      flags_q <= add_flags_q | (flags_q & {4{!add_first_q}});
      bin_q <= add_bin_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Count, normalise and result stages: rounded once
  // ------------------------------------------------------------------------------------------
  // A complete sum moves on when the result register will be free for it. It can always wait: the
  // next transaction is not in the unit before the result in front of it has been taken.

  logic norm_valid_q, result_valid_q;

  arc_fused_round u_round (
    .clk_i  (clk_i),
    .sum_i  (sum_q),
    .bin_i  (bin_q),
    .flags_i(flags_q),
    .keep_i (norm_valid_q),
    .valid_i(result_valid_q),
    .data_o (result_data_o)
  );

  assign leave = done_q && !norm_valid_q && (!result_valid_q || taken);
  assign taken = result_valid_q && result_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      norm_valid_q <= 1'b0;
      result_valid_q <= 1'b0;
    end else begin
      norm_valid_q <= leave;
      result_valid_q <= norm_valid_q || (result_valid_q && !result_ready_i);
    end
  end

  assign result_valid_o = result_valid_q;
  assign result_addr_o = front_addr_q & {AddrWidth{result_valid_q}};
  assign result_tag_o = front_tag_q & {Width{result_valid_q}};

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(TransactionHasLanes, !txn_valid_i || txn_mask_i != '0)
  `ARC_ASSERT_NEXT(ReadHeldUntilGranted, rf_valid_o && !rf_ready_i,
                   rf_valid_o && $stable(rf_mask_o) && $stable(rf_tag_o))
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, result_valid_o && !result_ready_i,
                   result_valid_o && $stable(result_addr_o) && $stable(result_data_o) &&
                   $stable(result_tag_o))
  `ARC_ASSERT(LanesToReadAreOfATransaction, !rf_valid_o || front_valid_q || back_valid_q)
  `ARC_ASSERT(CompleteSumNeverOverwritten, !(done_q && !leave && add_valid_q))
  `ARC_ASSERT(ResultRegisterIsFree, !(norm_valid_q && result_valid_q))
  `ARC_ASSERT(ResultIsOfTheFront, !(norm_valid_q || result_valid_q) || front_valid_q)
  `ARC_ASSERT(BusyTellsAllWork, busy_o || !(rf_valid_o || unpack_valid_q || align_valid_q ||
                                            add_valid_q || done_q || norm_valid_q ||
                                            result_valid_q))
  `ARC_ASSERT(ReadPayloadZeroWithoutValid, rf_valid_o || (rf_mask_o == '0 && rf_tag_o == '0))
  `ARC_ASSERT(ResultPayloadZeroWithoutValid, result_valid_o ||
              (result_addr_o == '0 && result_data_o == '0 && result_tag_o == '0))

`ifndef SYNTHESIS
  // Conservation: lanes accepted = lanes in results taken + lanes in each stage. A transaction that
  // was mixed with another, or left before its last lane, would leave with the wrong number. The
  // counters wrap.
  logic [1:0] txns_q;  // accepted and not taken
  logic [15:0] lanes_in_q, lanes_out_q, lanes_here;
  logic [5:0] unpack_lanes_q, align_lanes_q, add_lanes_q, sum_lanes_q;
  logic [5:0] norm_lanes_q, result_lanes_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      txns_q <= '0;
      lanes_in_q <= '0;
      lanes_out_q <= '0;
      unpack_lanes_q <= '0;
      align_lanes_q <= '0;
      add_lanes_q <= '0;
      sum_lanes_q <= '0;
      norm_lanes_q <= '0;
      result_lanes_q <= '0;
    end else begin
      txns_q <= txns_q + {1'b0, load} - {1'b0, taken};
      if (load) lanes_in_q <= lanes_in_q + 16'($countones(txn_mask_i));
      if (taken) lanes_out_q <= lanes_out_q + {10'b0, result_lanes_q};
      unpack_lanes_q <= grant ? 6'($countones(rf_mask_o)) : '0;
      align_lanes_q <= unpack_lanes_q;
      add_lanes_q <= align_lanes_q;
      if (add_valid_q) sum_lanes_q <= add_first_q ? add_lanes_q : sum_lanes_q + add_lanes_q;
      else if (leave)  sum_lanes_q <= '0;
      norm_lanes_q <= leave ? sum_lanes_q : '0;
      if (norm_valid_q) result_lanes_q <= norm_lanes_q;
      else if (taken)   result_lanes_q <= '0;
    end
  end

  always_comb begin
    lanes_here = 16'($countones(fetch_left));
    lanes_here = lanes_here + {10'b0, unpack_lanes_q} + {10'b0, align_lanes_q} +
                 {10'b0, add_lanes_q} + {10'b0, sum_lanes_q} + {10'b0, norm_lanes_q} +
                 {10'b0, result_lanes_q} + lanes_out_q;
  end
`endif

  `ARC_ASSERT(AtMostTwoTransactions,
              txns_q == {1'b0, front_valid_q} + {1'b0, back_valid_q})
  `ARC_ASSERT(NoLaneLostOrDoubled, lanes_in_q == lanes_here)

`ifndef SYNTHESIS
  // The register file gives words and bins of one operand: no word that was read has a larger bin
  // than the largest. Otherwise it would be shifted out unseen.
  logic [Banks-1:0] bin_too_large;
  logic [BinWidth-1:0] limit;
  localparam int BinLow = arc_pkg::FracWidth + arc_pkg::BinShift;

  always_comb begin
    limit = unpack_first_q ? max_bin : max_bin_q;
    for (int b = 0; b < Banks; b++) begin
      bin_too_large[b] = unpack_valid_q && unpack_bank_q[b] &&
                         rf_data_i[DataWidth*b+BinLow +: BinWidth] > limit;
    end
  end
`ifndef FORMAL
  // The proof of the control logic leaves words and bins free.
  `ARC_ASSUME(WordsAreWithinTheBinsOfTheirOperand, bin_too_large == '0)
`endif
`endif

endmodule
