// SPDX-License-Identifier: Apache-2.0
// Reduction unit of two lanes a cycle. It adds integers and rounds once, as arc_reduction_fused does, but
// learns the exponents as lanes are read: nothing looks at those of all lanes beforehand.
//
// Contract: a transaction accepted in cycle t is read in cycles t+1 .. t+k, where k is the larger number
// of its even and its odd lanes, and its result is offered in cycle t+k+5, when every read is granted at
// once and results are taken at once. Two transactions are in the unit at most, so one is accepted every
// max(k, (k+5)/2) cycles; results leave in the order of their transactions. Every value is cut to 32 bits
// below the top of the largest bin read so far. Subnormal values and sums count as zero.
//
// Register file: two banks, lane l in bank l modulo 2; a read is held until granted. All payloads are
// zero while their valid is low.

`include "arc_assert.svh"

module two_lanes_reduction (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            txn_valid_i,
  output logic                            txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]   txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]       txn_mask_i,
  input  logic [arc_pkg::TagWidth-1:0]    txn_tag_i,
  output logic                            rf_valid_o,
  input  logic                            rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]       rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]    rf_tag_o,
  input  logic [2*arc_pkg::DataWidth-1:0] rf_data_i,
  output logic                            result_valid_o,
  input  logic                            result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]   result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]   result_data_o,
  output logic [arc_pkg::TagWidth-1:0]    result_tag_o,
  output logic                            busy_o
);

  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;

  // ------------------------------------------------------------------------------------------
  // Transactions in the unit: back holds the younger one, front the one whose sum is next
  // ------------------------------------------------------------------------------------------

  logic load, grant, taken, advance;
  logic front_valid_q, back_valid_q;
  logic [AddrWidth-1:0] front_addr_q, back_addr_q;
  logic [TagWidth-1:0] front_tag_q, back_tag_q;

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
  // Fetch
  // ------------------------------------------------------------------------------------------

  logic fetch_first, fetch_last;
  logic [1:0] fetch_bank;

  two_lanes_fetch u_fetch (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .load_i (load),
    .mask_i (txn_mask_i),
    .valid_o(rf_valid_o),
    .ready_i(rf_ready_i),
    .lanes_o(rf_mask_o),
    .bank_o (fetch_bank),
    .first_o(fetch_first),
    .last_o (fetch_last)
  );

  assign rf_tag_o = (back_valid_q ? back_tag_q : front_tag_q) & {TagWidth{rf_valid_o}};
  assign grant = rf_valid_o && rf_ready_i;
  assign txn_ready_o = fetch_last && (!rf_valid_o || rf_ready_i) && (!back_valid_q || advance);
  assign load = txn_valid_i && txn_ready_o;

  // ------------------------------------------------------------------------------------------
  // Align, add
  // ------------------------------------------------------------------------------------------

  logic align_first_q, align_last_q;
  logic [1:0] align_read_q;  // banks that were read
  logic add_first_q, add_last_q;
  logic [1:0] neg, add_neg_q;
  logic [63:0] term, add_term_q;
  logic [4:0] keep, add_keep_q, add_bin, sum_bin_q;
  logic [3:0] flags, add_flags_q, sum_flags_q;
  logic [37:0] sum;
  logic done_q, leave;  // the sum is complete; it goes to the next stage

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) align_read_q <= '0;
    else         align_read_q <= fetch_bank & {2{grant}};
  end

  always_ff @(posedge clk_i) begin
    align_first_q <= fetch_first && grant;
    align_last_q <= fetch_last;
  end

  two_lanes_align u_align (
    .clk_i    (clk_i),
    .rf_data_i(rf_data_i),
    .read_i   (align_read_q),
    .first_i  (align_first_q),
    .term_o   (term),
    .neg_o    (neg),
    .keep_o   (keep),
    .flags_o  (flags),
    .bin_o    (add_bin)
  );

  always_ff @(posedge clk_i) begin
    add_term_q <= term;
    add_neg_q <= neg;
    add_keep_q <= keep;
    add_flags_q <= flags;
    add_first_q <= align_first_q;
  end

  two_lanes_sum u_sum (
    .clk_i  (clk_i),
    .term_i (add_term_q),
    .neg_i  (add_neg_q),
    .keep_i (add_keep_q),
    .sum_o  (sum)
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
    sum_bin_q <= add_bin;
  end

  // ------------------------------------------------------------------------------------------
  // Normalise, round
  // ------------------------------------------------------------------------------------------

  logic norm_valid_q, result_valid_q;

  two_lanes_round u_round (
    .clk_i  (clk_i),
    .sum_i  (sum),
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
  assign result_tag_o = front_tag_q & {TagWidth{result_valid_q}};

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_NEXT(ReadHeldUntilGranted, rf_valid_o && !rf_ready_i,
                   rf_valid_o && $stable(rf_mask_o) && $stable(rf_tag_o))
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, result_valid_o && !result_ready_i,
                   result_valid_o && $stable(result_addr_o) && $stable(result_data_o) &&
                   $stable(result_tag_o))
  `ARC_ASSERT(CompleteSumNeverOverwritten, !(done_q && !leave && (add_first_q || add_last_q)))
  `ARC_ASSERT(ResultRegisterIsFree, !(norm_valid_q && result_valid_q))

endmodule
