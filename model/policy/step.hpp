// SPDX-License-Identifier: Apache-2.0
// What a warp does next.
#pragma once

#include <cstdint>

#include "model/base/ticks.hpp"
#include "model/policy/segment.hpp"
#include "model/policy/software_sum.hpp"
#include "model/types.hpp"

namespace warpfold {

enum class StepKind : std::uint8_t {
  kRun,  // `slots` issue slots, done no sooner than `min_cycles` after its begin, then `access`
  // One RED (or atomred) of `parameter` and those behind it, `words` in all, by the lanes in
  // `mask`, each its own values.
  kAtomic,
  kReduced,  // the same, of sums: the lanes in `mask` were summed in software by primitive
  kAccess,   // the memory instruction of `record`
  kWait,     // until what the one of `record` has loaded is there
  kBarrier,
  kEnd,
};

struct Step {
  StepKind kind = StepKind::kEnd;
  SumOrder order = SumOrder::kSerial;
  std::uint16_t parameter = 0;  // among those of all sites
  LaneMask mask = 0;
  std::uint32_t record = 0;     // index of the event, or of what it is of, in its warp
  std::uint32_t primitive = 0;  // of every lane, if uniform
  bool uniform : 1 = false;
  bool passed_on : 1 = false;       // kAtomic: a RED whatever the policy (PolicyTiming::OfSite)
  bool wide : 1 = false;            // of two words for each lane
  bool waits : 1 = false;           // kAtomic: the warp goes on when it has been answered
  std::uint8_t words = 1;           // of a struct, if more than one
  std::uint16_t end_parameter = 0;  // behind the last that the same lanes add to
  std::uint32_t loads = 0;          // ordinary global loads of a kRun
  std::uint64_t slots = 0;
  std::uint64_t min_cycles = 0;
  Ticks lsu_ticks = 0;             // kRun: occupancy of the load-store unit, `access` left aside
  Ticks match_ticks = 0;           // kRun: of the SM's unit for MATCH and REDUX
  const Access* access = nullptr;  // kRun: what it ends with, if anything
};

}  // namespace warpfold
