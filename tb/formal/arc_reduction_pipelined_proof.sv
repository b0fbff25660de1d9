// SPDX-License-Identifier: Apache-2.0
// Proof: arc_reduction_pipelined reads each lane of each transaction once, lowest first, and offers
// one result for each, in the cycle that rtl/README.md names.
//
// The adder is arc_fp_adder_any.sv, whose sum is any value in every cycle, so this holds with any
// adder of any depth: what is proved is which operands it gets and where its sums go. Assumed is that
// a transaction has lanes, as the module does. Free: transactions, both ready inputs, data, and reset
// at any time after the first cycle. The wrapper's record is made from the ports only:
//
//     load --> read --> add --> align --> last --> result
//               ^                          |
//               +----- more to do ---------+
//
// A transaction has its turn in place read every four cycles. A turn reads a lane, or is lost: the
// read is refused, or there is none to ask for as a result that is not taken kept the transaction
// from leaving.
//
// PROGRESS adds fairness, for bounded liveness: the register file refuses one and the same read at most
// Fair times in a row. (That it grants often does not help a transaction which it refuses in each turn.)

module arc_reduction_pipelined_proof #(
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

  logic txn_ready, rf_valid, result_valid, busy;
  logic [Lanes-1:0] rf_mask;
  logic [TagWidth-1:0] rf_tag, result_tag;
  logic [AddrWidth-1:0] result_addr;
  logic [DataWidth-1:0] result_data;

  arc_reduction_pipelined u_dut (
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

  // Seen by name: the adder's ports, for the chain of additions, and registers, for the invariants.
  (* hierconn *) logic [DataWidth-1:0] \u_dut.u_adder.a_i ;
  (* hierconn *) logic [DataWidth-1:0] \u_dut.u_adder.b_i ;
  (* hierconn *) logic [DataWidth-1:0] \u_dut.u_adder.sum_o ;
  (* hierconn *) logic \u_dut.read_valid_q ;
  (* hierconn *) logic \u_dut.add_valid_q ;
  (* hierconn *) logic \u_dut.align_valid_q ;
  (* hierconn *) logic \u_dut.last_valid_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.read_mask_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.add_mask_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.align_mask_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.last_mask_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.read_addr_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.add_addr_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.align_addr_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.last_addr_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.read_tag_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.add_tag_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.align_tag_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.last_tag_q ;
  (* hierconn *) logic \u_dut.read_any_q ;
  (* hierconn *) logic \u_dut.read_first_q ;
  (* hierconn *) logic \u_dut.add_read_q ;
  (* hierconn *) logic \u_dut.last_empty_q ;
  (* hierconn *) logic [DataWidth-1:0] \u_dut.sum_q ;
  (* hierconn *) logic \u_dut.fresh_q ;
  (* hierconn *) logic \u_dut.waiting_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.result_addr_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.result_tag_q ;
  (* hierconn *) logic [DataWidth-1:0] \u_dut.result_data_q ;

  // ------------------------------------------------------------------------------------------
  // Environment
  // ------------------------------------------------------------------------------------------

  logic in_reset_q = 1'b1;  // the first cycle is a reset
  logic load, grant, taken;

  always_ff @(posedge clk_i) in_reset_q <= 1'b0;
  always_comb begin : StartsInReset
    if (in_reset_q) assume (!rst_ni);
  end

  assign load = txn_valid_i && txn_ready;
  assign grant = rf_valid && rf_ready_i;
  assign taken = result_valid && result_ready_i;

  // ------------------------------------------------------------------------------------------
  // Record
  // ------------------------------------------------------------------------------------------
  // Age: cycles since the transaction was accepted. Counters of 8 bits are compared modulo 256.

  typedef struct packed {
    logic                 valid;
    logic [Lanes-1:0]     left;     // lanes not read
    logic [AddrWidth-1:0] addr;
    logic [TagWidth-1:0]  tag;
    logic [7:0]           reads;
    logic [7:0]           lost;     // turns
    logic [7:0]           refused;  // of these, in which a read was refused
    logic [7:0]           again;    // the last ones of the next read
    logic [7:0]           age;
  } txn_t;

  txn_t read_q, add_q, align_q, last_q, result_q;
  txn_t read_d, add_d, align_d, last_d, result_d;
  logic leaves, blocked;
  logic [Lanes-1:0] lowest;  // one-hot
  logic new_q;               // the result came with the last edge
  logic first_q;             // so did the transaction in place read
  logic add_granted_q, add_first_q;
  logic [DataWidth-1:0] sum_before_q, data_before_q;
  logic [7:0] loads_q, results_q, held;  // modulo 256

  always_comb begin
    lowest = '0;
    for (int l = Lanes - 1; l >= 0; l--) begin
      if (read_q.left[l]) lowest = {{(Lanes - 1) {1'b0}}, 1'b1} << l;
    end
  end

  always_comb begin
    blocked = result_q.valid && !result_ready_i;
    leaves = last_q.valid && last_q.left == '0 && !blocked;

    add_d = read_q;
    if (grant) begin
      add_d.left = read_q.left & ~rf_mask;
      add_d.reads = read_q.reads + 8'd1;
      add_d.again = '0;
    end
    if (!grant) add_d.lost = read_q.lost + 8'd1;
    if (rf_valid && !rf_ready_i) begin
      add_d.refused = read_q.refused + 8'd1;
      add_d.again = read_q.again + 8'd1;
    end
    add_d.age = read_q.age + 8'd1;
    align_d = add_q;
    align_d.age = add_q.age + 8'd1;
    last_d = align_q;
    last_d.age = align_q.age + 8'd1;

    read_d = last_q;
    read_d.age = last_q.age + 8'd1;
    if (leaves) read_d.valid = 1'b0;
    if (load) begin
      read_d.valid = 1'b1;
      read_d.left = txn_mask_i;
      read_d.addr = txn_addr_i;
      read_d.tag = txn_tag_i;
      read_d.reads = '0;
      read_d.lost = '0;
      read_d.refused = '0;
      read_d.again = '0;
      read_d.age = 8'd1;
    end

    result_d = result_q;
    if (taken) result_d.valid = 1'b0;
    if (leaves) begin
      result_d = last_q;
      result_d.age = last_q.age + 8'd1;
    end
    held = 8'(read_q.valid) + 8'(add_q.valid) + 8'(align_q.valid) + 8'(last_q.valid)
         + 8'(result_q.valid);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q.valid <= 1'b0;
      add_q.valid <= 1'b0;
      align_q.valid <= 1'b0;
      last_q.valid <= 1'b0;
      result_q.valid <= 1'b0;
      new_q <= 1'b0;
      first_q <= 1'b0;
      loads_q <= '0;
      results_q <= '0;
    end else begin
      read_q <= read_d;
      add_q <= add_d;
      align_q <= align_d;
      last_q <= last_d;
      result_q <= result_d;
      new_q <= leaves;
      first_q <= load;
      loads_q <= loads_q + 8'(load);
      results_q <= results_q + 8'(taken);
    end
    add_granted_q <= grant;
    add_first_q <= first_q;
    sum_before_q <= \u_dut.u_adder.sum_o ;
    data_before_q <= result_data;
  end

  // ------------------------------------------------------------------------------------------
  // Reads: each lane once, lowest first, a turn every four cycles
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : AskedInEachTurnWithALaneLeft
    if (rst_ni) assert (rf_valid == (read_q.valid && read_q.left != '0));
  end
  always_ff @(posedge clk_i) begin : LowestLaneLeftIsRead
    if (rst_ni && rf_valid) assert (rf_mask == lowest && rf_tag == read_q.tag);
  end
  always_ff @(posedge clk_i) begin : ReadyWhenThePlaceIsFree
    if (rst_ni) assert (txn_ready == (!last_q.valid || leaves));
  end
  always_ff @(posedge clk_i) begin : NoTransactionOverrun
    if (rst_ni && load) assert (!last_q.valid || (last_q.left == '0 && !blocked));
  end

  // ------------------------------------------------------------------------------------------
  // Results: one for each transaction, with its address and tag
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : ResultExactlyWhenDue
    if (rst_ni) assert (result_valid == result_q.valid);
  end
  always_ff @(posedge clk_i) begin : ResultBelongsToItsTransaction
    if (rst_ni && result_valid) assert (result_addr == result_q.addr && result_tag == result_q.tag);
  end
  always_ff @(posedge clk_i) begin : NoResultOverrun
    if (rst_ni && new_q) assert (result_q.valid);
    if (rst_ni && leaves) assert (!result_valid || taken);
  end
  always_ff @(posedge clk_i) begin : AsManyResultsAsTransactions
    if (rst_ni) assert (loads_q == 8'(results_q + held));
  end

  // ------------------------------------------------------------------------------------------
  // Data: the chain of additions that starts with -0.0, each operand from the right read
  // ------------------------------------------------------------------------------------------
  // Of -0.0 only sign and exponent count, as subnormals flush.

  always_ff @(posedge clk_i) begin : SumBeforeGoesBackToTheAdder
    if (rst_ni && add_q.valid) begin
      if (add_first_q) assert (\u_dut.u_adder.a_i [31:23] == 9'h100);
      else             assert (\u_dut.u_adder.a_i == sum_before_q);
    end
  end
  always_ff @(posedge clk_i) begin : ReadValueOrNothingIsAdded
    if (rst_ni && add_q.valid) begin
      if (add_granted_q) assert (\u_dut.u_adder.b_i == rf_data_i);
      else               assert (\u_dut.u_adder.b_i [31:23] == 9'h100);
    end
  end
  always_ff @(posedge clk_i) begin : ResultIsTheLastSum
    if (rst_ni && result_valid) begin
      if (new_q) assert (result_data == \u_dut.u_adder.sum_o );
      else       assert (result_data == data_before_q);
    end
  end

  // ------------------------------------------------------------------------------------------
  // Time: every turn is a read, or lost to the environment
  // ------------------------------------------------------------------------------------------
  // With no turn lost the result of n lanes is thus offered in cycle t+4n+1.

  always_ff @(posedge clk_i) begin : NoTurnWasted
    if (rst_ni && read_q.valid) begin
      assert (read_q.age == 8'(((read_q.reads + read_q.lost) << 2) + 8'd1));
    end
  end
  always_ff @(posedge clk_i) begin : ResultFourCyclesALaneLater
    if (rst_ni && result_q.valid && new_q) begin
      assert (result_q.left == '0);
      assert (result_q.age == 8'(((result_q.reads + result_q.lost) << 2) + 8'd1));
    end
  end

  // ------------------------------------------------------------------------------------------
  // Progress: a lane left is read within Fair + 1 turns, of four cycles
  // ------------------------------------------------------------------------------------------

`ifdef PROGRESS
  logic [7:0] turns;

  assign turns = read_q.reads + read_q.lost;

  always_ff @(posedge clk_i) begin : RegisterFileIsFair
    if (rst_ni && rf_valid && !rf_ready_i) assume (read_q.again < 8'(Fair));
  end
  always_ff @(posedge clk_i) begin : EachTurnIsRefusedOrInTime
    if (rst_ni && read_q.valid && read_q.left != '0) assert (read_q.lost == read_q.refused);
  end
  always_ff @(posedge clk_i) begin : NextLaneReadInTime
    if (rst_ni && read_q.valid && read_q.left != '0) assert (turns < (read_q.reads + 8'd1) * 8'(Fair + 1));
  end
  always_ff @(posedge clk_i) begin : AllLanesReadInTime
    if (rst_ni && read_q.valid && read_q.left != '0) assert (turns < 8'(Lanes * (Fair + 1)));
  end
`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : LostTurnsAreRefusals
    if (rst_ni) begin
      if (read_q.valid && read_q.left != '0) begin
        assert (read_q.lost == read_q.refused);
        assert (read_q.again <= 8'(Fair) && read_q.lost <= read_q.reads * 8'(Fair) + read_q.again);
        for (int l = 0; l < Lanes; l++) if (read_q.left[l]) assert (read_q.reads <= l);
      end
      if (add_q.valid && add_q.left != '0) begin
        assert (add_q.lost == add_q.refused);
        assert (add_q.again <= 8'(Fair) && add_q.lost <= add_q.reads * 8'(Fair) + add_q.again);
        for (int l = 0; l < Lanes; l++) if (add_q.left[l]) assert (add_q.reads <= l);
      end
      if (align_q.valid && align_q.left != '0) begin
        assert (align_q.lost == align_q.refused);
        assert (align_q.again <= 8'(Fair) && align_q.lost <= align_q.reads * 8'(Fair) + align_q.again);
        for (int l = 0; l < Lanes; l++) if (align_q.left[l]) assert (align_q.reads <= l);
      end
      if (last_q.valid && last_q.left != '0) begin
        assert (last_q.lost == last_q.refused);
        assert (last_q.again <= 8'(Fair) && last_q.lost <= last_q.reads * 8'(Fair) + last_q.again);
        for (int l = 0; l < Lanes; l++) if (last_q.left[l]) assert (last_q.reads <= l);
      end
    end
  end
`endif
`endif

  // ------------------------------------------------------------------------------------------
  // Idle and reset
  // ------------------------------------------------------------------------------------------
  // Places without a transaction hold anything and go on moving. That this never shows is in the
  // claims above: every output follows from the record, and that is empty.

  logic idle_q;  // no work and no transaction offered

  always_ff @(posedge clk_i) idle_q <= rst_ni && !busy && !txn_valid_i;

  always_ff @(posedge clk_i) begin : BusyIsWork
    if (rst_ni) assert (busy == (held != '0));
  end
  always_ff @(posedge clk_i) begin : IdleStaysIdle
    if (rst_ni && !in_reset_q && idle_q) begin
      assert (!busy && !rf_valid && !result_valid && txn_ready);
    end
  end
  always_ff @(posedge clk_i) begin : ResetEmptiesTheUnit
    if (!rst_ni) assert (!busy && !rf_valid && !result_valid && txn_ready);
  end

  // ------------------------------------------------------------------------------------------
  // Invariants: the record is the state. They make the induction go through.
  // ------------------------------------------------------------------------------------------

`ifdef INVARIANTS
  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) begin
      assert (read_q.valid == \u_dut.read_valid_q );
      assert (add_q.valid == \u_dut.add_valid_q );
      assert (align_q.valid == \u_dut.align_valid_q );
      assert (last_q.valid == \u_dut.last_valid_q );
      if (read_q.valid) begin
        assert (read_q.left == \u_dut.read_mask_q );
        assert (read_q.addr == \u_dut.read_addr_q && read_q.tag == \u_dut.read_tag_q );
        assert (first_q == \u_dut.read_first_q );
      end
      if (add_q.valid) begin
        assert (add_q.left == \u_dut.add_mask_q );
        assert (add_q.addr == \u_dut.add_addr_q && add_q.tag == \u_dut.add_tag_q );
        assert (add_granted_q == \u_dut.add_read_q );
        if (add_first_q) assert (\u_dut.sum_q [31:23] == 9'h100);
        else             assert (\u_dut.sum_q == sum_before_q);
      end
      if (align_q.valid) begin
        assert (align_q.left == \u_dut.align_mask_q );
        assert (align_q.addr == \u_dut.align_addr_q && align_q.tag == \u_dut.align_tag_q );
      end
      if (last_q.valid) begin
        assert (last_q.left == \u_dut.last_mask_q );
        assert (last_q.addr == \u_dut.last_addr_q && last_q.tag == \u_dut.last_tag_q );
        assert (\u_dut.last_empty_q == (last_q.left == '0));
      end
      assert (\u_dut.read_any_q == (read_q.valid && read_q.left != '0));
      assert (\u_dut.fresh_q == new_q);
      assert (\u_dut.waiting_q == (result_q.valid && !new_q));
      assert (!new_q || result_q.valid);
      if (result_q.valid) begin
        assert (result_q.addr == \u_dut.result_addr_q && result_q.tag == \u_dut.result_tag_q );
        if (!new_q) assert (\u_dut.result_data_q == data_before_q);
      end
    end
  end
  always_ff @(posedge clk_i) begin : AgeFollowsTurns
    if (rst_ni) begin
      if (add_q.valid) assert (add_q.age == 8'(((add_q.reads + add_q.lost) << 2) - 8'd2));
      if (align_q.valid) assert (align_q.age == 8'(((align_q.reads + align_q.lost) << 2) - 8'd1));
      if (last_q.valid) assert (last_q.age == 8'((last_q.reads + last_q.lost) << 2));
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

  always_ff @(posedge clk_i) begin : CoverResultUnderBackPressure
    if (rst_ni) begin
      cover (results_q == 8'd1 && taken && result_q.reads == 8'd2 && refused_read_q &&
             refused_result_q);
    end
  end
  always_ff @(posedge clk_i) begin : CoverFull
    if (rst_ni) cover (held == 8'd5 && txn_valid_i && !txn_ready);
  end
  always_ff @(posedge clk_i) begin : CoverResultsWithoutGap
    if (rst_ni) cover (taken && leaves && load && grant && results_q == 8'd1);
  end
  always_ff @(posedge clk_i) begin : CoverOvertaken
    if (rst_ni) cover (taken && result_q.reads == 8'd1 && last_q.valid && last_q.age > result_q.age);
  end
  always_ff @(posedge clk_i) begin : CoverIdleAgain
    if (rst_ni) cover (idle_q && results_q == 8'd1);
  end

endmodule
