// SPDX-License-Identifier: Apache-2.0
// Proof: arc_reduction_paired reads each lane of each transaction once, the lowest of each bank
// first, and offers one result for each transaction, in order, in the cycle that its contract names;
// each lane is in the sum of its own transaction once and in no other sum.
//
// Control only: the sums are any values (arc_fast_adder_any.sv); the arithmetic is proved apart. Assumed is that a transaction has lanes. Free: transactions, both
// ready inputs, data, and reset at any time after the first cycle. The record is made from the ports:
//
//     load                      last read granted, age 1 .. 4         result taken
//      --->  left: lanes to read  ------------------------>  age 5: due  -------->
//
// Two transactions are there at most. They are told apart by a colour, which changes from one to the
// next, so that a table of two rows holds what is known of them.
//
// To follow the values through stages that hold any sum, one lane is picked freely and held, which
// stands for every lane. Its word is marked with the colour of its transaction where rf_data_i has
// it; the wrapper moves the marks as the unit's own flags say that it moves and adds data.

module arc_reduction_paired_proof (
  input logic                                               clk_i,
  input logic                                         rst_ni,
  input logic                                         txn_valid_i,
  input logic [arc_pkg::AddrWidth-1:0]                txn_addr_i,
  input logic [arc_pkg::Lanes-1:0]                    txn_mask_i,
  input logic [arc_pkg::TagWidth-1:0]                 txn_tag_i,
  input logic                                         rf_ready_i,
  input logic [arc_pkg::PairedBanks*arc_pkg::DataWidth-1:0] rf_data_i,
  input logic                                         result_ready_i
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Banks = arc_pkg::PairedBanks;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int DataWidth = arc_pkg::DataWidth;

  logic txn_ready, rf_valid, result_valid, busy;
  logic [Lanes-1:0] rf_mask;
  logic [TagWidth-1:0] rf_tag, result_tag;
  logic [AddrWidth-1:0] result_addr;
  logic [DataWidth-1:0] result_data;

  arc_reduction_paired u_dut (
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

  // Seen by name: flags that move and add data, the bins, and for the invariants the rest.
  (* hierconn *) logic [Banks-1:0] \u_dut.align_read_q ;
  (* hierconn *) logic \u_dut.align_first_q ;
  (* hierconn *) logic \u_dut.align_last_q ;
  (* hierconn *) logic \u_dut.add_first_q ;
  (* hierconn *) logic \u_dut.add_last_q ;
  (* hierconn *) logic [4:0] \u_dut.add_keep_q ;
  (* hierconn *) logic \u_dut.done_q ;
  (* hierconn *) logic \u_dut.leave ;
  (* hierconn *) logic \u_dut.norm_valid_q ;
  (* hierconn *) logic [3:0] \u_dut.flags ;
  (* hierconn *) logic [3:0] \u_dut.add_flags_q ;
  (* hierconn *) logic [3:0] \u_dut.sum_flags_q ;
  (* hierconn *) logic [BinWidth-1:0] \u_dut.bin ;
  (* hierconn *) logic [BinWidth-1:0] \u_dut.bin_q ;
  (* hierconn *) logic [BinWidth-1:0] \u_dut.sum_bin_q ;
  (* hierconn *) logic [Lanes-1:0] \u_dut.u_fetch.mask_q ;
  (* hierconn *) logic \u_dut.u_fetch.first_q ;
  (* hierconn *) logic \u_dut.front_valid_q ;
  (* hierconn *) logic \u_dut.back_valid_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.front_addr_q ;
  (* hierconn *) logic [AddrWidth-1:0] \u_dut.back_addr_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.front_tag_q ;
  (* hierconn *) logic [TagWidth-1:0] \u_dut.back_tag_q ;

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

  logic [1:0] count_q;                // transactions in the unit
  logic young_q, old;                 // colours of the last one and of the one whose result is next
  logic [AddrWidth-1:0] addr_q [0:1];
  logic [TagWidth-1:0] tag_q [0:1];
  logic [Lanes-1:0] mask_q [0:1];
  logic [2:0] age_q [0:1];            // cycles since the last read, up to 7; 0 while lanes are left
  logic [2:0] since_q;                // cycles since a result was taken, up to 7
  logic [Lanes-1:0] left_q, lowest;   // lanes of the last one still to read
  logic [Banks-1:0] banks;
  logic [4:0] reads_q;                // reads of the last one
  logic [7:0] refused_q, open_for_q;  // cycles in which a read was refused, and all, of the last one
  logic open, closes, due;

  assign old = count_q == 2'd2 ? !young_q : young_q;
  assign open = left_q != '0;
  assign closes = grant && (left_q & ~lowest) == '0;
  assign due = count_q != '0 && age_q[old] >= 3'd5 && since_q >= 3'd2;

  // Lowest lane left in each bank, by search.
  always_comb begin
    lowest = '0;
    banks = '0;
    for (int b = 0; b < Banks; b++) begin
      for (int l = Lanes - Banks + b; l >= 0; l = l - Banks) begin
        if (left_q[l]) begin
          banks[b] = 1'b1;
          for (int k = b; k < Lanes; k = k + Banks) lowest[k] = k == l;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q <= '0;
      young_q <= 1'b0;
      age_q[0] <= '0;
      age_q[1] <= '0;
      since_q <= '1;
      left_q <= '0;
    end else begin
      count_q <= count_q + 2'(load) - 2'(taken);
      for (int c = 0; c < 2; c++) begin
        if (age_q[c] != '0 && age_q[c] != '1) age_q[c] <= age_q[c] + 3'd1;
      end
      if (taken) since_q <= 3'd1;
      else if (since_q != '1) since_q <= since_q + 3'd1;
      if (taken) age_q[old] <= '0;
      if (grant) begin
        left_q <= left_q & ~lowest;
        reads_q <= reads_q + 5'd1;
      end
      if (closes) age_q[young_q] <= 3'd1;
      refused_q <= refused_q + 8'(rf_valid && !rf_ready_i);
      open_for_q <= open_for_q + 8'd1;
      if (load) begin
        young_q <= !young_q;
        addr_q[!young_q] <= txn_addr_i;
        tag_q[!young_q] <= txn_tag_i;
        mask_q[!young_q] <= txn_mask_i;
        age_q[!young_q] <= '0;
        left_q <= txn_mask_i;
        reads_q <= '0;
        refused_q <= '0;
        open_for_q <= 8'd1;
      end
    end
  end

  // Granted reads 1 and 2 cycles ago.
  logic [2:1] r_valid_q, r_first_q, r_last_q, r_colour_q;
  logic [Banks-1:0] r_banks_q;  // of the last cycle

  always_ff @(posedge clk_i) begin
    if (!rst_ni) r_valid_q <= '0;
    else         r_valid_q <= {r_valid_q[1], grant};
    r_first_q <= {r_first_q[1], reads_q == '0};
    r_last_q <= {r_last_q[1], closes};
    r_colour_q <= {r_colour_q[1], young_q};
    r_banks_q <= grant && rst_ni ? banks : '0;
  end

  // ------------------------------------------------------------------------------------------
  // Marks of one lane, a column for each colour
  // ------------------------------------------------------------------------------------------

  (* anyconst *) logic [4:0] lane;
  logic word_q, word_colour_q;             // rf_data_i has its word, of a transaction of this colour
  logic [1:0] align, add_q;                // for each colour
  logic [1:0] sum_q [0:1];                 // how often it is in the sum, up to 3
  logic [1:0] norm_q [0:1];
  logic [1:0] result_q [0:1];
  logic [1:0] flags_q [0:1];               // the same for the flags, which are not added
  logic [1:0] norm_flags_q, result_flags_q;

  assign align[0] = word_q && !word_colour_q && \u_dut.align_read_q [lane[0]];
  assign align[1] = word_q && word_colour_q && \u_dut.align_read_q [lane[0]];

  always_ff @(posedge clk_i) begin
    if (grant && banks[lane[0]]) begin
      word_q <= rf_mask[lane];
      word_colour_q <= young_q;
    end
    add_q <= align;
    for (int c = 0; c < 2; c++) begin
      if (\u_dut.add_first_q )                 sum_q[c] <= {1'b0, add_q[c]};
      else if (!(add_q[c] && sum_q[c] == '1)) sum_q[c] <= sum_q[c] + {1'b0, add_q[c]};
      norm_q[c] <= sum_q[c];
      if (\u_dut.norm_valid_q ) result_q[c] <= norm_q[c];
      flags_q[c] <= {1'b0, add_q[c] || (flags_q[c] != '0 && !\u_dut.add_first_q )};
      norm_flags_q[c] <= flags_q[c] != '0;
      if (\u_dut.norm_valid_q ) result_flags_q[c] <= norm_flags_q[c];
    end
  end

  // The largest bin and the flags of each colour so far.
  logic [BinWidth-1:0] want_bin_q [0:1];
  logic [BinWidth-1:0] want_bin;
  logic [3:0] want_flags_q [0:1];

  always_comb begin
    want_bin = r_first_q[1] ? '0 : want_bin_q[r_colour_q[1]];
    for (int b = 0; b < Banks; b++) begin
      if (r_banks_q[b] && rf_data_i[DataWidth*b+26 +: BinWidth] > want_bin) begin
        want_bin = rf_data_i[DataWidth*b+26 +: BinWidth];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (r_valid_q[1]) begin
      want_bin_q[r_colour_q[1]] <= want_bin;
      want_flags_q[r_colour_q[1]] <= \u_dut.flags | (want_flags_q[r_colour_q[1]] & {4{!r_first_q[1]}});
    end
  end

  // ------------------------------------------------------------------------------------------
  // Reads: each lane once, the lowest of each bank first, and no cycle lost
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : AskedWheneverALaneIsLeft
    if (rst_ni) assert (rf_valid == open);
  end
  always_ff @(posedge clk_i) begin : LowestLaneOfEachBankLeftIsRead
    if (rst_ni && rf_valid) assert (rf_mask == lowest && rf_tag == tag_q[young_q]);
  end
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic [Lanes/Banks-1:0] of_bank;
    always_comb begin
      for (int l = 0; l < Lanes / Banks; l++) of_bank[l] = rf_mask[Banks*l+b];
    end
    always_ff @(posedge clk_i) begin : OneLaneABank
      if (rst_ni) assert ((of_bank & (of_bank - 16'd1)) == '0);
    end
  end
  always_ff @(posedge clk_i) begin : ReadyOnceReadAndAnEntryIsFree
    if (rst_ni) assert (txn_ready == ((!open || closes) && (count_q != 2'd2 || taken)));
  end
  always_ff @(posedge clk_i) begin : TwoTransactionsAtMost
    if (rst_ni) assert (count_q <= 2'd2);
  end
  always_ff @(posedge clk_i) begin : SixteenReadsAtMost
    if (rst_ni && open) assert (reads_q < 5'd16);
  end
  always_ff @(posedge clk_i) begin : NoCycleLost
    if (rst_ni && open) assert (open_for_q == 8'(reads_q) + refused_q + 8'd1);
  end

  // ------------------------------------------------------------------------------------------
  // Results: one for each transaction, in order, five cycles after its last read, but two after the
  // result before it was taken
  // ------------------------------------------------------------------------------------------

  always_ff @(posedge clk_i) begin : ResultExactlyWhenDue
    if (rst_ni) assert (result_valid == due);
  end
  always_ff @(posedge clk_i) begin : ResultBelongsToItsTransaction
    if (rst_ni && result_valid) assert (result_addr == addr_q[old] && result_tag == tag_q[old]);
  end
  always_ff @(posedge clk_i) begin : EachLaneIsInItsSumOnce
    if (rst_ni && result_valid) assert (result_q[old] == 2'(mask_q[old][lane]));
  end
  always_ff @(posedge clk_i) begin : NoLaneOfAnotherTransaction
    if (rst_ni && result_valid) assert (result_q[!old] == '0);
  end
  always_ff @(posedge clk_i) begin : FlagsAreOfItsLanes
    if (rst_ni && result_valid) begin
      assert (result_flags_q[old] == mask_q[old][lane] && !result_flags_q[!old]);
    end
  end
  // Only where its bin is too small may something of the sum before be dropped: arc_paired_align is
  // proved to say so. A first read keeps nothing, and without values all of it stays.
  always_ff @(posedge clk_i) begin : FirstReadKeepsNothing
    if (rst_ni && r_valid_q[2] && r_first_q[2]) assert (\u_dut.add_keep_q == '0);
  end
  always_ff @(posedge clk_i) begin : SumStaysWithoutValues
    if (rst_ni && \u_dut.done_q && !\u_dut.leave ) assert (\u_dut.add_keep_q == 5'd1 && !r_valid_q[2]);
  end
  always_ff @(posedge clk_i) begin : LargestBinOfItsLanesSoFar
    if (rst_ni && r_valid_q[1]) assert (\u_dut.bin == want_bin);
  end
  always_ff @(posedge clk_i) begin : SumHasItsLargestBin
    if (rst_ni && \u_dut.leave ) assert (\u_dut.sum_bin_q == want_bin_q[taken ? !old : old]);
  end
  always_ff @(posedge clk_i) begin : SumHasTheFlagsOfItsReads
    if (rst_ni && \u_dut.leave ) assert (\u_dut.sum_flags_q == want_flags_q[taken ? !old : old]);
  end

  // ------------------------------------------------------------------------------------------
  // Idle and reset
  // ------------------------------------------------------------------------------------------
  // Registers of the data path move when the unit is idle, but hold nothing: no flag is up, no bank
  // was read, and the next sum begins without what was there.

  always_ff @(posedge clk_i) begin : BusyIsWork
    if (rst_ni) assert (busy == (count_q != '0));
  end
  always_ff @(posedge clk_i) begin : IdleHoldsNothing
    if (rst_ni && !busy) begin
      assert (\u_dut.u_fetch.mask_q == '0 && \u_dut.align_read_q == '0 && !\u_dut.add_last_q );
      assert (!\u_dut.done_q && !\u_dut.norm_valid_q && !result_valid && !\u_dut.align_first_q );
    end
  end
  always_ff @(posedge clk_i) begin : ResetEmptiesTheUnit
    if (!rst_ni) assert (!busy && !rf_valid && !result_valid && txn_ready);
  end

  // ------------------------------------------------------------------------------------------
  // Invariants: the record is the state. They make the induction go through.
  // ------------------------------------------------------------------------------------------

`ifdef INVARIANTS
  logic [1:0] live, closed, left_sum, begun;  // for each colour; left_sum: normalised or a result
  logic [1:0] summed_q;                        // its first words have been added
  logic [1:0] awake_q;                         // cycles since reset, up to 3

  // A reset leaves what the add stage holds, and nothing waits for it there.
  always_ff @(posedge clk_i) begin
    if (!rst_ni)              awake_q <= 2'd1;
    else if (awake_q != 2'd3) awake_q <= awake_q + 2'd1;
    if (r_valid_q[2]) summed_q[r_colour_q[2]] <= 1'b1;
    if (load) summed_q[!young_q] <= 1'b0;
  end

  always_comb begin
    live = '0;
    live[young_q] = count_q != '0;
    if (count_q == 2'd2) live = '1;
    for (int c = 0; c < 2; c++) begin
      closed[c] = live[c] && (c[0] != young_q || !open);
      left_sum[c] = live[c] && c[0] == old && age_q[c] >= 3'd4;
      begun[c] = summed_q[c];
      for (int k = 1; k <= 2; k++) begin
        if (r_valid_q[k] && r_colour_q[k] == c[0]) begun[c] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin : RecordIsTheState
    if (rst_ni) begin
      assert (left_q == \u_dut.u_fetch.mask_q );
      assert (since_q != '0 && awake_q != '0);
      if (awake_q == 2'd1) assert (count_q == '0);
      if (awake_q <= 2'd2) assert (r_valid_q == '0 && age_q[0] == '0 && age_q[1] == '0);
      if (awake_q <= 2'd2 && open) assert (count_q == 2'd1 && reads_q == '0);
      assert (count_q == 2'(\u_dut.front_valid_q ) + 2'(\u_dut.back_valid_q ));
      if (open) assert (count_q != '0 && \u_dut.u_fetch.first_q == (reads_q == '0));
      if (open) assert ((reads_q == '0) == !begun[young_q] && age_q[young_q] == '0);
      if (open && reads_q == '0) assert (left_q == mask_q[young_q]);
      if (open && !\u_dut.front_valid_q ) assert (reads_q == '0);
      if (!open) assert (\u_dut.front_valid_q || count_q == '0);
      if (\u_dut.back_valid_q ) begin
        assert (\u_dut.back_addr_q == addr_q[young_q] && \u_dut.back_tag_q == tag_q[young_q]);
      end
      if (\u_dut.front_valid_q ) begin
        assert (\u_dut.front_addr_q == addr_q[old] && \u_dut.front_tag_q == tag_q[old]);
      end
      if (count_q == 2'd2) begin
        assert (age_q[old] != '0);
        if (!open) assert (age_q[old] > age_q[young_q] || age_q[old] == '1);
        if (summed_q[young_q]) assert (age_q[old] >= 3'd4);
        for (int k = 1; k <= 2; k++) begin
          if (r_valid_q[k] && r_colour_q[k] == young_q) assert (age_q[old] > k);
        end
      end
      assert (\u_dut.align_read_q == r_banks_q && r_valid_q[1] == (r_banks_q != '0));
      assert (\u_dut.align_first_q == (r_valid_q[1] && r_first_q[1]));
      if (r_valid_q[1]) assert (\u_dut.align_last_q == r_last_q[1]);
      assert (\u_dut.add_last_q == (r_valid_q[2] && r_last_q[2]));
      if (awake_q >= 2'd2) begin
        assert (\u_dut.add_first_q == (r_valid_q[2] && r_first_q[2]));
        if (!r_valid_q[2]) assert (\u_dut.add_keep_q == 5'd1 && \u_dut.add_flags_q == '0);
      end
      assert (\u_dut.done_q == ((count_q != '0 && age_q[old] == 3'd3) ||
                                (count_q == 2'd2 && age_q[young_q] >= 3'd3)));
      assert (\u_dut.norm_valid_q == (left_sum[old] && !due));
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : g_row
    always_ff @(posedge clk_i) begin : ReadsGoUpTheRows
      if (rst_ni && left_q[l]) assert (reads_q <= l / Banks);
    end
  end

  for (genvar c = 0; c < 2; c++) begin : g_colour
    always_ff @(posedge clk_i) begin : ClosedHasAnAge
      if (rst_ni) begin
        assert (closed[c] == (age_q[c] != '0));
        if (age_q[c] >= 3'd3) assert (summed_q[c]);
        if (closed[c]) assert (begun[c]);
      end
    end
    for (genvar k = 1; k <= 2; k++) begin : g_stage
      always_ff @(posedge clk_i) begin : StageFollowsAge
        if (rst_ni && r_valid_q[k] && r_colour_q[k] == c[0]) begin
          assert (live[c] && age_q[c] <= k);
          assert (r_last_q[k] == (age_q[c] == k));
          if (k == 2) assert (r_first_q[2] == !summed_q[c]);
          if (k == 1) begin
            assert (r_first_q[1] == !(summed_q[c] || (r_valid_q[2] && r_colour_q[2] == c[0])));
          end
        end
        if (rst_ni && age_q[c] == k) begin
          assert (r_valid_q[k] && r_colour_q[k] == c[0] && r_last_q[k]);
        end
      end
    end
    always_ff @(posedge clk_i) begin : MarksAreWhereTheLaneIs
      if (rst_ni) begin
        if (align[c]) assert (r_valid_q[1] && r_colour_q[1] == c[0]);
        if (add_q[c] && awake_q >= 2'd2) assert (r_valid_q[2] && r_colour_q[2] == c[0]);
        if (live[c] && !left_sum[c]) begin
          assert (3'(mask_q[c][lane]) == 3'(c[0] == young_q && left_q[lane]) + 3'(align[c]) +
                  3'(add_q[c] && r_valid_q[2]) + (summed_q[c] ? 3'(sum_q[c]) : 3'd0));
          if (summed_q[c]) assert (sum_q[1-c] == '0 && flags_q[1-c] == '0);
          if (summed_q[c]) assert ((flags_q[c] != '0) == (sum_q[c] != '0));
        end
        if (left_sum[c] && !due) begin
          assert (norm_q[c] == 2'(mask_q[c][lane]) && norm_q[1-c] == '0);
          assert (norm_flags_q[c] == mask_q[c][lane] && !norm_flags_q[1-c]);
        end
        if (due && c[0] == old) begin
          assert (result_q[c] == 2'(mask_q[c][lane]) && result_q[1-c] == '0);
          assert (result_flags_q[c] == mask_q[c][lane] && !result_flags_q[1-c]);
        end
      end
    end
    always_ff @(posedge clk_i) begin : BinGoesWithTheSum
      if (rst_ni && live[c]) begin
        if (begun[c] && !(r_valid_q[1] && r_first_q[1] && r_colour_q[1] == c[0]) &&
            (c[0] == young_q || age_q[c] <= 3'd2)) begin
          assert (\u_dut.bin_q == want_bin_q[c]);
        end
        if (age_q[c] >= 3'd3 && !left_sum[c]) assert (\u_dut.sum_bin_q == want_bin_q[c]);
      end
    end
    always_ff @(posedge clk_i) begin : FlagsGoWithTheSum
      if (rst_ni && live[c] && !left_sum[c]) begin
        if (r_valid_q[2] && r_colour_q[2] == c[0]) begin
          assert (want_flags_q[c] ==
                  (\u_dut.add_flags_q | (\u_dut.sum_flags_q & {4{!r_first_q[2]}})));
        end else if (summed_q[c]) begin
          assert (\u_dut.sum_flags_q == want_flags_q[c]);
        end
      end
    end
  end
`endif

  // ------------------------------------------------------------------------------------------
  // Reached states
  // ------------------------------------------------------------------------------------------

  logic refused_read_q, refused_result_q;  // since reset
  logic [1:0] results_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      refused_read_q <= 1'b0;
      refused_result_q <= 1'b0;
      results_q <= '0;
    end else begin
      if (rf_valid && !rf_ready_i) refused_read_q <= 1'b1;
      if (result_valid && !result_ready_i) refused_result_q <= 1'b1;
      if (taken && results_q != '1) results_q <= results_q + 2'd1;
    end
  end

  always_ff @(posedge clk_i) begin : CoverTwoResultsUnderBackPressure
    if (rst_ni) cover (results_q == 2'd1 && taken && refused_read_q && refused_result_q);
  end
  always_ff @(posedge clk_i) begin : CoverLoadedAsAResultLeaves
    if (rst_ni) cover (load && grant && taken && count_q == 2'd2);
  end
  always_ff @(posedge clk_i) begin : CoverCompleteSumWaits
    if (rst_ni) cover (\u_dut.done_q && !\u_dut.leave && result_valid && txn_valid_i && !txn_ready);
  end
  always_ff @(posedge clk_i) begin : CoverThreeReadsOfALane
    if (rst_ni) cover (result_valid && reads_q == 4'd3 && result_q[old] == 2'd1);
  end
  always_ff @(posedge clk_i) begin : CoverIdleAgain
    if (rst_ni) cover (!busy && results_q == 2'd1 && !txn_valid_i);
  end

endmodule
