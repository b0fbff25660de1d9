// SPDX-License-Identifier: Apache-2.0
// The netlists that Yosys makes of arc_subcore do in every cycle what the RTL does, so the reported
// area is the area of logic that works. The same bench must see a changed gate.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "Varc_subcore.h"
#include "Vnetlist_faulty.h"
#include "Vnetlist_gates.h"
#include "tb/unit/bench.hpp"

#ifdef WARPFOLD_MAPPED_NETLISTS
#include "Vnetlist_fast.h"
#include "Vnetlist_small.h"
#endif

namespace warpfold {
namespace {

constexpr std::uint64_t kCycles = 250'000;
constexpr std::size_t kAddrBits = 48;
constexpr std::size_t kLanes = 32;

// Every output port, by name.
struct Port {
  const char* name;
  std::uint64_t value;
};

template <typename Top>
std::array<Port, 14> outputs(const Top& top) {
  return {{{"req_ready_o", top.req_ready_o},
           {"lsu_valid_o", top.lsu_valid_o},
           {"lsu_addr_o", top.lsu_addr_o},
           {"lsu_mask_o", top.lsu_mask_o},
           {"lsu_reduced_o", top.lsu_reduced_o},
           {"lsu_data_o", top.lsu_data_o},
           {"lsu_tag_o", top.lsu_tag_o},
           {"lsu_word_o", top.lsu_word_o},
           {"lsu_last_o", top.lsu_last_o},
           {"rf_valid_o", top.rf_valid_o},
           {"rf_mask_o", top.rf_mask_o},
           {"rf_tag_o", top.rf_tag_o},
           {"rf_word_o", top.rf_word_o},
           {"busy_o", top.busy_o}}};
}

struct Inputs {
  bool reset = false;
  bool req_valid = false;
  std::uint32_t req_mask = 0;
  std::array<std::uint32_t, kLanes * kAddrBits / 32> req_addr{};
  std::uint16_t req_tag = 0;
  std::uint8_t req_words = 0;
  bool lsu_room = false;
  bool rf_ready = false;
  std::uint32_t rf_data = 0;
};

template <typename Top>
void drive(Top& top, const Inputs& in) {
  top.rst_ni = in.reset ? 0 : 1;
  top.req_valid_i = in.req_valid ? 1 : 0;
  top.req_mask_i = in.req_mask;
  for (std::size_t word = 0; word < in.req_addr.size(); ++word) {
    top.req_addr_i[word] = in.req_addr[word];
  }
  top.req_tag_i = in.req_tag;
  top.req_words_i = in.req_words;
  top.lsu_room_i = in.lsu_room ? 1 : 0;
  top.rf_ready_i = in.rf_ready ? 1 : 0;
  top.rf_data_i = in.rf_data;
}

// Constrained-random inputs under the contract of arc_subcore: a request is held until accepted,
// the register file answers a granted read from the next cycle until the next grant. Between
// requests the request payload is noise. Now and then a reset comes in the middle of the work.
class Stimulus {
 public:
  explicit Stimulus(std::uint64_t seed) : rng_(seed) {}

  const Inputs& inputs() const { return in_; }

  // What the RTL did in this cycle; called before the clock edge.
  void observe(const Varc_subcore& rtl) {
    held_ = in_.req_valid && rtl.req_ready_o == 0 && !in_.reset;
    granted_ = rtl.rf_valid_o != 0 && in_.rf_ready;
  }

  // Inputs of the next cycle.
  void next() {
    if (granted_) {
      in_.rf_data = value();
    }
    if (reset_left_ > 0) {
      --reset_left_;
    } else if (bench::chance(rng_, 1) && bench::chance(rng_, 1)) {
      reset_left_ = 1 + static_cast<int>(rng_() % 3);
    }
    in_.reset = reset_left_ > 0;
    if (phase_left_-- == 0) {
      new_phase();
    }
    in_.lsu_room = bench::chance(rng_, lsu_percent_);
    in_.rf_ready = bench::chance(rng_, rf_percent_);
    if (in_.reset || !held_) {
      in_.req_valid = !in_.reset && bench::chance(rng_, req_percent_);
      new_payload();
    }
  }

 private:
  // How busy each side is for a while: never, always, or something between.
  void new_phase() {
    constexpr std::array<unsigned, 6> kPercent = {0, 10, 50, 90, 100, 100};
    phase_left_ = static_cast<int>(20 + rng_() % 200);
    lsu_percent_ = kPercent[rng_() % kPercent.size()];
    rf_percent_ = kPercent[1 + rng_() % (kPercent.size() - 1)];
    req_percent_ = kPercent[1 + rng_() % (kPercent.size() - 1)];
  }

  void new_payload() {
    switch (rng_() % 8) {
      case 0:
        in_.req_mask = 0;
        break;
      case 1:
        in_.req_mask = 1U << rng_() % kLanes;
        break;
      case 2:
        in_.req_mask = bits() & bits() & bits();
        break;
      case 3:
        in_.req_mask = bits() | bits();
        break;
      case 4:
        in_.req_mask = bits();
        break;
      default:
        in_.req_mask = ~0U;
        break;
    }
    // A pool of addresses: one, a few, or one for each lane; of a pool, members may differ in one
    // bit.
    constexpr std::array<std::size_t, 6> kPools = {1, 1, 2, 4, 32, 32};
    const std::size_t pool_size = kPools[rng_() % kPools.size()];
    const bool close = bench::chance(rng_, 50);
    std::array<std::uint64_t, kLanes> pool{};
    for (std::size_t i = 0; i < pool_size; ++i) {
      pool[i] = i > 0 && close ? pool[0] ^ std::uint64_t{1} << rng_() % kAddrBits : rng_();
    }
    in_.req_addr = {};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t addr = pool_size == kLanes ? pool[lane] : pool[rng_() % pool_size];
      for (std::size_t part = 0; part < kAddrBits / 16; ++part) {
        const std::size_t bit = lane * kAddrBits + part * 16;
        in_.req_addr[bit / 32] |= static_cast<std::uint32_t>(addr >> part * 16 & 0xffffU)
                                  << bit % 32;
      }
    }
    in_.req_tag = static_cast<std::uint16_t>(rng_() & 0xfffU);
    in_.req_words = static_cast<std::uint8_t>(rng_() & 0xfU);
  }

  // Any bits, special values, values that round and align, and pairs that cancel.
  std::uint32_t value() {
    constexpr std::array<std::uint32_t, 8> kSpecial = {0,           0x80000000U, 0x00800000U,
                                                       0x7f7fffffU, 0x7f800000U, 0xff800000U,
                                                       0x7fc00001U, 0x3f800000U};
    std::uint32_t next = 0;
    switch (rng_() % 8) {
      case 0:
        next = bits();
        break;
      case 1:
        next = kSpecial[rng_() % kSpecial.size()];
        break;
      case 2:
        next = last_value_ ^ 0x80000000U;
        break;
      case 3:
        next = (last_value_ ^ 0x80000000U) + (bits() & 3U);
        break;
      case 4:
        next = (bits() & 0x83ffffffU);
        break;  // around the subnormal range
      default:
        next = (bits() & 0x80ffffffU) + (120U + bits() % 16U) * 0x00800000U;
        break;
    }
    last_value_ = next;
    return next;
  }

  std::uint32_t bits() { return static_cast<std::uint32_t>(rng_()); }

  bench::Rng rng_;
  Inputs in_;
  bool held_ = false;
  bool granted_ = false;
  int reset_left_ = 3;
  int phase_left_ = 0;
  unsigned lsu_percent_ = 0;
  unsigned rf_percent_ = 0;
  unsigned req_percent_ = 0;
  std::uint32_t last_value_ = 0;
};

struct Outcome {
  bool same = true;
  std::uint64_t cycle = 0;  // of the first difference
  std::string port;
  std::uint64_t rtl = 0;
  std::uint64_t netlist = 0;
  // what the run met
  std::uint64_t reduced = 0;
  std::uint64_t plain = 0;
  std::uint64_t waited = 0;
  std::uint64_t resets = 0;
};

std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << "cycle " << o.cycle << ": " << o.port << std::hex << " is 0x" << o.netlist
             << " in the netlist, 0x" << o.rtl << " in the RTL" << std::dec;
}

// Runs both side by side until the first difference. Flops start with random bits, and the first
// compared cycle is in reset.
template <typename Netlist>
Outcome compare(std::uint64_t seed, std::uint64_t cycles, bench::Dut<Netlist>& netlist) {
  Outcome outcome;
  bench::Dut<Varc_subcore> rtl;
  Stimulus stimulus(seed);
  auto settle = [&](int clock) {
    rtl->clk_i = clock != 0;
    netlist->clk_i = clock != 0;
    drive(*rtl.operator->(), stimulus.inputs());
    drive(*netlist.operator->(), stimulus.inputs());
    rtl.settle();
    netlist.settle();
  };
  settle(0);
  for (; outcome.cycle < cycles; ++outcome.cycle) {
    stimulus.next();
    settle(0);
    const auto expected = outputs(*rtl.operator->());
    const auto actual = outputs(*netlist.operator->());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].value != actual[i].value) {
        outcome.same = false;
        outcome.port = expected[i].name;
        outcome.rtl = expected[i].value;
        outcome.netlist = actual[i].value;
        return outcome;
      }
    }
    const bool taken = rtl->lsu_valid_o != 0 && rtl->lsu_room_i != 0;
    outcome.reduced += taken && rtl->lsu_reduced_o != 0 ? 1U : 0U;
    outcome.plain += taken && rtl->lsu_reduced_o == 0 ? 1U : 0U;
    outcome.waited += rtl->req_valid_i != 0 && rtl->req_ready_o == 0 && !taken ? 1U : 0U;
    outcome.resets += stimulus.inputs().reset ? 1U : 0U;
    stimulus.observe(*rtl.operator->());
    settle(1);
  }
  return outcome;
}

template <typename Netlist>
void expect_same(std::uint64_t cycles) {
  bench::Dut<Netlist> netlist;
  const Outcome outcome = compare(bench::seed(), cycles, netlist);
  EXPECT_TRUE(outcome.same) << outcome;
  // The run met what it is there for.
  EXPECT_GT(outcome.reduced, cycles / 100);
  EXPECT_GT(outcome.plain, cycles / 100);
  EXPECT_GT(outcome.waited, cycles / 100);
  EXPECT_GT(outcome.resets, cycles / 20000);
  std::printf("%llu cycles: %llu reduced, %llu plain, %llu waited, %llu in reset\n",
              static_cast<unsigned long long>(outcome.cycle),
              static_cast<unsigned long long>(outcome.reduced),
              static_cast<unsigned long long>(outcome.plain),
              static_cast<unsigned long long>(outcome.waited),
              static_cast<unsigned long long>(outcome.resets));
}

// The netlist whose transistors are counted.
TEST(Netlist, SimpleGatesDoWhatTheRtlDoes) {
  expect_same<Vnetlist_gates>(kCycles);
}

// Those whose area and path are reported: the default library's cells, each replaced by its
// function.
#ifdef WARPFOLD_MAPPED_NETLISTS
TEST(Netlist, SmallMappingDoesWhatTheRtlDoes) {
  expect_same<Vnetlist_small>(kCycles);
}
TEST(Netlist, FastMappingDoesWhatTheRtlDoes) {
  expect_same<Vnetlist_fast>(kCycles);
}
#else
TEST(Netlist, SmallMappingDoesWhatTheRtlDoes) {
  GTEST_SKIP() << "no library of cells when this was configured";
}
TEST(Netlist, FastMappingDoesWhatTheRtlDoes) {
  GTEST_SKIP() << "no library of cells when this was configured";
}
#endif

std::string fault_line(unsigned fault) {
  std::ifstream file(WARPFOLD_FAULTY_NETLIST);
  const std::string end = "// fault " + std::to_string(fault);
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with(end)) {
      return line;
    }
  }
  return "not found";
}

// A gate of another type is seen. Not every one must be: a change has no effect when the gate never
// meets the inputs on which the two types differ. Nine in ten are asked for, the rest is printed.
TEST(Netlist, ChangedGatesAreSeen) {
  constexpr unsigned kFaults = WARPFOLD_NETLIST_FAULTS;
  const std::uint64_t seed = bench::seed();
  unsigned seen = 0;
  for (unsigned fault = 0; fault <= kFaults; ++fault) {
    bench::Dut<Vnetlist_faulty> netlist;
    netlist->fault_i = static_cast<std::uint8_t>(fault);
    const Outcome outcome = compare(seed, kCycles, netlist);
    if (fault == 0) {
      ASSERT_TRUE(outcome.same) << "without a fault: " << outcome;
    } else if (outcome.same) {
      std::printf("not seen: %s\n", fault_line(fault).c_str());
    } else {
      ++seen;
    }
  }
  std::printf("%u of %u changed gates seen\n", seen, kFaults);
  EXPECT_GE(seen * 10, kFaults * 9);
}

}  // namespace
}  // namespace warpfold
