// SPDX-License-Identifier: Apache-2.0
// Proof: arc_group_pays compares the lanes of every group with the words of its sector.
//
// Combinational, so one step of unconstrained inputs is all there is. The reference finds each word by
// a search of the lanes and counts one at a time; the unit counts by adding neighbours.

module arc_group_pays_proof (
  input logic [arc_pkg::Lanes-1:0]                                          group_i,
  input logic [arc_pkg::Lanes-1:0]                                          here_i,
  input logic [arc_pkg::Lanes*(arc_pkg::SectorBits-arc_pkg::WordBits)-1:0] word_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int IndexWidth = arc_pkg::SectorBits - arc_pkg::WordBits;

  logic pays;

  arc_group_pays u_dut (
    .group_i(group_i),
    .here_i (here_i),
    .word_i (word_i),
    .pays_o (pays)
  );

  logic [7:0] used;
  int lanes, words;

  always_comb begin
    used = '0;
    lanes = 0;
    words = 0;
    for (int w = 0; w < 8; w++) begin
      for (int l = 0; l < Lanes; l++) begin
        if (here_i[l] && word_i[IndexWidth*l +: IndexWidth] == IndexWidth'(w)) used[w] = 1'b1;
      end
      words = words + 32'(used[w]);
    end
    for (int l = 0; l < Lanes; l++) lanes = lanes + 32'(group_i[l]);
  end

  always_comb begin : MoreLanesThanWords
    assert (pays == (lanes > words));
  end

  always_comb begin : CoverPairPays
    cover (pays && lanes == 2);
  end
  always_comb begin : CoverEightOfEightWords
    cover (!pays && lanes == 8 && words == 8);
  end

endmodule
