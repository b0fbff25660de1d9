// SPDX-License-Identifier: Apache-2.0
// Fused reduction unit: reads up to four lanes of a transaction a cycle, aligns them to the largest
// exponent of all its lanes, adds them as integers, and normalises and rounds once.
//
// Contract: a transaction accepted in cycle t is read in cycles t+1 .. t+k, where k is the largest
// number of its lanes in one bank, and its result is offered in cycle t+k+6, when every read is
// granted at once and results are taken at once. Two transactions are in the unit at most, so that
// one is accepted every max(k, (k+6)/2) cycles; results leave in the order in which transactions
// came. The sum does not depend on the order of the lanes: every value is cut to WindowWidth bits
// below the top of the largest exponent's bin, the sum of these is exact, and is rounded once to
// nearest even.
//
// Register file: lane l belongs to bank l % Banks, and a read asks for one lane of some banks, the
// lowest left in each. From the cycle after a grant until and including the cycle of the next one,
// rf_data_i has the words of the lanes that were read, one for each bank, and rf_bin_i the upper
// exponent bits of all lanes of that operand. A read, once asked for, is asked for until granted.
// Result: held until taken; reads go on meanwhile. All payloads are zero while their valid is low.

`include "arc_assert.svh"

module arc_reduction_fused #(
  // 1: subnormal values and sums count as zero, as global RED does. 0: gradual underflow.
  parameter int FlushSubnormals = 1,
  // Bits kept of a value, from the top of the largest bin down: 33 to 58.
  parameter int WindowWidth = 44
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // transaction to reduce
  input  logic                                        txn_valid_i,
  output logic                                        txn_ready_o,
  input  logic [arc_pkg::AddrWidth-1:0]               txn_addr_i,
  input  logic [arc_pkg::Lanes-1:0]                   txn_mask_i,
  input  logic [arc_pkg::TagWidth-1:0]                txn_tag_i,
  // register-file read
  output logic                                        rf_valid_o,
  input  logic                                        rf_ready_i,
  output logic [arc_pkg::Lanes-1:0]                   rf_mask_o,
  output logic [arc_pkg::TagWidth-1:0]                rf_tag_o,
  input  logic [arc_pkg::Banks*arc_pkg::DataWidth-1:0] rf_data_i,
  input  logic [arc_pkg::Lanes*arc_pkg::BinWidth-1:0] rf_bin_i,
  // result: one addition of data to addr
  output logic                                        result_valid_o,
  input  logic                                        result_ready_i,
  output logic [arc_pkg::AddrWidth-1:0]               result_addr_o,
  output logic [arc_pkg::DataWidth-1:0]               result_data_o,
  output logic [arc_pkg::TagWidth-1:0]                result_tag_o,
  // a register holds work
  output logic                                        busy_o
);

  localparam int Lanes = arc_pkg::Lanes;
  localparam int Banks = arc_pkg::Banks;
  localparam int AddrWidth = arc_pkg::AddrWidth;
  localparam int TagWidth = arc_pkg::TagWidth;
  localparam int DataWidth = arc_pkg::DataWidth;
  localparam int ExpWidth = arc_pkg::ExpWidth;
  localparam int FracWidth = arc_pkg::FracWidth;
  localparam int SigWidth = arc_pkg::SigWidth;
  localparam int BinWidth = arc_pkg::BinWidth;
  localparam int BinShift = arc_pkg::BinShift;
  localparam int FineWidth = SigWidth + (1 << BinShift) - 1;  // a significand anywhere in its bin
  localparam int SumWidth = WindowWidth + 6;                  // 32 values and a sign
  localparam int MagWidth = SumWidth - 1;
  localparam int LzcWidth = 6;                                // $clog2(MagWidth + 1)
  localparam logic [BinShift-1:0] ExpLow = 3'b100;            // 7 + 5, modulo 8

  // ------------------------------------------------------------------------------------------
  // Transactions in the unit: back holds the younger one, front the one whose sum is next
  // ------------------------------------------------------------------------------------------

  logic load, grant, taken, advance;
  logic front_valid_q, back_valid_q;
  logic [AddrWidth-1:0] front_addr_q, back_addr_q;
  logic [TagWidth-1:0] front_tag_q, back_tag_q;

  assign advance = !front_valid_q || taken;
  assign busy_o = front_valid_q || back_valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      front_valid_q <= 1'b0;
      back_valid_q <= 1'b0;
    end else begin
      front_valid_q <= back_valid_q || (front_valid_q && !taken);
      back_valid_q <= load || (back_valid_q && !advance);
    end
  end

  always_ff @(posedge clk_i) begin
    // What stands at the input, taken or not: whether it is comes too late for so many bits.
    if (!back_valid_q || advance) begin
      back_addr_q <= txn_addr_i;
      back_tag_q <= txn_tag_i;
    end
    if (advance) begin
      front_addr_q <= back_addr_q;
      front_tag_q <= back_tag_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Fetch stage: ask for the lowest lane left in each bank
  // ------------------------------------------------------------------------------------------

  logic fetch_any, fetch_last;
  logic fetch_first_q;  // no lane of this transaction has been read
  logic [Lanes-1:0] mask_q, mask_d, fetch_lanes, fetch_rest;
  logic [Banks-1:0] bank_any;

  always_comb begin
    fetch_lanes = '0;
    bank_any = '0;
    for (int b = 0; b < Banks; b++) begin
      for (int l = b; l < Lanes; l = l + Banks) begin
        fetch_lanes[l] = mask_q[l] & ~bank_any[b];
        bank_any[b] = bank_any[b] | mask_q[l];
      end
    end
    fetch_rest = mask_q & ~fetch_lanes;
    fetch_any = mask_q != '0;
  end

  // The last read is the one with no two lanes left in any bank, found by halving the banks.
  always_comb begin : last_read
    logic [Lanes-1:0] any, two;
    any = mask_q;
    two = '0;
    for (int distance = Lanes / 2; distance >= Banks; distance = distance / 2) begin
      two = two | (two >> distance) | (any & (any >> distance));
      any = any | (any >> distance);
    end
    fetch_last = two[Banks-1:0] == '0;
  end

  always_comb begin
    rf_valid_o = fetch_any;
    rf_mask_o = fetch_lanes;
    rf_tag_o = (back_valid_q ? back_tag_q : front_tag_q) & {TagWidth{fetch_any}};
    grant = rf_valid_o && rf_ready_i;
    txn_ready_o = (!fetch_any || (grant && fetch_last)) && (!back_valid_q || advance);
  end

  assign load = txn_valid_i && txn_ready_o;

  always_comb begin
    mask_d = mask_q;
    if (load) mask_d = txn_mask_i;
    else if (grant) mask_d = fetch_rest;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else         mask_q <= mask_d;
  end

  always_ff @(posedge clk_i) begin
    if (load || grant) fetch_first_q <= load;
  end

  // ------------------------------------------------------------------------------------------
  // Unpack stage: the words that were read; in the first one the largest bin of the transaction
  // ------------------------------------------------------------------------------------------
  // A value is its significand with the sign's complement, everywhere within its bin, and filled up
  // with the sign: that makes it the two's complement but for a one at the lowest bit of the window.

  logic unpack_valid_q;
  logic unpack_first_q, unpack_last_q;
  logic [Banks-1:0] unpack_bank_q;  // banks that were read
  logic [Lanes-1:0] unpack_mask_q;  // lanes left when they were
  logic [Banks-1:0] is_nan, is_pos_inf, is_neg_inf, is_pos;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) unpack_valid_q <= 1'b0;
    else         unpack_valid_q <= grant;
  end

  always_ff @(posedge clk_i) begin
    unpack_first_q <= fetch_first_q;
    unpack_last_q <= fetch_last;
    unpack_bank_q <= bank_any & {Banks{grant}};
    unpack_mask_q <= mask_q;
  end

  logic [BinWidth-1:0] max_bin, max_bin_q;

  arc_bin_max u_bin_max (
    .valid_i(unpack_mask_q),
    .bin_i  (rf_bin_i),
    .max_o  (max_bin)
  );

  // ------------------------------------------------------------------------------------------
  // Align stage: from its bin to the largest, and four values to two
  // ------------------------------------------------------------------------------------------

  logic align_valid_q;
  logic align_first_q, align_last_q;
  logic [3:0] align_flags_q;        // a NaN, +infinity, -infinity, a value without sign
  logic [Banks-1:0] align_neg;
  logic [Banks*(WindowWidth+1)-1:0] term;

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic [DataWidth-1:0] word;
    logic sign, hidden, exp_max, frac_any, neg_q, far;
    logic [FineWidth-1:0] fine, fine_q;
    logic [BinWidth-1:0] bin_q, down;
    logic [WindowWidth-1:0] coarse;

    always_comb begin
      word = rf_data_i[DataWidth*b +: DataWidth] & {DataWidth{unpack_bank_q[b]}};
      sign = word[DataWidth-1];
      hidden = word[FracWidth +: ExpWidth] != '0;
      exp_max = word[FracWidth +: ExpWidth] == arc_pkg::ExpMax;
      frac_any = word[FracWidth-1:0] != '0;
      is_nan[b] = exp_max && frac_any;
      is_pos_inf[b] = exp_max && !frac_any && !sign;
      is_neg_inf[b] = exp_max && !frac_any && sign;
      is_pos[b] = unpack_bank_q[b] && !sign;
      fine = {{hidden, word[FracWidth-1:0] & {FracWidth{hidden || FlushSubnormals == 0}}} ^
              {SigWidth{sign}}, {(FineWidth - SigWidth) {sign}}};
      if (FlushSubnormals == 0 && !hidden) word[FracWidth] = 1'b1;  // exponent of a subnormal
      for (int s = 0; s < BinShift; s++) begin
        if (!word[FracWidth+s]) begin
          fine = (fine >> (1 << s)) | ({FineWidth{sign}} & ~({FineWidth{1'b1}} >> (1 << s)));
        end
      end
    end

    always_ff @(posedge clk_i) begin
      neg_q <= sign;
      fine_q <= fine;
      bin_q <= word[FracWidth+BinShift +: BinWidth];
    end

    always_comb begin
      down = max_bin_q - bin_q;
      far = down[BinWidth-1:3] != '0;  // known last
      coarse = {fine_q, {(WindowWidth - FineWidth) {neg_q}}};
      if (down[0]) coarse = {{8{neg_q}}, coarse[WindowWidth-1:8]};
      if (down[1]) coarse = {{16{neg_q}}, coarse[WindowWidth-1:16]};
      if (down[2] || far) coarse = {{32{neg_q}}, coarse[WindowWidth-1:32]};
      if (far) coarse[WindowWidth-33:0] = {(WindowWidth - 32) {neg_q}};
    end

    // Above the window stands the sign with its complement, which is one too many of its weight in
    // every value; the add stage takes Banks of them away.
    assign align_neg[b] = neg_q;
    assign term[(WindowWidth+1)*b +: WindowWidth+1] = {~neg_q, coarse};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) align_valid_q <= 1'b0;
    else         align_valid_q <= unpack_valid_q;
  end

  always_ff @(posedge clk_i) begin
    align_first_q <= unpack_first_q;
    align_last_q <= unpack_last_q;
    align_flags_q <= {is_nan != '0, is_pos_inf != '0, is_neg_inf != '0, is_pos != '0};
    if (unpack_valid_q && unpack_first_q) max_bin_q <= max_bin;
  end

  // Two rows of full adders; in the free lowest places stand two of the values' missing ones.
  logic [WindowWidth+1:0] save_sum;
  logic [WindowWidth+1:0] save_carry;

  always_comb begin : compress
    logic [WindowWidth:0] t0, t1, t2, sum, carry;
    logic [WindowWidth+1:0] x, y, z;
    t0 = term[0 +: WindowWidth+1];
    t1 = term[WindowWidth+1 +: WindowWidth+1];
    t2 = term[2*(WindowWidth+1) +: WindowWidth+1];
    sum = t0 ^ t1 ^ t2;
    carry = (t0 & t1) | (t2 & (t0 | t1));
    x = {1'b0, sum};
    y = {carry, align_neg[0]};
    z = {1'b0, term[3*(WindowWidth+1) +: WindowWidth+1]};
    save_sum = x ^ y ^ z;
    // x and z end below the top bit, so no carry comes out of it.
    save_carry = {(x[WindowWidth:0] & y[WindowWidth:0]) |
                  (z[WindowWidth:0] & (x[WindowWidth:0] | y[WindowWidth:0])), align_neg[1]};
  end

  // ------------------------------------------------------------------------------------------
  // Add stage: running sum of the transaction, two's complement
  // ------------------------------------------------------------------------------------------

  logic add_valid_q;
  logic add_first_q, add_more_q, add_last_q;  // of its transaction; not the first
  logic [WindowWidth+1:0] add_sum_q;
  logic [WindowWidth+1:0] add_carry_q;
  logic [1:0] add_neg_q;                // the other two missing ones
  logic [3:0] add_flags_q;
  logic [BinWidth-1:0] add_bin_q;
  logic [SumWidth-1:0] sum_q, sum_d, addend_sum;
  logic [SumWidth-1:0] addend_carry;
  logic [3:0] flags_q;
  logic [BinWidth-1:0] bin_q;
  logic done_q, leave;                  // the sum is complete; it goes to the next stage

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) add_valid_q <= 1'b0;
    else         add_valid_q <= align_valid_q;
  end

  always_ff @(posedge clk_i) begin
    add_first_q <= align_first_q && align_valid_q;
    add_more_q <= !(align_first_q && align_valid_q);
    add_last_q <= align_last_q;
    add_sum_q <= save_sum;
    add_carry_q <= save_carry;
    add_neg_q <= align_neg[3:2];
    add_flags_q <= align_flags_q;
    add_bin_q <= max_bin_q;
  end

  always_comb begin : accumulate
    logic [SumWidth-1:0] x, y, z;
    // Two registers say the same: one alone would drive all of the row, and late.
    x = sum_q & {{(SumWidth / 2) {!add_first_q}}, {(SumWidth - SumWidth / 2) {add_more_q}}};
    y = {{(SumWidth - WindowWidth - 2) {1'b1}}, add_sum_q};  // less Banks signs
    z = {{(SumWidth - WindowWidth - 2) {1'b0}}, add_carry_q};
    addend_sum = x ^ (y ^ z);  // x comes last
    addend_carry = (y & z) | (x & (y ^ z));
    addend_carry = {addend_carry[SumWidth-2:0], add_neg_q[0]};
  end

  arc_fast_adder #(
    .Width(SumWidth)
  ) u_accumulate (
    .a_i    (addend_sum),
    .b_i    (addend_carry),
    .carry_i(add_neg_q[1]),
    .sum_o  (sum_d)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) done_q <= 1'b0;
    else         done_q <= (add_valid_q && add_last_q) || (done_q && !leave);
  end

  always_ff @(posedge clk_i) begin
    sum_q <= sum_d;  // plus nothing when no values came
    if (add_valid_q) begin
      flags_q <= add_flags_q | (flags_q & {4{!add_first_q}});
      bin_q <= add_bin_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Count stage: places of the magnitude before its leading one
  // ------------------------------------------------------------------------------------------
  // The magnitude of a negative sum is taken as its complement, which is one place too small: as if
  // ones without end followed it, and they do in the shifter below.
  // A complete sum moves on when the result register will be free for it. It can always wait: the
  // next transaction is not in the unit before the result in front of it has been taken.

  logic norm_valid_q, norm_neg_q;
  logic [MagWidth-1:0] mag, norm_mag_q;
  logic [LzcWidth-1:0] lzc, norm_shift_q;
  logic [ExpWidth:0] norm_exp;              // signed
  logic [ExpWidth-BinShift:0] norm_exp_q;   // its lowest bits are ExpLow
  logic [3:0] norm_flags_q;
  logic result_valid_q;

  assign leave = done_q && !norm_valid_q && (!result_valid_q || taken);

  always_comb begin : count
    logic [(1<<LzcWidth)-1:0] rest;
    mag = sum_q[MagWidth-1:0] ^ {MagWidth{sum_q[SumWidth-1]}};
    rest = {mag, {((1 << LzcWidth) - MagWidth) {1'b1}}};
    lzc = '0;
    for (int k = LzcWidth - 1; k >= 0; k--) begin
      if ((rest >> ((1 << LzcWidth) - (1 << k))) == '0) begin
        lzc[k] = 1'b1;
        rest = rest << (1 << k);
      end
    end
    // Exponent of a leading one at the top of mag: 5 above the top of the window, which is the last
    // exponent of the bin.
    norm_exp = {1'b0, bin_q, {BinShift{1'b1}}} + {{(ExpWidth - 2) {1'b0}}, 3'd5};
    // Not below the first normal exponent: what has no leading one there is subnormal.
    if (FlushSubnormals == 0 && {{(ExpWidth + 1 - LzcWidth) {1'b0}}, lzc} >= norm_exp) begin
      lzc = norm_exp[LzcWidth-1:0] - {{(LzcWidth - 1) {1'b0}}, 1'b1};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) norm_valid_q <= 1'b0;
    else         norm_valid_q <= leave;
  end

  always_ff @(posedge clk_i) begin
    norm_neg_q <= sum_q[SumWidth-1];
    norm_mag_q <= mag;
    norm_shift_q <= lzc;
    norm_exp_q <= norm_exp[ExpWidth:BinShift];
    norm_flags_q <= flags_q;
  end

  // ------------------------------------------------------------------------------------------
  // Normalise stage: leading one to the top
  // ------------------------------------------------------------------------------------------

  logic result_neg_q, round_up, result_up_q;
  logic [SigWidth-1:0] result_sig_q;
  logic [ExpWidth:0] result_exp_q;  // signed
  logic [3:0] result_flags_q;
  logic [MagWidth-1:0] norm;

  always_comb begin : normalise
    logic tail;  // below the rounding bit nothing: zeros, or the ones without end
    norm = norm_mag_q;
    for (int k = LzcWidth - 1; k >= 0; k--) begin
      if (norm_shift_q[k]) begin
        norm = (norm << (1 << k)) | ({MagWidth{norm_neg_q}} & ~({MagWidth{1'b1}} << (1 << k)));
      end
    end
    tail = norm[MagWidth-SigWidth-2:0] == {(MagWidth - SigWidth - 1) {norm_neg_q}};
    round_up = norm[MagWidth-SigWidth-1];
    if (tail) round_up = norm_neg_q ? round_up | norm[MagWidth-SigWidth]
                                    : round_up & norm[MagWidth-SigWidth];
  end

  assign taken = result_valid_q && result_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) result_valid_q <= 1'b0;
    else         result_valid_q <= norm_valid_q || (result_valid_q && !result_ready_i);
  end

  always_ff @(posedge clk_i) begin
    if (norm_valid_q) begin
      result_neg_q <= norm_neg_q;
      result_sig_q <= norm[MagWidth-1 -: SigWidth];
      result_up_q <= round_up;
      result_exp_q <= {norm_exp_q, ExpLow} - {3'b000, norm_shift_q};
      result_flags_q <= norm_flags_q;
    end
  end

  // ------------------------------------------------------------------------------------------
  // Round to nearest even and pack
  // ------------------------------------------------------------------------------------------
  // A sum below the normal range is a whole number of the smallest subnormals and needs no rounding,
  // so a carry out of it only comes from the missing one of a negative sum.

  always_comb begin : pack
    logic [ExpWidth+FracWidth:0] rounded;
    logic something, nan, inf, zero, huge_sum, sign;
    logic [FracWidth-1:0] frac;
    logic [ExpWidth:0] exp;
    exp = result_exp_q;
    something = result_sig_q[SigWidth-1];
    if (FlushSubnormals == 0) begin
      exp = exp & {(ExpWidth + 1) {result_sig_q[SigWidth-1]}};
      something = result_sig_q != '0 || result_up_q;
    end
    rounded = {exp, result_sig_q[FracWidth-1:0]} + {{(ExpWidth + FracWidth) {1'b0}}, result_up_q};
    exp = rounded[ExpWidth+FracWidth:FracWidth];
    nan = result_flags_q[3] || (result_flags_q[2] && result_flags_q[1]);
    inf = result_flags_q[2] || result_flags_q[1];
    zero = !something || (FlushSubnormals != 0 && ((exp[ExpWidth] && exp[ExpWidth-1]) || exp == '0));
    huge_sum = !zero && (exp[ExpWidth] || exp[ExpWidth-1:0] == arc_pkg::ExpMax);
    sign = !nan && (inf ? result_flags_q[1] : something ? result_neg_q : !result_flags_q[0]);
    exp = (exp & {(ExpWidth + 1) {!zero}}) | {(ExpWidth + 1) {inf || nan || huge_sum}};
    frac = (rounded[FracWidth-1:0] & {FracWidth{!zero && !huge_sum && !inf}}) | {FracWidth{nan}};
    result_data_o = {sign, exp[ExpWidth-1:0], frac} & {DataWidth{result_valid_q}};
  end

  assign result_valid_o = result_valid_q;
  assign result_addr_o = front_addr_q & {AddrWidth{result_valid_q}};
  assign result_tag_o = front_tag_q & {TagWidth{result_valid_q}};

  // ------------------------------------------------------------------------------------------
  // Assertions
  // ------------------------------------------------------------------------------------------

  `ARC_ASSUME(TransactionHasLanes, !txn_valid_i || txn_mask_i != '0)
  `ARC_ASSERT_NEXT(ReadHeldUntilGranted, rf_valid_o && !rf_ready_i,
                   rf_valid_o && $stable(rf_mask_o) && $stable(rf_tag_o))
  `ARC_ASSERT_NEXT(ResultHeldUntilTaken, result_valid_o && !result_ready_i,
                   result_valid_o && $stable(result_addr_o) && $stable(result_data_o) &&
                   $stable(result_tag_o))
  `ARC_ASSERT(NoLoadOverLanesToRead, !load || mask_q == '0 || (grant && fetch_rest == '0))
  `ARC_ASSERT(LanesToReadAreOfATransaction, mask_q == '0 || front_valid_q || back_valid_q)
  `ARC_ASSERT(CompleteSumNeverOverwritten, !(done_q && !leave && add_valid_q))
  `ARC_ASSERT(ResultRegisterIsFree, !(norm_valid_q && result_valid_q))
  `ARC_ASSERT(ResultIsOfTheFront, !(norm_valid_q || result_valid_q) || front_valid_q)
  `ARC_ASSERT(BusyTellsAllWork, busy_o || !(fetch_any || unpack_valid_q || align_valid_q ||
                                            add_valid_q || done_q || norm_valid_q ||
                                            result_valid_q))
  `ARC_ASSERT(ReadPayloadZeroWithoutValid, rf_valid_o || (rf_mask_o == '0 && rf_tag_o == '0))
  `ARC_ASSERT(ResultPayloadZeroWithoutValid, result_valid_o ||
              (result_addr_o == '0 && result_data_o == '0 && result_tag_o == '0))

`ifndef SYNTHESIS
  for (genvar b = 0; b < Banks; b++) begin : g_claim
    logic [Lanes-1:0] bank_left;  // lanes of this bank still to read
    localparam logic [Lanes-1:0] OfBank = {(Lanes / Banks) {{(Banks - 1) {1'b0}}, 1'b1}} << b;
    assign bank_left = mask_q & OfBank;
    `ARC_ASSERT(LowestLaneOfEachBankIsRead,
                (rf_mask_o & OfBank) == (bank_left & (~bank_left + Lanes'(1))))
  end

  // Conservation: lanes accepted = lanes in results taken + lanes in each stage. A transaction that
  // was mixed with another, or left before its last lane, would leave with the wrong number. The
  // counters wrap.
  logic [1:0] txns_q;  // accepted and not taken
  logic [15:0] lanes_in_q, lanes_out_q, lanes_here;
  logic [5:0] unpack_lanes_q, align_lanes_q, add_lanes_q, sum_lanes_q;
  logic [5:0] norm_lanes_q, result_lanes_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      txns_q <= '0;
      lanes_in_q <= '0;
      lanes_out_q <= '0;
      unpack_lanes_q <= '0;
      align_lanes_q <= '0;
      add_lanes_q <= '0;
      sum_lanes_q <= '0;
      norm_lanes_q <= '0;
      result_lanes_q <= '0;
    end else begin
      txns_q <= txns_q + {1'b0, load} - {1'b0, taken};
      if (load) lanes_in_q <= lanes_in_q + 16'($countones(txn_mask_i));
      if (taken) lanes_out_q <= lanes_out_q + {10'b0, result_lanes_q};
      unpack_lanes_q <= grant ? 6'($countones(rf_mask_o)) : '0;
      align_lanes_q <= unpack_lanes_q;
      add_lanes_q <= align_lanes_q;
      if (add_valid_q) sum_lanes_q <= add_first_q ? add_lanes_q : sum_lanes_q + add_lanes_q;
      else if (leave)  sum_lanes_q <= '0;
      norm_lanes_q <= leave ? sum_lanes_q : '0;
      if (norm_valid_q) result_lanes_q <= norm_lanes_q;
      else if (taken)   result_lanes_q <= '0;
    end
  end

  always_comb begin
    lanes_here = 16'($countones(mask_q));
    lanes_here = lanes_here + {10'b0, unpack_lanes_q} + {10'b0, align_lanes_q} +
                 {10'b0, add_lanes_q} + {10'b0, sum_lanes_q} + {10'b0, norm_lanes_q} +
                 {10'b0, result_lanes_q} + lanes_out_q;
  end
`endif

  `ARC_ASSERT(AtMostTwoTransactions,
              txns_q == {1'b0, front_valid_q} + {1'b0, back_valid_q})
  `ARC_ASSERT(NoLaneLostOrDoubled, lanes_in_q == lanes_here)

`ifndef SYNTHESIS
  // The register file gives words and bins of one operand: no word that was read has a larger bin
  // than the largest. Otherwise it would be shifted out unseen.
  logic [Banks-1:0] bin_too_large;
  logic [BinWidth-1:0] limit;

  always_comb begin
    limit = unpack_first_q ? max_bin : max_bin_q;
    for (int b = 0; b < Banks; b++) begin
      bin_too_large[b] = unpack_valid_q && unpack_bank_q[b] &&
                         rf_data_i[DataWidth*b+FracWidth+BinShift +: BinWidth] > limit;
    end
  end
`ifndef FORMAL
  // The proof of the control logic leaves words and bins free.
  `ARC_ASSUME(WordsAreWithinTheBinsOfTheirOperand, bin_too_large == '0)
`endif
`endif

  // Icarus has no messages at elaboration.
`ifndef SYNTHESIS
`ifndef __ICARUS__
  if (WindowWidth < 33 || WindowWidth > 58) begin : g_window
    $error("WindowWidth %0d: must be 33 to 58", WindowWidth);
  end
`endif
`endif

endmodule
