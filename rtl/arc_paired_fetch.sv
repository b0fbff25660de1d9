// SPDX-License-Identifier: Apache-2.0
// Fetch stage of the paired unit: the lanes of a transaction that are still to read.
//
// Contract: after load_i the lanes of mask_i are asked for, in every cycle the lowest even and the lowest
// odd one left, until each has been granted: valid_o and ready_i. While a read waits, what is asked for
// does not change. last_o: no lane will be left after this read, or none is. In the cycle in which load_i
// is high no lane is left, or the last ones are granted.

`include "arc_assert.svh"

module arc_paired_fetch (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // next transaction
  input  logic                            load_i,
  input  logic [arc_pkg::Lanes-1:0]       mask_i,
  // read: lanes, those banks, whether they are the first and the last ones of the transaction
  output logic                            valid_o,
  input  logic                            ready_i,
  output logic [arc_pkg::Lanes-1:0]       lanes_o,
  output logic [arc_pkg::PairedBanks-1:0] bank_o,
  output logic                            first_o,
  output logic                            last_o,
  output logic [arc_pkg::Lanes-1:0]       left_o  // lanes still to read, with those of this read
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Banks = arc_pkg::PairedBanks;
  localparam int Group = 8;  // lanes, four of a bank
  localparam int Groups = Lanes / Group;
  localparam logic [Lanes-1:0] FirstOfGroup = {Groups{8'h03}};

  logic first_q;
  logic [Lanes-1:0] mask_q, blocked;  // lanes left; those with a lower one left in their bank

  // As in arc_lane_picker: a chain in each group, and one over the groups. Banks are neighbours.
  always_comb begin : pick
    logic [Lanes-1:0] below, group_below;
    below = '0;
    for (int i = Banks; i < Group; i = i + Banks) begin
      below = ((below | mask_q) << Banks) & ~FirstOfGroup;
    end
    group_below = '0;
    for (int g = 1; g < Groups; g++) begin
      group_below = (group_below << Group) | (((below | mask_q) << Banks) & FirstOfGroup);
    end
    blocked = below;
    for (int i = 0; i < Group; i = i + Banks) blocked = blocked | (group_below << i);
    lanes_o = mask_q & ~blocked;
  end

  // Beside the choice, not after it: no bank has two lanes left.
  always_comb begin : last_read
    logic any;
    logic [3:0] four;
    last_o = 1'b1;
    for (int b = 0; b < Banks; b++) begin
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
  assign left_o = mask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else         mask_q <= (mask_q & (blocked | {Lanes{!ready_i}})) | (mask_i & {Lanes{load_i}});
  end

  always_ff @(posedge clk_i) begin
    if (load_i || (valid_o && ready_i)) first_q <= load_i;
  end

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT(NoLoadOverLanesToRead, !load_i || mask_q == '0 || (ready_i && (mask_q & ~lanes_o) == '0))
  `ARC_ASSERT(LastReadLeavesNoLane, last_o == ((mask_q & ~lanes_o) == '0))

`ifndef SYNTHESIS
  for (genvar b = 0; b < Banks; b++) begin : g_claim
    logic [Lanes-1:0] bank_left;  // lanes of this bank still to read
    localparam logic [Lanes-1:0] OfBank = {(Lanes / Banks) {{(Banks - 1) {1'b0}}, 1'b1}} << b;
    assign bank_left = mask_q & OfBank;
    `ARC_ASSERT(LowestLaneOfEachBankIsRead,
                (lanes_o & OfBank) == (bank_left & (~bank_left + Lanes'(1))))
    `ARC_ASSERT(BanksAreThoseOfTheLanes, bank_o[b] == (bank_left != '0))
  end
`endif

endmodule
