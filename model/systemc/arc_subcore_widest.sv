// SPDX-License-Identifier: Apache-2.0
// arc_subcore with the ports of the unit that has the widest, so that all units bind alike: one that
// reads fewer lanes takes the low bits of rf_data_i.

// verilator coverage_off
module arc_subcore_widest #(
  parameter int Datapath = arc_pkg::DatapathSerial,
  parameter int Format = arc_pkg::FormatF32,
  parameter int MaxWords = 1,
  parameter int Scheduler = arc_pkg::SchedulerGreedy,
  parameter int Coalescer = 0,
  localparam int ReadLanes = 1 << Datapath
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  // atomred request
  input  logic                                         req_valid_i,
  output logic                                         req_ready_o,
  input  logic [arc_pkg::Lanes-1:0]                    req_mask_i,
  input  logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  input  logic [arc_pkg::TagWidth-1:0]                 req_tag_i,
  input  logic [arc_pkg::WordWidth-1:0]                req_words_i,
  // transaction to the memory queue
  output logic                                         lsu_valid_o,
  input  logic                                         lsu_room_i,
  output logic [arc_pkg::AddrWidth-1:0]                lsu_addr_o,
  output logic [arc_pkg::Lanes-1:0]                    lsu_mask_o,
  output logic                                         lsu_reduced_o,
  output logic [arc_pkg::DataWidth-1:0]                lsu_data_o,
  output logic [arc_pkg::TagWidth-1:0]                 lsu_tag_o,
  output logic [arc_pkg::WordWidth-1:0]                lsu_word_o,
  output logic                                         lsu_last_o,
  // register-file read
  output logic                                         rf_valid_o,
  input  logic                                         rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                    rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]                 rf_tag_o,
  output logic [arc_pkg::WordWidth-1:0]                rf_word_o,
  input  logic [arc_pkg::Banks*arc_pkg::DataWidth-1:0] rf_data_i,
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0]  rf_bin_i,
  // a register holds work
  output logic                                         busy_o
);

  arc_subcore #(
    .Datapath (Datapath),
    .Format   (Format),
    .MaxWords (MaxWords),
    .Scheduler(Scheduler),
    .Coalescer(Coalescer)
  ) u_subcore (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .req_valid_i  (req_valid_i),
    .req_ready_o  (req_ready_o),
    .req_mask_i   (req_mask_i),
    .req_addr_i   (req_addr_i),
    .req_tag_i    (req_tag_i),
    .req_words_i  (req_words_i),
    .lsu_valid_o  (lsu_valid_o),
    .lsu_room_i   (lsu_room_i),
    .lsu_addr_o   (lsu_addr_o),
    .lsu_mask_o   (lsu_mask_o),
    .lsu_reduced_o(lsu_reduced_o),
    .lsu_data_o   (lsu_data_o),
    .lsu_tag_o    (lsu_tag_o),
    .lsu_word_o   (lsu_word_o),
    .lsu_last_o   (lsu_last_o),
    .rf_valid_o   (rf_valid_o),
    .rf_ready_i   (rf_ready_i),
    .rf_mask_o    (rf_mask_o),
    .rf_tag_o     (rf_tag_o),
    .rf_word_o    (rf_word_o),
    .rf_data_i    (rf_data_i[ReadLanes*arc_pkg::DataWidth-1:0]),
    .rf_bin_i     (rf_bin_i),
    .busy_o       (busy_o)
  );

endmodule
