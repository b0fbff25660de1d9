// SPDX-License-Identifier: Apache-2.0
// A unit that takes two lanes a cycle in fewer transistors than the pipelined kind, which takes one:
// coalescer, scheduler and output select as in arc_subcore, two_lanes_reduction between.
module two_lanes_subcore (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  // atomred request: lane l's byte address in [AddrWidth*l +: AddrWidth]
  input  logic                                         req_valid_i,
  output logic                                         req_ready_o,
  input  logic [arc_pkg::Lanes-1:0]                    req_mask_i,
  input  logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  input  logic [arc_pkg::TagWidth-1:0]                 req_tag_i,
  // transaction to the memory queue
  output logic                                         lsu_valid_o,
  input  logic                                         lsu_room_i,
  output logic [arc_pkg::AddrWidth-1:0]                lsu_addr_o,
  output logic [arc_pkg::Lanes-1:0]                    lsu_mask_o,
  output logic                                         lsu_reduced_o,
  output logic [arc_pkg::DataWidth-1:0]                lsu_data_o,
  output logic [arc_pkg::TagWidth-1:0]                 lsu_tag_o,
  // register-file read; the data of a granted read is there from the next cycle on
  output logic                                         rf_valid_o,
  input  logic                                         rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                    rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]                 rf_tag_o,
  input  logic [2*arc_pkg::DataWidth-1:0]              rf_data_i,
  // a register holds work
  output logic                                         busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;

  // ------------------------------------------------------------------------------------------
  // Coalescer
  // ------------------------------------------------------------------------------------------

  logic txn_valid, txn_ready;
  logic [AddrWidth-1:0] txn_addr;
  logic [Lanes-1:0] txn_mask;
  logic left_valid, left_ready;
  logic [Lanes-1:0] left_mask;
  logic match_busy;

  arc_addr_match u_addr_match (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .req_valid_i (req_valid_i),
    .req_ready_o (req_ready_o),
    .req_mask_i  (req_mask_i),
    .req_addr_i  (req_addr_i),
    .txn_valid_o (txn_valid),
    .txn_ready_i (txn_ready),
    .txn_addr_o  (txn_addr),
    .txn_mask_o  (txn_mask),
    .left_valid_o(left_valid),
    .left_ready_i(left_ready),
    .left_mask_o (left_mask),
    .busy_o      (match_busy)
  );

  // ------------------------------------------------------------------------------------------
  // Scheduler
  // ------------------------------------------------------------------------------------------

  logic red_valid;
  logic reduce_valid, reduce_ready;
  logic result_valid;
  logic [Lanes-1:0] red_mask;

  arc_scheduler u_scheduler (
    .txn_valid_i   (txn_valid),
    .txn_ready_o   (txn_ready),
    .left_valid_i  (left_valid),
    .left_ready_o  (left_ready),
    .lsu_room_i    (lsu_room_i),
    .result_valid_i(result_valid),
    .red_valid_o   (red_valid),
    .reduce_valid_o(reduce_valid),
    .reduce_ready_i(reduce_ready)
  );

  assign red_mask = left_valid ? left_mask : txn_mask;

  // ------------------------------------------------------------------------------------------
  // Reduction unit
  // ------------------------------------------------------------------------------------------

  logic reduction_busy;
  logic [AddrWidth-1:0] result_addr;
  logic [TagWidth-1:0] result_tag;

  two_lanes_reduction u_reduction (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .txn_valid_i   (reduce_valid),
    .txn_ready_o   (reduce_ready),
    .txn_addr_i    (txn_addr),
    .txn_mask_i    (txn_mask),
    .txn_tag_i     (req_tag_i),
    .rf_valid_o    (rf_valid_o),
    .rf_ready_i    (rf_ready_i),
    .rf_mask_o     (rf_mask_o),
    .rf_tag_o      (rf_tag_o),
    .rf_data_i     (rf_data_i),
    .result_valid_o(result_valid),
    .result_ready_i(lsu_room_i),
    .result_addr_o (result_addr),
    .result_data_o (lsu_data_o),
    .result_tag_o  (result_tag),
    .busy_o        (reduction_busy)
  );

  // ------------------------------------------------------------------------------------------
  // Output select: never both at once, and who is not selected drives zero
  // ------------------------------------------------------------------------------------------

  always_comb begin
    lsu_valid_o = result_valid || red_valid;
    lsu_reduced_o = result_valid;
    lsu_addr_o = result_addr | (txn_addr & {AddrWidth{red_valid && !left_valid}});
    lsu_tag_o = result_tag | (req_tag_i & {TagWidth{red_valid}});
    lsu_mask_o = red_mask & {Lanes{red_valid}};
    lsu_mask_o[0] = lsu_mask_o[0] | result_valid;
  end

  assign busy_o = match_busy || reduction_busy;

endmodule
