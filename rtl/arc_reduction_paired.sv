// SPDX-License-Identifier: Apache-2.0
// Paired reduction unit: reads up to two lanes of a transaction a cycle, adds them as integers, and
// normalises and rounds once, as arc_reduction_fused does. It learns the exponents as lanes are read:
// nothing looks at those of all lanes beforehand.
//
// Contract: a transaction accepted in cycle t is read in cycles t+1 .. t+k, where k is the larger number
// of its even and its odd lanes, and its result is offered in cycle t+k+5, when every read is granted at
// once and results are taken at once. Two transactions are in the unit at most, so that one is accepted
// every max(k, (k+5)/2) cycles; results leave in the order in which transactions came. Every value is
// cut to PairedWindow bits below the top of the largest bin that has been read, its own read included.
// Where a read brings a larger bin, the sum before is cut to that as well, rounded down. The sum is
// rounded once to nearest even. Subnormal values and sums count as zero.
//
// Register file: lane l belongs to bank l % PairedBanks, and a read asks for one lane of some banks, the
// lowest left in each. From the cycle after a grant until and including the cycle of the next one,
// rf_data_i has the words of the lanes that were read, one for each bank. A read is held until granted.
// Result: held until taken; reads go on meanwhile. All payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_reduction_paired #(
  parameter int Width = arc_pkg::TagWidth  // of the tag
) (
  input  logic                                               clk_i,
  input  logic                                               rst_ni,
  // transaction to reduce
  input  logic                                               txn_valid_i,
  output logic                                               txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]                      txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]                          txn_mask_i,
  input  logic [Width-1:0]                                   txn_tag_i,
  // register-file read
  output logic                                               rf_valid_o,
  input  logic                                               rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                          rf_mask_o,
  output logic [Width-1:0]                                   rf_tag_o,
  input  logic [arc_pkg::PairedBanks*arc_pkg::DataWidth-1:0] rf_data_i,
  // result: one addition of data to addr
  output logic                                               result_valid_o,
  input  logic                                               result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]                      result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]                      result_data_o,
  output logic [Width-1:0]                                   result_tag_o,
  // a register holds work
  output logic                                               busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Banks = arc_pkg::PairedBanks;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int SumWidth = arc_pkg::PairedSumWidth;

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

  arc_paired_fetch u_fetch (
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
    .left_o (fetch_left)
  );

  assign rf_tag_o = (back_valid_q ? back_tag_q : front_tag_q) & {Width{rf_valid_o}};
  assign grant = rf_valid_o && rf_ready_i;
  assign txn_ready_o = fetch_last && (!rf_valid_o || rf_ready_i) && (!back_valid_q || advance);
  assign load = txn_valid_i && txn_ready_o;

  // ------------------------------------------------------------------------------------------
  // Align stage: the words that were read, by their bins and the largest so far
  // ------------------------------------------------------------------------------------------

  logic align_first_q, align_last_q;
  logic [Banks-1:0] align_read_q;  // banks that were read
  logic [Banks-1:0] neg;
  logic [Banks*arc_pkg::PairedWindow-1:0] term;
  logic [4:0] keep;  // bytes by which the sum before moves down
  logic [3:0] flags;
  logic [BinWidth-1:0] bin, bin_q;  // the largest so far, with these words and without

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) align_read_q <= '0;
    else         align_read_q <= fetch_bank & {Banks{grant}};
  end

  always_ff @(posedge clk_i) begin
    align_first_q <= fetch_first && grant;
    align_last_q <= fetch_last;
  end

  arc_paired_align u_align (
    .rf_data_i(rf_data_i),
    .read_i   (align_read_q),
    .first_i  (align_first_q),
    .bin_i    (bin_q),
    .term_o   (term),
    .neg_o    (neg),
    .keep_o   (keep),
    .flags_o  (flags),
    .bin_o    (bin)
  );

  // ------------------------------------------------------------------------------------------
  // Add stage: running sum of the transaction
  // ------------------------------------------------------------------------------------------

  logic add_first_q, add_last_q;
  logic [Banks-1:0] add_neg_q;
  logic [Banks*arc_pkg::PairedWindow-1:0] add_term_q;
  logic [4:0] add_keep_q;
  logic [BinWidth-1:0] sum_bin_q;
  logic [3:0] add_flags_q, sum_flags_q;
  logic [SumWidth-1:0] sum_q, sum_d;
  logic done_q, leave;  // the sum is complete; it goes to the next stage

  always_ff @(posedge clk_i) begin
    add_term_q <= term;
    add_neg_q <= neg;
    add_keep_q <= keep;
    add_flags_q <= flags;
    add_first_q <= align_first_q;
    bin_q <= bin;
  end

  arc_paired_sum u_sum (
    .term_i(add_term_q),
    .neg_i (add_neg_q),
    .keep_i(add_keep_q),
    .sum_i (sum_q),
    .sum_o (sum_d)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      add_last_q <= 1'b0;
      done_q <= 1'b0;
    end else begin
      add_last_q <= align_read_q != '0 && align_last_q;
      done_q <= add_last_q || (done_q && !leave);
    end
  end

  always_ff @(posedge clk_i) begin
    sum_flags_q <= add_flags_q | (sum_flags_q & {4{!add_first_q}});
    sum_q <= sum_d;  // plus nothing when no values came
    sum_bin_q <= bin_q;
  end

  // ------------------------------------------------------------------------------------------
  // Magnitude, normalise and result stages: rounded once
  // ------------------------------------------------------------------------------------------
  // A complete sum moves on when the result register will be free for it. It can always wait: the
  // next transaction is not in the unit before the result in front of it has been taken.

  logic norm_valid_q, result_valid_q;

  arc_paired_round u_round (
    .clk_i  (clk_i),
    .sum_i  (sum_q),
    .bin_i  (sum_bin_q),
    .flags_i(sum_flags_q),
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
  `ARC_ASSERT(CompleteSumNeverOverwritten, !(done_q && !leave && (add_first_q || add_last_q)))
  `ARC_ASSERT(ResultRegisterIsFree, !(norm_valid_q && result_valid_q))
  `ARC_ASSERT(ResultIsOfTheFront, !(norm_valid_q || result_valid_q) || front_valid_q)
  `ARC_ASSERT(BusyTellsAllWork, busy_o || !(rf_valid_o || align_read_q != '0 || add_last_q || done_q ||
                                            norm_valid_q || result_valid_q))
  `ARC_ASSERT(ReadPayloadZeroWithoutValid, rf_valid_o || (rf_mask_o == '0 && rf_tag_o == '0))
  `ARC_ASSERT(ResultPayloadZeroWithoutValid, result_valid_o ||
              (result_addr_o == '0 && result_data_o == '0 && result_tag_o == '0))

`ifndef SYNTHESIS
  // Conservation: lanes accepted = lanes in results taken + lanes in each stage. A transaction that
  // was mixed with another, or left before its last lane, would leave with the wrong number. The
  // counters wrap.
  logic [1:0] txns_q;  // accepted and not taken
  logic [15:0] lanes_in_q, lanes_out_q, lanes_here;
  logic [5:0] align_lanes_q, add_lanes_q, sum_lanes_q, norm_lanes_q, result_lanes_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      txns_q <= '0;
      lanes_in_q <= '0;
      lanes_out_q <= '0;
      align_lanes_q <= '0;
      add_lanes_q <= '0;
      sum_lanes_q <= '0;
      norm_lanes_q <= '0;
      result_lanes_q <= '0;
    end else begin
      txns_q <= txns_q + {1'b0, load} - {1'b0, taken};
      if (load) lanes_in_q <= lanes_in_q + 16'($countones(txn_mask_i));
      if (taken) lanes_out_q <= lanes_out_q + {10'b0, result_lanes_q};
      align_lanes_q <= grant ? 6'($countones(rf_mask_o)) : '0;
      add_lanes_q <= align_lanes_q;
      if (add_lanes_q != '0) sum_lanes_q <= add_first_q ? add_lanes_q : sum_lanes_q + add_lanes_q;
      else if (leave)        sum_lanes_q <= '0;
      norm_lanes_q <= leave ? sum_lanes_q : '0;
      if (norm_valid_q) result_lanes_q <= norm_lanes_q;
      else if (taken)   result_lanes_q <= '0;
    end
  end

  always_comb begin
    lanes_here = 16'($countones(fetch_left));
    lanes_here = lanes_here + {10'b0, align_lanes_q} + {10'b0, add_lanes_q} + {10'b0, sum_lanes_q} +
                 {10'b0, norm_lanes_q} + {10'b0, result_lanes_q} + lanes_out_q;
  end
`endif

  `ARC_ASSERT(AtMostTwoTransactions,
              txns_q == {1'b0, front_valid_q} + {1'b0, back_valid_q})
  `ARC_ASSERT(NoLaneLostOrDoubled, lanes_in_q == lanes_here)

endmodule
