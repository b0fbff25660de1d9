// SPDX-License-Identifier: Apache-2.0
// For `techmap`: a flop becomes a wire, so that a pipeline without feedback becomes the function
// that it computes.

(* techmap_celltype = "$dff" *)
module transparent_dff (
  input              CLK,
  input  [WIDTH-1:0] D,
  output [WIDTH-1:0] Q
);

  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;

  assign Q = D;

endmodule
