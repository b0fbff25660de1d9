// SPDX-License-Identifier: Apache-2.0
// The unit's module at elaboration: which units there are, and what is to be bound.
#include <gtest/gtest.h>

#include <string>
#include <systemc>

#include "model/systemc/arc_subcore.hpp"
#include "model/unit/unit_kind.hpp"

namespace warpfold::systemc {
namespace {

// What a report that is thrown says behind "Error: ".
template <class Call>
std::string reported(const Call& call) {
  try {
    call();
  } catch (const sc_core::sc_report& report) {
    return std::string(report.get_msg_type()) + ": " + report.get_msg();
  }
  return "nothing";
}

TEST(Subcore, RefusesUnitsThatThereAreNot) {
  const auto refusal = [](const SubcoreOptions& options) {
    return reported([&] { const arc_subcore unit("unit", options); });
  };
  EXPECT_EQ(refusal({.unit = "netlist"}),
            "/warpfold/unit/options: unit: unknown unit 'netlist': golden or rtl");
  EXPECT_EQ(refusal({.unit = "rtl", .unit_kind = "paired-4"}),
            "/warpfold/unit/options: unit: no RTL of unit kind paired-4 is built in, of " +
                unit_kind_list(", ", " and ") + " alone; the golden unit is");
  EXPECT_EQ(refusal({.unit = "rtl", .scheduler = "reduce-groups"}),
            "/warpfold/unit/options: unit: scheduler 'reduce-groups': the RTL of kind serial has "
            "greedy here; the golden unit has the others");
  EXPECT_NE(refusal({.unit_kind = "quick"}).find("/warpfold/unit/options: unit: "),
            std::string::npos);
  EXPECT_NE(refusal({.scheduler = "quick"}).find("/warpfold/unit/options: unit: "),
            std::string::npos);
}

TEST(Subcore, HasTheGoldenUnitOfEveryCombination) {
  const arc_subcore unit("unit", {.unit_kind = "paired-4", .scheduler = "reduce-groups"});
  EXPECT_EQ(unit.read_lanes(), 2U);
  EXPECT_EQ(unit.max_words(), 4U);
}

struct Bound {
  explicit Bound(const SubcoreOptions& options) : unit("unit", options) {
    unit.clk_i(clk), unit.rst_ni(rst_n), unit.req_valid_i(valid), unit.req_mask_i(mask);
    unit.req_addr_i(addresses), unit.req_tag_i(tag), unit.lsu_room_i(room);
    unit.rf_ready_i(room), unit.rf_data_i(data);
  }
  sc_core::sc_signal<bool> clk, rst_n, valid, room;
  sc_core::sc_signal<arc_subcore::Mask> mask;
  sc_core::sc_signal<arc_subcore::TagWord> tag;
  sc_core::sc_signal<AddressBits> addresses;
  sc_core::sc_signal<ReadBits> data;
  arc_subcore unit;
};

TEST(Subcore, MayLeaveUnboundWhatItDoesNotRead) {
  const Bound serial({.unit = "rtl", .unit_kind = "serial"});
  EXPECT_EQ(reported([] { sc_core::sc_start(1, sc_core::SC_NS); }), "nothing");
}

TEST(Subcore, SaysWhatItReadsAndIsNotBound) {
  const Bound fused({.unit = "golden", .unit_kind = "fused"});
  EXPECT_NE(reported([] { sc_core::sc_start(1, sc_core::SC_NS); }).find("unit.rf_bin_i"),
            std::string::npos);
}

TEST(Subcore, SaysThatWordsAreNotBound) {
  Bound vector({.unit = "rtl", .unit_kind = "vector"});
  sc_core::sc_signal<BinBits> bins;
  vector.unit.rf_bin_i(bins);
  EXPECT_NE(reported([] { sc_core::sc_start(1, sc_core::SC_NS); }).find("unit.req_words_i"),
            std::string::npos);
}

}  // namespace
}  // namespace warpfold::systemc
