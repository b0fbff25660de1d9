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
  // deep as one chain. The chains are shifts of whole words, one operation a step for a simulator.

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Group = 4;
  localparam int Groups = Lanes / Group;
  localparam logic [Lanes-1:0] FirstOfGroup = {Groups{Group'(1)}};

  logic [Lanes-1:0] below;        // a lane below is set, in this group
  logic [Lanes-1:0] group_set;    // at the first lane of a group: a lane of the group before is set
  logic [Lanes-1:0] group_below;  // at the first lane of a group: a lane of any group below is set
  logic [Lanes-1:0] blocked;      // a lane below is set, in any group

  always_comb begin
    below = '0;
    for (int i = 1; i < Group; i++) begin
      below = ((below | mask_i) << 1) & ~FirstOfGroup;
    end
    group_set = ((below | mask_i) << 1) & FirstOfGroup;
    group_below = '0;
    for (int g = 1; g < Groups; g++) begin
      group_below = (group_below << Group) | group_set;
    end
    blocked = below | group_below;
    for (int i = 1; i < Group; i++) begin
      blocked = blocked | (group_below << i);
    end
    one_hot_o = mask_i & ~blocked;
    rest_o = mask_i & blocked;
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
