// SPDX-License-Identifier: Apache-2.0
// The pipelined reduction unit between a transaction source, a register file and a result sink that
// the bench plays. The bench keeps the four places itself and expects every output in every cycle.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#ifdef WARPFOLD_GRADUAL
#include "Varc_reduction_pipelined_gradual.h"
#else
#include "Varc_reduction_pipelined.h"
#endif
#include "model/types.hpp"
#include "model/unit/fp32.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

// Compiled once for each value of the parameter FlushSubnormals.
#ifdef WARPFOLD_GRADUAL
using Top = Varc_reduction_pipelined_gradual;
constexpr bool kFlush = false;
#else
using Top = Varc_reduction_pipelined;
constexpr bool kFlush = true;
#endif

struct Txn {
  LaneMask mask = 0;
  Address addr = 0;
  Tag tag = 0;
};

// Contents of the register file: a fixed function, so that a wrong lane or tag gives a wrong value.
// Most magnitudes lie close together, so that the order of the additions matters; some tags hold
// special values, subnormals among them, and tags from kTagOfZeros on -0 in every lane.
constexpr Tag kTagOfZeros = 0xff0;
Fp32Bits register_value(Tag tag, unsigned lane) {
  if (tag >= kTagOfZeros) {
    return kFp32MinusZero;
  }
  std::uint64_t x = (std::uint64_t{tag} << 5 | lane) * 0x9e3779b97f4a7c15U;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 32;
  const auto bits = static_cast<Fp32Bits>(x & 0x807fffffU);
  if (tag % 16 == 3) {
    return bits | static_cast<Fp32Bits>((x >> 40) % 4 << 23);
  }
  if (tag % 64 == 5) {
    return static_cast<Fp32Bits>(x >> 16);
  }
  return bits | static_cast<Fp32Bits>((118U + (x >> 40) % 16U) << 23);
}

Fp32Bits expected_sum(const Txn& txn) {
  Fp32Bits sum = kFp32MinusZero;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((txn.mask >> lane & 1U) != 0) {
      sum = fp32_add_integer(sum, register_value(txn.tag, lane), kFlush);
    }
  }
  return sum;
}

class PipelinedReduction : public testing::Test {
 protected:
  // What happened in one cycle.
  struct Events {
    bool accepted = false;
    bool read = false;  // a read was granted
    bool offered = false;
    bool taken = false;
  };
  struct Place {
    Txn txn;
    LaneMask left = 0;
  };

  PipelinedReduction() {
    dut_->txn_valid_i = 0;
    dut_->rf_ready_i = 0;
    dut_->result_ready_i = 0;
    dut_->rf_data_i = 0;
    dut_.reset();
  }

  [[nodiscard]] bool idle() const {
    for (const auto& place : places_) {
      if (place) {
        return false;
      }
    }
    return !result_;
  }

  // One cycle: offers `txn` unless null, grants and takes as told, checks every output against the
  // bench's own places, and takes the edge.
  void step(const Txn* txn, bool rf_ready, bool result_ready, Events* events = nullptr) {
    Events now;
    dut_->txn_valid_i = txn != nullptr ? 1 : 0;
    dut_->txn_mask_i = txn != nullptr ? txn->mask : 0xdeadbeefU;
    dut_->txn_addr_i = txn != nullptr ? txn->addr : 0x123456789abcU;
    dut_->txn_tag_i = txn != nullptr ? txn->tag : 0xfff;
    dut_->rf_ready_i = rf_ready ? 1 : 0;
    dut_->result_ready_i = result_ready ? 1 : 0;
    dut_->rf_data_i = rf_data_;
    dut_.settle();

    ASSERT_EQ(dut_->busy_o, idle() ? 0 : 1) << "cycle " << dut_.cycle();
    now.offered = result_.has_value();
    ASSERT_EQ(dut_->result_valid_o, now.offered ? 1 : 0) << "cycle " << dut_.cycle();
    ASSERT_EQ(dut_->result_addr_o, now.offered ? result_->addr : 0U);
    ASSERT_EQ(dut_->result_tag_o, now.offered ? result_->tag : 0U);
    ASSERT_EQ(dut_->result_data_o, now.offered ? expected_sum(*result_) : 0U)
        << "cycle " << dut_.cycle();
    now.taken = now.offered && result_ready;

    auto& [read, add, align, last] = places_;
    const bool reads = read && read->left != 0;
    const LaneMask lane = reads ? read->left & ~(read->left - 1) : 0;
    ASSERT_EQ(dut_->rf_valid_o, reads ? 1 : 0) << "cycle " << dut_.cycle();
    ASSERT_EQ(dut_->rf_mask_o, lane);
    ASSERT_EQ(dut_->rf_tag_o, reads ? read->txn.tag : 0U);
    now.read = reads && rf_ready;

    const bool leaves = last && last->left == 0 && (!result_ || now.taken);
    ASSERT_EQ(dut_->txn_ready_o, !last || leaves ? 1 : 0) << "cycle " << dut_.cycle();
    now.accepted = txn != nullptr && dut_->txn_ready_o != 0;

    dut_.edge();

    // Only the cycle after a grant has its value.
    rf_data_ = static_cast<Fp32Bits>(noise_());
    if (now.read) {
      rf_data_ = register_value(read->txn.tag, static_cast<unsigned>(std::countr_zero(lane)));
      read->left &= ~lane;
    }
    if (now.taken) {
      lanes_emitted_ += lane_count(result_->mask);
      result_.reset();
    }
    if (leaves) {
      result_ = last->txn;
      last.reset();
    }
    auto next = last;
    if (now.accepted) {
      lanes_accepted_ += lane_count(txn->mask);
      next = Place{.txn = *txn, .left = txn->mask};
    }
    places_ = {next, read, add, align};
    if (events != nullptr) {
      *events = now;
    }
  }

  void drain() {
    while (!idle()) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    EXPECT_EQ(lanes_accepted_, lanes_emitted_);
  }

  bench::ClockedDut<Top> dut_;
  std::array<std::optional<Place>, 4> places_;  // read, add, align, last
  std::optional<Txn> result_;
  bench::Rng noise_{7};
  Fp32Bits rf_data_ = 0x7fc00000U;
  std::int64_t lanes_accepted_ = 0;
  std::int64_t lanes_emitted_ = 0;
};

LaneMask random_mask(bench::Rng& rng) {
  LaneMask mask = static_cast<LaneMask>(rng());
  switch (rng() % 6) {
    case 0:
      mask = LaneMask{1} << rng() % kLanes;
      break;
    case 1:
      mask = LaneMask{1} << rng() % kLanes | LaneMask{1} << rng() % kLanes;
      break;
    case 2:
      mask &= static_cast<LaneMask>(rng());
      break;
    case 3:
      mask = 0xffffffffU;
      break;
    default:
      break;
  }
  return mask != 0 ? mask : 1U;
}

Txn random_txn(bench::Rng& rng) {
  return Txn{.mask = random_mask(rng),
             .addr = rng() & kAddrMask,
             .tag = static_cast<Tag>(rng() & kTagMask)};
}

// Accepted in cycle t with n lanes: result in t+4n+1.
TEST_F(PipelinedReduction, ResultComesFourCyclesALaneLater) {
  bench::Rng rng(bench::seed());
  for (unsigned n = 1; n <= 32; ++n) {
    Txn txn{.mask = 0, .addr = rng() & kAddrMask, .tag = static_cast<Tag>(rng() & kTagMask)};
    while (static_cast<unsigned>(lane_count(txn.mask)) < n) {
      txn.mask |= LaneMask{1} << rng() % kLanes;
    }
    Events events;
    ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
    ASSERT_TRUE(events.accepted);
    for (unsigned cycle = 1; cycle <= 4 * n; ++cycle) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
      ASSERT_EQ(events.read, cycle % 4 == 1) << "n " << n << ", cycle t+" << cycle;
      ASSERT_FALSE(events.offered) << "n " << n << ", cycle t+" << cycle;
    }
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    ASSERT_TRUE(events.taken) << "n " << n << ", cycle t+4n+1";
    ASSERT_TRUE(idle());
  }
}

// With a transaction always waiting, every cycle after the first reads one lane, whatever the
// sizes: two results are never due in one cycle, because places take turns.
TEST_F(PipelinedReduction, OneLaneACycleAcrossTransactions) {
  bench::Rng rng(bench::seed());
  for (const int only_single : {1, 0}) {
    Txn txn = random_txn(rng);
    for (std::int64_t cycles = 0; cycles < 20'000; ++cycles) {
      if (only_single != 0) {
        txn.mask &= ~txn.mask + 1U;
      }
      Events events;
      ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
      ASSERT_EQ(events.read, cycles != 0) << "cycle " << cycles;
      if (events.accepted) {
        txn = random_txn(rng);
      }
    }
    ASSERT_NO_FATAL_FAILURE(drain());
  }
}

TEST_F(PipelinedReduction, WaitingResultStopsNothingButResults) {
  for (const unsigned stall : {1U, 2U, 3U, 4U, 5U, 40U, 200U}) {
    const Txn first{.mask = 0x80000000U, .addr = 0x1000, .tag = 5};
    const Txn others{.mask = 0x10f00f1U, .addr = 0x2000, .tag = 6};
    ASSERT_NO_FATAL_FAILURE(step(&first, true, false));
    Events events;
    for (unsigned i = 0; i < 5 + stall; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(&others, true, false, &events));
      ASSERT_EQ(events.offered, i >= 4);
    }
    ASSERT_NO_FATAL_FAILURE(drain());
  }
}

// Nothing is left of a place's earlier sum in its next one.
TEST_F(PipelinedReduction, SumsDoNotLeakIntoEachOther) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Txn many{.mask = 0xffffffffU, .addr = 0x40, .tag = static_cast<Tag>(lane)};
    const Txn one{.mask = LaneMask{1} << lane, .addr = 0x80, .tag = static_cast<Tag>(lane + 100)};
    Events events;
    for (const Txn& txn : {many, one, one, many, many, one, one, one}) {
      do {
        ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
      } while (!events.accepted);
    }
  }
  ASSERT_NO_FATAL_FAILURE(drain());
}

// The chain begins with -0, so zeros keep their sign, also while they go round unread.
TEST_F(PipelinedReduction, SumOfMinusZerosIsMinusZero) {
  for (const LaneMask mask : {0x00000001U, 0x00000006U, 0xffffffffU}) {
    const Txn txn{.mask = mask, .addr = 0x40, .tag = kTagOfZeros};
    ASSERT_EQ(expected_sum(txn), kFp32MinusZero);
    ASSERT_NO_FATAL_FAILURE(step(&txn, false, true));
    for (unsigned i = 0; i < 9; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, false, true));
    }
    ASSERT_NO_FATAL_FAILURE(drain());
  }
}

TEST_F(PipelinedReduction, RandomTrafficAndBackPressure) {
  bench::Rng rng(bench::seed());
  for (int phase = 0; phase < 200; ++phase) {
    const unsigned offer = 10 + static_cast<unsigned>(rng() % 91);
    const unsigned grant = 10 + static_cast<unsigned>(rng() % 91);
    const unsigned take = 10 + static_cast<unsigned>(rng() % 91);
    Txn txn = random_txn(rng);
    bool held = false;
    for (int cycle = 0; cycle < 1'000; ++cycle) {
      held = held || bench::chance(rng, offer);
      Events events;
      ASSERT_NO_FATAL_FAILURE(step(held ? &txn : nullptr, bench::chance(rng, grant),
                                   bench::chance(rng, take), &events));
      if (events.accepted) {
        held = false;
        txn = random_txn(rng);
      }
    }
  }
  ASSERT_NO_FATAL_FAILURE(drain());
  EXPECT_GT(lanes_emitted_, 10'000);
}

// Values that tell the two ways of underflow apart: whole chains of subnormals and least normals.
TEST_F(PipelinedReduction, UnderflowIsAsTheParameterSays) {
  int differ = 0;
  for (Tag tag = 3; tag < 1'000; tag = static_cast<Tag>(tag + 16)) {
    const Txn txn{.mask = 0xffffffffU >> tag % 29, .addr = 0x40, .tag = tag};
    Fp32Bits other = kFp32MinusZero;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((txn.mask >> lane & 1U) != 0) {
        other = fp32_add_integer(other, register_value(tag, lane), !kFlush);
      }
    }
    differ += other != expected_sum(txn) ? 1 : 0;
    Events events;
    for (const Txn* offered = &txn; !events.taken; offered = nullptr) {
      ASSERT_NO_FATAL_FAILURE(step(offered, true, true, &events));
    }
  }
  EXPECT_GT(differ, 30);
}

}  // namespace
}  // namespace warpfold
