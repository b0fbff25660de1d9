// SPDX-License-Identifier: Apache-2.0
// Proof: arc_congestion begins with so many cycles without room in a row and lasts for so many
// groups, as two counters beside it say.
//
// Assumed: a transaction is taken only of a request that is there. Free: everything else, and reset
// at any time after the first cycle. Beside the size that is built there is a small one, whose ends
// are reached in few cycles.

module arc_congestion_proof (
  input logic clk_i,
  input logic rst_ni,
  input logic req_valid_i,
  input logic lsu_room_i,
  input logic taken_i
);

  logic in_reset_q = 1'b1;  // the first cycle is a reset

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end
  always_comb begin : TakenIsOfARequest
    assume (!taken_i || req_valid_i);
  end

  congestion_beside_counters #(.StallBits(arc_pkg::StallBits), .CountBits(arc_pkg::CongestionBits)) u_built (
    .clk_i, .rst_ni, .req_valid_i, .lsu_room_i, .taken_i
  );
  congestion_beside_counters #(.StallBits(2), .CountBits(3)) u_small (
    .clk_i, .rst_ni, .req_valid_i, .lsu_room_i, .taken_i
  );

endmodule

module congestion_beside_counters #(
  parameter int StallBits = 2,
  parameter int CountBits = 3
) (
  input logic clk_i,
  input logic rst_ni,
  input logic req_valid_i,
  input logic lsu_room_i,
  input logic taken_i
);

  localparam int Stall = 1 << StallBits;
  localparam int Groups = (1 << CountBits) - Stall;

  logic congested;

  arc_congestion #(
    .StallBits(StallBits),
    .CountBits(CountBits)
  ) u_dut (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .req_valid_i(req_valid_i),
    .lsu_room_i (lsu_room_i),
    .taken_i    (taken_i),
    .congested_o(congested)
  );

  (* hierconn *) logic [CountBits-1:0] \u_dut.count_q ;

  // ------------------------------------------------------------------------------------------
  // Record
  // ------------------------------------------------------------------------------------------

  logic [CountBits-1:0] stalled_q;  // cycles without room in a row, while it is not congested
  logic [CountBits-1:0] groups_q;   // still to be taken while it is
  logic again_q = 1'b0;             // it has been congested before; for a cover

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stalled_q <= '0;
      groups_q <= '0;
      again_q <= 1'b0;
    end else begin
      again_q <= again_q || groups_q != '0;
      if (groups_q != '0) begin
        groups_q <= groups_q - CountBits'(taken_i);
      end else if (req_valid_i) begin
        stalled_q <= lsu_room_i || stalled_q == CountBits'(Stall - 1) ? '0 : stalled_q + 1'b1;
        if (!lsu_room_i && stalled_q == CountBits'(Stall - 1)) groups_q <= CountBits'(Groups);
      end
    end
  end

  // ------------------------------------------------------------------------------------------
  // Claims
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : CongestedWhileGroupsAreLeft
    if (rst_ni) assert (congested == (groups_q != '0));
  end
  always_ff @(posedge clk_i) begin : ResetEndsIt
    if (!rst_ni) assert (!congested);
  end

`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) begin
      assert (groups_q == '0 || stalled_q == '0);
      assert (stalled_q < CountBits'(Stall) && groups_q <= CountBits'(Groups));
      assert (\u_dut.count_q == (groups_q != '0 ? (~groups_q + 1'b1) : stalled_q));
    end
  end
`endif

  // ------------------------------------------------------------------------------------------
  // Reached states
  // ------------------------------------------------------------------------------------------

  // The small one alone gets there in so few cycles.
  if (StallBits == 2) begin : g_covers
    always_ff @(posedge clk_i) begin : CoverEnds
      if (rst_ni) cover (again_q && groups_q == '0);
    end
    always_ff @(posedge clk_i) begin : CoverWaitsWithoutARequest
      if (rst_ni) cover (stalled_q == CountBits'(Stall - 1) && !req_valid_i && lsu_room_i);
    end
  end

endmodule
