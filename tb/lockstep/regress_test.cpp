// SPDX-License-Identifier: Apache-2.0
// regress_trace() over small traces: every event of every CTA is run, with the trace's own values.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/unit/lockstep.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/lockstep/units_of_rtl.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/writer.hpp"

namespace warpfold {
namespace {

constexpr std::uint32_t kParameters = 3;
constexpr std::uint32_t kCtas = 4;
constexpr std::uint32_t kWarps = 2;
constexpr std::uint32_t kEvents = 25;

struct Written {
  std::uint64_t events = 0;
  std::uint64_t lanes = 0;  // of all parameters
};

class RegressTrace : public testing::TestWithParam<std::tuple<trace::ValueMode, UnitKind>> {
 protected:
  static trace::ValueMode values() { return std::get<0>(GetParam()); }
  static UnitKind kind() { return std::get<1>(GetParam()); }
  static std::uint64_t requests_per_event() {
    return kind().max_words > 1 ? (kParameters + kMaxWords - 1) / kMaxWords : kParameters;
  }

  RegressTrace() {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    path_ = std::filesystem::path(testing::TempDir()) / ("warpfold_regress_" + name + ".wft");
  }
  ~RegressTrace() override { std::filesystem::remove(path_); }

  Written write() {
    trace::Header header;
    header.workload = "test";
    header.scene = "none";
    header.kernel = "none";
    header.gpu = "none";
    header.driver = "none";
    header.cuda = "none";
    header.grid[0] = kCtas;
    header.block[0] = kWarps * 32;
    header.registers_per_thread = 32;
    header.total_ctas = kCtas;
    const bool halves = unit_declaration(kind()).promise.adds == WordType::kHalves;
    header.sites = {{.name = "site",
                     .type = halves ? trace::ValueType::kF16x2 : trace::ValueType::kF32,
                     .primitive_count = 100,
                     .parameters = {{"x", 0x7f0000001000, 8},
                                    {"y", 0x7f0000001004, 8},
                                    {"w", 0x7f0000008000, 4}},
                     .taken_path = "taken"}};
    header.paths = {"skipped", "taken"};
    header.values = values();
    trace::Writer writer(path_, header);
    SplitMix64 random(test_seed());
    Written written;
    for (std::uint32_t c = 0; c < kCtas; ++c) {
      trace::CtaTrace cta;
      cta.cta = c;
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        trace::WarpTrace warp;
        for (std::uint32_t e = 0; e < kEvents; ++e) {
          trace::Record work;
          work.count = 1 + random.below(5);
          warp.records.push_back(work);
          trace::Record event;
          event.kind = trace::RecordKind::kEvent;
          event.mask = static_cast<LaneMask>(random.next()) | 1;
          if (random.below(3) == 0) {
            event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
            for (int lane = 0; lane < kLanes; ++lane) {
              const bool active = (event.mask >> lane & 1) != 0;
              warp.lane_primitives.push_back(active ? 40 + random.below(5) : 0);
            }
          } else {
            event.primitive = random.below(100);
          }
          const auto lanes = static_cast<std::uint64_t>(lane_count(event.mask)) * kParameters;
          if (values() == trace::ValueMode::kOperands) {
            event.values = warp.values.size();
            for (std::uint64_t i = 0; i < lanes; ++i) {
              warp.values.push_back(synthetic_value(c, w, e, 0, static_cast<std::uint32_t>(i)));
            }
          }
          warp.records.push_back(event);
          ++written.events;
          written.lanes += lanes;
        }
        cta.warps.push_back(warp);
      }
      writer.add(cta);
    }
    writer.finish();
    return written;
  }

  std::filesystem::path path_;
};

TEST_P(RegressTrace, RunsEveryEvent) {
  const Written written = write();
  const trace::Reader reader(path_);
  std::uint64_t progress_ctas = 0;
  RegressOptions options{.kind = kind(), .seed = test_seed()};
  options.progress = [&](const RegressResult& result) {
    EXPECT_EQ(result.ctas, ++progress_ctas);
    EXPECT_EQ(result.events, progress_ctas * kWarps * kEvents);
  };
  const RegressResult result = regress_trace(reader, options);
  EXPECT_TRUE(result.passed) << result.message;
  EXPECT_EQ(result.message, "");
  EXPECT_EQ(result.ctas, kCtas);
  EXPECT_EQ(progress_ctas, kCtas);
  EXPECT_EQ(result.events, written.events);
  EXPECT_EQ(result.counts.requests, written.events * requests_per_event());
  EXPECT_EQ(result.counts.plain_lanes + result.counts.reduced_lanes, written.lanes);
  EXPECT_GT(result.counts.plain_transactions, 0U);
  EXPECT_GT(result.counts.reduced_transactions, 0U);
}

TEST_P(RegressTrace, StopsAfterMaxEvents) {
  write();
  const trace::Reader reader(path_);
  for (const std::uint64_t max_events : {1U, 25U, 60U}) {
    const RegressResult result = regress_trace(reader, {.kind = kind(), .max_events = max_events});
    EXPECT_TRUE(result.passed) << result.message;
    EXPECT_EQ(result.events, max_events);
    EXPECT_EQ(result.counts.requests, max_events * requests_per_event());
  }
}

TEST_P(RegressTrace, WithoutStallsAllIsPlain) {
  const Written written = write();
  const RegressResult result =
      regress_trace(trace::Reader(path_), {.kind = kind(), .stall_probability = 0});
  EXPECT_TRUE(result.passed) << result.message;
  if (kind().max_words > 1) {  // reduces groups whatever the memory queue does
    EXPECT_GT(result.counts.reduced_transactions, 0U);
    EXPECT_EQ(result.counts.plain_lanes + result.counts.reduced_lanes, written.lanes);
    return;
  }
  EXPECT_EQ(result.counts.reduced_transactions, 0U);
  EXPECT_EQ(result.counts.plain_lanes, written.lanes);
}

INSTANTIATE_TEST_SUITE_P(
    Values, RegressTrace,
    testing::Combine(testing::Values(trace::ValueMode::kNone, trace::ValueMode::kOperands),
                     testing::ValuesIn(unit_kinds())),
    [](const testing::TestParamInfo<RegressTrace::ParamType>& parameter) {
      const bool none = std::get<0>(parameter.param) == trace::ValueMode::kNone;
      return (none ? "none_" : "operands_") + kind_test_name(std::get<1>(parameter.param));
    });

}  // namespace
}  // namespace warpfold
