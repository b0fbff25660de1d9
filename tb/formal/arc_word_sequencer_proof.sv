// SPDX-License-Identifier: Apache-2.0
// Proof: arc_word_sequencer hands on every word of every transaction once, in order and unchanged, in
// the cycle that its contract names.
//
// Nothing is assumed. Free: transactions, the ready input, and reset at any time after the first
// cycle. The record is made from the ports only: the transaction that was accepted last, and how many
// of its words have been taken. As every cycle of a transaction is a word taken or a word refused, it
// is gone after so many refusals and as many takings as it has words.

module arc_word_sequencer_proof (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic                          txn_valid_i,
  input logic [arc_pkg::AddrWidth-1:0] txn_addr_i,
  input logic [arc_pkg::Lanes-1:0]     txn_mask_i,
  input logic [arc_pkg::TagWidth-1:0]  txn_tag_i,
  input logic [arc_pkg::WordWidth-1:0] txn_words_i,
  input logic                          word_ready_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int WordWidth = arc_pkg::WordWidth;

  logic txn_ready, word_valid, word_last;
  logic [AddrWidth-1:0] word_addr;
  logic [Lanes-1:0] word_mask;
  logic [TagWidth-1:0] word_tag;
  logic [WordWidth-1:0] word;

  arc_word_sequencer u_dut (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .txn_valid_i (txn_valid_i),
    .txn_ready_o (txn_ready),
    .txn_addr_i  (txn_addr_i),
    .txn_mask_i  (txn_mask_i),
    .txn_tag_i   (txn_tag_i),
    .txn_words_i (txn_words_i),
    .word_valid_o(word_valid),
    .word_ready_i(word_ready_i),
    .word_addr_o (word_addr),
    .word_mask_o (word_mask),
    .word_tag_o  (word_tag),
    .word_o      (word),
    .word_last_o (word_last)
  );

  (* hierconn *) logic [WordWidth-1:0] \u_dut.before_last_q ;

  logic in_reset_q = 1'b1;  // the first cycle is a reset

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end

  // ------------------------------------------------------------------------------------------
  // Record
  // ------------------------------------------------------------------------------------------

  logic load, taken, gone;
  logic here_q;                              // a transaction is in the unit
  logic [AddrWidth-1:0] addr_q;
  logic [Lanes-1:0] mask_q;
  logic [TagWidth-1:0] tag_q;
  logic [WordWidth-1:0] last_word_q;
  logic [7:0] taken_q, refused_q, age_q;     // words taken, refused; cycles passed, modulo 256
  logic [7:0] loads_q, lasts_q;              // modulo 256

  assign load = txn_valid_i && txn_ready;
  assign taken = word_valid && word_ready_i;
  assign gone = taken && taken_q == {4'd0, last_word_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      here_q <= 1'b0;
      taken_q <= '0;
      loads_q <= '0;
      lasts_q <= '0;
    end else begin
      here_q <= load || (here_q && !gone);
      taken_q <= taken_q + 8'(taken);
      refused_q <= refused_q + 8'(word_valid && !word_ready_i);
      age_q <= age_q + 8'd1;
      if (load) begin
        addr_q <= txn_addr_i;
        mask_q <= txn_mask_i;
        tag_q <= txn_tag_i;
        last_word_q <= txn_words_i;
        taken_q <= '0;
        refused_q <= '0;
        age_q <= '0;
      end
      loads_q <= loads_q + 8'(load);
      lasts_q <= lasts_q + 8'(taken && word_last);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Words: each once, in order, with what its transaction came with
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : AWordWheneverATransactionIsHere
    if (rst_ni) assert (word_valid == here_q);
  end
  always_ff @(posedge clk_i) begin : NextWordIsOffered
    if (rst_ni && here_q) assert ({4'd0, word} == taken_q);
  end
  always_ff @(posedge clk_i) begin : LastWordIsTold
    if (rst_ni && here_q) assert (word_last == (word == last_word_q));
  end
  always_ff @(posedge clk_i) begin : WordBelongsToItsTransaction
    if (rst_ni && here_q) assert (word_addr == addr_q && word_mask == mask_q && word_tag == tag_q);
  end
  always_ff @(posedge clk_i) begin : AsManyLastsAsTransactions
    if (rst_ni) assert (loads_q == lasts_q + 8'(here_q));
  end

  // ------------------------------------------------------------------------------------------
  // Time: nothing waits but for the environment
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : ReadyWhenEmptyOrWithTheLastWord
    if (rst_ni) assert (txn_ready == (!here_q || gone));
  end
  always_ff @(posedge clk_i) begin : NoCycleLost
    if (rst_ni && here_q) assert (age_q == taken_q + refused_q);
  end
  always_ff @(posedge clk_i) begin : ResetEmptiesIt
    if (!rst_ni) assert (!word_valid && txn_ready);
  end

`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni && here_q) begin
      assert (\u_dut.before_last_q == last_word_q - 4'd1);
      assert (taken_q <= {4'd0, last_word_q});
    end
  end
`endif

  // ------------------------------------------------------------------------------------------
  // Reached states
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : CoverSecondAfterAnotherWithoutGap
    if (rst_ni) cover (load && gone && loads_q == 8'd2 && last_word_q == 4'd2);
  end
  always_ff @(posedge clk_i) begin : CoverOneWord
    if (rst_ni) cover (gone && last_word_q == '0 && refused_q == 8'd1);
  end
  always_ff @(posedge clk_i) begin : CoverRefusedInTheMiddle
    if (rst_ni) cover (gone && last_word_q == 4'd3 && refused_q == 8'd2);
  end

endmodule
