// SPDX-License-Identifier: Apache-2.0
// Proof: arc_merge_buffer keeps the sums of every sector, hands them out once, and adds what it must,
// with eight rows, two sets of the four in which a sector may lie.
//
// The adders are arc_fp_adder_any.sv, whose sums are any values in every cycle: what is proved is
// which operands they get and where their sums go. Free: requests, flushes, the way out, and reset at
// any time after the first cycle. Followed is one row and one word of it, any ones, which stay. The
// SRAM delivers of that row what was written last, before that anything, and of others anything in
// every read.
//
// The record is made from the ports only: which rows a request has in hand, from its read to its
// write; of the row that is followed the sector whose sums it must hold once all requests that were
// accepted are done, its words with a sum, and the sums that must leave for it. A sum is known when it
// is written. What leaves is of the row that was read last.

module arc_merge_buffer_proof (
  input logic                                        clk_i,
  input logic                                        rst_ni,
  input logic                                        req_valid_i,
  input logic [arc_pkg::AddrWidth-6:0] req_sector_i,
  input logic [7:0]             req_mask_i,
  input logic [8*arc_pkg::DataWidth-1:0] req_data_i,
  input logic                                        flush_valid_i,
  input logic                                        out_ready_i
);

  localparam int IndexBits = 3;
  localparam int Rows = 1 << IndexBits;
  localparam int WayBits = 2;
  localparam int Ways = 1 << WayBits;
  localparam int LowBits = IndexBits - WayBits;
  localparam int Words = 8;
  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int SectorWidth = arc_pkg::AddrWidth - 5;
  localparam int TagBits = SectorWidth - LowBits;
  localparam int SumsWidth = Words * DataWidth;
  localparam int RowWidth = TagBits + Words + SumsWidth;

  logic req_ready, flush_ready, ram_read, ram_write, out_valid, busy;
  logic [IndexBits-1:0] ram_read_index, ram_write_index;
  logic [RowWidth-1:0] ram_row_q, ram_write_row;
  logic [SectorWidth-1:0] out_sector;
  logic [Words-1:0] out_mask;
  logic [SumsWidth-1:0] out_data;

  arc_merge_buffer #(
    .IndexBits(IndexBits)
  ) u_dut (
    .clk_i            (clk_i),
    .rst_ni           (rst_ni),
    .req_valid_i      (req_valid_i),
    .req_ready_o      (req_ready),
    .req_sector_i     (req_sector_i),
    .req_mask_i       (req_mask_i),
    .req_data_i       (req_data_i),
    .flush_valid_i    (flush_valid_i),
    .flush_ready_o    (flush_ready),
    .ram_read_o       (ram_read),
    .ram_read_index_o (ram_read_index),
    .ram_row_i        (ram_row_q),
    .ram_write_o      (ram_write),
    .ram_write_index_o(ram_write_index),
    .ram_write_row_o  (ram_write_row),
    .out_valid_o      (out_valid),
    .out_ready_i      (out_ready_i),
    .out_sector_o     (out_sector),
    .out_mask_o       (out_mask),
    .out_data_o       (out_data),
    .busy_o           (busy)
  );

  // Seen by name: registers, for the invariants, and operands.
  (* hierconn *) logic \u_dut.look_valid_q ;
  (* hierconn *) logic \u_dut.look_walk_q ;
  (* hierconn *) logic \u_dut.look_last_q ;
  (* hierconn *) logic [IndexBits-1:0] \u_dut.look_index_q ;
  (* hierconn *) logic [TagBits-1:0] \u_dut.look_tag_q ;
  (* hierconn *) logic [Words-1:0] \u_dut.look_mask_q ;
  (* hierconn *) logic [SumsWidth-1:0] \u_dut.look_data_q ;
  (* hierconn *) logic [3:0] \u_dut.add_valid_q ;
  (* hierconn *) logic [4*IndexBits-1:0] \u_dut.add_index_q ;
  (* hierconn *) logic [4*TagBits-1:0] \u_dut.add_tag_q ;
  (* hierconn *) logic [4*Words-1:0] \u_dut.add_mask_q ;
  (* hierconn *) logic [SumsWidth-1:0] \u_dut.old_q ;
  (* hierconn *) logic [SumsWidth-1:0] \u_dut.new_q ;
  (* hierconn *) logic \u_dut.walk_q ;
  (* hierconn *) logic \u_dut.clear_q ;
  (* hierconn *) logic \u_dut.all_read_q ;
  (* hierconn *) logic [IndexBits-1:0] \u_dut.walk_index_q ;

  logic in_reset_q = 1'b1;  // the first cycle is a reset

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end

  // ------------------------------------------------------------------------------------------
  // The row and the word that are followed, and the SRAM
  // ------------------------------------------------------------------------------------------

  logic [IndexBits-1:0] row;
  logic [2:0] word;
  logic [RowWidth-1:0] ram_q, other_row;

  assign row = $anyconst;
  assign word = $anyconst;
  assign other_row = $anyseq;

  always_ff @(posedge clk_i) begin
    if (ram_write && ram_write_index == row) ram_q <= ram_write_row;
    if (ram_read) ram_row_q <= ram_read_index == row ? ram_q : other_row;
  end

  logic [TagBits-1:0] ram_tag;
  logic [Words-1:0] ram_mask;
  logic [DataWidth-1:0] ram_word;

  assign ram_tag = ram_q[RowWidth-1-:TagBits];
  assign ram_mask = ram_q[SumsWidth+:Words];
  assign ram_word = ram_q[DataWidth*word+:DataWidth];

  // ------------------------------------------------------------------------------------------
  // Record
  // ------------------------------------------------------------------------------------------

  logic [SectorWidth-1:0] here_q, due_sector_q;  // in the row that is followed, and that must leave
  logic [IndexBits-1:0] first, way_index;        // of the request's sector: its first row, and others
  logic [LowBits-1:0] here_low, due_low;         // what the index of a row of those sectors ends in

  always_comb begin
    first = req_sector_i[IndexBits-1:0];
    here_low = here_q[LowBits-1:0];
    due_low = due_sector_q[LowBits-1:0];
    for (int i = IndexBits; i < SectorWidth; i++) begin
      first[i%IndexBits] = first[i%IndexBits] ^ req_sector_i[i];
      if (i % IndexBits < LowBits) begin
        here_low[i%IndexBits] = here_low[i%IndexBits] ^ here_q[i];
        due_low[i%IndexBits] = due_low[i%IndexBits] ^ due_sector_q[i];
      end
    end
  end

  logic [Rows-1:0] in_hand_q;
  logic [IndexBits-1:0] read_index_q;  // of the last read
  logic waits;                         // all rows of the request's sector are in hand
  logic [IndexBits-1:0] free_index;    // the first of them that is not

  always_comb begin
    waits = 1'b1;
    free_index = first;
    for (int w = Ways - 1; w >= 0; w--) begin
      way_index = first ^ {WayBits'(w), {LowBits{1'b0}}};
      if (!in_hand_q[way_index]) begin
        waits = 1'b0;
        free_index = way_index;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_hand_q <= '0;
    end else begin
      for (int r = 0; r < Rows; r++) begin
        if (req_valid_i && req_ready && ram_read_index == IndexBits'(r)) in_hand_q[r] <= 1'b1;
        else if (ram_write && ram_write_index == IndexBits'(r)) in_hand_q[r] <= 1'b0;
      end
    end
    if (ram_read) read_index_q <= ram_read_index;
  end

  logic accepted, left, same, written;
  logic [Words-1:0] here_mask_q, due_mask_q;
  logic due_q, cleared_q;
  logic old_q;                                    // the request in hand adds to a sum
  logic given_q;                                  // it has a value for the word
  logic [DataWidth-1:0] value_q, sum_q, due_word_q;  // that value; the word's last sum, and that due

  assign accepted = req_valid_i && req_ready && ram_read_index == row;
  assign left = out_valid && out_ready_i && read_index_q == row;
  assign same = here_mask_q != '0 && here_q == req_sector_i;
  assign written = ram_write && ram_write_index == row;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      here_mask_q <= '0;
      due_q <= 1'b0;
      cleared_q <= 1'b0;
    end else begin
      cleared_q <= cleared_q || written;
      if (left && due_q) due_q <= 1'b0;
      if (left && !due_q) here_mask_q <= '0;
      if (accepted) begin
        here_q <= req_sector_i;
        here_mask_q <= req_mask_i | (here_mask_q & {Words{same}});
        old_q <= same && here_mask_q[word];
        given_q <= req_mask_i[word];
        value_q <= req_data_i[DataWidth*word+:DataWidth];
        due_q <= here_mask_q != '0 && !same;
        due_sector_q <= here_q;
        due_mask_q <= here_mask_q;
        due_word_q <= sum_q;
      end
      if (written) sum_q <= ram_write_row[DataWidth*word+:DataWidth];
    end
  end

  // ------------------------------------------------------------------------------------------
  // Claims
  // ------------------------------------------------------------------------------------------

  always_comb begin : WhatLeavesIsWhatMust
    if (rst_ni && left && due_q) begin
      assert (out_sector == due_sector_q && out_mask == due_mask_q);
      if (due_mask_q[word]) assert (out_data[DataWidth*word+:DataWidth] == due_word_q);
    end
    if (rst_ni && left && !due_q) begin
      assert (here_mask_q != '0 && out_mask == here_mask_q);
      assert (out_sector == here_q);
      if (here_mask_q[word]) assert (out_data[DataWidth*word+:DataWidth] == sum_q);
    end
  end
  always_comb begin : TakesTheFirstRowThatIsFree
    if (rst_ni && req_valid_i && req_ready) assert (!waits && ram_read && ram_read_index == free_index);
  end
  always_comb begin : WaitsForNothingElse
    if (rst_ni && req_valid_i && !req_ready) begin
      assert (waits || flush_valid_i || \u_dut.walk_q || (out_valid && !out_ready_i));
    end
  end
  always_comb begin : FlushLeavesNothing
    if (rst_ni && flush_ready) assert ((left || here_mask_q == '0) && !due_q);
  end
  always_comb begin : NothingLeavesUnasked
    if (rst_ni && left) assert (due_q || \u_dut.walk_q );
  end
  // The sum that the next addition gets is the last one of the sector, and the next sum is stored
  // under its address.
  always_comb begin : AddsTheRequestToTheSum
    if (rst_ni && \u_dut.add_valid_q [0] && \u_dut.add_index_q [IndexBits-1:0] == row) begin
      assert (\u_dut.old_q [DataWidth*word+:DataWidth] == (old_q ? sum_q : arc_pkg::NegativeZero));
      assert (\u_dut.new_q [DataWidth*word+:DataWidth] == (given_q ? value_q : arc_pkg::NegativeZero));
    end
  end
  always_comb begin : WritesTheSectorsRow
    if (rst_ni && written && !\u_dut.walk_q ) begin
      assert (ram_write_row[RowWidth-1-:TagBits] == here_q[SectorWidth-1:LowBits]);
      assert (ram_write_row[SumsWidth+:Words] == here_mask_q);
    end
    if (rst_ni && written && \u_dut.walk_q ) assert (ram_write_row == '0);
  end
  always_comb begin : OneRequestOfARowAtATime
    if (rst_ni && accepted) assert (!due_q && cleared_q && !\u_dut.walk_q );
  end

  // ------------------------------------------------------------------------------------------
  // Invariants for the induction
  // ------------------------------------------------------------------------------------------

  logic [TagBits-1:0] here_tag, due_tag;

  assign here_tag = here_q[SectorWidth-1:LowBits];
  assign due_tag = due_sector_q[SectorWidth-1:LowBits];

  logic looks, walks, passed;
  logic [3:0] adds;
  logic [4:0] of_row;  // requests that have a row in hand

  assign looks = \u_dut.look_valid_q && !\u_dut.look_walk_q && \u_dut.look_index_q == row;
  assign walks = \u_dut.look_valid_q && \u_dut.look_walk_q && \u_dut.look_index_q == row;
  // The walk has left the row behind it.
  assign passed = \u_dut.walk_q && (\u_dut.all_read_q || \u_dut.walk_index_q > row) && !walks;

  always_comb begin
    for (int s = 0; s < 4; s++) begin
      adds[s] = \u_dut.add_valid_q [s] && \u_dut.add_index_q [IndexBits*s+:IndexBits] == row;
    end
  end

  always_comb begin : OneInHandOfARow
    for (int r = 0; r < Rows; r++) begin
      of_row[4] = \u_dut.look_valid_q && !\u_dut.look_walk_q && \u_dut.look_index_q == IndexBits'(r);
      for (int s = 0; s < 4; s++) begin
        of_row[s] = \u_dut.add_valid_q [s] &&
                    \u_dut.add_index_q [IndexBits*s+:IndexBits] == IndexBits'(r);
      end
      if (rst_ni) assert (in_hand_q[r] == (of_row != '0) && (of_row & (of_row - 5'd1)) == '0);
    end
  end
  always_comb begin : LooksUpWhatWasRead
    if (rst_ni && \u_dut.look_valid_q ) assert (read_index_q == \u_dut.look_index_q );
  end
  // Tag and index give the sector back, because it lies in one of its rows.
  always_comb begin : LiesInARowOfItsOwn
    if (rst_ni && here_mask_q != '0) assert (here_low == row[LowBits-1:0]);
    if (rst_ni && due_q) assert (due_low == row[LowBits-1:0]);
  end
  always_comb begin : WalkIsAlone
    if (rst_ni && \u_dut.walk_q ) assert (\u_dut.add_valid_q == '0);
    if (rst_ni && \u_dut.walk_q && \u_dut.look_valid_q ) assert (\u_dut.look_walk_q );
    if (rst_ni && \u_dut.look_valid_q && \u_dut.look_walk_q ) assert (\u_dut.walk_q );
    if (rst_ni && \u_dut.clear_q ) assert (\u_dut.walk_q );
  end
  always_comb begin : WalkGoesInOrder
    if (rst_ni && !\u_dut.walk_q ) assert (\u_dut.walk_index_q == '0 && !\u_dut.all_read_q );
    if (rst_ni && \u_dut.all_read_q ) begin
      assert (\u_dut.walk_index_q == '0 && \u_dut.look_valid_q && \u_dut.look_last_q );
    end
    if (rst_ni && \u_dut.walk_q && \u_dut.look_valid_q ) begin
      assert (\u_dut.look_index_q == \u_dut.walk_index_q - IndexBits'(1));
      assert (\u_dut.look_last_q == \u_dut.all_read_q );
      assert (\u_dut.look_last_q == (\u_dut.look_index_q == '1));
    end
  end
  always_comb begin : RowIsClearedBehindTheWalk
    if (rst_ni && cleared_q && !looks && adds == '0) begin
      assert (ram_mask == here_mask_q && !due_q);
      if (here_mask_q != '0) assert (ram_tag == here_tag);
    end
    if (rst_ni && !cleared_q) assert (\u_dut.clear_q && !passed && here_mask_q == '0 && !due_q);
    if (rst_ni && passed) assert (here_mask_q == '0 && ram_mask == '0);
    if (rst_ni && \u_dut.clear_q ) assert (here_mask_q == '0 && !due_q);
  end
  always_comb begin : RowInHandIsTheSrams
    if (rst_ni && (looks || walks)) assert (ram_row_q == ram_q);
  end
  always_comb begin : SumsAreKept
    if (rst_ni && cleared_q && ram_mask[word]) assert (ram_word == sum_q);
  end
  always_comb begin : LookedUpIsTheRequest
    if (rst_ni && looks) begin
      assert (here_tag == \u_dut.look_tag_q && given_q == \u_dut.look_mask_q [word]);
      assert (\u_dut.look_mask_q != '0);
      if (given_q) assert (value_q == \u_dut.look_data_q [DataWidth*word+:DataWidth]);
      assert (old_q == (ram_mask[word] && ram_tag == here_tag));
      if (ram_mask != '0 && ram_tag == here_tag) begin
        assert (!due_q && here_mask_q == (\u_dut.look_mask_q | ram_mask));
      end else begin
        assert (here_mask_q == \u_dut.look_mask_q && due_q == (ram_mask != '0));
        if (due_q) assert (due_tag == ram_tag && due_mask_q == ram_mask);
        if (due_q && ram_mask[word]) assert (due_word_q == ram_word);
      end
    end
  end
  always_comb begin : AddedIsTheRequest
    for (int s = 0; s < 4; s++) begin
      if (rst_ni && adds[s]) begin
        assert (!due_q && here_tag == \u_dut.add_tag_q [TagBits*s+:TagBits]);
        assert (here_mask_q == \u_dut.add_mask_q [Words*s+:Words]);
      end
    end
  end

  // ------------------------------------------------------------------------------------------
  // States that matter
  // ------------------------------------------------------------------------------------------

  always_comb begin : CoverHit
    cover (rst_ni && \u_dut.add_valid_q [3] && adds[3] && old_q && given_q);
  end
  always_comb begin : CoverSumsThatMakeRoom
    cover (rst_ni && left && due_q);
  end
  always_comb begin : CoverSumsOfAFlush
    cover (rst_ni && left && !due_q);
  end
  always_comb begin : CoverFlushed
    cover (rst_ni && flush_ready && cleared_q);
  end
  always_comb begin : CoverWaitsForTheWayOut
    cover (rst_ni && out_valid && !out_ready_i && req_valid_i && !req_ready);
  end
  always_comb begin : CoverSectorInFourRows
    cover (rst_ni && req_valid_i && waits && !\u_dut.walk_q && !flush_valid_i);
  end
  always_comb begin : CoverBackToBack
    cover (rst_ni && \u_dut.add_valid_q == '1);
  end

endmodule
