// SPDX-License-Identifier: Apache-2.0
// Proof: arc_bin_max is the largest bin of the valid lanes, 0 if there are none.
//
// Combinational, so one step of unconstrained inputs is all there is. The reference is a search from
// lane to lane; the unit decides bit by bit, over all lanes at once.

module arc_bin_max_proof (
  input logic [arc_pkg::Lanes-1:0]                   valid_i,
  input logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] bin_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int BinWidth = arc_pkg::BinWidth;

  logic [BinWidth-1:0] max, want;

  arc_bin_max u_dut (
    .valid_i(valid_i),
    .bin_i  (bin_i),
    .max_o  (max)
  );

  always_comb begin
    want = '0;
    for (int l = 0; l < Lanes; l++) begin
      if (valid_i[l] && bin_i[BinWidth*l +: BinWidth] > want) want = bin_i[BinWidth*l +: BinWidth];
    end
  end

  always_comb begin : MaxIsTheLargest
    assert (max == want);
  end

  always_comb begin : CoverNone
    cover (valid_i == '0 && max == '0);
  end
  always_comb begin : CoverOneBelowTheTop
    cover (valid_i == '1 && max == 5'd30);
  end
  always_comb begin : CoverTopLane
    cover (valid_i == {1'b1, {(Lanes - 1) {1'b0}}} && max == 5'd17);
  end

endmodule
