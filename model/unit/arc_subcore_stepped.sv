// SPDX-License-Identifier: Apache-2.0
// arc_subcore as the simulator steps it: behind registers that hold the inputs of a cycle, so that
// one evaluation ends a cycle and settles the outputs of the next. Without them Verilator settles
// everything three times a cycle: when the inputs change, before the edge and after it.
//
// Contract: a rising edge of clk_i ends a cycle of arc_subcore; one of step_i begins the next, with
// the inputs as they stand then. Both may come together. The outputs are those of the cycle that has
// begun; after a rising edge of clk_i alone, those of the next one with the inputs of the last.
// req_mask_i, req_addr_i, req_tag_i and req_words_i are taken over only while req_new_i is high.

// verilator coverage_off
module arc_subcore_stepped #(
  parameter int Datapath = arc_pkg::DatapathSerial,
  parameter int Format = arc_pkg::FormatF32,
  parameter int MaxWords = 1,
  parameter int Scheduler = arc_pkg::SchedulerGreedy,
  parameter int Coalescer = 0,
  localparam int ReadLanes = 1 << Datapath
) (
  input  logic                                         clk_i,
  input  logic                                         step_i,
  input  logic                                         rst_ni,
  // atomred request
  input  logic                                         req_valid_i,
  input  logic                                         req_new_i,
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
  input  logic [ReadLanes*arc_pkg::DataWidth-1:0]      rf_data_i,
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0]  rf_bin_i,
  // a register holds work
  output logic                                         busy_o
);

  logic req_valid_q, lsu_room_q, rf_ready_q;
  logic [arc_pkg::Lanes-1:0] req_mask_q;
  logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_q;
  logic [arc_pkg::TagWidth-1:0] req_tag_q;
  logic [arc_pkg::WordWidth-1:0] req_words_q;
  logic [ReadLanes*arc_pkg::DataWidth-1:0] rf_data_q;
  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] rf_bin_q;

  always_ff @(posedge step_i) begin
    req_valid_q <= req_valid_i;
    lsu_room_q <= lsu_room_i;
    rf_ready_q <= rf_ready_i;
    rf_data_q <= rf_data_i;
    rf_bin_q <= rf_bin_i;
    if (req_new_i) begin
      req_mask_q <= req_mask_i;
      req_addr_q <= req_addr_i;
      req_tag_q <= req_tag_i;
      req_words_q <= req_words_i;
    end
  end

  arc_subcore #(
    .Datapath (Datapath),
    .Format   (Format),
    .MaxWords (MaxWords),
    .Scheduler(Scheduler),
    .Coalescer(Coalescer)
  ) u_subcore (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .req_valid_i  (req_valid_q),
    .req_ready_o  (req_ready_o),
    .req_mask_i   (req_mask_q),
    .req_addr_i   (req_addr_q),
    .req_tag_i    (req_tag_q),
    .req_words_i  (req_words_q),
    .lsu_valid_o  (lsu_valid_o),
    .lsu_room_i   (lsu_room_q),
    .lsu_addr_o   (lsu_addr_o),
    .lsu_mask_o   (lsu_mask_o),
    .lsu_reduced_o(lsu_reduced_o),
    .lsu_data_o   (lsu_data_o),
    .lsu_tag_o    (lsu_tag_o),
    .lsu_word_o   (lsu_word_o),
    .lsu_last_o   (lsu_last_o),
    .rf_valid_o   (rf_valid_o),
    .rf_ready_i   (rf_ready_q),
    .rf_mask_o    (rf_mask_o),
    .rf_tag_o     (rf_tag_o),
    .rf_word_o    (rf_word_o),
    .rf_data_i    (rf_data_q),
    .rf_bin_i     (rf_bin_q),
    .busy_o       (busy_o)
  );

endmodule
