// SPDX-License-Identifier: Apache-2.0
// The serial reduction unit between a transaction source, a register file and a result sink that
// the bench plays. Timing is checked tightly: not in cycle n-1, yes in cycle n.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#if defined(WARPFOLD_HALVES)
#include "Varc_reduction_serial_halves.h"
#else
#include "Varc_reduction_serial.h"
#endif
#include "model/types.hpp"
#include "model/unit/fp32.hpp"
#include "tb/unit/bench.hpp"
#include "tb/unit/exact_half.hpp"

namespace warpfold {
namespace {

// Compiled once for each format.
#if defined(WARPFOLD_HALVES)
using Top = Varc_reduction_serial_halves;
constexpr WordType kWord = WordType::kHalves;
constexpr bool kFlush = false;
#else
using Top = Varc_reduction_serial;
constexpr WordType kWord = WordType::kFp32;
constexpr bool kFlush = true;
#endif

Fp32Bits add(Fp32Bits a, Fp32Bits b, bool flush) {
  return kWord == WordType::kHalves ? exact_halves_add(a, b, flush) : fp32_add_integer(a, b, flush);
}

struct Txn {
  LaneMask mask = 0;
  Address addr = 0;
  Tag tag = 0;
};

// Tags from here on hold -0 in every lane.
constexpr Tag kTagOfZeros = 0xff0;

// Contents of the register file: a fixed function, so that a wrong lane or tag gives a wrong value.
// Most magnitudes lie close together, so that the order of the additions matters; some tags hold
// special values, subnormals among them.
Fp32Bits register_value(Tag tag, unsigned lane) {
  if (tag >= kTagOfZeros) {
    return neutral_word(kWord);
  }
  std::uint64_t x = (std::uint64_t{tag} << 5 | lane) * 0x9e3779b97f4a7c15U;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 32;
  if (kWord == WordType::kHalves) {
    const auto half = [&](unsigned first_bit) {
      const auto part = static_cast<std::uint32_t>(x >> first_bit);
      const std::uint32_t exponent = tag % 16 == 3   ? part >> 11U & 1U
                                     : tag % 64 == 5 ? part >> 10U & 31U
                                                     : 10 + (part >> 16U) % 8U;
      return static_cast<HalfBits>((part & 0x83ffU) | exponent << 10U);
    };
    return word_of_halves(half(0), half(28));
  }
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
  Fp32Bits sum = neutral_word(kWord);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((txn.mask >> lane & 1U) != 0) {
      sum = add(sum, register_value(txn.tag, lane), kFlush);
    }
  }
  return sum;
}

class ReductionUnit : public testing::Test {
 protected:
  // What happened in one cycle.
  struct Events {
    bool accepted = false;
    bool read = false;     // a read was granted
    bool offered = false;  // a result was at the port
    bool taken = false;
  };

  ReductionUnit() {
    dut_->txn_valid_i = 0;
    dut_->rf_ready_i = 0;
    dut_->result_ready_i = 0;
    dut_->rf_data_i = rf_data_;
    dut_.reset();
  }

  // One cycle: offers `txn` unless null, grants and takes as told, checks every output against what
  // has been accepted and read so far, and takes the edge.
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

    ASSERT_EQ(dut_->busy_o, here_ ? 1 : 0);

    now.offered = dut_->result_valid_o != 0;
    ASSERT_EQ(now.offered, here_ && left_ == 0) << "cycle " << dut_.cycle();
    if (now.offered) {
      ASSERT_EQ(dut_->result_addr_o, txn_.addr);
      ASSERT_EQ(dut_->result_tag_o, txn_.tag);
      ASSERT_EQ(dut_->result_data_o, expected_sum(txn_));
    } else {
      ASSERT_EQ(dut_->result_addr_o, 0U);
      ASSERT_EQ(dut_->result_tag_o, 0U);
      ASSERT_EQ(dut_->result_data_o, 0U);
    }
    now.taken = now.offered && result_ready;

    ASSERT_EQ(dut_->txn_ready_o, !here_ || now.taken ? 1 : 0) << "cycle " << dut_.cycle();
    now.accepted = txn != nullptr && dut_->txn_ready_o != 0;
    if (now.taken) {
      lanes_emitted_ += lane_count(txn_.mask);
      here_ = false;
    }
    if (now.accepted) {
      lanes_accepted_ += lane_count(txn->mask);
      here_ = true;
      txn_ = *txn;
      left_ = txn->mask;
    }

    // What is accepted in this cycle is asked for in it.
    ASSERT_EQ(dut_->rf_valid_o, here_ && left_ != 0 ? 1 : 0) << "cycle " << dut_.cycle();
    if (dut_->rf_valid_o != 0) {
      ASSERT_EQ(dut_->rf_mask_o, left_ & ~(left_ - 1));
      ASSERT_EQ(dut_->rf_tag_o, txn_.tag);
      now.read = rf_ready;
    } else {
      ASSERT_EQ(dut_->rf_mask_o, 0U);
      ASSERT_EQ(dut_->rf_tag_o, 0U);
    }

    dut_.edge();

    if (now.read) {
      rf_data_ = register_value(txn_.tag, static_cast<unsigned>(std::countr_zero(left_)));
      left_ &= left_ - 1U;
    }
    if (events != nullptr) {
      *events = now;
    }
  }

  // Nothing is lost or doubled: what is not out yet is pending.
  void check_conservation() {
    const int pending = here_ ? lane_count(txn_.mask) : 0;
    ASSERT_EQ(lanes_accepted_, lanes_emitted_ + pending);
  }

  bench::ClockedDut<Top> dut_;
  bool here_ = false;  // a transaction has been accepted and its result has not been taken
  Txn txn_;            // that one
  LaneMask left_ = 0;  // its lanes still to read
  Fp32Bits rf_data_ = 0x3fc00000U;
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

// Accepted in cycle t with n lanes: reads in t .. t+n-1, result in t+n.
TEST_F(ReductionUnit, ResultComesExactlyAfterAllLanes) {
  bench::Rng rng(bench::seed());
  for (unsigned n = 1; n <= 32; ++n) {
    Txn txn{.mask = 0, .addr = rng() & kAddrMask, .tag = static_cast<Tag>(rng() & kTagMask)};
    while (static_cast<unsigned>(lane_count(txn.mask)) < n) {
      txn.mask |= LaneMask{1} << rng() % kLanes;
    }
    Events events;
    for (unsigned cycle = 0; cycle < n; ++cycle) {
      ASSERT_NO_FATAL_FAILURE(step(cycle == 0 ? &txn : nullptr, true, true, &events));
      ASSERT_EQ(events.accepted, cycle == 0);
      ASSERT_TRUE(events.read) << "n " << n << ", cycle t+" << cycle;
      ASSERT_FALSE(events.offered) << "n " << n << ", cycle t+" << cycle;
    }
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    ASSERT_TRUE(events.offered) << "n " << n << ", cycle t+n";
    ASSERT_FALSE(events.read);
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    ASSERT_FALSE(events.offered);
  }
}

// With a transaction always waiting, every cycle reads one lane: no gap between transactions,
// whatever their sizes. Each is accepted in the cycle in which the result before it is taken.
TEST_F(ReductionUnit, OneLaneACycleAcrossTransactions) {
  bench::Rng rng(bench::seed());
  for (const int only_single : {1, 0}) {
    Txn txn = random_txn(rng);
    std::uint64_t due = dut_.cycle();  // the next result and acceptance
    bool first = true;
    for (int cycle = 0; cycle < 20'000; ++cycle) {
      if (only_single != 0) {
        txn.mask &= ~txn.mask + 1U;
      }
      const std::uint64_t now = dut_.cycle();
      Events events;
      ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
      ASSERT_TRUE(events.read) << "cycle " << now;
      ASSERT_EQ(events.accepted, now == due) << "cycle " << now;
      ASSERT_EQ(events.taken, now == due && !first) << "cycle " << now;
      if (events.accepted) {
        due = now + static_cast<std::uint64_t>(lane_count(txn.mask));
        txn = random_txn(rng);
        first = false;
      }
    }
    while (here_) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
  }
}

TEST_F(ReductionUnit, WaitingResultHoldsEverything) {
  bench::Rng rng(bench::seed());
  for (const unsigned stall : {1U, 2U, 7U, 40U}) {
    for (const LaneMask mask : {0x00000001U, 0x80000000U, 0x00010010U, 0xffffffffU}) {
      const Txn first{.mask = mask, .addr = 0x1000, .tag = 5};
      const Txn second{.mask = 0x101U, .addr = 0x2000, .tag = 6};
      Events events;
      ASSERT_NO_FATAL_FAILURE(step(&first, true, false, &events));
      ASSERT_TRUE(events.accepted);
      for (int read = 1; read < lane_count(mask); ++read) {
        ASSERT_NO_FATAL_FAILURE(step(&second, true, false, &events));
        ASSERT_TRUE(events.read);
      }
      for (unsigned i = 0; i < stall; ++i) {
        ASSERT_NO_FATAL_FAILURE(step(&second, bench::chance(rng, 50), false, &events));
        ASSERT_TRUE(events.offered);
        ASSERT_FALSE(events.read || events.accepted);
      }
      ASSERT_NO_FATAL_FAILURE(step(&second, true, true, &events));
      ASSERT_TRUE(events.taken);
      ASSERT_TRUE(events.accepted && events.read)
          << "the next one comes and is read in the cycle in which the result leaves";
      while (here_) {
        ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
      }
      ASSERT_NO_FATAL_FAILURE(check_conservation());
    }
  }
}

// The first read, asked for in the cycle of the acceptance, is held as any other.
TEST_F(ReductionUnit, DeniedReadsDelayTheResultByAsMuch) {
  for (const unsigned denied : {1U, 3U, 17U}) {
    const Txn txn{.mask = 0x00ff0000U, .addr = 0x40, .tag = 9};
    const std::uint64_t accepted = dut_.cycle();
    const Txn* offered = &txn;
    Events events;
    for (int lane = 0; lane < 8; ++lane) {
      for (unsigned i = 0; i < denied; ++i) {
        ASSERT_NO_FATAL_FAILURE(step(offered, false, true, &events));
        ASSERT_EQ(events.accepted, offered != nullptr);
        offered = nullptr;
      }
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
    const std::uint64_t now = dut_.cycle();
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    ASSERT_TRUE(events.offered);
    ASSERT_EQ(now, accepted + 8 * (1 + denied));
  }
}

// After a result has been taken nothing is left of it in the next sum.
TEST_F(ReductionUnit, SumsDoNotLeakIntoEachOther) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Txn many{.mask = 0xffffffffU, .addr = 0x40, .tag = static_cast<Tag>(lane)};
    const Txn one{.mask = LaneMask{1} << lane, .addr = 0x80, .tag = static_cast<Tag>(lane + 100)};
    Events events;
    for (const Txn& txn : {many, one, one, many}) {
      do {
        ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
      } while (!events.accepted);
    }
  }
}

// The chain begins with -0, so zeros keep their sign.
TEST_F(ReductionUnit, SumOfMinusZerosIsMinusZero) {
  for (const LaneMask mask : {0x00000001U, 0x00000006U, 0xffffffffU}) {
    const Txn txn{.mask = mask, .addr = 0x40, .tag = kTagOfZeros};
    ASSERT_EQ(expected_sum(txn), neutral_word(kWord));
    ASSERT_NO_FATAL_FAILURE(step(&txn, true, true));
    while (here_) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
  }
}

TEST_F(ReductionUnit, RandomTrafficAndBackPressure) {
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
      ASSERT_NO_FATAL_FAILURE(check_conservation());
    }
  }
  while (here_) {
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
  }
  EXPECT_EQ(lanes_accepted_, lanes_emitted_);
  EXPECT_GT(lanes_emitted_, 10'000);
}

// Values that tell the two ways of underflow apart: whole chains of subnormals and least normals.
TEST_F(ReductionUnit, UnderflowIsAsTheParameterSays) {
  int differ = 0;
  for (Tag tag = 3; tag < 1'000; tag = static_cast<Tag>(tag + 16)) {
    const Txn txn{.mask = 0xffffffffU >> tag % 29, .addr = 0x40, .tag = tag};
    Fp32Bits other = neutral_word(kWord);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((txn.mask >> lane & 1U) != 0) {
        other = add(other, register_value(tag, lane), !kFlush);
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
