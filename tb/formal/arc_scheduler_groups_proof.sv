// SPDX-License-Identifier: Apache-2.0
// Proof: arc_scheduler_groups is the decision table of rtl/README.md.
//
// Combinational, so one step of unconstrained inputs is all there is. Whether a mask has several
// lanes is found here with a subtraction.

module arc_scheduler_groups_proof (
  input logic                      txn_valid_i,
  input logic [arc_pkg::Lanes-1:0] txn_mask_i,
  input logic                      left_valid_i,
  input logic                      lsu_room_i,
  input logic                      result_valid_i,
  input logic                      reduce_ready_i
);

  logic txn_ready, left_ready, red_valid, reduce_valid;

  arc_scheduler_groups u_dut (
    .txn_valid_i   (txn_valid_i),
    .txn_ready_o   (txn_ready),
    .txn_mask_i    (txn_mask_i),
    .left_valid_i  (left_valid_i),
    .left_ready_o  (left_ready),
    .lsu_room_i    (lsu_room_i),
    .result_valid_i(result_valid_i),
    .red_valid_o   (red_valid),
    .reduce_valid_o(reduce_valid),
    .reduce_ready_i(reduce_ready_i)
  );

  logic several, path_free;
  logic [arc_pkg::Lanes-1:0] without_lowest;

  assign without_lowest = txn_mask_i & (txn_mask_i - 1);
  assign several = without_lowest != '0;
  assign path_free = lsu_room_i && !result_valid_i;

  always_comb begin : GroupIsReducedOrWaits
    if (txn_valid_i && several) begin
      assert (reduce_valid && !red_valid && txn_ready == reduce_ready_i && !left_ready);
    end
  end
  always_comb begin : LoneLanePassesOnOrWaits
    if (txn_valid_i && !several) begin
      assert (!reduce_valid && red_valid == path_free && txn_ready == path_free && !left_ready);
    end
  end
  always_comb begin : GatheredLanesPassOnOrWait
    if (!txn_valid_i && left_valid_i && several) begin
      assert (!reduce_valid && red_valid == path_free && left_ready == path_free);
    end
  end
  always_comb begin : OthersStay
    if (!txn_valid_i && !(left_valid_i && several)) begin
      assert (!reduce_valid && !red_valid && !left_ready);
    end
  end

  always_comb begin : CoverReduce
    cover (reduce_valid && txn_ready);
  end
  always_comb begin : CoverGroupWaitsWhileThePathIsFree
    cover (reduce_valid && !txn_ready && path_free);
  end
  always_comb begin : CoverLoneLane
    cover (red_valid && txn_valid_i);
  end
  always_comb begin : CoverGathered
    cover (red_valid && left_ready && !txn_valid_i);
  end
  always_comb begin : CoverNotYetGathered
    cover (left_valid_i && !txn_valid_i && path_free && !red_valid);
  end

endmodule
