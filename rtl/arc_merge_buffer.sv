// SPDX-License-Identifier: Apache-2.0
// Merge buffer of an SM: adds up additions to one sector of 32 bytes before they leave for the L2.
//
// It stands behind the load-store unit, in front of the SM's way to the L2. Sums lie in an SRAM
// beside it, a sector in a row. A hash of the sector's address picks four rows, and a request takes
// the first of them that no request before it has in hand. Mostly that is the first; only a sector
// that many add to at once has sums in several rows. An addition to a row of its sector is added to
// the sums there; to a row of another one it takes the row, and the sums that lay there leave.
//
//   request --> look-up --> add, four stages --> write back
//                  |
//                  +--> sums that leave
//
// Contract: a request, at least one word of a sector, is accepted in every cycle but those in which
// sums that must leave wait, in which all sums leave, and in which all four rows of its sector are
// in hand. A row is in hand in the five cycles after the acceptance of a request that takes it, and
// as many more as sums that must leave wait. What leaves of a row is, word by word, the chain of FP32
// additions of the requests that took the row since its sector came there, in the order in which they
// were accepted; begun with -0.0, which is neutral. So of a sector up to four partial sums may be
// there, which leave apart, and each of its requests is in exactly one. Sums leave when another
// sector takes their row, or all of them, by index, while flush_valid_i is held, which flush_ready_o
// ends. After reset the rows are cleared, one a cycle; nothing is accepted meanwhile.
//
// SRAM: a port to read and one to write. ram_row_i is the row of the last read, from the cycle after
// it until and including the cycle of the next one. A row is not written while it is read. All
// payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_merge_buffer #(
  // 1: subnormal values and sums count as zero, as global RED does. 0: gradual underflow.
  parameter int FlushSubnormals = 1,
  // 2^IndexBits rows, at least 8
  parameter int IndexBits = 9,
  localparam int Words = 8,
  localparam int WayBits = 2,  // 2^WayBits rows in which a sector may lie
  localparam int LowBits = IndexBits - WayBits,
  localparam int SectorWidth = arc_pkg::AddrWidth - 5,
  localparam int TagBits = SectorWidth - LowBits,
  localparam int SumsWidth = Words * arc_pkg::DataWidth,
  // tag, words that have a sum, sums
  localparam int RowWidth = TagBits + Words + SumsWidth
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // additions to words of a sector: its address in sectors, and a value of each word in the mask
  input  logic                   req_valid_i,
  output logic                   req_ready_o,
  input  logic [SectorWidth-1:0] req_sector_i,
  input  logic [Words-1:0]       req_mask_i,
  input  logic [SumsWidth-1:0]   req_data_i,
  // all sums are to leave
  input  logic                   flush_valid_i,
  output logic                   flush_ready_o,
  // SRAM
  output logic                   ram_read_o,
  output logic [IndexBits-1:0]   ram_read_index_o,
  input  logic [RowWidth-1:0]    ram_row_i,
  output logic                   ram_write_o,
  output logic [IndexBits-1:0]   ram_write_index_o,
  output logic [RowWidth-1:0]    ram_write_row_o,
  // sums that leave
  output logic                   out_valid_o,
  input  logic                   out_ready_i,
  output logic [SectorWidth-1:0] out_sector_o,
  output logic [Words-1:0]       out_mask_o,
  output logic [SumsWidth-1:0]   out_data_o,
  // a register holds work; sums in the SRAM are none
  output logic                   busy_o
);

  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int Stages = 4;  // operands, and three behind them
  localparam int Ways = 1 << WayBits;

  // ------------------------------------------------------------------------------------------
  // Accept: read the row that the request takes
  // ------------------------------------------------------------------------------------------
  // The index of the first row is the exclusive or of pieces of the sector's address; the others
  // differ from it in the top bits, so that neighbouring sectors share none. The lowest bits of the
  // sector need not be kept: tag and index give them back, in whichever row they lie.

  logic accept, in_hand, taken, moves;
  logic [IndexBits-1:0] first_index, way_index, req_index;
  logic look_valid_q, look_walk_q, look_last_q;
  logic [IndexBits-1:0] look_index_q;
  logic [TagBits-1:0] look_tag_q;
  logic [Words-1:0] look_mask_q;
  logic [SumsWidth-1:0] look_data_q;
  logic [Stages-1:0] add_valid_q;
  logic [IndexBits*Stages-1:0] add_index_q;
  logic [TagBits*Stages-1:0] add_tag_q;
  logic [Words*Stages-1:0] add_mask_q;
  logic walk_q, clear_q, all_read_q, walk_reads, walk_ends;
  logic [IndexBits-1:0] walk_index_q;

  always_comb begin
    first_index = req_sector_i[IndexBits-1:0];
    for (int i = IndexBits; i < SectorWidth; i++) begin
      first_index[i%IndexBits] = first_index[i%IndexBits] ^ req_sector_i[i];
    end
  end

  // A row is in hand while its sums are on their way back.
  always_comb begin
    req_index = first_index;
    taken = 1'b1;
    for (int w = Ways - 1; w >= 0; w--) begin
      way_index = first_index ^ {WayBits'(w), {LowBits{1'b0}}};
      in_hand = look_valid_q && look_index_q == way_index;
      for (int s = 0; s < Stages; s++) begin
        in_hand = in_hand | (add_valid_q[s] & (add_index_q[IndexBits*s+:IndexBits] == way_index));
      end
      if (!in_hand) req_index = way_index;
      taken = taken && in_hand;
    end
  end

  assign accept = req_valid_i && !walk_q && !flush_valid_i && !taken && (!look_valid_q || moves);
  assign req_ready_o = accept;

  assign ram_read_o = accept || walk_reads;
  assign ram_read_index_o = (req_index & {IndexBits{accept}}) |
                            (walk_index_q & {IndexBits{walk_reads}});

  // ------------------------------------------------------------------------------------------
  // Walk: all rows one after the other, to clear them after reset, or to send their sums
  // ------------------------------------------------------------------------------------------

  logic empty;

  assign empty = !look_valid_q && add_valid_q == '0;
  assign walk_reads = walk_q && !all_read_q && (!look_valid_q || moves);
  assign walk_ends = look_walk_q && look_last_q && moves;
  assign flush_ready_o = walk_ends && !clear_q;
  assign busy_o = walk_q || !empty;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q <= 1'b1;
      clear_q <= 1'b1;
      all_read_q <= 1'b0;
      walk_index_q <= '0;
    end else begin
      walk_q <= walk_q ? !walk_ends : flush_valid_i && empty;
      clear_q <= clear_q && !walk_ends;
      all_read_q <= (all_read_q || (walk_reads && walk_index_q == '1)) && !walk_ends;
      walk_index_q <= walk_index_q + IndexBits'(walk_reads);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Look up: the sector's own sums are operands, those of another one leave
  // ------------------------------------------------------------------------------------------

  logic held, hit, leaves;
  logic [TagBits-1:0] row_tag;
  logic [LowBits-1:0] row_low;
  logic [Words-1:0] row_mask, kept;
  logic [SumsWidth-1:0] row_data, old_d, new_d;

  assign row_tag = ram_row_i[RowWidth-1-:TagBits];
  assign row_mask = ram_row_i[SumsWidth+:Words];
  assign row_data = ram_row_i[SumsWidth-1:0];

  assign held = row_mask != '0;
  assign hit = held && !look_walk_q && row_tag == look_tag_q;
  assign leaves = look_valid_q && !clear_q && held && !hit;
  assign moves = look_valid_q && (!leaves || out_ready_i);
  assign kept = row_mask & {Words{hit}};

  assign out_valid_o = leaves;
  assign out_sector_o = {row_tag, row_low} & {SectorWidth{leaves}};
  assign out_mask_o = row_mask & {Words{leaves}};

  always_comb begin
    row_low = look_index_q[LowBits-1:0];
    for (int low = 0; low < LowBits; low++) begin
      for (int i = IndexBits + low; i < SectorWidth; i += IndexBits) begin
        row_low[low] = row_low[low] ^ row_tag[i-LowBits];
      end
    end
  end

  always_comb begin
    for (int w = 0; w < Words; w++) begin
      out_data_o[DataWidth*w+:DataWidth] =
          row_data[DataWidth*w+:DataWidth] & {DataWidth{leaves && row_mask[w]}};
      old_d[DataWidth*w+:DataWidth] = kept[w] ? row_data[DataWidth*w+:DataWidth]
                                              : arc_pkg::NegativeZero;
      new_d[DataWidth*w+:DataWidth] = look_mask_q[w] ? look_data_q[DataWidth*w+:DataWidth]
                                                     : arc_pkg::NegativeZero;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) look_valid_q <= 1'b0;
    else         look_valid_q <= ram_read_o || (look_valid_q && !moves);
  end

  always_ff @(posedge clk_i) begin
    if (ram_read_o) begin
      look_walk_q <= walk_reads;
      look_last_q <= walk_index_q == '1;
      look_index_q <= ram_read_index_o;
      look_tag_q <= req_sector_i[SectorWidth-1:LowBits];
      look_mask_q <= req_mask_i;
      look_data_q <= req_data_i;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Add, and write back
  // ------------------------------------------------------------------------------------------

  logic [SumsWidth-1:0] old_q, new_q, sums;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) add_valid_q <= '0;
    else         add_valid_q <= {add_valid_q[Stages-2:0], moves && !look_walk_q};
  end

  always_ff @(posedge clk_i) begin
    old_q <= old_d;
    new_q <= new_d;
    add_index_q <= {add_index_q[IndexBits*(Stages-1)-1:0], look_index_q};
    add_tag_q <= {add_tag_q[TagBits*(Stages-1)-1:0], look_tag_q};
    add_mask_q <= {add_mask_q[Words*(Stages-1)-1:0], look_mask_q | kept};
  end

  for (genvar w = 0; w < Words; w++) begin : g_word
    arc_fp_adder #(
      .FlushSubnormals(FlushSubnormals),
      .Pipelined      (1)
    ) u_adder (
      .clk_i(clk_i),
      .a_i  (old_q[DataWidth*w+:DataWidth]),
      .b_i  (new_q[DataWidth*w+:DataWidth]),
      .sum_o(sums[DataWidth*w+:DataWidth])
    );
  end

  // A row that the walk has passed is empty.
  logic writes_sums, clears;

  assign writes_sums = add_valid_q[Stages-1];
  assign clears = look_walk_q && moves;
  assign ram_write_o = writes_sums || clears;
  assign ram_write_index_o =
      (add_index_q[IndexBits*(Stages-1)+:IndexBits] & {IndexBits{writes_sums}}) |
      (look_index_q & {IndexBits{clears}});
  assign ram_write_row_o = {add_tag_q[TagBits*(Stages-1)+:TagBits],
                            add_mask_q[Words*(Stages-1)+:Words], sums} & {RowWidth{writes_sums}};

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(RequestHasWords, !req_valid_i || req_mask_i != '0)
  `ARC_ASSUME_NEXT(RequestIsHeld, req_valid_i && !req_ready_o,
                   req_valid_i && $stable({req_sector_i, req_mask_i, req_data_i}))
  `ARC_ASSUME_NEXT(FlushIsHeld, flush_valid_i && !flush_ready_o, flush_valid_i)
  `ARC_ASSERT(NoRowIsReadWhileItIsWritten,
              !ram_read_o || !ram_write_o || ram_read_index_o != ram_write_index_o)
  `ARC_ASSERT(OneWriter, !writes_sums || !clears)
  `ARC_ASSERT(WalkIsAlone, !walk_q || add_valid_q == '0)
  `ARC_ASSERT_NEXT(LeavingSumsAreHeld, out_valid_o && !out_ready_i,
                   out_valid_o && $stable(out_sector_o))

  // Icarus has no messages at elaboration.
`ifndef SYNTHESIS
`ifndef __ICARUS__
  if (IndexBits <= WayBits) begin : g_rows
    $error("IndexBits %0d: must be 3 or more", IndexBits);
  end
`endif
`endif

endmodule
