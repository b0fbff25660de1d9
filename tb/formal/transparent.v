// SPDX-License-Identifier: Apache-2.0
// For the techmap of Yosys: a flop becomes a wire, so that stages in a row are one function.

(* techmap_celltype = "$dff $dffe" *)
module transparent (CLK, EN, D, Q);
  parameter WIDTH = 1;
  parameter CLK_POLARITY = 1;
  parameter EN_POLARITY = 1;
  input CLK, EN;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  assign Q = D;
endmodule
