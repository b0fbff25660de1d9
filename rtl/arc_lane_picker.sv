// SPDX-License-Identifier: Apache-2.0
// Picks the lowest set bit of a lane mask.
//
// Contract: combinational. one_hot_o is the lowest set lane of mask_i, rest_o is the mask
// without it, any_o says that there is one, last_o that it is the only one. Of an empty mask all
// outputs are zero. The caller keeps rest_o to walk through a mask one lane a cycle.

`include "arc_assert.svh"

module arc_lane_picker (
  // lanes to choose from
  input  logic [arc_pkg::Lanes-1:0] mask_i,
  // the choice
  output logic                      any_o,
  output logic                      last_o,
  output logic [arc_pkg::Lanes-1:0] one_hot_o,
  output logic [arc_pkg::Lanes-1:0] rest_o
);

  // ------------------------------------------------------------------------------------------
  // Choice
  // ------------------------------------------------------------------------------------------
  // Less one, a mask loses its lowest set bit and gains all below it.

  logic [arc_pkg::Lanes-1:0] less_one;

  always_comb begin
    less_one = mask_i - arc_pkg::Lanes'(1);
    one_hot_o = mask_i & ~less_one;
    rest_o = mask_i & less_one;
    any_o = mask_i != '0;
    last_o = any_o && rest_o == '0;
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
