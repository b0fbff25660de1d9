// SPDX-License-Identifier: Apache-2.0
// When things happen at the ports of the unit of kind vector, to the cycle: reads and sums of every
// word, and which lanes pass on. On the golden unit and on the RTL.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"

namespace warpfold {
namespace {

constexpr LaneMask kFullWarp = 0xffffffffU;
constexpr Address kBase = 0x7f00'0000'1000;
constexpr int kReadsOfAWarp = 8;
// From the acceptance of a full warp to the sum of its first word: one in the sequencer, the reads,
// six behind the last.
constexpr int kFirstSum = 1 + kReadsOfAWarp + 6;

// One unit with its register file. `in` is what the test drives in the next cycle.
class VectorTiming : public testing::TestWithParam<UnitModel> {
 protected:
  VectorTiming() : unit(make_unit(GetParam(), UnitKind::kVector)) { in.rf_ready = true; }

  UnitOutputs tick() {
    const UnitOutputs out = unit->tick(in);
    if (out.rf_valid && in.rf_ready) {
      answer_read(in, UnitKind::kVector, out.rf_mask, operands.at({out.rf_tag, out.rf_word}));
    }
    return out;
  }

  // A request of `mask` at one address, with values that differ from lane to lane and word to word.
  void offer(LaneMask mask, Tag tag, std::uint32_t words, Address address = kBase) {
    in.req_valid = true;
    in.req_mask = mask;
    in.req_addr.fill(address);
    in.req_tag = tag;
    in.req_words = words;
    for (std::uint32_t word = 0; word < words; ++word) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        operands[{tag, word}][lane] = synthetic_value(7, 0, tag * 8U + 5, word, lane);
      }
    }
  }
  void withdraw() { in.req_valid = false; }

  // Hands over one group to the unit, which must be able to take it.
  void start(LaneMask mask, Tag tag, std::uint32_t words, Address address = kBase) {
    offer(mask, tag, words, address);
    const UnitOutputs out = tick();
    ASSERT_TRUE(out.req_ready);
    ASSERT_FALSE(out.lsu_valid && !out.lsu_reduced) << "a group was passed on";
    withdraw();
  }

  void expect_sum(const UnitOutputs& out, Tag tag, std::uint32_t word, std::uint32_t words,
                  LaneMask mask, Address address = kBase) {
    ASSERT_TRUE(out.lsu_valid && out.lsu_reduced);
    EXPECT_EQ(out.lsu_addr, address);
    EXPECT_EQ(out.lsu_mask, 1U);
    EXPECT_EQ(out.lsu_tag, tag);
    EXPECT_EQ(out.lsu_word, word);
    EXPECT_EQ(out.lsu_last, word + 1 == words);
    EXPECT_EQ(out.lsu_data, fused_reference(mask, operands.at({tag, word}))) << "word " << word;
  }

  std::unique_ptr<ArcUnit> unit;
  UnitInputs in;
  std::map<std::pair<Tag, std::uint32_t>, std::array<Fp32Bits, kLanes>> operands;
};

TEST_P(VectorTiming, EachWordIsReadBehindTheOneBefore) {
  in.lsu_room = true;
  for (std::uint32_t words = 1; words <= kMaxWords; ++words) {
    start(kFullWarp, 0x5a0, words);
    const int reads = kReadsOfAWarp * static_cast<int>(words);
    for (int cycle = 1; unit->busy(); ++cycle) {
      const UnitOutputs out = tick();
      const int read = cycle - 2;
      ASSERT_EQ(out.rf_valid, read >= 0 && read < reads) << "cycle " << cycle;
      if (out.rf_valid) {
        ASSERT_EQ(out.rf_word, static_cast<std::uint32_t>(read / kReadsOfAWarp));
        ASSERT_EQ(out.rf_mask, 0xfU << 4 * (read % kReadsOfAWarp));
        ASSERT_EQ(out.rf_tag, 0x5a0);
      }
      const int since = cycle - kFirstSum;
      const bool due = since >= 0 && since % kReadsOfAWarp == 0;
      ASSERT_EQ(out.lsu_valid, due) << "cycle " << cycle;
      if (due) {
        ASSERT_NO_FATAL_FAILURE(expect_sum(
            out, 0x5a0, static_cast<std::uint32_t>(since / kReadsOfAWarp), words, kFullWarp));
      }
      ASSERT_LE(cycle, kFirstSum + reads);
    }
    EXPECT_EQ(tick(), UnitOutputs{});
  }
}

// Requests of one to sixteen words, full warps, always waiting: a read in every cycle.
TEST_P(VectorTiming, NoCycleIsLostBetweenPackets) {
  in.lsu_room = true;
  std::uint32_t words = 1;
  int reads_left = 0;
  std::vector<std::pair<Tag, std::uint32_t>> sums;  // due, in their order
  std::size_t taken = 0;
  Tag tag = 0;
  for (int cycle = 0; cycle < 3'000; ++cycle) {
    if (!in.req_valid) {
      offer(kFullWarp, tag, words, kBase + 64U * tag);
      for (std::uint32_t word = 0; word < words; ++word) {
        sums.emplace_back(tag, word);
      }
      reads_left += kReadsOfAWarp * static_cast<int>(words);
      words = words % kMaxWords + 1;
      ++tag;
    }
    const UnitOutputs out = tick();
    ASSERT_EQ(out.rf_valid, cycle >= 2) << "cycle " << cycle;
    ASSERT_TRUE(cycle < 2 || --reads_left >= 0);
    if (out.lsu_valid) {
      const auto [of, word] = sums.at(taken++);
      ASSERT_NO_FATAL_FAILURE(
          expect_sum(out, of, word, of % kMaxWords + 1U, kFullWarp, kBase + 64U * of));
    }
    if (out.req_ready) {
      withdraw();
    }
  }
  EXPECT_EQ(taken, (3'000 - kFirstSum - 1) / kReadsOfAWarp + 1);
}

TEST_P(VectorTiming, AGroupIsReducedAlthoughThePathIsFree) {
  in.lsu_room = true;
  // One in the sequencer, with a word of it in the fused unit: the next one waits.
  start(kFullWarp, 1, 2);
  offer(0x3, 2, 3);
  int waits = 0;
  while (!tick().req_ready) {
    ++waits;
  }
  // The first one's last word is taken in the cycle of its first word's last read.
  EXPECT_EQ(waits, kReadsOfAWarp);
}

TEST_P(VectorTiming, ALaneAloneNeverEntersTheReductionUnit) {
  offer(0x00400000, 3, 16);
  for (int cycle = 0; cycle < 20; ++cycle) {
    const UnitOutputs out = tick();
    ASSERT_FALSE(out.lsu_valid || out.rf_valid || out.req_ready) << "cycle " << cycle;
  }
  in.lsu_room = true;
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready);
  EXPECT_TRUE(out.lsu_valid && !out.lsu_reduced && out.lsu_last);
  EXPECT_EQ(out.lsu_mask, 0x00400000U);
  EXPECT_EQ(out.lsu_addr, kBase);
  EXPECT_EQ(out.lsu_word, 0U);
  EXPECT_FALSE(unit->busy());
}

// Lanes 0 and 2 are alone, 1 and 3 a group: it goes to the reduction unit in the cycle behind the
// first lone lane's, and the lone ones leave together when nothing else is left.
TEST_P(VectorTiming, LoneLanesLeaveTogetherBehindTheGroups) {
  in.lsu_room = true;
  offer(0xf, 4, 5);
  in.req_addr[0] = kBase + 0x100;
  in.req_addr[2] = kBase + 0x200;
  for (int cycle = 0; cycle < 3; ++cycle) {  // gather, reduce, gather
    const UnitOutputs out = tick();
    ASSERT_FALSE(out.lsu_valid || out.req_ready) << "cycle " << cycle;
  }
  const UnitOutputs out = tick();
  EXPECT_TRUE(out.req_ready);
  EXPECT_TRUE(out.lsu_valid && !out.lsu_reduced && out.lsu_last);
  EXPECT_EQ(out.lsu_mask, 0x5U);
  EXPECT_EQ(out.lsu_addr, 0U);
  withdraw();
  std::uint32_t word = 0;
  while (unit->busy()) {
    if (const UnitOutputs sum = tick(); sum.lsu_valid) {
      ASSERT_NO_FATAL_FAILURE(expect_sum(sum, 4, word++, 5, 0xa));
    }
  }
  EXPECT_EQ(word, 5U);
}

TEST_P(VectorTiming, APlainRedPassesBetweenTheSumsOfAPacket) {
  in.lsu_room = true;
  start(kFullWarp, 5, 3);
  for (int cycle = 1; cycle <= kFirstSum; ++cycle) {
    tick();
  }
  offer(0x80000000U, 6, 2);
  const UnitOutputs red = tick();
  EXPECT_TRUE(red.lsu_valid && !red.lsu_reduced && red.req_ready);
  EXPECT_EQ(red.lsu_tag, 6);
  withdraw();
  std::uint32_t word = 1;
  while (unit->busy()) {
    if (const UnitOutputs sum = tick(); sum.lsu_valid) {
      ASSERT_NO_FATAL_FAILURE(expect_sum(sum, 5, word++, 3, kFullWarp));
    }
  }
  EXPECT_EQ(word, 3U);
}

TEST_P(VectorTiming, ASumIsHeldUntilThereIsRoom) {
  start(kFullWarp, 7, 4);
  for (int cycle = 1; cycle < kFirstSum; ++cycle) {
    ASSERT_FALSE(tick().lsu_valid);
  }
  for (int cycle = 0; cycle < 100; ++cycle) {
    ASSERT_NO_FATAL_FAILURE(expect_sum(tick(), 7, 0, 4, kFullWarp));
  }
  in.lsu_room = true;
  ASSERT_NO_FATAL_FAILURE(expect_sum(tick(), 7, 0, 4, kFullWarp));
  // The second one was complete and comes two cycles later.
  EXPECT_FALSE(tick().lsu_valid);
  ASSERT_NO_FATAL_FAILURE(expect_sum(tick(), 7, 1, 4, kFullWarp));
}

TEST_P(VectorTiming, ResetForgetsTheWordsLeft) {
  in.lsu_room = true;
  for (int until = 0; until < 60; ++until) {
    start(kFullWarp, 8, 5);
    for (int cycle = 0; cycle < until; ++cycle) {
      tick();
    }
    unit->reset();
    ASSERT_FALSE(unit->busy());
    for (int cycle = 0; cycle < 12; ++cycle) {
      ASSERT_EQ(tick(), UnitOutputs{}) << "reset in cycle " << until;
    }
  }
}

// The order in which lanes hold their values changes no bit of any word's sum.
TEST_P(VectorTiming, LaneOrderDoesNotMatter) {
  in.lsu_room = true;
  SplitMix64 random(7);
  std::array<Fp32Bits, 3> first{};
  for (int round = 0; round < 20; ++round) {
    offer(kFullWarp, 9, 3);
    for (std::uint32_t word = 0; round > 0 && word < 3; ++word) {
      auto& operand = operands.at({9, word});
      for (std::uint32_t lane = kLanes - 1; lane > 0; --lane) {
        std::swap(operand[lane], operand[random.below(lane + 1)]);
      }
    }
    ASSERT_TRUE(tick().req_ready);
    withdraw();
    while (unit->busy()) {
      if (const UnitOutputs out = tick(); out.lsu_valid) {
        Fp32Bits& sum = first.at(out.lsu_word);
        sum = round == 0 ? out.lsu_data : sum;
        ASSERT_EQ(out.lsu_data, sum) << "round " << round << ", word " << out.lsu_word;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Units, VectorTiming, testing::Values(UnitModel::kGolden, UnitModel::kRtl),
                         [](const testing::TestParamInfo<UnitModel>& parameter) {
                           return std::string(unit_model_name(parameter.param));
                         });

TEST(VectorUnit, HasOneScheduler) {
  EXPECT_EQ(unit_scheduler(UnitKind::kVector), "reduce-groups");
  EXPECT_EQ(unit_scheduler(UnitKind::kFused), "greedy");
  EXPECT_THROW(make_unit(UnitModel::kRtl, UnitKind::kVector, "greedy"), std::invalid_argument);
  EXPECT_NE(make_unit(UnitModel::kGolden, UnitKind::kVector, "greedy"), nullptr);
}

}  // namespace
}  // namespace warpfold
