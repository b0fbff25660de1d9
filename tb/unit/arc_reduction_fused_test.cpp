// SPDX-License-Identifier: Apache-2.0
// The fused reduction unit between a transaction source, a register file of four banks and a result
// sink that the bench plays; with WARPFOLD_PAIRED the paired one, with two banks. Timing is checked
// tightly: every output of every cycle is foretold.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#ifdef WARPFOLD_PAIRED
#include "Varc_reduction_paired.h"
#else
#include "Varc_reduction_fused.h"
#endif
#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

using Operand = std::array<Fp32Bits, kLanes>;

#ifdef WARPFOLD_PAIRED
constexpr unsigned kUnitBanks = kPairedBanks;
// Cycles from the last read to the result.
constexpr unsigned kReadToResult = 5;
// That values are made for.
constexpr unsigned kUsualWindow = kPairedWindow;

using Top = Varc_reduction_paired;

Fp32Bits reference(LaneMask mask, const Operand& operand) {
  return paired_reference(mask, operand);
}
#else
constexpr unsigned kUnitBanks = kBanks;
constexpr unsigned kReadToResult = 6;
constexpr unsigned kUsualWindow = kFusedWindow;

using Top = Varc_reduction_fused;

Fp32Bits reference(LaneMask mask, const Operand& operand) {
  return fused_reference(mask, operand);
}
#endif

struct Txn {
  LaneMask mask = 0;
  Address addr = 0;
  Tag tag = 0;
  Operand operand{};
};

LaneMask bank_lanes(unsigned bank) {
  LaneMask lanes = 0;
  for (unsigned lane = bank; lane < kLanes; lane += kUnitBanks) {
    lanes |= LaneMask{1} << lane;
  }
  return lanes;
}

LaneMask lowest_of_each_bank(LaneMask left) {
  LaneMask lanes = 0;
  for (unsigned bank = 0; bank < kUnitBanks; ++bank) {
    const LaneMask of_bank = left & bank_lanes(bank);
    lanes |= of_bank & (~of_bank + 1U);
  }
  return lanes;
}

// Cycles in which a mask is read: the most lanes in one bank.
unsigned reads_of(LaneMask mask) {
  int most = 0;
  for (unsigned bank = 0; bank < kUnitBanks; ++bank) {
    most = std::max(most, std::popcount(mask & bank_lanes(bank)));
  }
  return static_cast<unsigned>(most);
}

class FusedUnit : public testing::Test {
 protected:
  // What happened in one cycle.
  struct Events {
    bool accepted = false;
    bool read = false;     // a read was granted
    bool offered = false;  // a result was at the port
    bool taken = false;
    Fp32Bits data = 0;
  };

  // Cycles from a result taken to the next, at least.
  static constexpr std::uint64_t kTakenToResult = 2;

  FusedUnit() {
    dut_->txn_valid_i = 0;
    dut_->rf_ready_i = 0;
    dut_->result_ready_i = 0;
    drive_register_file();
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
    drive_register_file();
    dut_.settle();

    ASSERT_EQ(dut_->busy_o, in_unit_.empty() ? 0 : 1);

    now.offered = dut_->result_valid_o != 0;
    ASSERT_EQ(now.offered, result_due_.has_value() && *result_due_ <= dut_.cycle())
        << "cycle " << dut_.cycle();
    if (now.offered) {
      const Txn& front = in_unit_.front();
      ASSERT_EQ(dut_->result_addr_o, front.addr);
      ASSERT_EQ(dut_->result_tag_o, front.tag);
      ASSERT_EQ(dut_->result_data_o, reference(front.mask, front.operand)) << show(front);
      now.data = dut_->result_data_o;
    } else {
      ASSERT_EQ(dut_->result_addr_o, 0U);
      ASSERT_EQ(dut_->result_tag_o, 0U);
      ASSERT_EQ(dut_->result_data_o, 0U);
    }
    now.taken = now.offered && result_ready;

    ASSERT_EQ(dut_->rf_valid_o, left_ != 0 ? 1 : 0) << "cycle " << dut_.cycle();
    ASSERT_EQ(dut_->rf_mask_o, lowest_of_each_bank(left_));
    ASSERT_EQ(dut_->rf_tag_o, left_ != 0 ? in_unit_.back().tag : 0U);
    now.read = left_ != 0 && rf_ready;
    const LaneMask lanes = lowest_of_each_bank(left_);
    const LaneMask rest = left_ & ~lanes;
    const bool free = left_ == 0 || (now.read && rest == 0);
    ASSERT_EQ(dut_->txn_ready_o, free && (in_unit_.size() < 2 || now.taken) ? 1 : 0)
        << "cycle " << dut_.cycle();
    now.accepted = txn != nullptr && dut_->txn_ready_o != 0;

    const std::uint64_t cycle = dut_.cycle();
    dut_.edge();

    // Not asked for: anything.
    for (Fp32Bits& word : rf_data_) {
      word = now.read ? static_cast<Fp32Bits>(garbage_()) : word;
    }
    if (now.read) {
      const Txn& txn_read = in_unit_.back();
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        rf_bins_[lane] = exponent_bin(txn_read.operand[lane]);
        if ((lanes >> lane & 1U) != 0) {
          rf_data_[lane % kUnitBanks] = txn_read.operand[lane];
        }
      }
      left_ = rest;
      if (rest == 0) {
        last_read_.push_back(cycle);
      }
    }
    if (now.taken) {
      lanes_emitted_ += lane_count(in_unit_.front().mask);
      in_unit_.pop_front();
      last_read_.pop_front();
      last_taken_ = cycle;
    }
    result_due_.reset();
    if (!last_read_.empty()) {
      result_due_ = std::max(last_read_.front() + kReadToResult, last_taken_ + kTakenToResult);
    }
    if (now.accepted) {
      lanes_accepted_ += lane_count(txn->mask);
      in_unit_.push_back(*txn);
      left_ = txn->mask;
    }
    if (events != nullptr) {
      *events = now;
    }
  }

  void drain() {
    while (!in_unit_.empty()) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
  }

  // Offers a transaction until it is accepted, reads granted and results taken at once.
  void send(const Txn& txn) {
    Events events;
    do {
      ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
    } while (!events.accepted);
  }

  // The result of one transaction alone.
  Fp32Bits sum_of(LaneMask mask, const Operand& operand) {
    const Txn txn{.mask = mask, .addr = 0x40, .tag = 1, .operand = operand};
    Events events;
    step(&txn, true, true);
    while (!in_unit_.empty() && !HasFatalFailure()) {
      step(nullptr, true, true, &events);
    }
    return events.data;
  }

  // Nothing is lost or doubled: what is not out yet is pending.
  void check_conservation() {
    int pending = 0;
    for (const Txn& txn : in_unit_) {
      pending += lane_count(txn.mask);
    }
    ASSERT_EQ(lanes_accepted_, lanes_emitted_ + pending);
    ASSERT_LE(in_unit_.size(), 2U);
  }

  static std::string show(const Txn& txn) {
    std::string text;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((txn.mask >> lane & 1U) != 0) {
        char word[12];
        std::snprintf(word, sizeof word, " %08x", txn.operand[lane]);
        text += word;
      }
    }
    return text;
  }

  void drive_register_file() {
#ifdef WARPFOLD_PAIRED
    dut_->rf_data_i = std::uint64_t{rf_data_[1]} << 32 | rf_data_[0];
#else
    for (unsigned bank = 0; bank < kBanks; ++bank) {
      dut_->rf_data_i[bank] = rf_data_[bank];
    }
    for (unsigned word = 0; word < 5; ++word) {
      dut_->rf_bin_i[word] = 0;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t bits = std::uint64_t{rf_bins_[lane]} << 5 * lane % 32;
      dut_->rf_bin_i[5 * lane / 32] |= static_cast<std::uint32_t>(bits);
      if (bits >> 32 != 0) {
        dut_->rf_bin_i[5 * lane / 32 + 1] |= static_cast<std::uint32_t>(bits >> 32);
      }
    }
#endif
  }

  bench::ClockedDut<Top> dut_;
  std::deque<Txn> in_unit_;              // accepted, result not taken: at most two
  std::deque<std::uint64_t> last_read_;  // of those completely read: when that was
  LaneMask left_ = 0;                    // lanes of the last one still to read
  std::uint64_t last_taken_ = 0;         // when the last result was taken
  std::optional<std::uint64_t> result_due_;
  std::array<Fp32Bits, kUnitBanks> rf_data_{0x7fc00000U, 0x3f800000U};
  std::array<std::uint8_t, kLanes> rf_bins_{};
  bench::Rng garbage_{7};
  std::int64_t lanes_accepted_ = 0;
  std::int64_t lanes_emitted_ = 0;
};

// ------------------------------------------------------------------------------------------------
// Stimulus
// ------------------------------------------------------------------------------------------------

LaneMask random_mask(bench::Rng& rng) {
  LaneMask mask = static_cast<LaneMask>(rng());
  switch (rng() % 7) {
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
    case 4:
      mask &= bank_lanes(static_cast<unsigned>(rng() % kUnitBanks));
      break;
    default:
      break;
  }
  return mask != 0 ? mask : 1U;
}

Fp32Bits fp32(bool negative, unsigned exponent, Fp32Bits fraction) {
  return (negative ? kFp32Sign : 0U) | exponent << 23 | (fraction & 0x7fffffU);
}
Fp32Bits fp32(double exact) {
  return std::bit_cast<Fp32Bits>(static_cast<float>(exact));
}

// The lanes of a mask in random order.
std::vector<unsigned> shuffled_lanes(bench::Rng& rng, LaneMask mask) {
  std::vector<unsigned> lanes;
  for (; mask != 0; mask &= mask - 1) {
    lanes.push_back(static_cast<unsigned>(std::countr_zero(mask)));
  }
  std::shuffle(lanes.begin(), lanes.end(), rng);
  return lanes;
}

// Values of a transaction, which one of kValueClasses. Lanes outside the mask hold anything.
constexpr unsigned kValueClasses = 13;
Operand random_values(bench::Rng& rng, LaneMask mask, unsigned value_class) {
  Operand operand;
  for (Fp32Bits& value : operand) {
    value = static_cast<Fp32Bits>(rng());
  }
  const std::vector<unsigned> lanes = shuffled_lanes(rng, mask);
  const auto word = [&rng] { return static_cast<Fp32Bits>(rng()); };
  const auto sign = [&rng] { return (rng() & 1U) != 0; };
  const auto below = [&rng](unsigned bound) { return static_cast<unsigned>(rng() % bound); };
  const auto narrow = [&](unsigned lowest, unsigned range) {
    for (const unsigned lane : lanes) {
      operand[lane] = fp32(sign(), lowest + below(range), word());
    }
  };
  switch (value_class) {
    case 0:  // any bits
      break;
    case 1:  // normal numbers of all exponents
      narrow(1, 254);
      break;
    case 2: {  // normal numbers near each other, where the window and the rounding decide
      const unsigned range = 1 + below(60);
      narrow(1 + below(254 - range), range);
      break;
    }
    case 3:  // zeros, subnormals, the least normal numbers
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(sign(), below(3), below(3) == 0 ? 0 : word() >> below(23));
      }
      break;
    case 4: {  // infinities
      narrow(1, 254);
      const bool both = sign();
      const bool first = sign();
      for (unsigned i = 0; i < 1 + below(3) && i < lanes.size(); ++i) {
        operand[lanes[i]] = fp32(both ? sign() : first, 255, 0);
      }
      break;
    }
    case 5:  // a NaN
      narrow(100, 100);
      operand[lanes[0]] = fp32(sign(), 255, 1U << below(23));
      break;
    case 6: {  // cancels to zero, or to a unit of the window
      const unsigned exponent = 60 + below(190);
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(sign(), 0, 0);
      }
      for (std::size_t i = 0; i + 1 < lanes.size(); i += 2) {
        operand[lanes[i]] = fp32(sign(), exponent - below(20), word());
        operand[lanes[i + 1]] = operand[lanes[i]] ^ kFp32Sign;
      }
      if (lanes.size() % 2 != 0 && lanes.size() > 2 && sign()) {
        const unsigned lowest = (operand[lanes[0]] >> 23 & 0xffU) | 7U;
        operand[lanes.back()] =
            fp32(sign(), lowest - (kUsualWindow - 1) + below(4), sign() ? word() : 0);
      }
      break;
    }
    case 7:  // overflow, or nearly
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(below(8) == 0, 248 + below(7), sign() ? 0x7fffff : word());
      }
      break;
    case 8: {  // a power of two, mostly negative, give or take a little
      const int scale = static_cast<int>(below(200)) - 100;
      const int power = static_cast<int>(below(19));
      double left = std::ldexp(below(4) == 0 ? 1.0 : -1.0, power) + (sign() ? 0.0 : 0.5);
      for (const unsigned lane : lanes) {
        const double part = std::floor(std::ldexp(static_cast<double>(below(1U << 20)), -4)) / 2.0;
        const double value = lane == lanes.back() ? left : sign() ? part : -part;
        operand[lane] = fp32(std::ldexp(value, scale));
        left -= value;
      }
      break;
    }
    case 9: {  // ends just below or at the least normal number
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(sign(), 0, 0);
      }
      if (lanes.size() > 1) {
        const Fp32Bits some = word() & 0xfffU;
        const Fp32Bits other = word() & 0xfffU;
        const Fp32Bits flip = sign() ? kFp32Sign : 0;
        operand[lanes[0]] = fp32(false, 2, some) ^ flip;  // 2^-125 + 2 some units
        operand[lanes[1]] = fp32(true, 1, 2 * some + (sign() ? 0 : other) - below(3)) ^ flip;
      }
      break;
    }
    case 10: {  // ties: halves of the last place of the sum, give or take a unit
      const unsigned exponent = 80 + below(160);
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(sign(), exponent - 24 - below(20), 0);
      }
      operand[lanes[0]] = fp32(sign(), exponent, below(4));
      break;
    }
    case 11: {  // most of one sign, at the top of their bin: the highest bit of a magnitude
      const unsigned exponent = below(31) << 3 | 7U;
      const bool most = sign();
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(below(16) == 0 ? !most : most, exponent, word());
      }
      break;
    }
    default:  // powers of two, around the lower end of the window
      for (const unsigned lane : lanes) {
        operand[lane] = fp32(sign(), 200 - below(52), sign() ? 0 : 0x7fffff);
      }
      break;
  }
  return operand;
}

Txn random_txn(bench::Rng& rng, LaneMask mask) {
  return Txn{.mask = mask,
             .addr = rng() & kAddrMask,
             .tag = static_cast<Tag>(rng() & kTagMask),
             .operand = random_values(rng, mask, static_cast<unsigned>(rng() % kValueClasses))};
}
Txn random_txn(bench::Rng& rng) {
  return random_txn(rng, random_mask(rng));
}

LaneMask lowest_lanes(unsigned count) {
  return static_cast<LaneMask>((std::uint64_t{1} << count) - 1);
}
// The first `count` lanes of bank 0, then those of bank 1, and so on.
LaneMask lanes_of_few_banks(unsigned count) {
  LaneMask mask = 0;
  for (unsigned i = 0; i < count; ++i) {
    constexpr unsigned kOfBank = kLanes / kUnitBanks;
    mask |= LaneMask{1} << (i % kOfBank * kUnitBanks + i / kOfBank);
  }
  return mask;
}

// ------------------------------------------------------------------------------------------------
// Time
// ------------------------------------------------------------------------------------------------

// Accepted in cycle t, at most k lanes in a bank: reads in t+1 .. t+k, result kReadToResult later.
TEST_F(FusedUnit, ResultComesExactlyInTime) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 400; ++i) {
    const Txn txn = random_txn(rng);
    const unsigned reads = reads_of(txn.mask);
    Events events;
    ASSERT_NO_FATAL_FAILURE(step(&txn, true, true, &events));
    ASSERT_TRUE(events.accepted);
    for (unsigned cycle = 1; cycle < reads + kReadToResult; ++cycle) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
      ASSERT_EQ(events.read, cycle <= reads) << "cycle t+" << cycle << ", " << reads << " reads";
      ASSERT_FALSE(events.offered) << "cycle t+" << cycle << ", " << reads << " reads";
    }
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    ASSERT_TRUE(events.offered) << "cycle t+k+" << kReadToResult << ", " << reads << " reads";
    ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    ASSERT_FALSE(events.offered);
  }
}

// With a transaction of one mask always waiting, two are accepted every max(2k, k+kReadToResult)
// cycles: for a larger k no cycle passes without a read; below, the two entries are what limits.
TEST_F(FusedUnit, SteadyState) {
  bench::Rng rng(bench::seed());
  std::printf("lanes  banks evenly: reads  lanes/cycle   few banks: reads  lanes/cycle\n");
  for (const unsigned count : {32U, 24U, 16U, 8U, 4U, 2U, 1U}) {
    std::printf("%5u", count);
    for (const LaneMask mask : {lowest_lanes(count), lanes_of_few_banks(count)}) {
      ASSERT_EQ(static_cast<unsigned>(lane_count(mask)), count);
      const unsigned reads = reads_of(mask);
      constexpr unsigned kTxns = 400;
      std::vector<std::uint64_t> accepted;
      while (accepted.size() <= kTxns + 4) {
        const Txn txn = random_txn(rng, mask);
        ASSERT_NO_FATAL_FAILURE(send(txn));
        accepted.push_back(dut_.cycle() - 1);
      }
      const std::uint64_t cycles = accepted[kTxns + 4] - accepted[4];
      EXPECT_EQ(2 * cycles, std::uint64_t{kTxns} * std::max(2 * reads, reads + kReadToResult));
      const double rate = static_cast<double>(count) * kTxns / static_cast<double>(cycles);
      std::printf("%21u  %11.3f", reads, rate);
      if (count == 32) {
        EXPECT_EQ(rate, kUnitBanks);
      }
      ASSERT_NO_FATAL_FAILURE(drain());
    }
    std::printf("\n");
  }
}

TEST_F(FusedUnit, WaitingResultIsHeldAndReadsGoOn) {
  bench::Rng rng(bench::seed());
  for (const unsigned stall : {1U, 2U, 7U, 40U}) {
    for (const LaneMask mask : {0x00000001U, 0x80000000U, 0x00010010U, 0xffffffffU}) {
      const Txn first = random_txn(rng, mask);
      const Txn second = random_txn(rng, 0x1111f111U);
      const Txn third = random_txn(rng, 0x3U);
      Events events;
      ASSERT_NO_FATAL_FAILURE(step(&first, true, false));
      do {
        ASSERT_NO_FATAL_FAILURE(step(&second, true, false, &events));
      } while (!events.accepted);
      for (unsigned i = 0; i < 20 + stall; ++i) {
        ASSERT_NO_FATAL_FAILURE(step(&third, true, false, &events));
        ASSERT_FALSE(events.accepted);
      }
      ASSERT_EQ(left_, 0U) << "the second one is read while the first result waits";
      ASSERT_TRUE(events.offered);
      ASSERT_NO_FATAL_FAILURE(step(&third, true, true, &events));
      ASSERT_TRUE(events.taken);
      ASSERT_TRUE(events.accepted) << "in the cycle in which the result leaves";
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
      ASSERT_FALSE(events.offered);
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
      ASSERT_TRUE(events.offered) << "the second sum waited complete";
      ASSERT_NO_FATAL_FAILURE(drain());
      ASSERT_NO_FATAL_FAILURE(check_conservation());
    }
  }
}

TEST_F(FusedUnit, DeniedReadsDelayTheResultByAsMuch) {
  bench::Rng rng(bench::seed());
  for (const unsigned denied : {1U, 3U, 17U}) {
    const Txn txn = random_txn(rng, 0x00ff0000U);
    ASSERT_NO_FATAL_FAILURE(step(&txn, true, true));
    const std::uint64_t accepted = dut_.cycle() - 1;
    const unsigned reads = reads_of(txn.mask);
    for (unsigned read = 0; read < reads; ++read) {
      for (unsigned i = 0; i < denied; ++i) {
        ASSERT_NO_FATAL_FAILURE(step(nullptr, false, true));
      }
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
    Events events;
    std::uint64_t now = 0;
    do {
      now = dut_.cycle();
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true, &events));
    } while (!events.offered);
    ASSERT_EQ(now, accepted + reads * (1 + denied) + kReadToResult);
  }
}

TEST_F(FusedUnit, RandomTrafficAndBackPressure) {
  bench::Rng rng(bench::seed());
  for (int phase = 0; phase < 300; ++phase) {
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
  ASSERT_NO_FATAL_FAILURE(drain());
  EXPECT_EQ(lanes_accepted_, lanes_emitted_);
  EXPECT_GT(lanes_emitted_, 10'000);
}

TEST_F(FusedUnit, ResetEmptiesEveryStage) {
  bench::Rng rng(bench::seed());
  for (unsigned cycles = 0; cycles < 14; ++cycles) {
    const Txn txn = random_txn(rng, 0x3fU);
    for (unsigned i = 0; i <= cycles; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(&txn, true, false));
    }
    dut_->txn_valid_i = 0;
    dut_.reset();
    in_unit_.clear();
    last_read_.clear();
    left_ = 0;
    last_taken_ = 0;
    result_due_.reset();
    for (int i = 0; i < 12; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(nullptr, true, true));
    }
    ASSERT_NO_FATAL_FAILURE(send(txn));
    ASSERT_NO_FATAL_FAILURE(drain());
  }
}

// ------------------------------------------------------------------------------------------------
// Values
// ------------------------------------------------------------------------------------------------

TEST_F(FusedUnit, SumsOfEveryClassOfValues) {
  bench::Rng rng(bench::seed());
  for (unsigned value_class = 0; value_class < kValueClasses; ++value_class) {
    for (int i = 0; i < 8'000; ++i) {
      Txn txn = random_txn(rng);
      txn.operand = random_values(rng, txn.mask, value_class);
      ASSERT_NO_FATAL_FAILURE(send(txn)) << "class " << value_class;
    }
    ASSERT_NO_FATAL_FAILURE(drain());
  }
}

#ifndef WARPFOLD_PAIRED
TEST_F(FusedUnit, DirectedSums) {
  struct Case {
    std::vector<Fp32Bits> lanes;
    Fp32Bits sum;
  };
  const Case cases[] = {
      {{0x80000000}, 0x80000000},
      {{0x80000000, 0x80000000}, 0x80000000},
      {{0x80000000, 0x00000000}, 0x00000000},
      {{0x3f800000, 0xbf800000}, 0x00000000},
      // subnormal values
      {{0x00000001}, 0x00000000},
      {{0x80000001}, 0x80000000},
      {{0x80000001, 0x00000001}, 0x00000000},
      {{0x807fffff, 0x80000001}, 0x80000000},
      {{0x007fffff, 0x007fffff}, 0x00000000},
      // subnormal sums: the least normal number less the next, twice it less 1.5 of it
      {{0x00800000, 0x80800001}, 0x80000000},
      {{0x01000000, 0x80c00000}, 0x00000000},
      // the least normal number itself, of both signs
      {{0x01000000, 0x80800000}, 0x00800000},
      {{0x81000000, 0x00800000}, 0x80800000},
      {{0x81000000, 0x00800001}, 0x80000000},
      // not numbers
      {{0x7f812345}, 0x7fffffff},
      {{0x7f800000, 0xff800000}, 0x7fffffff},
      {{0x7f800000, 0xff7fffff}, 0x7f800000},
      {{0xff800000, 0xff800000}, 0xff800000},
      // overflow; the largest number; half a place above it, which is a tie to infinity
      {{0x7f7fffff, 0x7f7fffff}, 0x7f800000},
      {{0xff7fffff, 0xff7fffff}, 0xff800000},
      {{0x7f7fffff}, 0x7f7fffff},
      {{0x7f7fffff, 0x73000000}, 0x7f800000},
      {{0x7f7fffff, 0x72ffffff}, 0x7f7fffff},
      {{0xff7fffff, 0xf3000000}, 0xff800000},
      {{0xff7fffff, 0xf2ffffff}, 0xff7fffff},
      {{0x7f7fffff, 0x7f7fffff, 0xff7fffff}, 0x7f7fffff},
      // negative powers of two
      {{0xbf800000}, 0xbf800000},
      {{0xbf000000, 0xbf000000}, 0xbf800000},
      {{0xc0000000, 0x3f800000}, 0xbf800000},
      {{0x80800000}, 0x80800000},
      // ties to even: 2^24 and 1, 2^24 + 2 and 1, and their negatives; with a little more
      {{0x4b800000, 0x3f800000}, 0x4b800000},
      {{0x4b800001, 0x3f800000}, 0x4b800002},
      {{0xcb800000, 0xbf800000}, 0xcb800000},
      {{0xcb800001, 0xbf800000}, 0xcb800002},
      {{0xcb800000, 0xbf800000, 0xb8000000}, 0xcb800001},
      {{0xcb800001, 0xbf800000, 0x38000000}, 0xcb800001},
      // no order in which the small ones are lost
      {{0x4b800000, 0x3f800000, 0x3f800000}, 0x4b800001},
      // cancellation leaves the small one, down to the window's last place and no further
      {{0x4b800000, 0x3f800000, 0xcb800000}, 0x3f800000},
      {{0x3f800000, 0x2a000000, 0xbf800000}, 0x2a000000},
      {{0x3f800000, 0xaa000000, 0xbf800000}, 0xaa000000},
      {{0x3f800000, 0x29ffffff, 0xbf800000}, 0x00000000},
  };
  for (const Case& c : cases) {
    for (unsigned shift = 0; shift < kLanes; ++shift) {
      Operand operand;
      operand.fill(0x7f800001U);
      LaneMask mask = 0;
      for (std::size_t i = 0; i < c.lanes.size(); ++i) {
        const std::size_t lane = (i * (1 + shift % 7) + shift) % kLanes;
        operand[lane] = c.lanes[i];
        mask |= LaneMask{1} << lane;
      }
      ASSERT_EQ(sum_of(mask, operand), c.sum) << std::hex << c.lanes.front() << " first";
    }
  }
}

// The same values in any lanes give the same bits.
TEST_F(FusedUnit, LaneOrderDoesNotMatter) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 1'500; ++i) {
    const LaneMask first_mask = random_mask(rng);
    const Operand first =
        random_values(rng, first_mask, static_cast<unsigned>(rng() % kValueClasses));
    const Fp32Bits want = sum_of(first_mask, first);
    std::vector<Fp32Bits> values;
    for (const unsigned lane : shuffled_lanes(rng, first_mask)) {
      values.push_back(first[lane]);
    }
    for (int permutation = 0; permutation < 6; ++permutation) {
      LaneMask mask = first_mask;
      if (permutation >= 3) {  // other lanes altogether
        std::array<unsigned, kLanes> lanes;
        std::iota(lanes.begin(), lanes.end(), 0U);
        std::shuffle(lanes.begin(), lanes.end(), rng);
        mask = 0;
        for (std::size_t n = 0; n < values.size(); ++n) {
          mask |= LaneMask{1} << lanes[n];
        }
      }
      Operand operand = random_values(rng, mask, 0);
      const std::vector<unsigned> lanes = shuffled_lanes(rng, mask);
      for (std::size_t n = 0; n < values.size(); ++n) {
        operand[lanes[n]] = values[n];
      }
      ASSERT_EQ(sum_of(mask, operand), want);
    }
  }
}

#else
// Lanes of neighbouring numbers: two of them are a read.
TEST_F(FusedUnit, DirectedSums) {
  struct Case {
    std::vector<Fp32Bits> lanes;
    Fp32Bits sum;
  };
  const Case cases[] = {
      {{0x80000000, 0x80000000}, 0x80000000},
      {{0x80000000, 0x00000000}, 0x00000000},
      {{0x3f800000, 0xbf800000}, 0x00000000},
      {{0x007fffff, 0x80000001, 0x80000001}, 0x00000000},
      {{0x81000000, 0x00800001}, 0x80000000},
      {{0x81000000, 0x00800000}, 0x80800000},
      {{0x7f812345}, 0x7fffffff},
      {{0x7f800000, 0x00000000, 0xff800000}, 0x7fffffff},
      {{0x00000000, 0xff800000, 0x7f7fffff}, 0xff800000},
      {{0x7f7fffff, 0x7f7fffff}, 0x7f800000},
      {{0xff7fffff, 0xf3000000}, 0xff800000},
      {{0x7f7fffff, 0x7f7fffff, 0xff7fffff}, 0x7f7fffff},
      // ties to even: 2^24 and 1, 2^24 + 2 and 1; of negatives with a little less
      {{0x4b800000, 0x3f800000}, 0x4b800000},
      {{0xcb800001, 0xbf800000}, 0xcb800002},
      {{0xcb800001, 0xbf800000, 0x3d800000}, 0xcb800001},
      // 1 has the top place of its bin, so 2^-31 is the last place of the window
      {{0x3f800000, 0x30000000, 0xbf800000}, 0x30000000},
      {{0x3f800000, 0x2fffffff, 0xbf800000}, 0x00000000},
      {{0x3f800000, 0xb0000000, 0xbf800000}, 0xb0000000},
      // a larger bin in a later read: one, two, three, four bins up, and five, where nothing is
      // kept
      {{0x33800001, 0x00000000, 0x37000000, 0xb7000000}, 0x33800001},
      {{0x33800001, 0x00000000, 0x3b000000, 0xbb000000}, 0x33800000},
      {{0x33800001, 0x00000000, 0x3f000000, 0xbf000000}, 0x33800000},
      {{0x33800001, 0x00000000, 0x43000000, 0xc3000000}, 0x00000000},
      // moved down, a negative sum loses towards minus infinity
      {{0xb3800001, 0x80000000, 0x43000000, 0xc3000000}, 0xb4000000},
      {{0xb3800001, 0x80000000, 0x47000000, 0xc7000000}, 0x00000000},
      // a smaller bin in a later read
      {{0x43000000, 0xc3000000, 0x33800001, 0x80000000}, 0x00000000},
      {{0x3b000000, 0xbb000000, 0x33800001, 0x80000000}, 0x33800000},
  };
  for (const Case& c : cases) {
    for (unsigned first = 0; first + c.lanes.size() <= kLanes; first += 2) {
      Operand operand;
      operand.fill(0x7f800001U);
      LaneMask mask = 0;
      for (std::size_t i = 0; i < c.lanes.size(); ++i) {
        operand[first + i] = c.lanes[i];
        mask |= LaneMask{1} << (first + i);
      }
      EXPECT_EQ(sum_of(mask, operand), c.sum) << std::hex << c.lanes.front() << " first";
    }
  }
}
#endif

// After a result has been taken nothing is left of it in the next sum.
TEST_F(FusedUnit, SumsDoNotLeakIntoEachOther) {
  bench::Rng rng(bench::seed());
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Txn many = random_txn(rng, 0xffffffffU);
    const Txn one = random_txn(rng, LaneMask{1} << lane);
    for (const Txn& txn : {many, one, one, many}) {
      ASSERT_NO_FATAL_FAILURE(send(txn));
    }
  }
  ASSERT_NO_FATAL_FAILURE(drain());
}

}  // namespace
}  // namespace warpfold
