// SPDX-License-Identifier: Apache-2.0
// A wrong unit: the vector kind, which calls word 9 of one tag's sums word 8, in one request of some
// 10^4.
module wrong_word_subcore (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             req_valid_i,
  output logic             req_ready_o,
  input  logic [31:0]      req_mask_i,
  input  logic [48*32-1:0] req_addr_i,
  input  logic [11:0]      req_tag_i,
  input  logic [3:0]       req_words_i,
  output logic             lsu_valid_o,
  input  logic             lsu_room_i,
  output logic [47:0]      lsu_addr_o,
  output logic [31:0]      lsu_mask_o,
  output logic             lsu_reduced_o,
  output logic [31:0]      lsu_data_o,
  output logic [11:0]      lsu_tag_o,
  output logic [3:0]       lsu_word_o,
  output logic             lsu_last_o,
  output logic             rf_valid_o,
  input  logic             rf_ready_i,
  output logic [31:0]      rf_mask_o,
  output logic [11:0]      rf_tag_o,
  output logic [3:0]       rf_word_o,
  input  logic [4*32-1:0]  rf_data_i,
  input  logic [5*32-1:0]  rf_bin_i,
  output logic             busy_o
);

  logic [3:0] word;

  assign lsu_word_o = word & ~4'(lsu_reduced_o && lsu_tag_o == 12'h355 && word == 4'd9);

  arc_subcore #(
    .Datapath(arc_pkg::DatapathFused),
    .MaxWords(16)
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
    .lsu_word_o   (word),
    .lsu_last_o   (lsu_last_o),
    .rf_valid_o   (rf_valid_o),
    .rf_ready_i   (rf_ready_i),
    .rf_mask_o    (rf_mask_o),
    .rf_tag_o     (rf_tag_o),
    .rf_word_o    (rf_word_o),
    .rf_data_i    (rf_data_i),
    .rf_bin_i     (rf_bin_i),
    .busy_o       (busy_o)
  );

endmodule
