// SPDX-License-Identifier: Apache-2.0
// Proof: arc_lane_picker picks the lowest set lane of every mask.
//
// Combinational, so one step of an unconstrained mask is all there is. The reference is a search
// from the highest lane down; the unit has chains of ORs from the lowest lane up.

module arc_lane_picker_proof (
  input logic [arc_pkg::Lanes-1:0] mask_i
);

  localparam int Lanes = arc_pkg::Lanes;

  logic any;
  logic [Lanes-1:0] one_hot, rest;

  arc_lane_picker u_dut (
    .mask_i   (mask_i),
    .any_o    (any),
    .one_hot_o(one_hot),
    .rest_o   (rest)
  );

  logic want_any;
  logic [Lanes-1:0] want_one_hot;

  always_comb begin
    want_any = 1'b0;
    want_one_hot = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      if (mask_i[l]) begin
        want_any = 1'b1;
        want_one_hot = '0;
        want_one_hot[l] = 1'b1;
      end
    end
  end

  always_comb begin : AnyOfMask
    assert (any == want_any);
  end
  always_comb begin : OneHotIsLowestLane
    assert (one_hot == want_one_hot);
  end
  always_comb begin : RestIsMaskWithoutIt
    assert (rest == (mask_i & ~want_one_hot));
  end

  always_comb begin : CoverEmpty
    cover (!any);
  end
  always_comb begin : CoverLastLane
    cover (one_hot[Lanes-1]);
  end
  always_comb begin : CoverMany
    cover (rest != '0 && mask_i[Lanes-1] && one_hot[7]);
  end

endmodule
