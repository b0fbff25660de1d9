// SPDX-License-Identifier: Apache-2.0
// Fetch stage of the fused unit: the lanes of a transaction that are still to read.
//
// Contract: after load_i the lanes of mask_i are asked for, in every cycle the lowest one left of
// each bank (lane l is of bank l % Banks), until each has been granted: valid_o and ready_i. While a
// read waits, what is asked for does not change. In the cycle in which load_i is high no lane is
// left, or the last ones are granted.

`include "arc_assert.svh"

module arc_fused_fetch (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // next transaction
  input  logic                      load_i,
  input  logic [arc_pkg::Lanes-1:0] mask_i,
  // read: lanes, those banks, whether they are the first and the last ones of the transaction
  output logic                      valid_o,
  input  logic                      ready_i,
  output logic [arc_pkg::Lanes-1:0] lanes_o,
  output logic [arc_pkg::Banks-1:0] bank_o,
  output logic                      first_o,
  output logic                      last_o,
  output logic                      grant_o,
  output logic [arc_pkg::Lanes-1:0] left_o  // lanes still to read, with those of this read
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Banks = arc_pkg::Banks;

  logic fetch_first_q;  // no lane of this transaction has been read
  logic [Lanes-1:0] mask_q, mask_d, fetch_rest;

  always_comb begin
    lanes_o = '0;
    bank_o = '0;
    for (int b = 0; b < Banks; b++) begin
      for (int l = b; l < Lanes; l = l + Banks) begin
        lanes_o[l] = mask_q[l] & ~bank_o[b];
        bank_o[b] = bank_o[b] | mask_q[l];
      end
    end
    fetch_rest = mask_q & ~lanes_o;
    valid_o = mask_q != '0;
    grant_o = valid_o && ready_i;
  end

  // The last read is the one with no two lanes left in any bank, found by halving the banks.
  always_comb begin : last_read
    logic [Lanes-1:0] any, two;
    any = mask_q;
    two = '0;
    for (int distance = Lanes / 2; distance >= Banks; distance = distance / 2) begin
      two = two | (two >> distance) | (any & (any >> distance));
      any = any | (any >> distance);
    end
    last_o = two[Banks-1:0] == '0;
  end

  always_comb begin
    mask_d = mask_q;
    if (load_i) mask_d = mask_i;
    else if (grant_o) mask_d = fetch_rest;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else         mask_q <= mask_d;
  end

  always_ff @(posedge clk_i) begin
    if (load_i || grant_o) fetch_first_q <= load_i;
  end

  assign first_o = fetch_first_q;
  assign left_o = mask_q;

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSERT(NoLoadOverLanesToRead, !load_i || mask_q == '0 || (grant_o && fetch_rest == '0))

`ifndef SYNTHESIS
  for (genvar b = 0; b < Banks; b++) begin : g_claim
    logic [Lanes-1:0] bank_left;  // lanes of this bank still to read
    localparam logic [Lanes-1:0] OfBank = {(Lanes / Banks) {{(Banks - 1) {1'b0}}, 1'b1}} << b;
    assign bank_left = mask_q & OfBank;
    `ARC_ASSERT(LowestLaneOfEachBankIsRead,
                (lanes_o & OfBank) == (bank_left & (~bank_left + Lanes'(1))))
  end
`endif

endmodule
