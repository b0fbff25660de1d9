// SPDX-License-Identifier: Apache-2.0
// The smallest unit that keeps the contract: it reads one lane after the other and sends each as a sum
// of its own, which saves nothing. The request is taken with its last lane.
module lane_by_lane_subcore (
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

  logic        read_q;  // the lane has been read, its value stands at rf_data_i
  logic [31:0] done_q;  // lanes of the request that have left
  logic [31:0] left, lane;

  assign left = req_valid_i ? req_mask_i & ~done_q : 32'd0;
  assign lane = left & (~left + 32'd1);

  assign rf_valid_o = left != 32'd0 && !read_q;
  assign rf_mask_o = rf_valid_o ? lane : 32'd0;
  assign rf_tag_o = rf_valid_o ? req_tag_i : 12'd0;

  assign lsu_valid_o = read_q;
  assign lsu_reduced_o = read_q;
  assign lsu_mask_o = {31'd0, read_q};
  assign lsu_tag_o = read_q ? req_tag_i : 12'd0;
  always_comb begin
    lsu_addr_o = 48'd0;
    for (int i = 0; i < 32; i++) begin
      if (read_q && lane[i]) lsu_addr_o = lsu_addr_o | req_addr_i[48*i +: 48];
    end
  end

  // A sum of one lane: its value, a subnormal as zero, one NaN for all.
  always_comb begin
    lsu_data_o = rf_data_i;
    if (rf_data_i[30:23] == 8'd0) lsu_data_o = {rf_data_i[31], 31'd0};
    if (rf_data_i[30:23] == 8'hff && rf_data_i[22:0] != 23'd0) lsu_data_o = 32'h7fff_ffff;
    if (!read_q) lsu_data_o = 32'd0;
  end

  assign req_ready_o = req_valid_i && (left == 32'd0 || (read_q && lsu_room_i && left == lane));
  assign busy_o = read_q || done_q != 32'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= 1'b0;
      done_q <= 32'd0;
    end else begin
      read_q <= read_q ? !lsu_room_i : rf_valid_o && rf_ready_i;
      if (req_ready_o)                 done_q <= 32'd0;
      else if (read_q && lsu_room_i)   done_q <= done_q | lane;
    end
  end

endmodule
