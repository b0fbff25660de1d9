// SPDX-License-Identifier: Apache-2.0
// Instruction costs of the variant that a policy runs, in the units of one machine. Made once for a
// run and shared by all its warps.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/machine/config.hpp"
#include "model/policy/policy.hpp"
#include "model/policy/segment.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

class PolicyTiming {
 public:
  // False where the trace has costs for the architecture, but none of the policy's variant.
  static bool has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy);
  // Throws std::invalid_argument with one line when the trace has no costs for the machine's
  // architecture, the policy's variant or a part of it.
  PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy policy);

  [[nodiscard]] const Segment& path(std::uint16_t index) const { return paths_[index]; }
  // What the pass of an event comes to.
  struct Pass {
    Segment taken;
    std::vector<Segment> parts;  // as PolicyRule::parts() has them
  };
  // By active lanes, of which there is at least one.
  [[nodiscard]] const Pass& pass(std::uint32_t lanes) const {
    return passes_[passes_.size() == 1 ? 0 : lanes - 1];
  }

  Policy policy;
  std::uint32_t parameters;
  // What a MATCH takes longer for each value but the first.
  std::uint64_t match_group = 0;
  Ticks match_group_ticks = 0;

 private:
  std::vector<Segment> paths_;
  std::vector<Pass> passes_;  // one, or one for each number of lanes where it matters
};

}  // namespace warpfold
