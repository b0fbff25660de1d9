// SPDX-License-Identifier: Apache-2.0
// The reduction unit with the datapath and for the words that the parameters name.
//
// Contract: that of arc_reduction_serial, arc_reduction_paired or arc_reduction_fused. Lane l is read
// through bank l % ReadLanes. rf_bin_i is looked at by the fused datapath alone.

`include "arc_assert.svh"

module arc_reduction #(
  parameter int Datapath = arc_pkg::DatapathSerial,
  parameter int Format = arc_pkg::FormatF32,
  parameter int Width = arc_pkg::TagWidth,  // of the tag
  localparam int ReadLanes = 1 << Datapath
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // transaction to reduce
  input  logic                                        txn_valid_i,
  output logic                                        txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]               txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]                   txn_mask_i,
  input  logic [Width-1:0]                            txn_tag_i,
  // register-file read
  output logic                                        rf_valid_o,
  input  logic                                        rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                   rf_mask_o,
  output logic [Width-1:0]                            rf_tag_o,
  input  logic [ReadLanes*arc_pkg::DataWidth-1:0]     rf_data_i,
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] rf_bin_i,
  // result: one addition of data to addr
  output logic                                        result_valid_o,
  input  logic                                        result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]               result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]               result_data_o,
  output logic [Width-1:0]                            result_tag_o,
  // a register holds work
  output logic                                        busy_o
);

  if (Datapath == arc_pkg::DatapathFused) begin : g_fused
    arc_reduction_fused #(
      .Width(Width)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (txn_valid_i),
      .txn_ready_o   (txn_ready_o),
      .txn_addr_i    (txn_addr_i),
      .txn_mask_i    (txn_mask_i),
      .txn_tag_i     (txn_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .rf_bin_i      (rf_bin_i),
      .result_valid_o(result_valid_o),
      .result_ready_i(result_ready_i),
      .result_addr_o (result_addr_o),
      .result_data_o (result_data_o),
      .result_tag_o  (result_tag_o),
      .busy_o        (busy_o)
    );
  end else if (Datapath == arc_pkg::DatapathPaired) begin : g_paired
    arc_reduction_paired #(
      .Width(Width)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (txn_valid_i),
      .txn_ready_o   (txn_ready_o),
      .txn_addr_i    (txn_addr_i),
      .txn_mask_i    (txn_mask_i),
      .txn_tag_i     (txn_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .result_valid_o(result_valid_o),
      .result_ready_i(result_ready_i),
      .result_addr_o (result_addr_o),
      .result_data_o (result_data_o),
      .result_tag_o  (result_tag_o),
      .busy_o        (busy_o)
    );
  end else begin : g_serial
    arc_reduction_serial #(
      .Format(Format),
      .Width (Width)
    ) u_reduction (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .txn_valid_i   (txn_valid_i),
      .txn_ready_o   (txn_ready_o),
      .txn_addr_i    (txn_addr_i),
      .txn_mask_i    (txn_mask_i),
      .txn_tag_i     (txn_tag_i),
      .rf_valid_o    (rf_valid_o),
      .rf_ready_i    (rf_ready_i),
      .rf_mask_o     (rf_mask_o),
      .rf_tag_o      (rf_tag_o),
      .rf_data_i     (rf_data_i),
      .result_valid_o(result_valid_o),
      .result_ready_i(result_ready_i),
      .result_addr_o (result_addr_o),
      .result_data_o (result_data_o),
      .result_tag_o  (result_tag_o),
      .busy_o        (busy_o)
    );
  end

  if (Datapath != arc_pkg::DatapathFused) begin : g_no_bins
    logic unused_rf_bin;
    assign unused_rf_bin = ^rf_bin_i;
  end

  `ARC_REFUSE(Datapath_is_0_serial_1_paired_or_2_fused,
              Datapath < arc_pkg::DatapathSerial || Datapath > arc_pkg::DatapathFused)
  `ARC_REFUSE(Format_is_0_FP32_or_1_two_binary16,
              Format < arc_pkg::FormatF32 || Format > arc_pkg::FormatF16x2)
  `ARC_REFUSE(Datapath_paired_and_fused_add_FP32_alone,
              Datapath != arc_pkg::DatapathSerial && Format != arc_pkg::FormatF32)

endmodule
