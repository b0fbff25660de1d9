// SPDX-License-Identifier: Apache-2.0
// Environments that keep the contract and are hard all the same: memory queues and register files
// that refuse in every pattern of a short period or for thousands of cycles, resets at any time,
// and 32 addresses in one request. Golden unit and RTL side by side, for every kind and scheduler;
// each lane must leave exactly once with the right value, in bounded time.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/request_shapes.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/lockstep/units_of_rtl.hpp"

namespace warpfold {
namespace {

// Both units, the requester and the register file. The test says in each cycle what is ready.
class Environment {
 public:
  explicit Environment(const UnitOfRtl& unit)
      : kind_(unit.kind),
        golden_(unit.make(UnitModel::kGolden)),
        rtl_(unit.make(UnitModel::kRtl)) {}

  [[nodiscard]] bool holds_request() const { return in_.req_valid; }
  [[nodiscard]] bool idle() const {
    return !in_.req_valid && !rtl_->busy() && !golden_->busy() && left_.empty();
  }
  [[nodiscard]] std::size_t requests_left() const { return left_.size(); }
  [[nodiscard]] bool left(Tag tag) const { return left_.contains(tag); }

  // A request to hold until it is accepted. Its tag is that of no other that is not done.
  Tag offer(const AtomredRequest& request) {
    EXPECT_FALSE(in_.req_valid);
    while (left_.contains(next_tag_)) {
      next_tag_ = static_cast<Tag>((next_tag_ + 1) & kTagMask);
    }
    in_.req_valid = true;
    in_.req_mask = request.mask;
    in_.req_addr = request.addresses;
    in_.req_tag = next_tag_;
    in_.req_words = request.words();
    requests_[next_tag_] = request;
    if (request.mask != 0) {
      left_[next_tag_] = request.mask;
    }
    const Tag tag = next_tag_;
    next_tag_ = static_cast<Tag>((next_tag_ + 1) & kTagMask);
    return tag;
  }

  void step(bool lsu_room, bool rf_ready) {
    in_.lsu_room = lsu_room;
    in_.rf_ready = rf_ready;
    const UnitOutputs out = rtl_->tick(in_);
    ASSERT_EQ(out, golden_->tick(in_));
    // Asked, the RTL takes the clock edge at once; else in its next cycle.
    if (asks_.chance(0.5)) {
      ASSERT_EQ(rtl_->busy(), golden_->busy());
    }
    if (out.lsu_valid && lsu_room) {
      ASSERT_NO_FATAL_FAILURE(take(out));
    }
    // A value that nobody asked for is no number.
    const bool looks_again = kind_.datapath == Datapath::kSerial;
    in_.rf_data.fill(looks_again ? in_.rf_data[0] : 0x7fc07e00U);
    if (out.rf_valid && rf_ready) {
      answer_read(in_, kind_, out.rf_mask, requests_.at(out.rf_tag).operand(out.rf_word));
    }
    if (in_.req_valid && out.req_ready) {
      in_.req_valid = false;
      // Nobody looks at them now.
      in_.req_mask = ~in_.req_mask;
      in_.req_addr.fill(0xffff'ffff'ffff);
      in_.req_words = kMaxWords + 1 - in_.req_words;
    }
  }

  // With the requester and the memory behind, which forget everything as well.
  void reset() {
    in_ = {};
    left_.clear();
    rtl_->reset();
    golden_->reset();
  }

 private:
  void take(const UnitOutputs& out) {
    const auto found = left_.find(out.lsu_tag);
    ASSERT_NE(found, left_.end()) << "nothing is left of that request";
    const AtomredRequest& request = requests_.at(out.lsu_tag);
    // The lanes of that address leave together, in a plain RED with all others left or without.
    LaneMask group = 0;
    for (LaneMask lanes = request.mask; lanes != 0; lanes &= lanes - 1) {
      if ((request.addresses[static_cast<std::size_t>(std::countr_zero(lanes))] & kAddrMask) ==
          out.lsu_addr) {
        group |= lanes & (~lanes + 1);
      }
    }
    if (!out.lsu_reduced && out.lsu_mask != group) {
      ASSERT_EQ(out.lsu_addr, 0U);
      ASSERT_TRUE(out.req_ready) << "a plain RED of several addresses takes all that is left";
      group = out.lsu_mask;
    }
    ASSERT_NE(group, 0U);
    ASSERT_EQ(found->second & group, group) << "a lane leaves twice";
    if (out.lsu_reduced) {
      const AtomredRequest::Operand& operand = request.operand(out.lsu_word);
      ASSERT_EQ(out.lsu_data, sum_reference(kind_, group, operand));
      ASSERT_EQ(out.lsu_last, out.lsu_word + 1 == request.words());
    }
    if (!out.lsu_last) {
      return;
    }
    found->second &= ~group;
    if (found->second == 0) {
      left_.erase(found);
    }
  }

  UnitKind kind_;
  std::unique_ptr<ArcUnit> golden_;
  std::unique_ptr<ArcUnit> rtl_;
  UnitInputs in_;
  SplitMix64 asks_{1};
  Tag next_tag_ = 0;
  std::map<Tag, LaneMask> left_;  // lanes that have not left
  std::map<Tag, AtomredRequest> requests_;
};

AtomredRequest uniform(LaneMask mask, std::uint64_t seed) {
  AtomredRequest request{.mask = mask, .addresses = {}, .values = {}, .more_words = {}};
  request.addresses.fill(0x1000 + 4 * (seed % 1024));
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    request.values[lane] = synthetic_value(seed, 0, 0, 0, lane);
  }
  return request;
}

class HardEnvironment : public testing::TestWithParam<UnitOfRtl> {};

// Every periodic pattern of ready cycles up to a period of 4, for the memory queue and the register
// file at once. What is never ready comes apart, below.
TEST_P(HardEnvironment, EveryShortPatternOfReadiness) {
  SplitMix64 random(test_seed());
  const auto ready = [](unsigned pattern, unsigned period, unsigned cycle) {
    return (pattern >> cycle % period & 1U) != 0;
  };
  for (unsigned lsu_period = 1; lsu_period <= 4; ++lsu_period) {
    for (unsigned lsu = 1; lsu < 1U << lsu_period; ++lsu) {
      for (unsigned rf_period = 1; rf_period <= 4; ++rf_period) {
        for (unsigned rf = 1; rf < 1U << rf_period; ++rf) {
          SCOPED_TRACE("lsu " + std::to_string(lsu) + " of period " + std::to_string(lsu_period) +
                       ", rf " + std::to_string(rf) + " of period " + std::to_string(rf_period));
          Environment environment(GetParam());
          unsigned cycle = 0;
          for (int requests = 0; requests < 12;) {
            if (!environment.holds_request()) {
              environment.offer(
                  with_words(random_request(random, Shape::kAny), GetParam().kind, random));
              ++requests;
            }
            ASSERT_NO_FATAL_FAILURE(
                environment.step(ready(lsu, lsu_period, cycle), ready(rf, rf_period, cycle)));
            ASSERT_LT(++cycle, 100'000U) << "a request waits for ever";
          }
          for (unsigned idle = 0; !environment.idle(); ++idle, ++cycle) {
            ASSERT_LT(idle, 20'000U) << environment.requests_left() << " requests wait for ever";
            ASSERT_NO_FATAL_FAILURE(
                environment.step(ready(lsu, lsu_period, cycle), ready(rf, rf_period, cycle)));
          }
        }
      }
    }
  }
}

// Thousands of cycles in which the register file or the memory queue refuses everything: nothing
// leaves that should not, nothing is lost, and all goes on afterwards.
TEST_P(HardEnvironment, LongRefusalsLoseNothing) {
  for (const bool refuse_rf : {false, true}) {
    for (unsigned until = 0; until < 40; until += 3) {
      Environment environment(GetParam());
      std::uint64_t seed = 100 * until;
      for (unsigned cycle = 0; cycle < until + 3'000; ++cycle) {
        if (!environment.holds_request()) {
          environment.offer(uniform(0xffff0f0fU >> cycle % 13, ++seed));
        }
        const bool refused = cycle >= until;
        ASSERT_NO_FATAL_FAILURE(
            environment.step(!refused && cycle % 3 == 0, !(refused && refuse_rf)));
      }
      for (unsigned cycle = 0; !environment.idle(); ++cycle) {
        ASSERT_LT(cycle, 2'000U);
        ASSERT_NO_FATAL_FAILURE(environment.step(true, true));
      }
    }
  }
}

// A reset in the middle of whatever is under way, a thousand times: what comes after is as new.
TEST_P(HardEnvironment, ResetsAtAnyTime) {
  SplitMix64 random(test_seed());
  Environment environment(GetParam());
  for (int round = 0; round < 1'000; ++round) {
    const double lsu = 0.1 + 0.2 * random.below(5);
    const double rf = 0.1 + 0.2 * random.below(5);
    for (auto cycles = random.below(60); cycles > 0; --cycles) {
      if (!environment.holds_request() && random.chance(0.7)) {
        environment.offer(with_words(random_request(random, Shape::kAny), GetParam().kind, random));
      }
      ASSERT_NO_FATAL_FAILURE(environment.step(random.chance(lsu), random.chance(rf)));
    }
    environment.reset();
    ASSERT_TRUE(environment.idle());
    for (auto cycles = random.below(12); cycles > 0; --cycles) {
      ASSERT_NO_FATAL_FAILURE(environment.step(random.chance(0.5), random.chance(0.5)));
      ASSERT_TRUE(environment.idle()) << "something came back after a reset";
    }
  }
}

// Several addresses in one request: some of its transactions are reduced and some not. 32 of them
// are nothing to reduce.
TEST_P(HardEnvironment, ManyAddressesInOneRequest) {
  for (unsigned stall = 1; stall < 9; ++stall) {
    Environment environment(GetParam());
    for (std::size_t request = 0; request < 40; ++request) {
      const std::size_t addresses = std::size_t{2} << request % 5;
      AtomredRequest all = uniform(0xffffffffU, stall);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t group = lane % addresses;
        all.addresses[lane] = (Address{0x10} << group) + group;
      }
      environment.offer(all);
      for (unsigned cycle = 0; environment.holds_request(); ++cycle) {
        ASSERT_LT(cycle, 2'000U);
        ASSERT_NO_FATAL_FAILURE(environment.step(cycle % stall == 0, cycle % 5 != 1));
      }
    }
    for (unsigned cycle = 0; !environment.idle(); ++cycle) {
      ASSERT_LT(cycle, 2'000U);
      ASSERT_NO_FATAL_FAILURE(environment.step(true, true));
    }
  }
}

// Sums of nothing but special values, in every kind.
TEST_P(HardEnvironment, SpecialValuesAlone) {
  constexpr Fp32Bits kSpecials[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                    0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0xffc00001, 0x7f800001, 0x3f800000, 0xbf800000};
  SplitMix64 random(test_seed());
  Environment environment(GetParam());
  for (int round = 0; round < 2'000; ++round) {
    AtomredRequest request =
        uniform(static_cast<LaneMask>(random.next()) & (round % 2 == 0 ? 0xffffffffU : 0x00010011U),
                static_cast<std::uint64_t>(round));
    // Few kinds of values in one sum, so that a NaN does not hide the others.
    const Fp32Bits some[] = {kSpecials[random.below(15)], kSpecials[random.below(15)]};
    for (Fp32Bits& value : request.values) {
      value = some[random.below(2)];
    }
    environment.offer(request);
    // The memory queue is full until the sum is there, so that nearly all is reduced.
    for (unsigned cycle = 0; !environment.idle(); ++cycle) {
      ASSERT_LT(cycle, 1'000U);
      ASSERT_NO_FATAL_FAILURE(environment.step(cycle % 16 == 15, true));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HardEnvironment, testing::ValuesIn(units_of_rtl()), unit_test_name);

}  // namespace
}  // namespace warpfold
