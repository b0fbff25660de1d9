// SPDX-License-Identifier: Apache-2.0
// Proof: arc_scheduler is the decision table of rtl/README.md.
//
// Combinational, so one step of unconstrained inputs is all there is.

module arc_scheduler_proof (
  input logic txn_valid_i,
  input logic left_valid_i,
  input logic lsu_room_i,
  input logic result_valid_i,
  input logic reduce_ready_i
);

  logic txn_ready, left_ready, red_valid, reduce_valid;

  arc_scheduler u_dut (
    .txn_valid_i   (txn_valid_i),
    .txn_ready_o   (txn_ready),
    .left_valid_i  (left_valid_i),
    .left_ready_o  (left_ready),
    .lsu_room_i    (lsu_room_i),
    .result_valid_i(result_valid_i),
    .red_valid_o   (red_valid),
    .reduce_valid_o(reduce_valid),
    .reduce_ready_i(reduce_ready_i)
  );

  // {red_valid, reduce_valid, txn_ready, left_ready} where something is offered.
  logic [3:0] want;

  always_comb begin
    casez ({lsu_room_i, result_valid_i, txn_valid_i, left_valid_i, reduce_ready_i})
      5'b10?1?: want = 4'b1001;              // the LSU path is free: all lanes left, as a plain RED
      5'b1010?: want = 4'b1011;              // or the transaction, where they are not offered
      5'b0?1?0, 5'b111?0: want = 4'b0100;    // no way out: offered to the unit, waits
      5'b0?1?1, 5'b111?1: want = 4'b0110;    // reduced
      5'b0?0?0, 5'b110?0: want = 4'b0000;    // lanes left without a transaction wait for the path
      default: want = 4'b0010;
    endcase
  end

  always_comb begin : DecisionTable
    if (txn_valid_i || left_valid_i) begin
      assert ({red_valid, reduce_valid, txn_ready, left_ready} == want);
    end
  end
  always_comb begin : NothingWithoutAnOffer
    if (!txn_valid_i && !left_valid_i) assert (!red_valid && !reduce_valid);
  end
  always_comb begin : NeverDropped
    if (txn_valid_i && txn_ready) assert (red_valid != (reduce_valid && reduce_ready_i));
    if (left_valid_i && left_ready) assert (red_valid && lsu_room_i);
  end
  always_comb begin : NeverTwice
    assert (!(txn_valid_i && txn_ready && left_valid_i && left_ready));
  end

  always_comb begin : CoverRed
    cover (red_valid && txn_valid_i && txn_ready);
  end
  always_comb begin : CoverRedOfAllLeft
    cover (red_valid && left_valid_i && left_ready && txn_valid_i);
  end
  always_comb begin : CoverReduce
    cover (reduce_valid && txn_ready);
  end
  always_comb begin : CoverWait
    cover (reduce_valid && !txn_ready);
  end
  always_comb begin : CoverLeftWaits
    cover (left_valid_i && !txn_valid_i && !red_valid && reduce_ready_i);
  end

endmodule
