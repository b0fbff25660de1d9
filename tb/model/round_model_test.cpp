// SPDX-License-Identifier: Apache-2.0
// The model of rounds by numbers: transactions that begin at the same time, and the cycle in which
// the last of them is done, worked out by hand from what was measured on an H200.
#include "model/gpu/memory/round_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace warpfold::test {
namespace {

// Turns come when they are due, so that cycles can be computed by hand.
GpuConfig even_h200(std::uint32_t sms) {
  GpuConfig gpu = load_gpu("h200");
  gpu.sm.count = sms;
  gpu.l2.turn_spread = 0;
  return gpu;
}

// A RED of 32 lanes on so many words of a line, `step` words apart, from the so-manyth sector of
// its slice on.
RoundWork red(std::uint32_t slice, std::uint32_t sector, std::uint32_t words, std::uint32_t step) {
  constexpr std::uint32_t kLanes = 32, kSectorWords = 8, kPairSectors = 8;
  const std::uint32_t turns = kLanes / words;
  const std::uint32_t sectors = std::max(words * step / kSectorWords, 1U);
  const std::uint32_t packets = turns * sectors;
  return {.sm = 0,
          .slice = slice,
          .pair = sector / kPairSectors,
          .sectors = static_cast<std::uint8_t>(((1U << sectors) - 1) << sector % kPairSectors),
          .whole = words == sectors * kSectorWords,
          .turns = static_cast<std::uint16_t>(turns),
          .packets = static_cast<std::uint16_t>(packets),
          .lone_words = static_cast<std::uint16_t>(words == 1 ? packets : 0),
          .flits = static_cast<std::uint16_t>(words == 1 ? packets : packets + turns)};
}

// REDs of several SMs that begin at the same time, one for each SM.
struct Meeting {
  const char* name;
  struct Place {
    std::uint32_t slice;
    std::uint32_t sector;
  };
  std::vector<Place> places;
  Cycle cycles;             // in which the last is done
  std::uint32_t words = 1;  // that the lanes of a RED take turns at
  std::uint32_t part = 1;   // of an Nth of the GPU: each SM stands for N
  // SMs of an input of the port, and REDs of the last SM, one after the other: inputs have as many
  // operations done, so the SMs of a small one get ahead.
  std::uint32_t input_sms = 36;
  std::uint32_t last_reds = 1;
  std::uint32_t step = 1;  // from word to word
};
void PrintTo(const Meeting& meeting, std::ostream* out) {
  *out << meeting.name;
}

class Meetings : public testing::TestWithParam<Meeting> {};

TEST_P(Meetings, LastAsLongAsTheirLimits) {
  const Meeting& meeting = GetParam();
  const auto sms = static_cast<std::uint32_t>(meeting.places.size());
  GpuConfig whole = even_h200(sms * meeting.part);
  whole.l2.input_sms = meeting.input_sms;
  RoundModel rounds(part_of_gpu(whole, meeting.part));
  const auto work_of = [&](std::uint32_t sm) {
    const Meeting::Place& place = meeting.places[sm];
    RoundWork work = red(place.slice, place.sector, meeting.words, meeting.step);
    work.sm = sm;
    return work;
  };
  constexpr Cycle kBegin = 1000;
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    rounds.begin(sm, work_of(sm), kBegin * kFineCycle);
  }
  std::uint32_t left = meeting.last_reds - 1;
  Fine last = 0;
  while (!rounds.empty()) {
    const RoundModel::End end = rounds.next_end();
    EXPECT_GE(end.time, last);
    last = end.time;
    rounds.end_next();
    if (end.queue == sms - 1 && left > 0) {
      --left;
      rounds.begin(end.queue, work_of(end.queue), end.time);
    }
  }
  // Done in cycle n, and not yet in n - 1.
  EXPECT_LE(last, (kBegin + meeting.cycles) * kFineCycle);
  EXPECT_GT(last, (kBegin + meeting.cycles - 1) * kFineCycle);
  // A bound of what the run took.
  EXPECT_LE(rounds.busiest(), meeting.cycles * kTicksPerCycle);
  EXPECT_GT(rounds.busiest(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    RoundModel, Meetings,
    testing::Values(
        Meeting{"one", {{0, 0}}, 112},                  // 32 x 3.49 = 111.7
        Meeting{"same_sector", {{0, 0}, {0, 0}}, 224},  // 64 x 3.49 = 223.4
        Meeting{"two_sectors", {{0, 0}, {0, 1}}, 112},  // a sector waits 3.49, two take 2.94
        Meeting{"four_sectors", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 189},  // 32 x 4 x 1.47
        // Two of 4 SMs on one sector: 2 of the 12 ordered pairs, at 3.49 - 1.18 more each, so that
        // one turn of 6 waits for the one before it and 5 of 36 for the one before that, at 2.31 -
        // 1.18 less 5 / 36 of it. A round takes 4 x 1.18 + 2.31 x 2 / 3 + 4 x 5 / 36 x 0.973 =
        // 6.80, 32 of them 217.6.
        Meeting{"two_of_four", {{0, 0}, {0, 0}, {0, 1}, {0, 2}}, 218},
        // Two slices of one port: 32 x 8 x 0.89 = 227.8, where each alone would take 188.2.
        Meeting{
            "both_slices", {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, 228},
        // The same with two words in each RED: 16 x 8 x 2 x 0.617 = 158.
        Meeting{"words", {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, 158, 2},
        // A line is a turn of 4 x 1.18; one that follows it at once need not wait. Two sectors are
        // one of 2.36, and have each other wait until 3.49: 2 x 2 x 3.49.
        Meeting{"line", {{0, 0}}, 5, 32}, Meeting{"same_line", {{0, 0}, {0, 0}}, 10, 32},
        Meeting{"same_two_sectors", {{0, 0}, {0, 0}}, 14, 16},
        Meeting{"two_sectors_of_two_lines", {{0, 0}, {0, 4}}, 10, 16},
        // Lines of which the other two sectors are added to wait no more: 2 x 2 x 2.36.
        Meeting{"other_sectors", {{0, 0}, {0, 2}}, 10, 16},
        // Words of each of the four sectors in 8 turns: 8 x 4.72 alone, but where words are left
        // out the next turn on the line waits for 1.18: 8 x 2 x (4.72 + 1.18).
        Meeting{"words_of_sectors", {{0, 0}}, 38, 4, 1, 36, 1, 8},
        Meeting{"same_words_of_sectors", {{0, 0}, {0, 0}}, 95, 4, 1, 36, 1, 8},
        // The same where the turns are on the two lines of a pair, but not on lines of two pairs.
        Meeting{"words_of_sectors_beside", {{0, 0}, {0, 4}}, 95, 4, 1, 36, 1, 8},
        Meeting{"words_of_sectors_apart", {{0, 0}, {0, 8}}, 76, 4, 1, 36, 1, 8},
        // One that stands for four, which would share the slices. What it has beyond half counts
        // sqrt((30 + 4) / (4 x 30 + 4)) = 0.524: 4 x 1.47 x (0.5 + 0.5 x 0.524) = 4.48.
        Meeting{"one_for_four", {{0, 0}}, 144, 1, 4},
        // Of 8 it counts 0.545: 4 x 1.18 x (1 + 0.545) = 7.29, and 4 x 2.31 x 2 that the sectors
        // clash: 32 x 25.77.
        Meeting{"same_sector_for_four", {{0, 0}, {0, 0}}, 825, 1, 4},
        // Of 16 it counts 0.582: 4 x 1.47 x (2 + 2 x 0.582) = 18.60, above the port's 4 x 4 x 0.89.
        Meeting{"four_for_four", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 596, 1, 4},
        // For two: 2 x 1.47 x (0.5 + 0.5 x 0.718) = 2.53 are less than the 3.49 of one sector.
        Meeting{"one_for_two", {{0, 0}}, 112, 1, 2},
        // Four with sectors of their own, 32 x 4 x 1.47, and then 32 of the last at 3.49.
        Meeting{"in_turn", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 300, 1, 1, 4, 2},
        // Alone on an input the last has an operation done every 3.49 cycles from the start, which
        // is less than its turns would give it: 64 in 223, and all 160 x 1.47 in 235.2.
        Meeting{"inputs_in_turn", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 236, 1, 1, 3, 2},
        // Every other operation is of the last SM, whose sector is another: in a round of 4 the
        // pairs of the others count (2 / 3)^2 each of 4 * 3 / 4: 2.31 x 6 x 4 / 9 / 3 = 2.053. So
        // 2 / 9 of the turns wait for the one before and 0.173 for the one before that, 0.935 each:
        // 4 x 1.18 + 2.053 + 0.646 = 7.42 for two operations of the last, 32 take 118.7. 21.33 are
        // left of each other SM, at 3 x 3.49: 223.4.
        Meeting{"clashes_on_inputs", {{0, 0}, {0, 0}, {0, 0}, {0, 1}}, 343, 1, 1, 3},
        // SMs that stand for two: a round takes 2 x 1.47 x 4 x (0.748 + 0.252 / 2) = 10.28, and the
        // last has two operations in each: 64 in 328.8. Then 10.67 of each other at 7.71: 82.2.
        Meeting{"inputs_for_two", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 412, 1, 2, 6, 2}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

// Where slices take turns of 128 bytes the two lines of a pair lie in different ones.
TEST(RoundModel, APairOfLinesInTwoSlicesDoesNotWait) {
  RoundModel rounds(even_h200(2));
  for (std::uint32_t sm = 0; sm < 2; ++sm) {
    RoundWork work = red(sm, 4 * sm, 4, 8);
    work.sm = sm;
    rounds.begin(sm, work, 0);
  }
  while (!rounds.empty()) {
    EXPECT_LE(rounds.next_end().time, 50 * kFineCycle);  // 8 x 2 x 5 x 0.617 = 49.4, not 95
    rounds.end_next();
  }
}

// In whole cycles, the first that begins when it is done.
Cycle cycle_of_end(const RoundModel::End& end) {
  return (end.time + kFineCycle - 1) / kFineCycle;
}

TEST(RoundModel, OneThatComesLaterSlowsWhatIsLeft) {
  RoundModel rounds(even_h200(2));
  RoundWork work = red(0, 0, 1, 1);
  rounds.begin(0, work, 0);
  EXPECT_EQ(cycle_of_end(rounds.next_end()), 112U);
  work.sm = 1;
  // After 16 turns, 55.84 cycles: the other 16 of the first and 16 of the second take 111.68.
  rounds.begin(1, work, 16 * 349 * kFineCycle / 100);
  EXPECT_EQ(rounds.next_end().queue, 0U);
  EXPECT_EQ(cycle_of_end(rounds.next_end()), 168U);  // 55.84 + 111.68 = 167.52
  rounds.end_next();
  EXPECT_EQ(rounds.next_end().queue, 1U);
  EXPECT_EQ(cycle_of_end(rounds.next_end()), 224U);  // and 16 turns alone: 223.36
}

TEST(RoundModel, OfSeveralThatEndTogetherTheFirstQueueGoesFirst) {
  RoundModel rounds(even_h200(3));
  for (const std::uint32_t sm : {2U, 0U, 1U}) {
    RoundWork work = red(0, sm, 1, 1);
    work.sm = sm;
    rounds.begin(sm, work, 0);
  }
  for (std::uint32_t queue = 0; queue < 3; ++queue) {
    EXPECT_EQ(rounds.next_end().queue, queue);
    rounds.end_next();
  }
  EXPECT_TRUE(rounds.empty());
}

TEST(RoundModel, KnowsWhatHasBeenDoneOnTheWay) {
  RoundModel rounds(even_h200(1));
  rounds.begin(0, red(1, 0, 1, 1), 0);
  static_cast<void>(rounds.next_end());
  // Its slice takes 1.47 of the 3.49 cycles of a turn.
  const double all = 32 * 1.47 * kTicksPerCycle;
  EXPECT_EQ(rounds.streams_in(1), 1U);
  EXPECT_EQ(rounds.streams_in(0), 0U);
  EXPECT_EQ(rounds.rop_busy_before(0), 0U);
  EXPECT_NEAR(static_cast<double>(rounds.rop_busy_before(16 * 349 * kFineCycle / 100)), all / 2, 2);
  rounds.end_next();
  EXPECT_EQ(rounds.streams_in(1), 0U);
  EXPECT_NEAR(static_cast<double>(rounds.busy().all()), all, 1);
  EXPECT_EQ(rounds.rop_busy_before(200 * kFineCycle), rounds.busy().all());
  EXPECT_NEAR(static_cast<double>(rounds.busy().port()), 32 * 0.89 * kTicksPerCycle, 1);
}

TEST(RoundModel, HasNothingLeftOfWhatHasEnded) {
  // The same again after many others takes as long as in the beginning: no sum has kept anything.
  RoundModel rounds(even_h200(6));
  Fine time = 0;
  const auto alone = [&] {
    rounds.begin(5, red(0, 3, 1, 1), time);
    const Fine took = rounds.next_end().time - time;
    time = rounds.next_end().time;
    rounds.end_next();
    return took;
  };
  const Fine before = alone();
  for (std::uint32_t i = 0; i < 100; ++i) {
    for (std::uint32_t sm = 0; sm < 6; ++sm) {
      RoundWork work = red(i % 2, (sm * i) % 5 * 4, 1U << i % 6, 1);
      work.sm = sm;
      rounds.begin(sm, work, time);
    }
    while (!rounds.empty()) {
      time = rounds.next_end().time;
      rounds.end_next();
    }
  }
  EXPECT_EQ(alone(), before);
}

TEST(TurnSpread, IsNoneWithoutADeviation) {
  TurnSpread spread(0, 2);
  EXPECT_EQ(spread.draw(1, 32), 32 * kOneRound);
}

TEST(TurnSpread, DrawsForSomeTransactionsAlike) {
  TurnSpread spread(0.4, 2);
  std::vector<Rounds> drawn;
  for (std::uint32_t i = 0; i < 4 * TurnSpread::kAlike; ++i) {
    drawn.push_back(spread.draw(0, 32));
  }
  for (std::uint32_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(drawn[i], drawn[i / TurnSpread::kAlike * TurnSpread::kAlike]);
  }
  for (std::uint32_t i = TurnSpread::kAlike; i < drawn.size(); i += TurnSpread::kAlike) {
    EXPECT_NE(drawn[i], drawn[i - 1]);
  }
}

TEST(TurnSpread, HasTheDeviationOfTheRootOfTheTurns) {
  constexpr std::uint32_t kDraws = 20'000;
  TurnSpread spread(0.4, kDraws);
  double sum = 0;
  double squares = 0;
  for (std::uint32_t sm = 0; sm < kDraws; ++sm) {
    const double off =
        static_cast<double>(spread.draw(sm, 16)) / static_cast<double>(kOneRound) - 16;
    EXPECT_LE(std::abs(off), 0.4 * std::sqrt(3.0) * 4 + 1e-4);
    sum += off;
    squares += off * off;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.4 * 4, 0.02);
}

}  // namespace
}  // namespace warpfold::test
