// SPDX-License-Identifier: Apache-2.0
// What the recorder kernel of a workload writes: for each warp a list of 32-bit words in program
// order. Bits 31..30 of the first word of an entry say what it is:
//
//   0  work: path in bits 29..22, passes in bits 21..0
//   1  barrier
//   2  event on one primitive: lane mask, primitive, values
//   3  event with a primitive for each lane: lane mask, primitive of each active lane, values
//
// Values are there if the launch was asked for them: FP32 bits, for each parameter and then for
// each active lane from the lowest. The constants are seen by device code as well.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"

namespace warpfold::capture::workload {

inline constexpr unsigned kLogKindShift = 30;
inline constexpr unsigned kLogPathShift = 22;
inline constexpr unsigned kLogPasses = (1U << kLogPathShift) - 1;  // most that one entry holds
inline constexpr unsigned kLogPaths = 1U << (kLogKindShift - kLogPathShift);
inline constexpr unsigned kLogWork = 0;
inline constexpr unsigned kLogBarrier = 1;
inline constexpr unsigned kLogEvent = 2;
inline constexpr unsigned kLogLaneEvent = 3;

// Second argument of every recorder kernel.
struct RecorderArgs {
  const std::uint64_t* offsets;  // by warp of the launch: first word in `words`, or kNotLogged
  std::uint32_t* words;          // null: entries are counted only
  std::uint32_t* counts;         // by warp: words of its log, without values
  int with_values;
};
inline constexpr std::uint64_t kNotLogged = ~std::uint64_t{0};

// The words of one warp as a trace has them. Throws trace::TraceError for words that no recorder
// writes.
[[nodiscard]] trace::WarpTrace decode_log(std::span<const std::uint32_t> words,
                                          std::size_t parameters, bool with_values);

// The logs of all warps of a launch, or of some CTAs.
struct LaunchLog {
  std::size_t parameters = 0;
  std::uint32_t warps_per_cta = 0;
  bool with_values = false;
  std::vector<std::uint64_t> ctas;     // linear indices, increasing
  std::vector<std::uint64_t> offsets;  // by warp of `ctas`, and one more: the total
  std::vector<std::uint32_t> words;

  [[nodiscard]] trace::CtaTrace cta(std::size_t i) const;  // the i-th of `ctas`
};

// What the launch did, from its log.
struct LogStats {
  std::uint64_t warps = 0;
  std::vector<std::uint64_t> passes;  // by path, without events
  std::uint64_t barriers = 0;         // summed over warps
  std::uint64_t events = 0;
  std::uint64_t active_lanes = 0;
  std::uint64_t full_events = 0;         // all 32 lanes
  std::uint64_t one_address_events = 0;  // all active lanes on one primitive
  std::uint64_t events_by_lanes[trace::kWarpLanes + 1] = {};
  // Groups of lanes with one primitive, by lanes: what sw-s reduces or adds as it is.
  std::uint64_t groups_by_lanes[trace::kWarpLanes + 1] = {};
  // By CTA of the log.
  std::vector<std::uint64_t> cta_events;
  std::vector<std::uint64_t> cta_lanes;

  // Events by active lanes, those on one primitive: what sw-b reduces.
  std::uint64_t one_address_by_lanes[trace::kWarpLanes + 1] = {};
  // Turns of sw-s's serial loop, by threshold: the largest group of at least so many lanes less
  // one, summed over the events; and the events with such a group, and with a smaller one.
  std::uint64_t serial_turns[trace::kWarpLanes + 1] = {};
  std::uint64_t serial_events[trace::kWarpLanes + 1] = {};
  std::uint64_t plain_events[trace::kWarpLanes + 1] = {};
};
[[nodiscard]] LogStats collect(const LaunchLog& log, std::size_t paths);

}  // namespace warpfold::capture::workload
