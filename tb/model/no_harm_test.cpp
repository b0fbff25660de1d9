// SPDX-License-Identifier: Apache-2.0
// A unit does no harm: whatever lanes add to, it is as fast as plain REDs or nearly so, with every
// datapath and scheduler. Lanes that share words of one sector are where summing word by word would
// lose: a plain RED adds to all words of a sector at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "model/results/process_pool.hpp"
#include "model/unit/unit_kind.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/model/gpu_run.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold {
namespace {

constexpr std::uint32_t kCtas = 16;
constexpr std::uint32_t kWarps = 16;
constexpr std::uint32_t kEvents = 12;
constexpr std::uint32_t kWords = 4096;

// Which word a lane adds to, of an event whose first word is `base`.
struct Pattern {
  std::string name;
  std::uint32_t (*word)(std::uint32_t lane, std::mt19937_64& random);
  bool all_lanes = true;
};

template <std::uint32_t kOf>
std::uint32_t any_of(std::uint32_t, std::mt19937_64& random) {
  return static_cast<std::uint32_t>(random() % kOf);
}
template <std::uint32_t kLanesOfWord>
std::uint32_t neighbours(std::uint32_t lane, std::mt19937_64&) {
  return lane / kLanesOfWord;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {{"word_a_lane", neighbours<1>},
                                           {"word_a_pair", neighbours<2>},
                                           {"word_for_four", neighbours<4>},
                                           {"word_for_eight", neighbours<8>},
                                           {"one_word", neighbours<32>},
                                           {"any_of_2", any_of<2>},
                                           {"any_of_3", any_of<3>},
                                           {"any_of_5", any_of<5>},
                                           {"any_of_6", any_of<6>},
                                           {"any_of_8", any_of<8>},
                                           {"any_of_16", any_of<16>},
                                           {"any_of_64", any_of<64>},
                                           {"any_of_4096", any_of<4096>},
                                           {"some_lanes_any_of_4", any_of<4>, false},
                                           {"some_lanes_any_of_16", any_of<16>, false}};
  return all;
}

trace::Reader trace_of(const Pattern& pattern) {
  test::SmallTrace small(kCtas, kWarps, 1, 2 * kWords, 4);
  std::mt19937_64 random(test_seed());
  for (std::uint32_t cta = 0; cta < kCtas; ++cta) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      for (std::uint32_t event = 0; event < kEvents; ++event) {
        const auto base = static_cast<std::uint32_t>(random() % (kWords / 8)) * 8;
        std::vector<std::uint32_t> words;
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          words.push_back(base + pattern.word(lane, random));
        }
        auto mask = static_cast<std::uint32_t>(random()) | 1U;
        small.event(cta, warp, pattern.all_lanes ? 0xffffffffU : mask, words);
      }
    }
  }
  return small.read();
}

using Unit = std::tuple<std::string, std::string>;

class NoHarm : public testing::TestWithParam<std::tuple<Unit, Pattern>> {};

TEST_P(NoHarm, NearlyAsFastAsPlainReds) {
  const auto& [unit, pattern] = GetParam();
  const trace::Reader trace = trace_of(pattern);
  SimOptions options;
  options.gpu = part_of_gpu(load_gpu("h200"), 66);

  options.unit.model = UnitModel::kGolden;
  options.unit.kind = parse_unit_kind(std::get<0>(unit));
  options.gpu.rules.scheduler.name = std::get<1>(unit);
  const ReferenceSums sums = ReferenceSums::compute(trace);
  // A process simulates once.
  const auto cycles = [&](const char* policy) {
    options.policy = parse_policy(policy);
    PoolTask task;
    task.work = [&](const auto&) { return simulate(options, trace, sums); };
    const PoolOutcome outcome = run_pool({task}, {.jobs = 1, .progress = {}}).at(0);
    EXPECT_TRUE(outcome.result) << outcome.error;
    return outcome.result ? outcome.result->cycles : 0;
  };
  const auto plain = static_cast<double>(cycles("baseline"));
  const auto reduced = static_cast<double>(cycles("arc-hw"));
  EXPECT_GE(plain / reduced, 0.97);
  RecordProperty("speedup", fmt::format("{:.3f}", plain / reduced));
  fmt::print("{} {} {} {:.3f}\n", std::get<0>(unit), std::get<1>(unit), pattern.name,
             plain / reduced);
}

INSTANTIATE_TEST_SUITE_P(
    Units, NoHarm,
    testing::Combine(testing::Values(Unit{"serial", "greedy"}, Unit{"serial", "reduce-groups"},
                                     Unit{"paired", "greedy"}, Unit{"paired", "reduce-groups"},
                                     Unit{"fused", "greedy"}, Unit{"fused", "reduce-groups"},
                                     Unit{"vector", "reduce-groups"}),
                     testing::ValuesIn(patterns())),
    [](const auto& of) {
      std::string name = std::get<0>(std::get<0>(of.param)) + "_" +
                         std::get<1>(std::get<0>(of.param)) + "_" + std::get<1>(of.param).name;
      for (char& c : name) {
        c = c == '-' ? '_' : c;
      }
      return name;
    });

}  // namespace
}  // namespace warpfold
