// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/recording.hpp"

#include <bit>
#include <iomanip>
#include <nlohmann/json.hpp>

#include "traces/capture/common/trace_file.hpp"

namespace warpfold::capture {
namespace {

using trace::Record;
using trace::RecordKind;

std::size_t entry(const TileLists& lists, std::size_t tile, std::uint32_t pass, std::size_t warp) {
  return (std::size_t{lists.ranges[tile].begin} + pass) * kWarpsPerTile + warp;
}

// Appends `count` passes along `path`, merged with a neighbour of the same path.
void add_work(std::vector<Record>& records, std::uint16_t path) {
  if (!records.empty() && records.back().kind == RecordKind::kWork && records.back().path == path) {
    ++records.back().count;
    return;
  }
  Record record;
  record.kind = RecordKind::kWork;
  record.path = path;
  record.count = 1;
  records.push_back(record);
}

void add_barrier(std::vector<Record>& records) {
  Record record;
  record.kind = RecordKind::kBarrier;
  records.push_back(record);
}

std::uint16_t skip_path(Stage stage) {
  switch (stage) {
    case Stage::kPosition:
      return kPathSkipPosition;
    case Stage::kPower:
      return kPathSkipPower;
    case Stage::kAlpha:
      return kPathSkipAlpha;
    case Stage::kTaken:
      break;
  }
  return kPathTaken;
}

}  // namespace

trace::CtaTrace make_cta(const TileLists& lists, const Recording& recording, std::size_t tile,
                         const SampledValues* values, std::size_t sample) {
  trace::CtaTrace cta;
  cta.cta = tile;
  cta.warps.resize(kWarpsPerTile);
  const std::uint32_t passes = lists.length(tile);
  for (std::size_t w = 0; w < kWarpsPerTile; ++w) {
    trace::WarpTrace& warp = cta.warps[w];
    add_work(warp.records, kPathPrologue);
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      if (pass % kBatch == 0) {
        add_barrier(warp.records);
        add_work(warp.records, kPathBatch);
        add_barrier(warp.records);
      }
      const std::size_t at = entry(lists, tile, pass, w);
      if (recording.stages[at] != Stage::kTaken) {
        add_work(warp.records, skip_path(recording.stages[at]));
        continue;
      }
      Record record;
      record.kind = RecordKind::kEvent;
      record.mask = recording.masks[at];
      record.primitive = lists.backward(tile, pass);
      if (values != nullptr) {
        record.values = warp.values.size();
        const auto floats = static_cast<std::size_t>(std::popcount(record.mask)) * kParameters;
        const auto first = values->values.begin() +
                           static_cast<std::ptrdiff_t>(values->offsets[sample * kWarpsPerTile + w] +
                                                       record.values);
        warp.values.insert(warp.values.end(), first, first + static_cast<std::ptrdiff_t>(floats));
      }
      warp.records.push_back(record);
    }
    add_work(warp.records, kPathEpilogue);
  }
  return cta;
}

SampledValues choose_sample(const TileLists& lists, const Recording& recording,
                            std::uint64_t budget_bytes) {
  const std::size_t tiles = lists.ranges.size();
  std::vector<std::uint64_t> events(tiles), bytes(tiles);
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    for (std::uint32_t pass = 0; pass < lists.length(tile); ++pass) {
      for (std::size_t w = 0; w < kWarpsPerTile; ++w) {
        const std::uint32_t mask = recording.masks[entry(lists, tile, pass, w)];
        events[tile] += mask != 0 ? 1 : 0;
        bytes[tile] +=
            static_cast<std::uint64_t>(std::popcount(mask)) * kParameters * sizeof(float);
      }
    }
  }
  SampledValues sample;
  for (const std::uint64_t tile : choose_ctas(events, bytes, budget_bytes)) {
    sample.tiles.push_back(static_cast<std::uint32_t>(tile));
  }
  std::uint64_t offset = 0;
  for (const std::uint32_t tile : sample.tiles) {
    for (std::size_t w = 0; w < kWarpsPerTile; ++w) {
      sample.offsets.push_back(offset);
      for (std::uint32_t pass = 0; pass < lists.length(tile); ++pass) {
        const std::uint32_t mask = recording.masks[entry(lists, tile, pass, w)];
        offset += static_cast<std::uint64_t>(std::popcount(mask)) * kParameters;
      }
    }
  }
  sample.offsets.push_back(offset);
  return sample;
}

RecordingStats collect(const TileLists& lists, const Recording& recording) {
  RecordingStats stats;
  stats.tile_pairs = lists.primitives.size();
  stats.warps = lists.ranges.size() * kWarpsPerTile;
  for (std::size_t tile = 0; tile < lists.ranges.size(); ++tile) {
    const std::uint32_t passes = lists.length(tile);
    stats.batches += std::uint64_t{(passes + kBatch - 1) / kBatch} * kWarpsPerTile;
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      bool any = false;
      for (std::size_t w = 0; w < kWarpsPerTile; ++w) {
        const std::size_t at = entry(lists, tile, pass, w);
        ++stats.passes[static_cast<std::size_t>(recording.stages[at])];
        const std::uint32_t mask = recording.masks[at];
        if (mask != 0) {
          const int lanes = std::popcount(mask);
          ++stats.events;
          ++stats.events_by_lanes[lanes];
          stats.active_lanes += static_cast<std::uint64_t>(lanes);
          stats.full_events += lanes == trace::kWarpLanes ? 1 : 0;
          any = true;
        }
      }
      stats.pairs_with_event += any ? 1 : 0;
    }
  }
  return stats;
}

void print(const RecordingStats& stats, std::uint64_t visible, std::ostream& out) {
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
  };
  const auto line = [&out](const char* name, auto value) {
    out << "  " << std::left << std::setw(42) << name << value << '\n';
  };
  out << std::fixed << std::setprecision(2);
  line("visible Gaussians", visible);
  line("tile pairs", stats.tile_pairs);
  line("events", stats.events);
  line("mean active lanes", ratio(stats.active_lanes, stats.events));
  line("events with all 32 lanes, %", 100.0 * ratio(stats.full_events, stats.events));
  line("(tile, Gaussian) pairs with an event", stats.pairs_with_event);
  line("mean active warps per such pair", ratio(stats.events, stats.pairs_with_event));
  line("warps", stats.warps);
  line("warp batches", stats.batches);
  line("warp passes: all beyond last contributor", stats.passes[0]);
  line("warp passes: left at power > 0", stats.passes[1]);
  line("warp passes: left at alpha < 1/255", stats.passes[2]);
  line("warp passes: taken", stats.passes[3]);
  out.unsetf(std::ios::floatfield);
}

std::string to_json(const RecordingStats& stats) {
  nlohmann::ordered_json json;
  json["schema"] = "warpfold.path-counts/1";
  json["paths"] = {{"prologue", stats.warps},          {"batch", stats.batches},
                   {"skip_position", stats.passes[0]}, {"skip_power", stats.passes[1]},
                   {"skip_alpha", stats.passes[2]},    {"taken", stats.passes[3]},
                   {"epilogue", stats.warps}};
  json["barriers"] = 2 * stats.batches;
  json["parameters"] = kParameters;
  json["events_by_lanes"] = stats.events_by_lanes;
  return json.dump(1) + "\n";
}

}  // namespace warpfold::capture
