// SPDX-License-Identifier: Apache-2.0
// Proof: arc_scheduler is the decision table of rtl/README.md.
//
// Combinational, so one step of unconstrained inputs is all there is.

module arc_scheduler_proof (
  input logic txn_valid_i,
  input logic lsu_ready_i,
  input logic result_valid_i,
  input logic reduce_ready_i
);

  logic txn_ready, red_valid, reduce_valid;

  arc_scheduler u_dut (
    .txn_valid_i   (txn_valid_i),
    .txn_ready_o   (txn_ready),
    .lsu_ready_i   (lsu_ready_i),
    .result_valid_i(result_valid_i),
    .red_valid_o   (red_valid),
    .reduce_valid_o(reduce_valid),
    .reduce_ready_i(reduce_ready_i)
  );

  // {red_valid, reduce_valid, txn_ready} for a transaction that is there.
  logic [2:0] want;

  always_comb begin
    case ({lsu_ready_i, result_valid_i, reduce_ready_i})
      3'b100, 3'b101: want = 3'b101;                 // the LSU path is free: plain RED, taken now
      3'b000, 3'b010, 3'b110: want = 3'b010;         // no way out: offered to the unit, waits
      default: want = 3'b011;                        // reduced
    endcase
  end

  always_comb begin : DecisionTable
    if (txn_valid_i) assert ({red_valid, reduce_valid, txn_ready} == want);
  end
  always_comb begin : NothingWithoutATransaction
    if (!txn_valid_i) assert (!red_valid && !reduce_valid);
  end
  always_comb begin : NeverDropped
    if (txn_valid_i && txn_ready) assert (red_valid != (reduce_valid && reduce_ready_i));
  end

  always_comb begin : CoverRed
    cover (red_valid && txn_ready);
  end
  always_comb begin : CoverReduce
    cover (reduce_valid && txn_ready);
  end
  always_comb begin : CoverWait
    cover (txn_valid_i && !txn_ready);
  end

endmodule
