// SPDX-License-Identifier: Apache-2.0
// Largest of the exponent bins of 32 lanes.
//
// Contract: combinational. max_o is the largest bin of the lanes whose valid_i is set, 0 if none is.

`include "arc_assert.svh"

module arc_bin_max (
  // lane l has its bin in [BinWidth*l +: BinWidth]
  input  logic [arc_pkg::Lanes-1:0]                   valid_i,
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] bin_i,
  output logic [arc_pkg::BinWidth-1:0]                max_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int BinWidth = arc_pkg::BinWidth;

  // ------------------------------------------------------------------------------------------
  // Upper two bits, and the lanes that have them
  // ------------------------------------------------------------------------------------------

  logic [Lanes-1:0] b4, b3, b2, b1, b0;
  logic [Lanes-1:0] alive;
  logic any_11, any_1x, any_x;

  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      b4[l] = bin_i[BinWidth*l+4];
      b3[l] = bin_i[BinWidth*l+3];
      b2[l] = bin_i[BinWidth*l+2];
      b1[l] = bin_i[BinWidth*l+1];
      b0[l] = bin_i[BinWidth*l];
    end
    max_o[4] = (valid_i & b4) != '0;
    max_o[3] = (valid_i & b4 & b3) != '0 || (!max_o[4] && (valid_i & b3) != '0);
    alive = valid_i & (b4 | {Lanes{~max_o[4]}}) & (b3 | {Lanes{~max_o[3]}});

    // ----------------------------------------------------------------------------------------
    // Lower three bits, at once: the next two, and the last one for each value these may have
    // ----------------------------------------------------------------------------------------
    any_11 = (alive & b2 & b1) != '0;
    any_1x = (alive & b2) != '0;
    any_x = (alive & (b2 | b1)) != '0;
    max_o[2] = any_1x;
    max_o[1] = any_11 || (any_x && !any_1x);
    if (any_11)      max_o[0] = (alive & b2 & b1 & b0) != '0;
    else if (any_1x) max_o[0] = (alive & b2 & b0) != '0;
    else if (any_x)  max_o[0] = (alive & b1 & b0) != '0;
    else             max_o[0] = (alive & b0) != '0;
  end

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

`ifndef SYNTHESIS
  logic reached, exceeded;

  always_comb begin
    reached = valid_i == '0 && max_o == '0;
    exceeded = 1'b0;
    for (int l = 0; l < Lanes; l++) begin
      reached = reached || (valid_i[l] && bin_i[BinWidth*l +: BinWidth] == max_o);
      exceeded = exceeded || (valid_i[l] && bin_i[BinWidth*l +: BinWidth] > max_o);
    end
  end
`endif

  `ARC_ASSERT_COMB(MaxIsReachedAndNotExceeded, reached && !exceeded)

endmodule
