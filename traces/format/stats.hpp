// SPDX-License-Identifier: Apache-2.0
// What a trace contains, counted in one pass.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/format/reader.hpp"

namespace warpfold::trace {

// Events of one site.
struct SiteStats {
  std::uint64_t events = 0;
  std::uint64_t active_lanes = 0;
  std::uint64_t distinct_primitives = 0;  // with an event, in the whole trace

  [[nodiscard]] double mean_active_lanes() const {
    return events == 0 ? 0.0 : static_cast<double>(active_lanes) / static_cast<double>(events);
  }
};

// Accesses of one memory instruction.
struct MemoryStats {
  std::uint64_t accesses = 0;
  std::uint64_t active_lanes = 0;
  std::uint64_t sectors = 0;  // of each access
  std::uint64_t waits = 0;
};

struct TraceStats {
  std::uint64_t ctas = 0;
  std::uint64_t warps = 0;
  std::uint64_t warps_with_events = 0;
  std::uint64_t barriers = 0;              // summed over warps
  std::vector<std::uint64_t> work_passes;  // by path, as in Header::paths, without events
  std::uint64_t work_records = 0;

  std::vector<SiteStats> sites;     // as in Header::sites
  std::vector<MemoryStats> memory;  // as in Header::memory
  std::uint64_t events = 0;
  std::uint64_t lane_atomics = 0;        // active lanes of all events times their site's parameters
  std::uint64_t active_lanes = 0;        // of all events
  std::uint64_t full_events = 0;         // all 32 lanes active
  std::uint64_t one_address_events = 0;  // all active lanes add to one primitive
  std::array<std::uint64_t, kWarpLanes + 1> active_histogram{};  // events by active lanes

  // Primitives of two sites are different ones, whatever they add to.
  std::uint64_t distinct_primitives = 0;   // with an event, in the whole trace
  std::uint64_t cta_primitive_pairs = 0;   // distinct (CTA, primitive) with an event
  std::uint64_t warp_primitive_pairs = 0;  // distinct (CTA, warp, primitive) with an event

  [[nodiscard]] double mean_active_lanes() const {
    return events == 0 ? 0.0 : static_cast<double>(active_lanes) / static_cast<double>(events);
  }
  [[nodiscard]] double one_address_share() const {
    return events == 0 ? 0.0
                       : static_cast<double>(one_address_events) / static_cast<double>(events);
  }
  // Warps of a CTA that add to a primitive, over primitives that the CTA adds to.
  [[nodiscard]] double mean_warps_per_pair() const {
    return cta_primitive_pairs == 0 ? 0.0
                                    : static_cast<double>(warp_primitive_pairs) /
                                          static_cast<double>(cta_primitive_pairs);
  }
};

[[nodiscard]] TraceStats collect_stats(const Reader& reader, const Progress& progress = nullptr);

}  // namespace warpfold::trace
