// SPDX-License-Identifier: Apache-2.0
// A frame of the size of the truck scene must fit in 4 MiB without values.
#include <gtest/gtest.h>

#include <vector>

#include "tb/trace/synthetic.hpp"
#include "tb/trace/trace_files.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::trace::test {
namespace {

TEST(FrameSize, ASyntheticFrameFitsInFourMebibytes) {
  constexpr std::uint64_t kSeed = 1;
  const TempFolder folder;
  const Header header = SyntheticFrame::header();
  SyntheticFrame frame(kSeed);
  Writer writer(folder / "frame.wft", header);
  for (std::uint64_t i = 0; i < header.total_ctas; ++i) {
    writer.add(frame.cta(i));
  }
  writer.finish();

  const Reader reader(folder / "frame.wft");
  const TraceStats stats = collect_stats(reader);
  EXPECT_NEAR(static_cast<double>(stats.events), 758'844.0, 40'000.0);
  EXPECT_NEAR(stats.mean_active_lanes(), 13.1, 1.0);
  EXPECT_NEAR(static_cast<double>(stats.cta_primitive_pairs), 209'211.0, 20'000.0);
  EXPECT_EQ(stats.events, reader.event_count());
  EXPECT_LT(reader.file_bytes(), std::uint64_t{4} << 20U);
  RecordProperty("bytes", std::to_string(reader.file_bytes()));

  // The same frame again, CTA by CTA.
  SyntheticFrame same(kSeed);
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    ASSERT_EQ(reader.read_cta(i), same.cta(i)) << i;
  }
}

}  // namespace
}  // namespace warpfold::trace::test
