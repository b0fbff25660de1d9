// SPDX-License-Identifier: Apache-2.0
// Fetch stage: asks for the lowest even and the lowest odd lane that are left of a transaction.
//
// Contract: lanes of mask_i are asked for from the cycle after load_i, until granted by ready_i. load_i
// is high only while last_o is, and no read waits. last_o: no lane will be left after this read.
module two_lanes_fetch (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      load_i,
  input  logic [arc_pkg::Lanes-1:0] mask_i,
  output logic                      valid_o,
  input  logic                      ready_i,
  output logic [arc_pkg::Lanes-1:0] lanes_o,
  output logic [1:0]                bank_o,   // an even lane, an odd one
  output logic                      first_o,  // no lane of the transaction has been read
  output logic                      last_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Group = 8;  // lanes, four of a bank
  localparam int Groups = Lanes / Group;
  localparam logic [Lanes-1:0] FirstOfGroup = {Groups{8'h03}};

  logic first_q;
  logic [Lanes-1:0] mask_q, blocked;  // lanes left; those with a lower one left in their bank

  // As in arc_lane_picker: a chain in each group, and one over the groups.
  always_comb begin : pick
    logic [Lanes-1:0] below, group_below;
    below = '0;
    for (int i = 2; i < Group; i = i + 2) below = ((below | mask_q) << 2) & ~FirstOfGroup;
    group_below = '0;
    for (int g = 1; g < Groups; g++) begin
      group_below = (group_below << Group) | (((below | mask_q) << 2) & FirstOfGroup);
    end
    blocked = below;
    for (int i = 0; i < Group; i = i + 2) blocked = blocked | (group_below << i);
    lanes_o = mask_q & ~blocked;
  end

  // Beside the choice, not after it: no bank has two lanes left.
  always_comb begin : last_read
    logic any;
    logic [3:0] four;
    last_o = 1'b1;
    for (int b = 0; b < 2; b++) begin
      any = 1'b0;
      for (int g = 0; g < Groups; g++) begin
        four = {mask_q[Group*g+b+6], mask_q[Group*g+b+4], mask_q[Group*g+b+2], mask_q[Group*g+b]};
        if ((four[0] && four[1]) || (four[2] && four[3]) ||
            ((four[0] || four[1]) && (four[2] || four[3])) || (any && four != '0)) last_o = 1'b0;
        any = any || four != '0;
      end
    end
  end

  assign valid_o = mask_q != '0;
  assign bank_o = {(mask_q & {(Lanes / 2) {2'b10}}) != '0, (mask_q & {(Lanes / 2) {2'b01}}) != '0};
  assign first_o = first_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else         mask_q <= (mask_q & (blocked | {Lanes{!ready_i}})) | (mask_i & {Lanes{load_i}});
  end

  always_ff @(posedge clk_i) begin
    if (load_i || (valid_o && ready_i)) first_q <= load_i;
  end

endmodule
