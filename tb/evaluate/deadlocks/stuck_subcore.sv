// SPDX-License-Identifier: Apache-2.0
// A unit that stands still after a while: its queue counts credits, and forgets to give one back when
// the last request that waits, of a full warp, leaves it while the memory queue is full.
module stuck_subcore (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  logic [31:0]      req_mask_i,
  input  logic [48*32-1:0] req_addr_i,
  input  logic [11:0]      req_tag_i,
  output logic             lsu_valid_o,
  input  logic             lsu_room_i,
  output logic [47:0]      lsu_addr_o,
  output logic [31:0]      lsu_mask_o,
  output logic             lsu_reduced_o,
  output logic [31:0]      lsu_data_o,
  output logic [11:0]      lsu_tag_o,
  output logic             rf_valid_o,
  input  logic             rf_ready_i,
  output logic [31:0]      rf_mask_o,
  output logic [11:0]      rf_tag_o,
  input  logic [31:0]      rf_data_i,
  output logic             busy_o
);

  localparam int Bits = 32 + 48*32 + 12;

  logic [1:0] count_q;  // requests that wait
  logic [Bits-1:0] front_q, back_q;
  logic push, pop, inner_busy;
  logic [31:0] front_mask;
  logic [48*32-1:0] front_addr;
  logic [11:0] front_tag;
  logic [2:0] credits_q;
  logic forgets;

  assign {front_mask, front_addr, front_tag} = front_q;
  assign req_ready_o = count_q != 2'd2 && credits_q != 3'd0;
  assign push = req_valid_i && req_ready_o;
  assign forgets = count_q == 2'd1 && front_mask == '1 && !lsu_room_i;
  assign busy_o = count_q != 2'd0 || inner_busy;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= 2'd0;
    else         count_q <= count_q + 2'(push) - 2'(pop);
  end

  always_ff @(posedge clk_i) begin
    if (push && (count_q == 2'd0 || (count_q == 2'd1 && pop))) begin
      front_q <= {req_mask_i, req_addr_i, req_tag_i};
    end else if (pop) begin
      front_q <= back_q;
    end
    if (push) back_q <= {req_mask_i, req_addr_i, req_tag_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) credits_q <= 3'd4;
    else         credits_q <= credits_q - 3'(push) + 3'(pop && !forgets);
  end


  arc_subcore u_subcore (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .req_valid_i  (count_q != 2'd0),
    .req_ready_o  (pop),
    .req_mask_i   (front_mask),
    .req_addr_i   (front_addr),
    .req_tag_i    (front_tag),
    .lsu_valid_o  (lsu_valid_o),
    .lsu_room_i   (lsu_room_i),
    .lsu_addr_o   (lsu_addr_o),
    .lsu_mask_o   (lsu_mask_o),
    .lsu_reduced_o(lsu_reduced_o),
    .lsu_data_o   (lsu_data_o),
    .lsu_tag_o    (lsu_tag_o),
    .rf_valid_o   (rf_valid_o),
    .rf_ready_i   (rf_ready_i),
    .rf_mask_o    (rf_mask_o),
    .rf_tag_o     (rf_tag_o),
    .rf_data_i    (rf_data_i),
    .rf_bin_i     ('0),
    .busy_o       (inner_busy)
  );

endmodule
