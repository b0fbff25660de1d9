// SPDX-License-Identifier: Apache-2.0
// Proof: arc_scheduler_groups is the decision table of rtl/README.md, in both of its forms.
//
// Combinational, so one step of unconstrained inputs is all there is. Whether a mask has several
// lanes is found here with a subtraction. The readies only matter beside their valids.

module arc_scheduler_groups_proof (
  input logic                      txn_valid_i,
  input logic [arc_pkg::Lanes-1:0] txn_mask_i,
  input logic                      left_valid_i,
  input logic                      left_last_i,
  input logic                      lsu_room_i,
  input logic                      result_valid_i,
  input logic                      congested_i,
  input logic                      reduce_ready_i
);

  logic txn_ready, left_ready, red_valid, reduce_valid;
  logic request_txn_ready, request_left_ready, request_red_valid, request_reduce_valid;

  arc_scheduler_groups u_dut (
    .txn_valid_i   (txn_valid_i),
    .txn_ready_o   (txn_ready),
    .txn_mask_i    (txn_mask_i),
    .left_valid_i  (left_valid_i),
    .left_last_i   (left_last_i),
    .left_ready_o  (left_ready),
    .lsu_room_i    (lsu_room_i),
    .result_valid_i(result_valid_i),
    .congested_i   (congested_i),
    .red_valid_o   (red_valid),
    .reduce_valid_o(reduce_valid),
    .reduce_ready_i(reduce_ready_i)
  );

  arc_scheduler_groups #(
    .ByRequest(1)
  ) u_by_request (
    .txn_valid_i   (txn_valid_i),
    .txn_ready_o   (request_txn_ready),
    .txn_mask_i    (txn_mask_i),
    .left_valid_i  (left_valid_i),
    .left_last_i   (left_last_i),
    .left_ready_o  (request_left_ready),
    .lsu_room_i    (lsu_room_i),
    .result_valid_i(result_valid_i),
    .congested_i   (congested_i),
    .red_valid_o   (request_red_valid),
    .reduce_valid_o(request_reduce_valid),
    .reduce_ready_i(reduce_ready_i)
  );

  logic several, path_free;
  logic [arc_pkg::Lanes-1:0] without_lowest;

  assign without_lowest = txn_mask_i & (txn_mask_i - 1);
  assign several = without_lowest != '0;
  assign path_free = lsu_room_i && !result_valid_i;

  always_comb begin : AllLeftGoOnAFreePath
    if (left_valid_i && path_free) assert (red_valid && left_ready && !reduce_valid);
    if (left_valid_i && path_free && txn_valid_i) assert (!txn_ready);
  end
  always_comb begin : NothingGoesOnABusyPath
    if (!path_free) assert (!red_valid && !left_ready);
  end
  always_comb begin : GreedyUnlessCongested
    if (txn_valid_i && !congested_i && !path_free) begin
      assert (reduce_valid && txn_ready == reduce_ready_i);
    end
    if (txn_valid_i && !congested_i && path_free && !left_valid_i) begin
      assert (red_valid && !reduce_valid && txn_ready);
    end
  end
  always_comb begin : CongestedGroupIsReducedOrWaits
    if (txn_valid_i && congested_i && several && !(left_valid_i && path_free)) begin
      assert (reduce_valid && !red_valid && txn_ready == reduce_ready_i);
    end
  end
  always_comb begin : CongestedLoneLanePassesOnOrWaits
    if (txn_valid_i && congested_i && !several && !left_valid_i) begin
      assert (!reduce_valid && red_valid == path_free && txn_ready == path_free);
    end
    if (txn_valid_i && congested_i && !several && !path_free) begin
      assert (!reduce_valid && !txn_ready);
    end
  end
  always_comb begin : NothingWithoutAValid
    if (!txn_valid_i && !left_valid_i) assert (!red_valid && !reduce_valid && !left_ready);
  end

  // By the request alone.
  always_comb begin : GroupIsReducedOrWaits
    if (txn_valid_i && several) begin
      assert (request_reduce_valid && !request_red_valid && !request_left_ready);
      assert (request_txn_ready == reduce_ready_i);
    end
  end
  always_comb begin : LoneLanePassesOnOrWaits
    if (txn_valid_i && !several) begin
      assert (!request_reduce_valid && request_red_valid == path_free && !request_left_ready);
      assert (request_txn_ready == path_free);
    end
  end
  always_comb begin : GatheredLanesPassOnOrWait
    if (!txn_valid_i && left_valid_i && left_last_i) begin
      assert (!request_reduce_valid && request_red_valid == path_free);
      assert (request_left_ready == path_free);
    end
  end
  always_comb begin : OthersStay
    if (!txn_valid_i && !(left_valid_i && left_last_i)) begin
      assert (!request_reduce_valid && !request_red_valid && !request_left_ready);
    end
  end

  always_comb begin : CoverReduce
    cover (reduce_valid && txn_ready);
  end
  always_comb begin : CoverGroupWaitsWhileThePathIsFree
    cover (reduce_valid && !txn_ready && path_free);
  end
  always_comb begin : CoverGroupPassesOn
    cover (red_valid && txn_valid_i && txn_ready && several);
  end
  always_comb begin : CoverLoneLane
    cover (red_valid && txn_valid_i && congested_i);
  end
  always_comb begin : CoverGathered
    cover (request_red_valid && request_left_ready && !txn_valid_i);
  end
  always_comb begin : CoverNotYetGathered
    cover (left_valid_i && !txn_valid_i && path_free && !request_red_valid && red_valid);
  end

endmodule
