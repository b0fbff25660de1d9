// SPDX-License-Identifier: Apache-2.0
// What the driver of the workloads does without a GPU: logs of the recorder, policies, the choice
// of CTAs.
#include "traces/capture/workload/workload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "traces/capture/common/input.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/capture/workload/log.hpp"
#include "traces/capture/workload/variant.hpp"

namespace warpfold::capture::workload {
namespace {

using trace::RecordKind;

constexpr std::uint32_t head(unsigned kind) {
  return kind << kLogKindShift;
}
constexpr std::uint32_t work(unsigned path, unsigned passes) {
  return head(kLogWork) | path << kLogPathShift | passes;
}

TEST(Log, ComesInProgramOrder) {
  const std::vector<std::uint32_t> words = {
      work(0, 1),          head(kLogBarrier), work(2, 7), work(2, 3), head(kLogEvent), 0x5U, 42,
      head(kLogLaneEvent), 0x80000001U,       7,          9,          work(1, 1)};
  const trace::WarpTrace warp = decode_log(words, 2, false);
  ASSERT_EQ(warp.records.size(), 6U);
  EXPECT_EQ(warp.records[0].kind, RecordKind::kWork);
  EXPECT_EQ(warp.records[1].kind, RecordKind::kBarrier);
  EXPECT_EQ(warp.records[2].path, 2U);
  EXPECT_EQ(warp.records[2].count, 10U);
  EXPECT_EQ(warp.records[3].mask, 5U);
  EXPECT_EQ(warp.records[3].primitive, 42U);
  EXPECT_EQ(warp.records[3].lane_primitives, trace::Record::kUniform);
  ASSERT_EQ(warp.records[4].lane_primitives, 0U);
  EXPECT_EQ(warp.lane_primitives[0], 7U);
  EXPECT_EQ(warp.lane_primitives[31], 9U);
  EXPECT_EQ(warp.records[5].path, 1U);
}

// Loads of the prologue are not of the words behind those of a pass before.
TEST(TraceFile, MarksLoadsThatReadOn) {
  using trace::ResultClass;
  const trace::InstructionCost load{
      .waits = {{ResultClass::kGlobalLoad, 0, 5}, {ResultClass::kSfu, 0, 6}}};
  trace::Header header;
  header.paths = {"prologue", "taken"};
  header.sites.push_back({.name = "site", .parameters = {}, .taken_path = "taken"});
  header.costs["sm_90"]["baseline"].paths = {load, load};
  header.costs["sm_90"]["baseline"].reduce = {{{"plain", load}}};
  mark_next_words(header);
  const trace::VariantCost& marked = header.costs["sm_90"]["baseline"];
  EXPECT_EQ(marked.paths[0], load);
  EXPECT_EQ(marked.paths[1].waits[0].kind, ResultClass::kNextWord);
  EXPECT_EQ(marked.paths[1].waits[1], load.waits[1]);
  EXPECT_EQ(marked.reduce.at(0).at("plain").waits[0].kind, ResultClass::kNextWord);
}

TEST(Log, ValuesAreByParameterThenByLane) {
  const std::vector<std::uint32_t> words = {head(kLogEvent), 0x5U, 42, 1, 2, 3, 4,
                                            head(kLogEvent), 0x2U, 41, 5, 6};
  const trace::WarpTrace warp = decode_log(words, 2, true);
  ASSERT_EQ(warp.records.size(), 2U);
  EXPECT_EQ(warp.records[0].values, 0U);
  EXPECT_EQ(warp.records[1].values, 4U);
  EXPECT_EQ(warp.values, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Log, RefusesWhatNoRecorderWrites) {
  const auto refused = [](std::vector<std::uint32_t> words, bool values) {
    EXPECT_THROW((void)decode_log(words, 1, values), trace::TraceError);
  };
  refused({work(0, 0)}, false);
  refused({head(kLogEvent), 0, 1}, false);
  refused({head(kLogEvent), 1}, false);
  refused({head(kLogEvent), 1, 1}, true);
  refused({head(kLogLaneEvent), 3, 1}, false);
}

LaunchLog two_ctas() {
  LaunchLog log;
  log.parameters = 1;
  log.warps_per_cta = 1;
  log.ctas = {3, 5};
  const std::vector<std::uint32_t> first = {work(0, 2), head(kLogEvent), 0xfU, 1};
  // Groups of three, two and one lane.
  const std::vector<std::uint32_t> second = {
      head(kLogBarrier), head(kLogLaneEvent), 0x3fU, 4, 4, 8, 9, 4, 9};
  log.offsets = {0, first.size(), first.size() + second.size()};
  log.words = first;
  log.words.insert(log.words.end(), second.begin(), second.end());
  return log;
}

TEST(Log, IsCountedByGroups) {
  const LogStats stats = collect(two_ctas(), 1);
  EXPECT_EQ(stats.warps, 2U);
  EXPECT_EQ(stats.passes, std::vector<std::uint64_t>{2});
  EXPECT_EQ(stats.barriers, 1U);
  EXPECT_EQ(stats.events, 2U);
  EXPECT_EQ(stats.active_lanes, 10U);
  EXPECT_EQ(stats.one_address_events, 1U);
  EXPECT_EQ(stats.events_by_lanes[4], 1U);
  EXPECT_EQ(stats.events_by_lanes[6], 1U);
  EXPECT_EQ(stats.one_address_by_lanes[4], 1U);
  EXPECT_EQ(stats.one_address_by_lanes[6], 0U);
  EXPECT_EQ(stats.groups_by_lanes[4], 1U);
  EXPECT_EQ(stats.groups_by_lanes[3], 1U);
  EXPECT_EQ(stats.groups_by_lanes[2], 1U);
  EXPECT_EQ(stats.groups_by_lanes[1], 1U);
  EXPECT_EQ(stats.cta_events, (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(stats.cta_lanes, (std::vector<std::uint64_t>{4, 6}));
  // From three lanes on both events reduce; the smaller groups of the second add as they are.
  EXPECT_EQ(stats.serial_events[3], 2U);
  EXPECT_EQ(stats.serial_turns[3], 5U);
  EXPECT_EQ(stats.plain_events[3], 1U);
  EXPECT_EQ(stats.serial_events[4], 1U);
  EXPECT_EQ(stats.serial_turns[4], 3U);
  EXPECT_EQ(stats.plain_events[4], 1U);
  EXPECT_EQ(stats.serial_events[32], 0U);
  EXPECT_EQ(stats.plain_events[0], 0U);
  EXPECT_THROW((void)collect(two_ctas(), 0), trace::TraceError);
}

TEST(Log, CtasKeepTheirIndex) {
  const LaunchLog log = two_ctas();
  const trace::CtaTrace cta = log.cta(1);
  EXPECT_EQ(cta.cta, 5U);
  ASSERT_EQ(cta.warps.size(), 1U);
  EXPECT_EQ(cta.warps[0].records.size(), 2U);
}

TEST(Policies, AreThoseOfTheKernelsThatThereAre) {
  Kernels kernels;
  const int kernel = 0;
  for (const Variant variant : {Variant::kBaseline, Variant::kSwS, Variant::kNone}) {
    kernels.variants[static_cast<std::size_t>(variant)] = &kernel;
  }
  EXPECT_EQ(parse_policy("sw-s:12", kernels), (Policy{Variant::kSwS, 12}));
  EXPECT_EQ(parse_policy("none", kernels).name(), "none");
  for (const char* bad : {"sw-b:4", "sw-s", "sw-s:33", "sw-s:x", "baseline:1", ""}) {
    EXPECT_THROW((void)parse_policy(bad, kernels), InputError) << bad;
  }
  EXPECT_EQ(timed_policies(kernels).size(), 11U);
  EXPECT_EQ(profiled_policies(kernels).size(), 3U);
  for (const Policy& policy : checked_policies(kernels)) {
    EXPECT_NE(policy.variant, Variant::kNone);
  }
  // As where a GPU lacks bulk operations.
  EXPECT_THROW((void)parse_policy("bulk", kernels), InputError);
  kernels.variants[static_cast<std::size_t>(Variant::kBulk)] = &kernel;
  EXPECT_EQ(parse_policy("bulk", kernels).variant, Variant::kBulk);
  EXPECT_EQ(checked_policies(kernels).back().name(), "bulk");
}

// A kernel in halves: values and sums of its two are told apart by their bytes.
TEST(Arrays, HaveTwoHalvesInAFloat) {
  const Array floats{"floats", nullptr, 12};
  const Array halves{"halves", nullptr, 12, true};
  EXPECT_EQ(floats.values() * floats.value_bytes(), 48U);
  EXPECT_EQ(halves.values(), 24U);
  EXPECT_EQ(halves.values() * halves.value_bytes(), 48U);
}

TEST(ChosenCtas, AreSpacedOverTheRanks) {
  const std::vector<std::uint64_t> events = {50, 10, 40, 20, 30};
  EXPECT_EQ(choose_ctas(events, 1), (std::vector<std::uint64_t>{4}));
  EXPECT_EQ(choose_ctas(events, 5), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(choose_ctas(events, 9).size(), 5U);
  EXPECT_EQ(choose_ctas(events, events, 150).size(), 5U);
  EXPECT_EQ(choose_ctas(events, events, 149).size(), 4U);
  EXPECT_EQ(choose_ctas(events, events, 0).size(), 1U);
  EXPECT_EQ(describe_sampling(5, 5), "");
  EXPECT_EQ(describe_sampling(1, 5),
            "1 of 5 CTAs, whole, evenly spaced over the CTAs ranked by (events, index)");
}

}  // namespace
}  // namespace warpfold::capture::workload
