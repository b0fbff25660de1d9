// SPDX-License-Identifier: Apache-2.0
// Whether summing a group of lanes, which have one address, saves additions to its sector.
//
// Contract: combinational. pays_o is high if the group has more lanes than its sector has words to
// which lanes of here_i add. If all groups of the sector are summed, as many additions leave as it has
// words; if none is, at least as many as the group has lanes, each of them to several words at once.
// The group is among here_i. The word of lane l is in bits [IndexWidth*l +: IndexWidth]; that of
// another lane does not matter.

`include "arc_assert.svh"

module arc_group_pays #(
  localparam int IndexWidth = arc_pkg::SectorBits - arc_pkg::WordBits
) (
  input  logic [arc_pkg::Lanes-1:0]            group_i,
  // lanes that add to the sector, and to which of its words
  input  logic [arc_pkg::Lanes-1:0]            here_i,
  input  logic [arc_pkg::Lanes*IndexWidth-1:0] word_i,
  output logic                                 pays_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Words = 1 << IndexWidth;

  // ------------------------------------------------------------------------------------------
  // Words that lanes add to
  // ------------------------------------------------------------------------------------------

  logic [Words-1:0] word_used;

  always_comb begin
    word_used = '0;
    for (int l = 0; l < Lanes; l++) begin
      word_used = word_used | (Words'(here_i[l]) << word_i[IndexWidth*l +: IndexWidth]);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Both counted, by adding neighbours
  // ------------------------------------------------------------------------------------------

  logic [5:0] lanes, words;

  always_comb begin : count_lanes
    logic [Lanes-1:0] sum;  // fields of 1, 2, 4, 8, 16 bits
    sum = (group_i & 32'h5555_5555) + ((group_i >> 1) & 32'h5555_5555);
    sum = (sum & 32'h3333_3333) + ((sum >> 2) & 32'h3333_3333);
    sum = (sum & 32'h0707_0707) + ((sum >> 4) & 32'h0707_0707);
    sum = (sum & 32'h000f_000f) + ((sum >> 8) & 32'h000f_000f);
    lanes = 6'(sum[4:0]) + 6'(sum[20:16]);
  end

  always_comb begin : count_words
    logic [Words-1:0] sum;
    sum = (word_used & 8'h55) + ((word_used >> 1) & 8'h55);
    sum = (sum & 8'h33) + ((sum >> 2) & 8'h33);
    words = 6'(sum[2:0]) + 6'(sum[6:4]);
  end

  assign pays_o = lanes > words;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_COMB(LoneLaneNeverPays,
                   !pays_o || (group_i & ~here_i) != '0 || (group_i & (group_i - 1)) != '0)

endmodule
