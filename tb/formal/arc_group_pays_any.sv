// SPDX-License-Identifier: Apache-2.0
// Stands in for arc_group_pays where only control is proved: its answer is any value.
//
// That an unchanged question has an unchanged answer is assumed by the wrapper, as there is no clock
// here.

module arc_group_pays #(
  localparam int IndexWidth = arc_pkg::SectorBits - arc_pkg::WordBits
) (
  input  logic [arc_pkg::Lanes-1:0]            group_i,
  input  logic [arc_pkg::Lanes-1:0]            here_i,
  input  logic [arc_pkg::Lanes*IndexWidth-1:0] word_i,
  output logic                                 pays_o
);

  assign pays_o = $anyseq;

endmodule
