// SPDX-License-Identifier: Apache-2.0
// From a recording to a trace.
#include "traces/capture/splat/recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tb/capture/fixture.hpp"
#include "traces/capture/splat/output.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::capture {
namespace {

using trace::RecordKind;

// Fills in values that name their place: tile, warp, and running number.
void number_values(SampledValues& sample) {
  sample.values.resize(sample.offsets.back());
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    sample.values[i] = static_cast<std::uint32_t>(i);
  }
}

trace::Header header_of(const SmallFrame& f) {
  trace::Header header;
  header.kernel = "test";
  header.grid[0] = static_cast<std::uint32_t>(f.camera.tiles_x());
  header.grid[1] = static_cast<std::uint32_t>(f.camera.tiles_y());
  header.block[0] = header.block[1] = kTileSize;
  header.registers_per_thread = 32;
  trace::Site site{.name = "test",
                   .primitive_count = f.scene.size(),
                   .parameters = {},
                   .taken_path = kPathNames[kPathTaken]};
  std::uint64_t addresses[kParameters];
  choose_addresses(f.scene.size(), addresses);
  for (std::size_t p = 0; p < kParameters; ++p) {
    const GradientSlot& slot = kGradientSlots[p];
    site.parameters.push_back({slot.name, addresses[p], kGradientFloats[slot.array] * 4});
  }
  header.paths.assign(std::begin(kPathNames), std::end(kPathNames));
  header.sites.push_back(site);
  header.total_ctas = static_cast<std::uint64_t>(f.camera.tiles());
  return header;
}

TEST(Recording, AWarpGoesThroughItsProgramInOrder) {
  // One tile, 300 Gaussians: two batches. Warp 0 adds in passes 0 and 299 and skips between them.
  TileLists lists;
  lists.tiles_x = lists.tiles_y = 1;
  for (std::uint32_t i = 0; i < 300; ++i) {
    lists.primitives.push_back(1000 + i);
  }
  lists.ranges = {{0, 300}};
  Recording recording;
  recording.masks.assign(300 * kWarpsPerTile, 0);
  recording.stages.assign(300 * kWarpsPerTile, Stage::kPosition);
  const auto set = [&](std::size_t pass, Stage stage, std::uint32_t mask) {
    recording.stages[pass * kWarpsPerTile] = stage;
    recording.masks[pass * kWarpsPerTile] = mask;
  };
  set(0, Stage::kTaken, 0x8000'0001U);
  for (std::size_t pass = 1; pass < 100; ++pass) {
    set(pass, Stage::kAlpha, 0);
  }
  set(100, Stage::kPower, 0);
  set(299, Stage::kTaken, 0xffffU);

  const trace::CtaTrace cta = make_cta(lists, recording, 0, nullptr, 0);
  ASSERT_EQ(cta.warps.size(), 8U);
  struct Expected {
    RecordKind kind;
    std::uint16_t path;
    std::uint32_t count, mask, primitive;
  };
  const std::vector<Expected> expected = {
      {RecordKind::kWork, kPathPrologue, 1, 0, 0},
      {RecordKind::kBarrier, 0, 0, 0, 0},
      {RecordKind::kWork, kPathBatch, 1, 0, 0},
      {RecordKind::kBarrier, 0, 0, 0, 0},
      {RecordKind::kEvent, 0, 0, 0x8000'0001U, 1299},
      {RecordKind::kWork, kPathSkipAlpha, 99, 0, 0},
      {RecordKind::kWork, kPathSkipPower, 1, 0, 0},
      {RecordKind::kWork, kPathSkipPosition, 155, 0, 0},
      {RecordKind::kBarrier, 0, 0, 0, 0},
      {RecordKind::kWork, kPathBatch, 1, 0, 0},
      {RecordKind::kBarrier, 0, 0, 0, 0},
      {RecordKind::kWork, kPathSkipPosition, 43, 0, 0},
      {RecordKind::kEvent, 0, 0, 0xffffU, 1000},
      {RecordKind::kWork, kPathEpilogue, 1, 0, 0},
  };
  const auto& records = cta.warps[0].records;
  ASSERT_EQ(records.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(records[i].kind, expected[i].kind);
    EXPECT_EQ(records[i].path, expected[i].path);
    EXPECT_EQ(records[i].count, expected[i].count);
    EXPECT_EQ(records[i].mask, expected[i].mask);
    EXPECT_EQ(records[i].primitive, expected[i].primitive);
  }
}

TEST(Recording, AnEmptyTileHasPrologueAndEpilogueOnly) {
  TileLists lists;
  lists.tiles_x = lists.tiles_y = 1;
  lists.ranges = {{0, 0}};
  const trace::CtaTrace cta = make_cta(lists, Recording{}, 0, nullptr, 0);
  for (const auto& warp : cta.warps) {
    ASSERT_EQ(warp.records.size(), 2U);
    EXPECT_EQ(warp.records[0].path, kPathPrologue);
    EXPECT_EQ(warp.records[1].path, kPathEpilogue);
  }
}

TEST(Recording, EventsHoldEveryContribution) {
  // Lanes of all events, counted from the masks, against contributions counted pixel by pixel.
  const SmallFrame f(400, 83, 61, 5);
  const RecordingStats stats = collect(f.lists, f.recording);
  EXPECT_EQ(stats.tile_pairs, f.lists.primitives.size());
  EXPECT_EQ(stats.passes[3], stats.events);
  EXPECT_EQ(stats.passes[0] + stats.passes[1] + stats.passes[2] + stats.passes[3],
            stats.tile_pairs * kWarpsPerTile);
  std::uint64_t from_histogram = 0;
  for (std::size_t lanes = 0; lanes <= trace::kWarpLanes; ++lanes) {
    from_histogram += lanes * stats.events_by_lanes[lanes];
  }
  EXPECT_EQ(from_histogram, stats.active_lanes);
  EXPECT_EQ(stats.events_by_lanes[0], 0U);
  EXPECT_GT(stats.full_events, 0U);
  for (std::size_t i = 0; i < f.recording.masks.size(); ++i) {
    EXPECT_EQ(f.recording.masks[i] != 0, f.recording.stages[i] == Stage::kTaken);
  }
  std::uint64_t contributions = 0;
  for (std::size_t tile = 0; tile < f.lists.ranges.size(); ++tile) {
    const int x0 = static_cast<int>(tile) % f.lists.tiles_x * kTileSize;
    const int y0 = static_cast<int>(tile) / f.lists.tiles_x * kTileSize;
    for (int y = y0; y < std::min(y0 + kTileSize, f.camera.height); ++y) {
      for (int x = x0; x < std::min(x0 + kTileSize, f.camera.width); ++x) {
        const auto pixel = static_cast<std::size_t>(y * f.camera.width + x);
        for (std::uint32_t i = 0; i < f.frame.last[pixel]; ++i) {
          const auto& g = f.gaussians[f.lists.primitives[f.lists.ranges[tile].begin + i]];
          const double dx = g.x - x;
          const double dy = g.y - y;
          const double power =
              -0.5 * (g.conic[0] * dx * dx + g.conic[2] * dy * dy) - g.conic[1] * dx * dy;
          contributions += power <= 0 && g.opacity * std::exp(power) >= 1.0 / 255 ? 1U : 0U;
        }
      }
    }
  }
  EXPECT_EQ(stats.active_lanes, contributions);
}

TEST(Recording, TheSampleIsSpreadOverTheRankedTilesAndKeepsItsBudget) {
  const SmallFrame f(400, 83, 61, 5);
  SampledValues all = choose_sample(f.lists, f.recording, UINT64_MAX);
  ASSERT_EQ(all.tiles.size(), f.lists.ranges.size());
  for (std::size_t i = 0; i < all.tiles.size(); ++i) {
    EXPECT_EQ(all.tiles[i], i);
  }
  const RecordingStats stats = collect(f.lists, f.recording);
  EXPECT_EQ(all.offsets.back(), stats.active_lanes * kParameters);

  const std::uint64_t budget = all.offsets.back() * sizeof(float) / 3;
  const SampledValues third = choose_sample(f.lists, f.recording, budget);
  EXPECT_LE(third.offsets.back() * sizeof(float), budget);
  EXPECT_GE(third.tiles.size(), 2U);
  EXPECT_TRUE(std::is_sorted(third.tiles.begin(), third.tiles.end()));
  EXPECT_EQ(third.offsets.size(), third.tiles.size() * kWarpsPerTile + 1);
  EXPECT_EQ(choose_sample(f.lists, f.recording, budget).tiles, third.tiles);
  EXPECT_EQ(choose_sample(f.lists, f.recording, 0).tiles.size(), 1U);
}

TEST(Recording, TracesHoldTheFrameAndTheValues) {
  const SmallFrame f(400, 83, 61, 5);
  const auto folder = std::filesystem::path(testing::TempDir());
  const RecordingStats stats = collect(f.lists, f.recording);

  trace::Header header = header_of(f);
  const auto whole = folder / "capture_whole.wft";
  {
    trace::Writer writer(whole, header);
    for (std::size_t tile = 0; tile < f.lists.ranges.size(); ++tile) {
      writer.add(make_cta(f.lists, f.recording, tile, nullptr, 0));
    }
    writer.finish();
  }
  {
    const trace::Reader reader(whole);
    reader.verify();
    const trace::TraceStats read = trace::collect_stats(reader);
    EXPECT_EQ(read.events, stats.events);
    EXPECT_EQ(read.active_lanes, stats.active_lanes);
    EXPECT_EQ(read.full_events, stats.full_events);
    EXPECT_EQ(read.cta_primitive_pairs, stats.pairs_with_event);
    EXPECT_EQ(read.barriers, 2 * stats.batches);
    EXPECT_EQ(read.one_address_events, stats.events);
    EXPECT_EQ(read.work_passes[kPathSkipPosition], stats.passes[0]);
    EXPECT_EQ(read.work_passes[kPathSkipAlpha], stats.passes[2]);
  }

  SampledValues sample = choose_sample(f.lists, f.recording, 200'000);
  number_values(sample);
  header.values = trace::ValueMode::kOperands;
  header.sampling = "a test";
  const auto sampled = folder / "capture_values.wft";
  {
    trace::Writer writer(sampled, header);
    for (std::size_t s = 0; s < sample.tiles.size(); ++s) {
      writer.add(make_cta(f.lists, f.recording, sample.tiles[s], &sample, s));
    }
    writer.finish();
  }
  const trace::Reader reader(sampled);
  ASSERT_EQ(reader.cta_count(), sample.tiles.size());
  std::uint32_t next = 0;
  for (std::size_t s = 0; s < reader.cta_count(); ++s) {
    const trace::CtaTrace cta = reader.read_cta(s);
    EXPECT_EQ(cta.cta, sample.tiles[s]);
    for (const auto& warp : cta.warps) {
      for (const auto& record : warp.records) {
        if (record.kind != RecordKind::kEvent) {
          continue;
        }
        const auto floats = static_cast<std::size_t>(std::popcount(record.mask)) * kParameters;
        for (std::size_t i = 0; i < floats; ++i) {
          ASSERT_EQ(warp.values[record.values + i], next);
          ++next;
        }
      }
    }
  }
  EXPECT_EQ(next, sample.offsets.back());
  std::filesystem::remove(whole);
  std::filesystem::remove(sampled);
}

TEST(Recording, CountsAsJson) {
  const SmallFrame f(100, 40, 40, 2);
  const RecordingStats stats = collect(f.lists, f.recording);
  const auto json = nlohmann::json::parse(to_json(stats));
  EXPECT_EQ(json.at("schema"), "warpfold.path-counts/1");
  EXPECT_EQ(json.at("paths").at("taken"), stats.events);
  EXPECT_EQ(json.at("paths").at("skip_position"), stats.passes[0]);
  EXPECT_EQ(json.at("barriers"), 2 * stats.batches);
  EXPECT_EQ(json.at("events_by_lanes").size(), 33U);
}

}  // namespace
}  // namespace warpfold::capture
