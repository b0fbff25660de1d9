// SPDX-License-Identifier: Apache-2.0
// Three numbers to two of the same sum modulo 2^50: at each place the number of ones, 0 to 3, is
// written as a bit there and one at the next place.

module count_row (
  input  logic [49:0] x_i,
  input  logic [49:0] y_i,
  input  logic [49:0] z_i,
  output logic [49:0] ones_o,
  output logic [49:0] twos_o
);

  always_comb begin
    twos_o = '0;
    for (int i = 0; i < 50; i++) begin
      logic [1:0] count;
      count = {1'b0, x_i[i]} + {1'b0, y_i[i]} + {1'b0, z_i[i]};
      ones_o[i] = count[0];
      if (i + 1 < 50) twos_o[i+1] = count[1];
    end
  end

endmodule
