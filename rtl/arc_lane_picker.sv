// SPDX-License-Identifier: Apache-2.0
// Picks the lowest set bit of a lane mask.
//
// Contract: combinational. one_hot_o is the lowest set lane of mask_i, rest_o is the mask
// without it, any_o says that there is one. Of an empty mask all outputs are zero. The caller keeps
// rest_o to walk through a mask one lane a cycle.

`include "arc_assert.svh"

module arc_lane_picker (
  // lanes to choose from
  input  logic [arc_pkg::Lanes-1:0] mask_i,
  // the choice
  output logic                      any_o,
  output logic [arc_pkg::Lanes-1:0] one_hot_o,
  output logic [arc_pkg::Lanes-1:0] rest_o
);

  // ------------------------------------------------------------------------------------------
  // Choice
  // ------------------------------------------------------------------------------------------
  // A lane is the choice when it is set and none below it is. Each group of lanes has a chain of its
  // own and one more runs over the groups: smaller than the carry tree of `mask_i - 1`, and not as
  // deep as one chain.

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Group = 4;
  localparam int Groups = Lanes / Group;

  logic [Lanes-1:0] below;         // a lane below is set, in this group
  logic [Groups-1:0] group_below;  // a lane is set in a group below

  always_comb begin
    for (int i = 0; i < Lanes; i++) begin
      if (i % Group == 0) below[i] = 1'b0;
      else                below[i] = below[i-1] | mask_i[i-1];
    end
    for (int g = 0; g < Groups; g++) begin
      if (g == 0) group_below[g] = 1'b0;
      else        group_below[g] = group_below[g-1] | (mask_i[Group*(g-1) +: Group] != '0);
    end
    for (int i = 0; i < Lanes; i++) begin
      one_hot_o[i] = mask_i[i] & ~(below[i] | group_below[i/Group]);
      rest_o[i] = mask_i[i] & (below[i] | group_below[i/Group]);
    end
    any_o = mask_i != '0;
  end

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT_COMB(ChoiceIsOneHotOrNone, $onehot0(one_hot_o))
  `ARC_ASSERT_COMB(ChoiceWheneverThereIsOne, any_o == (one_hot_o != '0))
  `ARC_ASSERT_COMB(NoLaneLostOrDoubled,
                   (one_hot_o | rest_o) == mask_i && (one_hot_o & rest_o) == '0)
  `ARC_ASSERT_COMB(RestIsAboveChoice, !any_o || (rest_o & ((one_hot_o << 1) - 1)) == '0)

endmodule
