// SPDX-License-Identifier: Apache-2.0
// A followed launch as a trace file, and what is left of it where it is stopped.
#include "traces/record/host/trace_builder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tb/record/ring_words.hpp"
#include "traces/format/reader.hpp"
#include "traces/record/host/variant_costs.hpp"

namespace warpfold::record::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kCtas = 5;

class TraceBuilder : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    make_red(code_, 5);
    launch_.function = "kernel";
    launch_.grid[0] = kCtas;
    launch_.block[0] = 32;
    launch_.registers = 16;
    launch_.gpu = "a GPU";
  }
  void TearDown() override { fs::remove_all(folder_); }

  BuiltTrace build(const std::function<bool()>& stop) {
    const LaunchShape shape = launch_.shape(1);
    RingWords words;
    for (std::uint32_t cta = 0; cta < kCtas; ++cta) {
      words.enter(kAll, cta).red(5, 0xffU, {0x1000 + 4 * std::uint64_t{cta}}, cta);
      words.exit(9, kAll, cta);
    }
    LaunchTracker tracker(code_, shape);
    tracker.add(words.words());
    tracker.finish();
    const WayCosts costs{.whole = std::vector<nlohmann::json>(tracker.ways_gone().size()),
                         .parts = nullptr};
    return build(tracker, costs, shape, stop);
  }

  BuiltTrace build(const LaunchTracker& tracker, const WayCosts& costs, const LaunchShape& shape,
                   const std::function<bool()>& stop = {}) {
    const nlohmann::json reductions = nlohmann::json::object();
    return build_trace({.launch = launch_,
                        .code = code_,
                        .tracker = tracker,
                        .way_costs = costs,
                        .reductions = reductions,
                        .times = {},
                        .provenance = {},
                        .workload = "a workload",
                        .scene = "",
                        .stop = stop},
                       shape, path_);
  }

  const fs::path folder_ = fs::temp_directory_path() / ("builder-" + std::to_string(getpid()));
  const fs::path path_ = folder_ / "kernel.wft";
  KernelCode code_ = straight_code(10);
  LaunchInfo launch_;
};

TEST_F(TraceBuilder, EachCtaIsAskedAboutAndWritten) {
  std::uint32_t asked = 0;
  const BuiltTrace built = build([&] {
    ++asked;
    return false;
  });
  EXPECT_EQ(asked, kCtas);
  EXPECT_EQ(built.events, kCtas);
  EXPECT_EQ(built.lane_additions, 8U * kCtas);
  EXPECT_EQ(trace::Reader(path_).cta_count(), kCtas);
}

// A way is cut where it waits for a load, and its records have what is issued between.
TEST_F(TraceBuilder, AWarpWaitsForItsLoadsWithinAWay) {
  make_load(code_, 3);
  make_load(code_, 7, trace::AccessKind::kStore);
  launch_.grid[0] = 1;
  LaunchTracker tracker(code_, launch_.shape(1));
  tracker.add(RingWords()
                  .enter()
                  .access(3, kAll, {{0x2080, 0x6U}, {0x2000, 0x8U}})
                  .red(5, 0xffU, {0x1000})
                  .access(7, 0x3U, {{0x3000, 0x1U}})
                  .exit(9)
                  .words());
  tracker.finish();
  ASSERT_EQ(tracker.ways_gone().size(), 4U);
  const auto cost = [](int slots) {
    nlohmann::json json;
    for (const char* key : kIssued) {
      json[key] = 0;
    }
    json.update({{"alu", slots},
                 {"stall_cycles", slots},
                 {"branches", 0},
                 {"waits", nlohmann::json::array()}});
    return json;
  };
  const auto part = [](std::vector<int> loads, const nlohmann::json& of) {
    return nlohmann::json{{"loads", std::move(loads)}, {"cost", of}};
  };
  // Up to the load; from it to the RED, with 2 instructions ahead of the wait and 5 behind; to the
  // store, which waits for one that is not recorded; to the end.
  const WayCosts costs{.whole = {cost(4), cost(7), cost(1), cost(1)},
                       .parts = {{part({}, cost(4))},
                                 {part({}, cost(2)), part({3 * 16}, cost(5))},
                                 {part({}, nullptr), part({6 * 16}, cost(1))},
                                 {part({}, cost(1))}}};
  const BuiltTrace built = build(tracker, costs, launch_.shape(1));
  EXPECT_EQ(built.accesses, 2U);
  EXPECT_EQ(built.sectors, 4U);
  EXPECT_EQ(built.instructions.taken, 13U + 3U);
  const trace::Reader reader(path_);
  reader.verify();
  ASSERT_EQ(reader.header().memory.size(), 2U);
  EXPECT_EQ(reader.header().memory[0].kind, trace::AccessKind::kLoad);
  EXPECT_EQ(reader.header().memory[1].kind, trace::AccessKind::kStore);
  EXPECT_EQ(reader.header().paths.size(), 5U);
  const trace::WarpTrace warp = reader.read_cta(0).warps.at(0);
  using Kind = trace::RecordKind;
  std::vector<Kind> kinds;
  for (const trace::Record& record : warp.records) {
    kinds.push_back(record.kind);
  }
  EXPECT_EQ(kinds,
            (std::vector<Kind>{Kind::kWork, Kind::kAccess, Kind::kWork, Kind::kWait, Kind::kWork,
                               Kind::kEvent, Kind::kWork, Kind::kAccess, Kind::kWork}));
  EXPECT_EQ(warp.records[3].site, 0U);
  EXPECT_EQ(reader.header().costs.at("sm_90").at("baseline").paths[2].alu, 5U);
  EXPECT_EQ(warp.sectors,
            (std::vector<std::uint64_t>{0x20a0 / 32, 0x20c0 / 32, 0x2060 / 32, 0x3000 / 32}));
}

// A row of 20 units from the middle of a line on: 64 bytes, a whole line, and 128 of the next.
TEST_F(TraceBuilder, ARowIsAnEventForEachLine) {
  make_row(code_, 5);
  LaunchTracker tracker(code_, launch_.shape(kCtas));
  tracker.add(RingWords()
                  .enter(kAll, kCtas / 2)
                  .row(5, 1U, 0x1040, 20, kCtas / 2)
                  .exit(9, kAll, kCtas / 2)
                  .words());
  tracker.finish();
  const WayCosts costs{.whole = std::vector<nlohmann::json>(tracker.ways_gone().size()),
                       .parts = nullptr};
  const BuiltTrace built = build(tracker, costs, launch_.shape(kCtas));
  EXPECT_EQ(built.events, 3U);
  EXPECT_EQ(built.lane_additions, 80U);
  const trace::Reader reader(path_);
  const trace::WarpTrace warp = reader.read_cta(0).warps.at(0);
  std::vector<std::uint32_t> masks, firsts;
  for (const trace::Record& record : warp.records) {
    if (record.kind == trace::RecordKind::kEvent) {
      masks.push_back(record.mask);
      firsts.push_back(warp.lane_primitives.at(record.lane_primitives));
    }
  }
  EXPECT_EQ(masks, (std::vector<std::uint32_t>{0xffffU, ~0U, ~0U}));
  EXPECT_EQ(firsts, (std::vector<std::uint32_t>{0, 16, 48}));
}

TEST_F(TraceBuilder, WhatALaunchHasThatIsNotSimulatedIsRemarked) {
  launch_.cluster[0] = 2;
  launch_.cluster[1] = launch_.cluster[2] = 1;
  launch_.cooperative = launch_.in_graph = true;
  launch_.allocations[0x1000] = 0x1000;
  launch_.managed = {0x1000};
  code_.instructions[7].atomic = Atomic{.name = "UTMAREDG",
                                        .kind = trace::SiteKind::kBulk,
                                        .adds_floats = true,
                                        .is_reported = false};
  build([] { return false; });
  const auto remarks = trace::Reader(path_).header().remarks;
  ASSERT_EQ(remarks.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string expected[] = {"clusters of 2x1x1", "cooperative", "by a graph",
                                    "managed memory", "1 instructions add from shared memory"};
    EXPECT_NE(remarks[i].find(expected[i]), std::string::npos) << remarks[i];
  }
}

TEST_F(TraceBuilder, OneThatIsStoppedLeavesNoFile) {
  std::uint32_t asked = 0;
  EXPECT_THROW(build([&] { return ++asked == 3; }), trace::TraceError);
  EXPECT_EQ(asked, 3U);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace warpfold::record::test
