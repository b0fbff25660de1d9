// SPDX-License-Identifier: Apache-2.0
// What every unit with the ports of arc_subcore keeps in every cycle, whatever its timing: waiting
// payloads stay, payloads without a valid are zero, reads ask for one lane of each bank, a refused
// read comes again, and an idle unit shows nothing.
//
// Contract: the ports of the unit, all as inputs. For proofs (evaluate_proof.sv) and, where a
// simulator can, for `bind arc_subcore arc_contract_checker u_contract (.*);`. Its assertions are
// immediate, at rising edges outside reset. Which lanes leave is not seen here.
module arc_contract_checker #(
  // banks of the register file: lane l is read through bank l modulo this
  parameter int Banks = 1,
  // lanes of a read at most
  parameter int MostLanes = 1,
  // a refused read comes again so many cycles later; 0: some time
  parameter int ReadTurn = 1,
  // 1: payload outputs are zero while their valid is
  parameter int ZeroPayload = 1
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        req_valid_i,
  input logic        lsu_valid_o,
  input logic        lsu_room_i,
  input logic [47:0] lsu_addr_o,
  input logic [31:0] lsu_mask_o,
  input logic        lsu_reduced_o,
  input logic [11:0] lsu_tag_o,
  input logic        rf_valid_o,
  input logic        rf_ready_i,
  input logic [31:0] rf_mask_o,
  input logic [11:0] rf_tag_o,
  input logic        busy_o
);

  localparam int LsuBits = 48 + 32 + 1 + 12;
  localparam int Turns = ReadTurn == 0 ? 1 : ReadTurn;
  localparam int ReadBits = 1 + 32 + 12;

  logic [LsuBits-1:0] lsu, lsu_q;
  logic waits_q = 1'b0;
  logic [ReadBits-1:0] read, refused;
  logic [Turns*ReadBits-1:0] refused_q = '0;

  assign lsu = {lsu_addr_o, lsu_mask_o, lsu_reduced_o, lsu_tag_o};
  assign read = {rf_valid_o, rf_mask_o, rf_tag_o};
  assign refused = refused_q[(Turns-1)*ReadBits +: ReadBits];

  always_ff @(posedge clk_i) begin
    lsu_q <= lsu;
    waits_q <= rst_ni && lsu_valid_o && !lsu_room_i;
    refused_q <= rst_ni ? (refused_q << ReadBits) : '0;
    refused_q[ReadBits-1:0] <= read & {ReadBits{rst_ni && !rf_ready_i}};
  end

  // Two lanes of one bank, or more lanes than a read has.
  logic two_of_a_bank;
  logic [5:0] lanes;

  always_comb begin
    two_of_a_bank = 1'b0;
    lanes = '0;
    for (int i = 0; i < 32; i++) begin
      lanes = lanes + 6'(rf_mask_o[i]);
      for (int j = 0; j < i; j++) begin
        if (i % Banks == j % Banks && rf_mask_o[i] && rf_mask_o[j]) two_of_a_bank = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WaitingPayloadStays : assert (!waits_q || (lsu_valid_o && lsu == lsu_q));
      NothingWithoutValid : assert (ZeroPayload == 0 || ((lsu_valid_o || lsu == '0) &&
                                                         (rf_valid_o || read == '0)));
      RefusedReadComesAgain : assert (ReadTurn == 0 || refused == '0 || read == refused);
      ReadHasALane : assert (!rf_valid_o || rf_mask_o != '0);
      OneLaneOfEachBank : assert (!rf_valid_o || (!two_of_a_bank && lanes <= 6'(MostLanes)));
      TransactionHasALane : assert (!lsu_valid_o || (lsu_reduced_o ? lsu_mask_o == 32'd1
                                                                   : lsu_mask_o != '0));
      SumsComeFromABusyUnit : assert (!lsu_valid_o || !lsu_reduced_o || busy_o);
      IdleUnitIsQuiet : assert (busy_o || req_valid_i || (!lsu_valid_o && !rf_valid_o));
    end
  end

endmodule
