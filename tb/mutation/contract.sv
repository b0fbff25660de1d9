// SPDX-License-Identifier: Apache-2.0
// Two copies of arc_subcore, the unchanged one and a mutant, in any environment that keeps the
// contract of rtl/README.md: a request is held until it is accepted, and the value of a granted
// read is there from the next cycle until the cycle of the next grant. All else is free, the reset
// as well. differs_o is high in a cycle in which any of their outputs differ.
//
// Both copies are the netlist that scripts/mutate.sh makes, so that this file is for Yosys alone.
module contract #(
  // number of the mutant
  parameter int Mutant = 0,
  // lanes that a register-file read delivers
  parameter int ReadLanes = 1
) (
  input  logic                                         clk_i,
  input  logic                                         rst_ni,
  input  logic                                         req_valid_i,
  input  logic [arc_pkg::Lanes-1:0]                    req_mask_i,
  input  logic [arc_pkg::Lanes*arc_pkg::AddrWidth-1:0] req_addr_i,
  input  logic [arc_pkg::TagWidth-1:0]                 req_tag_i,
  input  logic [arc_pkg::WordWidth-1:0]                req_words_i,
  input  logic                                         lsu_room_i,
  input  logic                                         rf_ready_i,
  input  logic [ReadLanes*arc_pkg::DataWidth-1:0]      rf_data_i,
  output logic                                         differs_o
);

  localparam int RequestWidth =
    arc_pkg::Lanes * (arc_pkg::AddrWidth + 1) + arc_pkg::TagWidth + arc_pkg::WordWidth;
  localparam int LsuWidth =
    arc_pkg::AddrWidth + arc_pkg::Lanes + 1 + arc_pkg::DataWidth + arc_pkg::TagWidth +
    arc_pkg::WordWidth + 1;
  localparam int ReadWidth = arc_pkg::Lanes + arc_pkg::TagWidth + arc_pkg::WordWidth;

  // outputs of the unchanged copy [0] and of the mutant [1]
  logic [1:0] req_ready, lsu_valid, rf_valid, busy;
  logic [2*LsuWidth-1:0] lsu;
  logic [2*ReadWidth-1:0] rf;

  // ------------------------------------------------------------------------------------------
  // Requester and register file
  // ------------------------------------------------------------------------------------------

  logic held_q, granted_q;
  logic req_valid;
  logic [RequestWidth-1:0] request, request_q;
  logic [ReadLanes*arc_pkg::DataWidth-1:0] data, data_q;

  assign req_valid = held_q || req_valid_i;
  assign request = held_q ? request_q : {req_mask_i, req_addr_i, req_tag_i, req_words_i};
  assign data = granted_q ? rf_data_i : data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= 1'b0;
    else         held_q <= req_valid && !req_ready[0];
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) granted_q <= 1'b0;
    else         granted_q <= rf_valid[0] && rf_ready_i;
  end
  always_ff @(posedge clk_i) begin
    request_q <= request;
    data_q <= data;
  end

  // ------------------------------------------------------------------------------------------
  // The two copies
  // ------------------------------------------------------------------------------------------

  for (genvar i = 0; i < 2; i++) begin : g_copy
    logic [arc_pkg::AddrWidth-1:0] lsu_addr;
    logic [arc_pkg::Lanes-1:0] lsu_mask, rf_mask;
    logic lsu_reduced, lsu_last;
    logic [arc_pkg::WordWidth-1:0] lsu_word, rf_word;
    logic [arc_pkg::DataWidth-1:0] lsu_data;
    logic [arc_pkg::TagWidth-1:0] lsu_tag, rf_tag;

    arc_subcore u_unit (
      .mutsel       (i == 0 ? 32'd0 : 32'(Mutant)),
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .req_valid_i  (req_valid),
      .req_ready_o  (req_ready[i]),
      .req_mask_i   (request[RequestWidth-1 -: arc_pkg::Lanes]),
      .req_addr_i   (request[arc_pkg::TagWidth+arc_pkg::WordWidth +: arc_pkg::Lanes*arc_pkg::AddrWidth]),
      .req_tag_i    (request[arc_pkg::WordWidth +: arc_pkg::TagWidth]),
      .req_words_i  (request[arc_pkg::WordWidth-1:0]),
      .lsu_valid_o  (lsu_valid[i]),
      .lsu_room_i   (lsu_room_i),
      .lsu_addr_o   (lsu_addr),
      .lsu_mask_o   (lsu_mask),
      .lsu_reduced_o(lsu_reduced),
      .lsu_data_o   (lsu_data),
      .lsu_tag_o    (lsu_tag),
      .lsu_word_o   (lsu_word),
      .lsu_last_o   (lsu_last),
      .rf_valid_o   (rf_valid[i]),
      .rf_ready_i   (rf_ready_i),
      .rf_mask_o    (rf_mask),
      .rf_tag_o     (rf_tag),
      .rf_word_o    (rf_word),
      .rf_data_i    (data),
      .busy_o       (busy[i])
    );

    assign lsu[LsuWidth*i +: LsuWidth] =
      {lsu_addr, lsu_mask, lsu_reduced, lsu_data, lsu_tag, lsu_word, lsu_last};
    assign rf[ReadWidth*i +: ReadWidth] = {rf_mask, rf_tag, rf_word};
  end

  assign differs_o = req_ready[0] != req_ready[1] || lsu_valid[0] != lsu_valid[1] ||
                     rf_valid[0] != rf_valid[1] || busy[0] != busy[1] ||
                     lsu[LsuWidth-1:0] != lsu[2*LsuWidth-1:LsuWidth] ||
                     rf[ReadWidth-1:0] != rf[2*ReadWidth-1:ReadWidth];

endmodule
