// SPDX-License-Identifier: Apache-2.0
// Front of a unit of several words: hands a transaction on once for each of its words, the lowest first.
//
// Contract: a transaction accepted in cycle t stands at the word port from cycle t+1 on, with word 0,
// and with the next one from the cycle after each in which word_ready_i is high; lanes, address and
// tag stay. word_last_o is high with the last word. The next transaction is accepted when none is
// here, or with the last word of the one before, so that a word is there in every cycle. A word is
// held until taken. Address, tag and word mean nothing without word_valid_o; the mask then is of no
// transaction either.

`include "arc_assert.svh"

module arc_word_sequencer #(
  parameter int MaxWords = arc_pkg::MostWords,  // of a transaction, 2 to MostWords
  localparam int WordWidth = $clog2(MaxWords)
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // transaction, and the number of its last word
  input  logic                          txn_valid_i,
  output logic                          txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0] txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]     txn_mask_i,
  input  logic [arc_pkg::TagWidth-1:0]  txn_tag_i,
  input  logic [WordWidth-1:0]          txn_words_i,
  // one word of it
  output logic                          word_valid_o,
  input  logic                          word_ready_i,
  output logic [arc_pkg::AddrWidth-1:0] word_addr_o,
  output logic [arc_pkg::Lanes-1:0]     word_mask_o,
  output logic [arc_pkg::TagWidth-1:0]  word_tag_o,
  output logic [WordWidth-1:0]          word_o,
  output logic                          word_last_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;

  logic valid_q, last_q;
  logic [AddrWidth-1:0] addr_q;
  logic [Lanes-1:0] mask_q;
  logic [TagWidth-1:0] tag_q;
  logic [WordWidth-1:0] word_q;         // the word that is next
  logic [WordWidth-1:0] before_last_q;  // the one before the last
  logic load;

  assign txn_ready_o = !valid_q || (word_ready_i && last_q);
  assign load = txn_valid_i && txn_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else         valid_q <= txn_valid_i || !txn_ready_o;
  end

  always_ff @(posedge clk_i) begin
    // What stands at the input, taken or not: whether it is comes too late for so many bits.
    if (txn_ready_o) begin
      addr_q <= txn_addr_i;
      mask_q <= txn_mask_i;
      tag_q <= txn_tag_i;
      before_last_q <= txn_words_i - WordWidth'(1);
      word_q <= '0;
      last_q <= txn_words_i == '0;
    end else if (word_ready_i) begin
      word_q <= word_q + WordWidth'(1);
      last_q <= word_q == before_last_q;
    end
  end

  assign word_valid_o = valid_q;
  assign word_addr_o = addr_q;
  assign word_mask_o = mask_q;
  assign word_tag_o = tag_q;
  assign word_o = word_q;
  assign word_last_o = last_q;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_NEXT(WordHeldUntilTaken, word_valid_o && !word_ready_i,
                   word_valid_o && $stable(word_addr_o) && $stable(word_mask_o) &&
                   $stable(word_tag_o) && $stable(word_o) && $stable(word_last_o))
  `ARC_ASSERT_NEXT(NextWordOfTheSameTransaction, word_valid_o && word_ready_i && !word_last_o,
                   word_valid_o && $stable(word_addr_o) && $stable(word_mask_o) &&
                   $stable(word_tag_o) && word_o != '0)
`ifndef SYNTHESIS
  logic [WordWidth-1:0] last_word;

  assign last_word = before_last_q + WordWidth'(1);
`endif

  `ARC_ASSERT(LastIsTheLast, !valid_q || last_q == (word_q == last_word))
  `ARC_ASSERT(NoWordBehindTheLast, !valid_q || word_q <= last_word)
  `ARC_ASSERT_NEXT(BeginsWithTheFirstWord, load, word_valid_o && word_o == '0)

endmodule
