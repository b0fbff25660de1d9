// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/log.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace warpfold::capture::workload {

using trace::Record;
using trace::RecordKind;

trace::WarpTrace decode_log(std::span<const std::uint32_t> words, std::size_t parameters,
                            bool with_values) {
  trace::WarpTrace warp;
  std::size_t at = 0;
  const auto take = [&](std::size_t count) {
    if (count > words.size() - at) {
      throw trace::TraceError("a recorded entry is cut off");
    }
    const auto part = words.subspan(at, count);
    at += count;
    return part;
  };
  while (at < words.size()) {
    const std::uint32_t head = take(1)[0];
    const std::uint32_t kind = head >> kLogKindShift;
    Record record;
    if (kind == kLogWork) {
      record.kind = RecordKind::kWork;
      record.path = static_cast<std::uint16_t>(head >> kLogPathShift & (kLogPaths - 1));
      record.count = head & kLogPasses;
      if (record.count == 0) {
        throw trace::TraceError("a recorded work entry has no pass");
      }
      if (!warp.records.empty() && warp.records.back().kind == RecordKind::kWork &&
          warp.records.back().path == record.path) {
        warp.records.back().count += record.count;
        continue;
      }
    } else if (kind == kLogBarrier) {
      record.kind = RecordKind::kBarrier;
    } else {
      record.kind = RecordKind::kEvent;
      record.mask = take(1)[0];
      if (record.mask == 0) {
        throw trace::TraceError("a recorded event has no active lane");
      }
      const auto lanes = static_cast<std::size_t>(std::popcount(record.mask));
      if (kind == kLogEvent) {
        record.primitive = take(1)[0];
      } else {
        record.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
        warp.lane_primitives.resize(warp.lane_primitives.size() + trace::kWarpLanes, 0);
        auto primitive = take(lanes).begin();
        for (std::uint32_t rest = record.mask; rest != 0; rest &= rest - 1) {
          warp.lane_primitives[record.lane_primitives +
                               static_cast<std::size_t>(std::countr_zero(rest))] = *primitive++;
        }
      }
      if (with_values) {
        record.values = warp.values.size();
        const auto values = take(lanes * parameters);
        warp.values.insert(warp.values.end(), values.begin(), values.end());
      }
    }
    warp.records.push_back(record);
  }
  return warp;
}

trace::CtaTrace LaunchLog::cta(std::size_t i) const {
  trace::CtaTrace cta;
  cta.cta = ctas[i];
  for (std::size_t w = i * warps_per_cta; w < (i + 1) * warps_per_cta; ++w) {
    cta.warps.push_back(
        decode_log(std::span(words).subspan(offsets[w], offsets[w + 1] - offsets[w]), parameters,
                   with_values));
  }
  return cta;
}

LogStats collect(const LaunchLog& log, std::size_t paths) {
  LogStats stats;
  stats.passes.assign(paths, 0);
  stats.cta_events.assign(log.ctas.size(), 0);
  stats.cta_lanes.assign(log.ctas.size(), 0);
  for (std::size_t i = 0; i < log.ctas.size(); ++i) {
    const trace::CtaTrace cta = log.cta(i);
    stats.warps += cta.warps.size();
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const Record& record : warp.records) {
        if (record.kind == RecordKind::kBarrier) {
          ++stats.barriers;
          continue;
        }
        if (record.kind == RecordKind::kWork) {
          if (record.path >= paths) {
            throw trace::TraceError("a recorded work entry names a path that is not there");
          }
          stats.passes[record.path] += record.count;
          continue;
        }
        const auto lanes = static_cast<std::size_t>(std::popcount(record.mask));
        std::array<std::uint32_t, trace::kWarpLanes> primitives{};
        std::size_t count = 0;
        for (std::uint32_t rest = record.mask; rest != 0; rest &= rest - 1) {
          primitives[count++] =
              record.lane_primitives == Record::kUniform
                  ? record.primitive
                  : warp.lane_primitives[record.lane_primitives +
                                         static_cast<std::size_t>(std::countr_zero(rest))];
        }
        std::sort(primitives.begin(), primitives.begin() + static_cast<std::ptrdiff_t>(count));
        std::size_t largest = 0;
        std::size_t smallest = trace::kWarpLanes;
        for (std::size_t begin = 0; begin < count;) {
          std::size_t end = begin;
          while (end < count && primitives[end] == primitives[begin]) {
            ++end;
          }
          ++stats.groups_by_lanes[end - begin];
          largest = std::max(largest, end - begin);
          smallest = std::min(smallest, end - begin);
          begin = end;
        }
        ++stats.events;
        ++stats.events_by_lanes[lanes];
        stats.active_lanes += lanes;
        stats.full_events += lanes == trace::kWarpLanes ? 1U : 0U;
        const bool one_address = largest == lanes;
        stats.one_address_events += one_address ? 1U : 0U;
        stats.one_address_by_lanes[lanes] += one_address ? 1U : 0U;
        for (std::size_t x = 0; x <= trace::kWarpLanes; ++x) {
          if (largest >= x) {
            ++stats.serial_events[x];
            stats.serial_turns[x] += largest - 1;
          }
          stats.plain_events[x] += smallest < x ? 1U : 0U;
        }
        ++stats.cta_events[i];
        stats.cta_lanes[i] += lanes;
      }
    }
  }
  return stats;
}

}  // namespace warpfold::capture::workload
