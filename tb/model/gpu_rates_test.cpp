// SPDX-License-Identifier: Apache-2.0
// What one SM and the whole L2 do in a cycle, beside what an H200 did: whole runs on small traces,
// each in a process of its own.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "model/gpu/noc/slice_map.hpp"
#include "tb/model/gpu_run.hpp"

namespace warpfold::test {
namespace {

// One SM alone, 32 warps: SM cycles per RED by pattern, beside what an H200 did (measured with 32
// warps a SM, unrolled REDs to spread addresses).
struct Pattern {
  const char* name;
  std::uint32_t lanes;
  std::uint32_t stride;  // in floats between lanes; 0: one address
  double modelled;
  double measured;
  std::uint32_t distinct = 32;  // lanes so far apart add to the same
};
void PrintTo(const Pattern& pattern, std::ostream* out) {
  *out << pattern.name;
}

class RedThroughput : public testing::TestWithParam<Pattern> {};

TEST_P(RedThroughput, MatchesOneSmOfAnH200) {
  const Pattern pattern = GetParam();
  constexpr std::uint32_t kWarps = 32, kReds = 200;
  constexpr std::uint32_t kPrimitives = 1 << 16;
  SmallTrace trace(1, kWarps, 1, kPrimitives, 4);
  const std::uint32_t mask = pattern.lanes == 32 ? ~0U : (std::uint32_t{1} << pattern.lanes) - 1;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    for (std::uint32_t i = 0; i < kReds; ++i) {
      const std::uint32_t first = (w * kReds + i) * 256 % (kPrimitives - 1024);
      std::vector<std::uint32_t> primitives(kLanes);
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        primitives[lane] = first + lane % pattern.distinct * pattern.stride;
      }
      trace.event(0, w, mask, primitives);
    }
  }
  const RunResult result = run(trace.read(), small_h200(1), "baseline");
  EXPECT_EQ(result.failure, "");
  const double per_red = static_cast<double>(result.cycles) / (kWarps * kReds);
  EXPECT_NEAR(per_red, pattern.modelled, 0.03 * pattern.modelled + 300.0 / (kWarps * kReds));
  RecordProperty("cycles_per_red", std::to_string(per_red));
  EXPECT_NEAR(per_red, pattern.measured, 0.03 * pattern.measured + 300.0 / (kWarps * kReds));
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, RedThroughput,
    testing::Values(Pattern{"lanes1", 1, 0, 2.09, 2.09}, Pattern{"same2", 2, 0, 2.09, 2.09},
                    Pattern{"same4", 4, 0, 4.08, 4.06}, Pattern{"same8", 8, 0, 8.16, 8.12},
                    Pattern{"same32", 32, 0, 32.64, 32.66}, Pattern{"row8", 8, 1, 2.09, 2.10},
                    Pattern{"row16", 16, 1, 3.06, 3.06}, Pattern{"row32", 32, 1, 5.1, 5.10},
                    Pattern{"sectors4", 4, 8, 5.1, 5.07}, Pattern{"sectors8", 8, 8, 10.2, 10.14},
                    Pattern{"sectors32", 32, 8, 40.8, 40.82}, Pattern{"lines8", 8, 32, 8.16, 8.14},
                    Pattern{"lines32", 32, 32, 32.64, 32.78},
                    // Passes over several lines, all but the first with 3, 7 or 15 changes of 0.12.
                    Pattern{"four_lines8", 8, 32, 8.52, 8.69, 4},
                    Pattern{"four_lines32", 32, 32, 35.16, 35.23, 4},
                    Pattern{"eight_lines32", 32, 32, 35.16, 35.31, 8},
                    Pattern{"sixteen_lines32", 32, 32, 34.44, 35.24, 16},
                    // None in passes of several words of a line.
                    Pattern{"eight_sectors32", 32, 8, 40.8, 40.78, 8}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

// One SM, lanes that add a float at one word of shared memory: SM cycles of a turn of the loop that
// loads, adds and swaps, beside what an H100 did (shared_add/same).
struct SlotTurns {
  const char* name;
  std::uint32_t warps;
  std::uint32_t lanes;
  double measured;
};
void PrintTo(const SlotTurns& turns, std::ostream* out) {
  *out << turns.name;
}

class SlotThroughput : public testing::TestWithParam<SlotTurns> {};

TEST_P(SlotThroughput, MatchesOneSmOfAnH100) {
  const SlotTurns of = GetParam();
  const std::uint32_t turns = (of.lanes - 1) * (1000 / of.lanes);
  SmallTrace trace(1, of.warps, 1, of.warps, 4);
  for (std::uint32_t w = 0; w < of.warps; ++w) {
    for (std::uint32_t i = 0; i < turns / (of.lanes - 1); ++i) {
      trace.event(0, w, static_cast<std::uint32_t>((std::uint64_t{1} << of.lanes) - 1), w);
    }
  }
  // The machine code of shared_add for sm_90.
  trace.reduce_cost("turn", {.alu = 2,
                             .integer = 1,
                             .shared = 2,
                             .stall_cycles = 28,
                             .branches = 1,
                             .waits = {{trace::ResultClass::kShared, 0, 2},
                                       {trace::ResultClass::kSharedCas, 8, 10}}});
  const GpuConfig gpu = load_gpu("h100", {"sm.count=1"});
  const RunResult result = run(trace.read(), gpu, "shared-slot");
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.sums_match);
  const double cycles = static_cast<double>(result.cycles - gpu.latency.cta_launch) / turns;
  EXPECT_NEAR(cycles / of.warps, of.measured, 0.03 * of.measured);
}

INSTANTIATE_TEST_SUITE_P(Turns, SlotThroughput,
                         testing::Values(SlotTurns{"one_warp4", 1, 4, 95.01},
                                         SlotTurns{"one_warp32", 1, 32, 95.01},
                                         SlotTurns{"four_warps32", 4, 32, 23.77},
                                         SlotTurns{"busy16", 32, 16, 3.54},
                                         SlotTurns{"busy32", 32, 32, 3.47}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

std::vector<std::uint32_t> floats(std::uint32_t lanes, std::uint32_t step, std::uint32_t distinct) {
  std::vector<std::uint32_t> primitives;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    primitives.push_back(lane % distinct * step);
  }
  return primitives;
}

// Full REDs of several SMs that come in one cycle, one for each SM: cycles from their arrival to
// the last addition. More of them, without the way there: round_model_test.cpp.
struct Meeting {
  const char* name;
  // Which sectors, each as {slice of port 5 or 6, the so-manyth sector there}: 0 and 1 are the
  // slices of port 5, 2 is one of port 6.
  std::vector<std::pair<int, std::size_t>> sectors;
  Cycle cycles;
  std::uint32_t words = 1;  // that the lanes of a RED take turns at
  std::uint32_t part = 1;   // of an Nth of the GPU: each SM stands for N
  // SMs of an input of the port, and REDs of the last SM: inputs have as many operations done, so
  // the SMs of a small one get ahead.
  std::uint32_t input_sms = 36;
  std::uint32_t last_reds = 1;
  std::uint32_t step = 1;  // from word to word
};
void PrintTo(const Meeting& meeting, std::ostream* out) {
  *out << meeting.name;
}

Address sector_of(const SliceMap& map, SliceMap::Place wanted, std::size_t index) {
  for (Address a = SmallTrace::kBase;; a += 32) {
    const SliceMap::Place place = map.place(a);
    if (place.port == wanted.port && place.slice == wanted.slice && index-- == 0) {
      return a;
    }
  }
}

class L2Port : public testing::TestWithParam<Meeting> {};

TEST_P(L2Port, ServesWhatMeetsThere) {
  const auto sms = static_cast<std::uint32_t>(GetParam().sectors.size());
  const auto map = make_slice_map(load_gpu("h200"));
  SmallTrace trace(sms, 1, 1, 1 << 20, 4);
  trace::InstructionCost slot;
  slot.alu = 1;
  trace.path_cost(0, slot);
  for (std::uint32_t c = 0; c < sms; ++c) {
    const auto& [slice, index] = GetParam().sectors[c];
    const SliceMap::Place place =
        slice == 2 ? SliceMap::Place{6, 0} : SliceMap::Place{5, static_cast<std::uint32_t>(slice)};
    // One CTA is dispatched a cycle: the earlier ones work for as long.
    trace.work(c, 0, sms - c);
    std::vector<std::uint32_t> primitives = floats(kLanes, GetParam().step, GetParam().words);
    for (std::uint32_t& primitive : primitives) {
      primitive +=
          static_cast<std::uint32_t>(sector_of(*map, place, index) - SmallTrace::kBase) / 4;
    }
    for (std::uint32_t i = 0; i < (c + 1 < sms ? 1 : GetParam().last_reds); ++i) {
      trace.event(c, 0, ~0U, primitives);
    }
  }
  GpuConfig whole = small_h200(sms * GetParam().part);
  whole.l2.input_sms = GetParam().input_sms;
  const GpuConfig gpu = part_of_gpu(whole, GetParam().part);
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  const Cycle arrival = first_issue(gpu) + sms + 2 + gpu.noc.latency;
  EXPECT_EQ(result.cycles, arrival + GetParam().cycles);
  EXPECT_LE(counter(result.bounds, "rop"), GetParam().cycles);
}

INSTANTIATE_TEST_SUITE_P(
    Meetings, L2Port,
    testing::Values(
        Meeting{"one", {{0, 0}}, 112},  // 32 x 3.49 = 111.7
        // Words of each of the four sectors in 8 turns, of two SMs: 8 x 2 x (4.72 + 1.18).
        Meeting{"same_words_of_sectors", {{0, 0}, {0, 0}}, 95, 4, 1, 36, 1, 8},
        // Three sectors of 11, 11 and 10 lanes: 10 turns of 3 x 1.18, of 4 flits each, and one of
        // two sectors, which leaves the SM 40 cycles after them: 40 + 3.49.
        Meeting{"words_of_three_sectors", {{0, 0}}, 44, 3, 1, 36, 1, 8},
        // Two ports have nothing in common: 32 x 4 x 1.47.
        Meeting{"two_ports", {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {2, 0}, {2, 1}, {2, 2}, {2, 3}}, 189},
        // SMs that stand for two, the last alone on its input.
        Meeting{"inputs_for_two", {{0, 0}, {0, 1}, {0, 2}, {0, 3}}, 412, 1, 2, 6, 2}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

// All SMs on few addresses, `stride` bytes apart: additions per SM clock of the whole GPU.
double hot_rate(std::uint32_t addresses, std::uint32_t reds, std::uint32_t stride = 4) {
  constexpr std::uint32_t kWarps = 4;
  const GpuConfig gpu = load_gpu("h200");
  std::mt19937 random(1);
  SmallTrace trace(gpu.sm.count, kWarps, 1, 64 * 1024, stride);
  for (std::uint32_t c = 0; c < gpu.sm.count; ++c) {
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      for (std::uint32_t i = 0; i < reds; ++i) {
        trace.event(c, w, 1, static_cast<std::uint32_t>(random() % addresses));
      }
    }
  }
  const RunResult result = run(trace.read(), gpu, "baseline");
  EXPECT_EQ(result.failure, "");
  const double rate = static_cast<double>(result.lane_atomics) / static_cast<double>(result.cycles);
  std::printf("%u addresses: %.3f additions a clock\n", addresses, rate);
  return rate;
}

TEST(HotSpots, OneAddress) {
  // An H200 does 0.286 a clock.
  EXPECT_NEAR(hot_rate(1, 16), 0.286, 0.005);
}

TEST(HotSpots, OneLine) {
  // An H200 does 0.49 to 0.52 a clock.
  EXPECT_NEAR(hot_rate(32, 32), 0.50, 0.02);
}

// Sectors of one slice at random: cycles of an addition, as an H200 has them (share/random).
struct Sectors {
  std::uint32_t number;
  double cycles;
};
void PrintTo(const Sectors& sectors, std::ostream* out) {
  *out << sectors.number;
}
class SectorsOfASlice : public testing::TestWithParam<Sectors> {};
TEST_P(SectorsOfASlice, TakeAsLongAsOnAnH200) {
  EXPECT_NEAR(1 / hot_rate(GetParam().number, 100, 32) / GetParam().cycles, 1, 0.03);
}
INSTANTIATE_TEST_SUITE_P(HotSpots, SectorsOfASlice,
                         testing::Values(Sectors{1, 3.483}, Sectors{2, 2.517}, Sectors{3, 2.128},
                                         Sectors{4, 1.915}, Sectors{6, 1.688}, Sectors{8, 1.568}),
                         [](const auto& parameter) {
                           return std::to_string(parameter.param.number);
                         });

TEST(HotSpots, SpreadAddressesComeNearThePortsRate) {
  // An H200 does 51 a clock; 48 ports take one per 0.89 cycles each, 53.9. Launch, first issue, the
  // way to the L2 and the last REDs behind the fullest port are 1000 cycles with few additions: 800
  // REDs a warp take ten times as long. An SM's port waits while its first RED finds no room.
  const double rate = hot_rate(64 * 1024, 800);
  EXPECT_GT(rate, 40);
  EXPECT_LE(rate, 48 / 0.89);
}

}  // namespace
}  // namespace warpfold::test
