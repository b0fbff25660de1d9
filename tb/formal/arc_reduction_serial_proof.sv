// SPDX-License-Identifier: Apache-2.0
// Proof: arc_reduction_serial reads each lane of each transaction once, lowest first, and offers one
// result for each, in order, in the cycle that rtl/README.md names.
//
// The adder is arc_fp_adder_any.sv, so this holds with any combinational adder. Assumed is what
// the module assumes: a transaction has lanes, and a read value is held while a result waits. Free:
// transactions, both ready inputs, data, and reset at any time after the first cycle. The wrapper's
// record is made from the ports only:
//
//     load                       last read granted              result taken
//      ---->  lanes left to read  ----------------->  result due  -------->
//
// What is loaded is asked for at once, so a transaction of one lane may be due in the next cycle.
//
// PROGRESS adds fairness, for bounded liveness: the environment refuses (a read not granted, or a
// result not taken) in at most Fair cycles in a row. HALVES proves it of the unit that adds halves.

module arc_reduction_serial_proof #(
  parameter int Fair = 3
) (
  input logic                          clk_i,
  input logic                          rst_ni,
  input logic                          txn_valid_i,
  input logic [arc_pkg::AddrWidth-1:0] txn_addr_i,
  input logic [arc_pkg::Lanes-1:0]     txn_mask_i,
  input logic [arc_pkg::TagWidth-1:0]  txn_tag_i,
  input logic                          rf_ready_i,
  input logic [arc_pkg::DataWidth-1:0] rf_data_i,
  input logic                          result_ready_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int DataWidth = arc_pkg::DataWidth;
`ifdef HALVES
  localparam int Format = arc_pkg::FormatF16x2;
  localparam logic [DataWidth-1:0] Neutral = 32'h8000_8000;
`else
  localparam int Format = arc_pkg::FormatF32;
  localparam logic [DataWidth-1:0] Neutral = 32'h8000_0000;
`endif

  logic txn_ready, rf_valid, result_valid, busy;
  logic [Lanes-1:0] rf_mask;
  logic [TagWidth-1:0] rf_tag, result_tag;
  logic [AddrWidth-1:0] result_addr;
  logic [DataWidth-1:0] result_data;

  arc_reduction_serial #(
    .Format(Format)
  ) u_dut (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .txn_valid_i   (txn_valid_i),
    .txn_ready_o   (txn_ready),
    .txn_addr_i    (txn_addr_i),
    .txn_mask_i    (txn_mask_i),
    .txn_tag_i     (txn_tag_i),
    .rf_valid_o    (rf_valid),
    .rf_ready_i    (rf_ready_i),
    .rf_mask_o     (rf_mask),
    .rf_tag_o      (rf_tag),
    .rf_data_i     (rf_data_i),
    .result_valid_o(result_valid),
    .result_ready_i(result_ready_i),
    .result_addr_o (result_addr),
    .result_data_o (result_data),
    .result_tag_o  (result_tag),
    .busy_o        (busy)
  );

  // Seen by name: the registers, for "nothing changes" and for the invariants, and the adder's
  // ports, for the chain of additions.
  (* hierconn *) logic [Lanes-1:0] \u_dut.mask_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.addr_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.tag_q ;
  (* hierconn *) logic \u_dut.add_valid_q ;
  (* hierconn *) logic [DataWidth-1:0] \u_dut.acc_q ;
`ifdef HALVES
  localparam int NumberWidth = arc_pkg::HalfWidth;
  (* hierconn *) logic [NumberWidth-1:0] \u_dut.g_upper.u_adder.a_i ;
  (* hierconn *) logic [NumberWidth-1:0] \u_dut.g_upper.u_adder.b_i ;
  (* hierconn *) logic [NumberWidth-1:0] \u_dut.g_upper.u_adder.sum_o ;
`else
  localparam int NumberWidth = DataWidth;
`endif
  (* hierconn *) logic [NumberWidth-1:0] \u_dut.u_adder.a_i ;
  (* hierconn *) logic [NumberWidth-1:0] \u_dut.u_adder.b_i ;
  (* hierconn *) logic [NumberWidth-1:0] \u_dut.u_adder.sum_o ;
  logic [DataWidth-1:0] adder_a, adder_b, adder_sum;

`ifdef HALVES
  assign adder_a = {\u_dut.g_upper.u_adder.a_i , \u_dut.u_adder.a_i };
  assign adder_b = {\u_dut.g_upper.u_adder.b_i , \u_dut.u_adder.b_i };
  assign adder_sum = {\u_dut.g_upper.u_adder.sum_o , \u_dut.u_adder.sum_o };
`else
  assign adder_a = \u_dut.u_adder.a_i ;
  assign adder_b = \u_dut.u_adder.b_i ;
  assign adder_sum = \u_dut.u_adder.sum_o ;
`endif

  // ------------------------------------------------------------------------------------------
  // Environment
  // ------------------------------------------------------------------------------------------

  logic in_reset_q = 1'b1;  // the first cycle is a reset
  logic load, grant, taken, refused;

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end

  assign load = txn_valid_i && txn_ready;
  assign grant = rf_valid && rf_ready_i;
  assign taken = result_valid && result_ready_i;
  assign refused = (rf_valid && !rf_ready_i) || (result_valid && !result_ready_i);

  // The adder is combinational: the same operands give the same sum.
  logic seen_q = 1'b0;
  logic [DataWidth-1:0] seen_a_q, seen_b_q, seen_sum_q;

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    seen_a_q <= adder_a;
    seen_b_q <= adder_b;
    seen_sum_q <= adder_sum;
  end
  always_comb begin : AdderIsAFunction
    if (seen_q && seen_a_q == adder_a&& seen_b_q == adder_b) begin
      assume (seen_sum_q == adder_sum);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Record
  // ------------------------------------------------------------------------------------------
  // Age: cycles since the transaction was accepted. Counters of 8 bits hold what they must: the
  // exact ones are compared modulo 256, the bounded ones stay below.

  logic here_q;                              // a transaction is in the unit
  logic [Lanes-1:0] left_q, asked;           // its lanes left to read; with those loaded now
  logic [AddrWidth-1:0] addr_q;
  logic [TagWidth-1:0] tag_q;
  logic [7:0] reads_q, refusals_q, age_q;    // lanes read, cycles refused, cycles passed
  logic open, due;
  logic [7:0] lowest_idx;
  logic [Lanes-1:0] lowest;                  // one-hot
  logic held_q, held_first_q;                // the value of a read is there; the first of its own
  logic chain_valid_q;
  logic [DataWidth-1:0] chain_q;             // sum of the lanes before
  logic [7:0] loads_q, results_q;            // modulo 256
  logic [7:0] run_q, waiting_q;              // cycles refused in a row; that a transaction waits

  assign open = left_q != '0;
  assign due = here_q && !open;
  assign asked = open ? left_q : txn_mask_i & {Lanes{load}};

  always_comb begin
    lowest_idx = '0;
    lowest = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      if (asked[l]) begin
        lowest_idx = l[7:0];
        lowest = {{(Lanes - 1) {1'b0}}, 1'b1} << l;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      here_q <= 1'b0;
      left_q <= '0;
      reads_q <= '0;
      held_q <= 1'b0;
      chain_valid_q <= 1'b0;
      loads_q <= '0;
      results_q <= '0;
      run_q <= '0;
      waiting_q <= '0;
    end else begin
      // transaction
      if (taken) here_q <= 1'b0;
      left_q <= grant ? asked & ~rf_mask : asked;
      reads_q <= reads_q + 8'(grant);
      refusals_q <= refusals_q + 8'(refused);
      age_q <= age_q + 8'd1;
      if (load) begin
        here_q <= 1'b1;
        addr_q <= txn_addr_i;
        tag_q <= txn_tag_i;
        reads_q <= 8'(grant);
        refusals_q <= 8'(refused);
        age_q <= 8'd1;
      end
      // additions
      if (grant) held_first_q <= load || reads_q == '0;
      if (!(result_valid && !result_ready_i)) held_q <= grant;
      if (held_q && !due) begin
        chain_q <= adder_sum;
        chain_valid_q <= 1'b1;
      end
      // counts
      loads_q <= loads_q + 8'(load);
      results_q <= results_q + 8'(taken);
      run_q <= refused ? run_q + 8'd1 : '0;
      waiting_q <= txn_valid_i && !txn_ready ? waiting_q + 8'd1 : '0;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Reads: each lane once, lowest first, and no cycle lost
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : AskedWheneverALaneIsLeft
    if (rst_ni) assert (rf_valid == (asked != '0));
  end
  always_ff @(posedge clk_i) begin : LowestLaneLeftIsRead
    if (rst_ni && rf_valid) begin
      assert (rf_mask == lowest && rf_tag == (open ? tag_q : txn_tag_i));
    end
  end
  always_ff @(posedge clk_i) begin : ReadyWhenEmptyOrWithTheResult
    if (rst_ni) assert (txn_ready == (!here_q || taken));
  end

  // ------------------------------------------------------------------------------------------
  // Results: one for each transaction, in order, with its address and tag
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : ResultExactlyWhenDue
    if (rst_ni) assert (result_valid == due);
  end
  always_ff @(posedge clk_i) begin : ResultBelongsToItsTransaction
    if (rst_ni && result_valid) assert (result_addr == addr_q && result_tag == tag_q);
  end
  always_ff @(posedge clk_i) begin : AsManyResultsAsTransactions
    if (rst_ni) assert (loads_q == results_q + 8'(here_q));
  end

  // ------------------------------------------------------------------------------------------
  // Data: the chain of additions that starts with -0.0, each operand from the right read
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : EachReadAddedToTheSumBefore
    if (rst_ni && held_q) begin
      assert (adder_b== rf_data_i);
      assert (adder_a== (held_first_q ? Neutral : chain_q));
      assert (held_first_q || chain_valid_q);
    end
  end
  always_ff @(posedge clk_i) begin : ResultIsTheLastSum
    if (rst_ni && result_valid) assert (held_q && result_data == adder_sum);
  end

  // ------------------------------------------------------------------------------------------
  // Time: every cycle of a transaction is a read or a refusal by the environment
  // ------------------------------------------------------------------------------------------
  // Without refusals the result of n lanes is thus offered in cycle t+n.

  always_ff @(posedge clk_i) begin : NoCycleLost
    if (rst_ni && here_q) assert (age_q == reads_q + refusals_q);
  end

  // ------------------------------------------------------------------------------------------
  // Idle and reset
  // ------------------------------------------------------------------------------------------

  logic idle_q;  // no work and no transaction offered

  always_ff @(posedge clk_i) idle_q <= rst_ni && !busy && !txn_valid_i;

  always_ff @(posedge clk_i) begin : BusyIsWork
    if (rst_ni) assert (busy == here_q);
  end
  always_ff @(posedge clk_i) begin : IdleChangesNothing
    if (rst_ni && !in_reset_q && idle_q) begin
      assert ($stable(\u_dut.mask_q ) && $stable(\u_dut.addr_q ) && $stable(\u_dut.tag_q ));
      assert ($stable(\u_dut.add_valid_q ) && $stable(\u_dut.acc_q ));
    end
  end
  always_ff @(posedge clk_i) begin : ResetEmptiesTheUnit
    if (!rst_ni) assert (!busy && !result_valid && txn_ready);
  end

  // ------------------------------------------------------------------------------------------
  // Progress
  // ------------------------------------------------------------------------------------------

`ifdef PROGRESS
  always_ff @(posedge clk_i) begin : EnvironmentIsFair
    if (rst_ni && refused) assume (run_q < 8'(Fair));
  end
  always_ff @(posedge clk_i) begin : NextLaneReadInTime
    if (rst_ni && open) assert (age_q < (reads_q + 8'd1) * 8'(Fair + 1));
  end
  always_ff @(posedge clk_i) begin : ResultTakenInTime
    if (rst_ni && due) assert (age_q < (reads_q + 8'd1) * 8'(Fair + 1));
  end
  always_ff @(posedge clk_i) begin : NextTransactionAcceptedInTime
    if (rst_ni) assert (waiting_q < 8'(Lanes * (Fair + 1) + Fair));
  end
`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RunIsFair
    if (rst_ni) assert (run_q <= 8'(Fair));
  end
  always_ff @(posedge clk_i) begin : AgeFollowsReads
    if (rst_ni && here_q) begin
      assert (age_q <= reads_q * 8'(Fair + 1) + run_q);
      assert (waiting_q < age_q);
    end
    if (rst_ni && !here_q) assert (waiting_q == '0);
  end
`endif
`endif

  // ------------------------------------------------------------------------------------------
  // Invariants: the record is the state. They make the induction go through.
  // ------------------------------------------------------------------------------------------

`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) begin
      assert (left_q == \u_dut.mask_q );
      assert (held_q == \u_dut.add_valid_q );
      assert (here_q == (open || held_q));
      if (here_q) assert (addr_q == \u_dut.addr_q && tag_q == \u_dut.tag_q );
      if (open) assert (reads_q <= lowest_idx);
      if (due) assert (reads_q <= 8'(Lanes));
      if (held_q) assert (reads_q != '0 && held_first_q == (reads_q == 8'd1));
      if (here_q && (held_q ? held_first_q : reads_q == '0)) begin
        assert (\u_dut.acc_q == Neutral);
      end
      if (here_q && (held_q ? !held_first_q : reads_q != '0)) begin
        assert (chain_valid_q && chain_q == \u_dut.acc_q );
      end
    end
  end
`endif

  // ------------------------------------------------------------------------------------------
  // Reached states
  // ------------------------------------------------------------------------------------------

  logic refused_read_q, refused_result_q;  // since reset

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      refused_read_q <= 1'b0;
      refused_result_q <= 1'b0;
    end else begin
      if (rf_valid && !rf_ready_i) refused_read_q <= 1'b1;
      if (result_valid && !result_ready_i) refused_result_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin : CoverThreeResultsUnderBackPressure
    if (rst_ni) begin
      cover (results_q == 8'd2 && taken && reads_q == 8'd2 && refused_read_q && refused_result_q);
    end
  end
  always_ff @(posedge clk_i) begin : CoverTransactionsWithoutGap
    if (rst_ni) cover (load && grant && taken && results_q == 8'd1);
  end
  always_ff @(posedge clk_i) begin : CoverWaitsBehindAResult
    if (rst_ni) cover (result_valid && !result_ready_i && txn_valid_i && !txn_ready);
  end
  always_ff @(posedge clk_i) begin : CoverIdleAgain
    if (rst_ni) cover (idle_q && results_q == 8'd1);
  end

endmodule
