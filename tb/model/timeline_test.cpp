// SPDX-License-Identifier: Apache-2.0
// The timeline of a run: what its tracks show adds up to what the run reports, and does not depend
// on which blocks are clocked, nor on who clocks them.
#include "model/gpu/run/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "model/results/timeline_json.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint64_t kLong = 1'000'000;
constexpr double kParts = 256;

SimOptions options_for(const std::string& policy) {
  SimOptions options;
  options.gpu = small_h200(2);
  options.policy = parse_policy(policy);
  options.unit.model = UnitModel::kGolden;
  options.timeline_interval = 100;
  options.timeline_detail = {.window = {0, kLong}, .sms = {0, 1}, .l2_ports = {}};
  for (std::uint32_t port = 0; port < options.gpu.l2.ports(); ++port) {
    options.timeline_detail.l2_ports.push_back(port);
  }
  return options;
}

// Each in a process of its own, which sends what it recorded.
std::vector<RunResult> run_all(const std::vector<SimOptions>& all, std::uint32_t ctas = 12) {
  const trace::Reader trace = random_trace(7, ctas, 8, 3, 0.7, false).read();
  const ReferenceSums reference = ReferenceSums::compute(trace);
  std::vector<PoolTask> tasks;
  for (const SimOptions& options : all) {
    tasks.push_back({.name = options.policy.name(),
                     .work = [&trace, &reference,
                              options](const auto&) { return simulate(options, trace, reference); },
                     .prepare = {}});
  }
  std::vector<RunResult> runs;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    EXPECT_TRUE(outcome.result) << outcome.error;
    runs.push_back(outcome.result.value_or(RunResult()));
    runs.back().wall_seconds = 0;
  }
  return runs;
}

// Cycles that tracks with that name show of it.
double shown(const Timeline& timeline, const std::string& track_prefix, const std::string& what) {
  double sum = 0;
  for (const TimelineTrack& track : timeline.tracks) {
    if (!track.name.starts_with(track_prefix)) {
      continue;
    }
    for (const TimelineSlice& slice : track.slices) {
      if (track.what.at(slice.what) == what) {
        sum += static_cast<double>(slice.length) / kParts;
      }
    }
  }
  return sum;
}

double of(const Counters& counters, const std::string& name) {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [&](const auto& counter) { return counter.first == name; });
  return static_cast<double>(found->second);
}

class TimelineTracks : public ::testing::TestWithParam<std::string> {};

TEST_P(TimelineTracks, AddUpToTheRun) {
  SimOptions options = options_for(GetParam());
  std::vector<SimOptions> all(4, options);
  all[1].reference = true;
  all[2].threads = 2;
  all[3].timeline_interval = 0;
  const std::vector<RunResult> runs = run_all(all);
  const Timeline& timeline = runs[0].timeline;
  for (const std::size_t other : {1U, 2U}) {
    EXPECT_TRUE(timeline.tracks == runs[other].timeline.tracks) << other;
    EXPECT_TRUE(timeline.levels == runs[other].timeline.levels) << other;
    EXPECT_EQ(timeline.held, runs[other].timeline.held) << other;
    EXPECT_TRUE(timelines_to_json({runs[0]}) == timelines_to_json({runs[other]}));
  }
  EXPECT_EQ(results_to_json({runs[0]}), results_to_json({runs[3]}));
  EXPECT_TRUE(runs[3].timeline.tracks.empty());

  const RunResult& run = runs[0];
  const double cycles = static_cast<double>(run.cycles);
  const auto busy = [&](std::size_t kind) {
    double sum = 0;
    for (const double part : timeline.busy[kind].second) {
      sum += part;
    }
    return sum;
  };
  EXPECT_EQ(shown(timeline, "sub-core", "issues"), busy(0));
  EXPECT_EQ(shown(timeline, "sub-core", "waits for memory queue"),
            of(run.subcore_cycles, "memory_queue"));
  EXPECT_EQ(shown(timeline, "sub-core", "waits for shuffles"), of(run.subcore_cycles, "shuffle"));
  EXPECT_EQ(shown(timeline, "sub-core", "waits for own instructions"),
            of(run.subcore_cycles, "dependency"));
  EXPECT_EQ(shown(timeline, "reduction unit", "reads lanes"), busy(1));
  EXPECT_EQ(shown(timeline, "reduction unit", "sum waits for memory queue"),
            of(run.activity, "unit_blocked_cycles"));
  double lsu = 0;
  for (const char* what :
       {"RED", "reduced RED", "shuffle", "shared memory", "load", "accesses of runs"}) {
    lsu += shown(timeline, "LSU", what);
  }
  EXPECT_EQ(lsu, busy(2));
  EXPECT_EQ(shown(timeline, "LSU blocked", "waits for injection queue"),
            of(run.activity, "lsu_blocked_cycles"));
  EXPECT_EQ(shown(timeline, "injection port", "sends") +
                shown(timeline, "injection port", "sends a load"),
            busy(4));
  EXPECT_GT(shown(timeline, "slice", "adds"), 0);
  EXPECT_GT(cycles, 0);
}

// Perfetto counts nanoseconds, and rounds begin and length of a slice apart: none overlaps however
// it rounds, and none is lost.
TEST(TimelineJson, SlicesDoNotOverlapHoweverTheyAreRounded) {
  RunResult run;
  run.cycles = 100'000;
  run.policy = "baseline";
  run.timeline.interval = 100;
  run.timeline.places = {"SM 0"};
  run.timeline.tracks = {{.place = 0, .name = "LSU", .what = {"RED"}, .count = "", .slices = {}}};
  std::vector<TimelineSlice>& slices = run.timeline.tracks[0].slices;
  std::uint64_t at = 40'000 * 256 + 3;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const std::uint64_t length = 33 + i * i % 700;
    slices.push_back({.begin = at, .length = length, .what = 0, .count = 0});
    at += length + (i % 3 == 0 ? i % 37 : 0);
  }
  // Shorter than a step of what is written, with room behind it and without.
  slices.push_back({.begin = at + 256, .length = 3, .what = 0, .count = 0});
  slices.push_back({.begin = at + 512, .length = 256, .what = 0, .count = 0});
  const auto file = nlohmann::json::parse(timelines_to_json({run}));
  std::size_t shown = 0;
  double exact = 0;
  long long truncated = 0;
  long long rounded = 0;
  for (const auto& event : file["traceEvents"]) {
    if (event["ph"] != "X") {
      continue;
    }
    const double begin = event["ts"];
    const double length = event["dur"];
    const TimelineSlice& slice = slices.at(shown++);
    EXPECT_NEAR(begin, static_cast<double>(slice.begin) / 256, 1.0 / 16);
    EXPECT_NEAR(length, static_cast<double>(slice.length) / 256, 1.0 / 8);
    EXPECT_GT(length, 0);
    EXPECT_GE(begin, exact);
    EXPECT_GE(static_cast<long long>(begin * 1000), truncated);
    EXPECT_GE(std::llround(begin * 1000), rounded);
    exact = begin + length;
    truncated = static_cast<long long>(begin * 1000) + static_cast<long long>(length * 1000);
    rounded = std::llround(begin * 1000) + std::llround(length * 1000);
  }
  EXPECT_EQ(shown, slices.size());
}

// One thing at a time, and queues within their bounds and empty in the end.
TEST_P(TimelineTracks, DoNotOverlap) {
  const SimOptions options = options_for(GetParam());
  const RunResult run = run_all({options}).front();
  const bool has_unit = GetParam() == "arc-hw";
  const std::size_t of_sm = 4 * (has_unit ? 2U : 1U) + 3;
  const std::size_t slices = options.gpu.l2.slices;
  EXPECT_EQ(run.timeline.places.size(), 2 + options.gpu.l2.ports());
  EXPECT_EQ(run.timeline.tracks.size(), 2 * of_sm + slices);
  for (const TimelineTrack& track : run.timeline.tracks) {
    std::uint64_t end = 0;
    for (const TimelineSlice& slice : track.slices) {
      EXPECT_GE(slice.begin, end) << track.name;
      EXPECT_GT(slice.length, 0U);
      ASSERT_LT(slice.what, track.what.size());
      end = slice.begin + slice.length;
    }
  }
  EXPECT_EQ(run.timeline.levels.size(), 2 * 5 + options.gpu.l2.ports());
  for (const TimelineLevels& levels : run.timeline.levels) {
    const std::uint64_t room = levels.name.starts_with("memory") ? options.gpu.lsu.queue_depth
                               : levels.name.starts_with("inj")  ? options.gpu.noc.injection_depth
                                                                : 2U * options.gpu.l2.ingress_flits;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < levels.levels.size(); ++i) {
      EXPECT_TRUE(i == 0 || levels.levels[i - 1].cycle < levels.levels[i].cycle);
      most = std::max(most, levels.levels[i].value);
    }
    EXPECT_LE(most, room) << levels.name;
    EXPECT_EQ(levels.levels.back().value, 0U) << levels.name;
  }
  for (const auto& [name, held] : run.timeline.held) {
    EXPECT_EQ(held.back(), 0) << name;
    EXPECT_LE(*std::max_element(held.begin(), held.end()), of(run.timeline.room, name)) << name;
  }
}

// A window shows of the whole what lies in it.
TEST_P(TimelineTracks, AreCutToTheWindow) {
  SimOptions whole = options_for(GetParam());
  SimOptions part = whole;
  part.timeline_detail.window = {700, 1100};
  const std::vector<RunResult> runs = run_all({whole, part});
  ASSERT_EQ(runs[0].timeline.tracks.size(), runs[1].timeline.tracks.size());
  constexpr auto kBegin = static_cast<std::uint64_t>(700 * kParts);
  constexpr auto kEnd = static_cast<std::uint64_t>(1100 * kParts);
  std::size_t shown_slices = 0;
  for (std::size_t i = 0; i < runs[0].timeline.tracks.size(); ++i) {
    std::vector<TimelineSlice> cut;
    for (TimelineSlice slice : runs[0].timeline.tracks[i].slices) {
      const std::uint64_t begin = std::max(slice.begin, kBegin);
      const std::uint64_t end = std::min(slice.begin + slice.length, kEnd);
      if (begin < end) {
        cut.push_back(
            {.begin = begin, .length = end - begin, .what = slice.what, .count = slice.count});
      }
    }
    EXPECT_EQ(runs[1].timeline.tracks[i].slices, cut) << runs[0].timeline.tracks[i].name;
    shown_slices += cut.size();
  }
  EXPECT_GT(shown_slices, 100U);
  for (std::size_t i = 0; i < runs[0].timeline.levels.size(); ++i) {
    std::uint64_t before = 0;
    for (const TimelineLevel& level : runs[0].timeline.levels[i].levels) {
      before = level.cycle <= 700 ? level.value : before;
    }
    EXPECT_EQ(runs[1].timeline.levels[i].levels.front(),
              (TimelineLevel{.cycle = 700, .value = before}));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, TimelineTracks,
                         ::testing::Values("baseline", "sw-s:4", "arc-hw", "lab", "phi"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == ':' || c == '-'; }, '_');
                           return name;
                         });

// A run with too many samples keeps every second of them, and says so.
TEST(TimelineSamples, AreBounded) {
  SimOptions often = options_for("baseline");
  often.timeline_interval = 1;
  const RunResult run = run_all({often}, 600).front();
  ASSERT_GT(run.cycles, TimelineRecorder::kMostSamples);
  const Timeline& timeline = run.timeline;
  EXPECT_GT(timeline.interval, 1U);
  EXPECT_EQ(timeline.interval & (timeline.interval - 1), 0U);
  const auto& busy = timeline.busy.front().second;
  EXPECT_LE(busy.size(), TimelineRecorder::kMostSamples);
  EXPECT_EQ(busy.size(), (run.cycles + timeline.interval - 1) / timeline.interval);
  double issued = 0;
  for (const double part : busy) {
    EXPECT_LE(part, static_cast<double>(timeline.interval * timeline.units.front().second));
    issued += part;
  }
  EXPECT_EQ(issued, of(run.activity, "instructions"));
}

}  // namespace
}  // namespace warpfold::test
