// SPDX-License-Identifier: Apache-2.0
// A followed launch as a trace file, and what is left of it where it is stopped.
#include "traces/record/host/trace_builder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tb/record/ring_words.hpp"
#include "traces/format/reader.hpp"

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
    const nlohmann::json costs = std::vector<nlohmann::json>(tracker.ways_gone().size());
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

TEST_F(TraceBuilder, OneThatIsStoppedLeavesNoFile) {
  std::uint32_t asked = 0;
  EXPECT_THROW(build([&] { return ++asked == 3; }), trace::TraceError);
  EXPECT_EQ(asked, 3U);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace warpfold::record::test
