// SPDX-License-Identifier: Apache-2.0
#include "traces/format/stats.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace warpfold::trace {

namespace {

// Primitive of a site: the site in the upper half.
using Target = std::uint64_t;

Target target(std::uint16_t site, std::uint32_t primitive) {
  return Target{site} << 32U | primitive;
}

void sort_unique(std::vector<Target>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

TraceStats collect_stats(const Reader& reader, const Progress& progress) {
  TraceStats stats;
  stats.work_passes.assign(reader.header().paths.size(), 0);
  stats.sites.resize(reader.header().sites.size());
  stats.memory.resize(reader.header().memory.size());
  std::vector<Target> all;  // primitives of the trace; made unique when it has doubled
  std::size_t unique_at = std::size_t{1} << 20U;
  std::vector<Target> of_cta, of_warp;

  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    if (progress) {
      progress(share_of(i, reader.cta_count()));
    }
    const CtaTrace cta = reader.read_cta(i);
    ++stats.ctas;
    of_cta.clear();
    for (const WarpTrace& warp : cta.warps) {
      ++stats.warps;
      of_warp.clear();
      for (const Record& record : warp.records) {
        if (record.kind == RecordKind::kBarrier) {
          ++stats.barriers;
          continue;
        }
        if (record.kind == RecordKind::kWork) {
          ++stats.work_records;
          stats.work_passes[record.path] += record.count;
          continue;
        }
        const auto active = static_cast<unsigned>(std::popcount(record.mask));
        if (record.kind == RecordKind::kWait) {
          ++stats.memory[record.site].waits;
          continue;
        }
        if (record.kind == RecordKind::kAccess) {
          MemoryStats& memory = stats.memory[record.site];
          ++memory.accesses;
          memory.active_lanes += active;
          memory.sectors += record.count;
          continue;
        }
        SiteStats& site = stats.sites[record.site];
        ++site.events;
        site.active_lanes += active;
        ++stats.active_histogram[active];
        stats.full_events += active == kWarpLanes ? 1U : 0U;
        if (record.lane_primitives == Record::kUniform) {
          ++stats.one_address_events;
          of_warp.push_back(target(record.site, record.primitive));
          continue;
        }
        const std::size_t first = of_warp.size();
        for (std::uint32_t lanes = record.mask; lanes != 0; lanes &= lanes - 1) {
          const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
          of_warp.push_back(
              target(record.site, warp.lane_primitives[record.lane_primitives + lane]));
        }
        const auto own = of_warp.begin() + static_cast<std::ptrdiff_t>(first);
        stats.one_address_events +=
            std::all_of(own, of_warp.end(), [&](Target t) { return t == *own; }) ? 1U : 0U;
      }
      stats.warps_with_events += of_warp.empty() ? 0U : 1U;
      sort_unique(of_warp);
      stats.warp_primitive_pairs += of_warp.size();
      of_cta.insert(of_cta.end(), of_warp.begin(), of_warp.end());
    }
    sort_unique(of_cta);
    stats.cta_primitive_pairs += of_cta.size();
    all.insert(all.end(), of_cta.begin(), of_cta.end());
    if (all.size() > unique_at) {
      sort_unique(all);
      unique_at = std::max(unique_at, 2 * all.size());
    }
  }
  sort_unique(all);
  stats.distinct_primitives = all.size();
  for (const Target one : all) {
    ++stats.sites[one >> 32U].distinct_primitives;
  }
  for (std::size_t s = 0; s < stats.sites.size(); ++s) {
    const SiteStats& site = stats.sites[s];
    stats.events += site.events;
    stats.active_lanes += site.active_lanes;
    stats.lane_atomics += site.active_lanes * reader.header().sites[s].parameters.size();
  }
  return stats;
}

}  // namespace warpfold::trace
