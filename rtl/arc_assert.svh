// SPDX-License-Identifier: Apache-2.0
// Assertion macros with one body per use: SYNTHESIS none, FORMAL immediate, simulation concurrent.
//
//   ARC_ASSERT(Name, Cond)                  Cond holds at every rising edge outside reset
//   ARC_ASSUME(Name, Cond)                  the same, as a promise of the environment
//   ARC_ASSERT_NEXT(Name, Trigger, Cond)    Cond holds at the edge after one at which Trigger held
//   ARC_ASSUME_NEXT(Name, Trigger, Cond)    the same, as a promise of the environment
//   ARC_ASSERT_COMB(Name, Cond)             Cond holds whenever the logic has settled; no clock
//   ARC_REFUSE(Reason, Cond)                stops the elaboration if Cond, of parameters, is true
//
// Name is a claim in words and unique in its module. The clock is clk_i, the reset rst_ni. The
// concurrent form with `disable iff` keeps rst_ni a purely asynchronous net. _NEXT arms a flop of
// its own that the reset clears, so nothing is compared with a value from before or during reset.
`ifndef ARC_ASSERT_SVH
`define ARC_ASSERT_SVH

// Every tool stops at a module that there is not, and prints its name. Not all know $error.
`define ARC_REFUSE(Reason, Cond) \
  if (Cond) begin : g_refused_``Reason \
    Reason u_there_is_no_such_module (); \
  end

`ifdef FORMAL

`define ARC_ASSERT(Name, Cond) \
  always_ff @(posedge clk_i) begin : Name \
    if (rst_ni) assert (Cond); \
  end
`define ARC_ASSUME(Name, Cond) \
  always_ff @(posedge clk_i) begin : Name \
    if (rst_ni) assume (Cond); \
  end
`define ARC_ASSERT_COMB(Name, Cond) \
  always_comb begin : Name \
    assert (Cond); \
  end

`else
`ifdef SYNTHESIS

`define ARC_ASSERT(Name, Cond)
`define ARC_ASSUME(Name, Cond)
`define ARC_ASSERT_COMB(Name, Cond)

`else

`define ARC_ASSERT(Name, Cond) \
  Name : assert property (@(posedge clk_i) disable iff (!rst_ni) (Cond)) \
    else $fatal(1, "%m: assertion failed");
`define ARC_ASSUME(Name, Cond) \
  Name : assert property (@(posedge clk_i) disable iff (!rst_ni) (Cond)) \
    else $fatal(1, "%m: assumption on the environment failed");
`define ARC_ASSERT_COMB(Name, Cond) \
  always_comb begin : Name \
    assert #0 (Cond) else $fatal(1, "%m: assertion failed"); \
  end

`endif
`endif

`ifdef SYNTHESIS

`define ARC_ASSERT_NEXT(Name, Trigger, Cond)
`define ARC_ASSUME_NEXT(Name, Trigger, Cond)

`else

`define ARC_ARM(Name, Trigger) \
  logic Name``_armed_q; \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    if (!rst_ni) Name``_armed_q <= 1'b0; \
    else         Name``_armed_q <= (Trigger); \
  end
`define ARC_ASSERT_NEXT(Name, Trigger, Cond) \
  `ARC_ARM(Name, Trigger) \
  `ARC_ASSERT(Name, !Name``_armed_q || (Cond))
`define ARC_ASSUME_NEXT(Name, Trigger, Cond) \
  `ARC_ARM(Name, Trigger) \
  `ARC_ASSUME(Name, !Name``_armed_q || (Cond))

`endif

`endif
