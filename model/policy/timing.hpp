// SPDX-License-Identifier: Apache-2.0
// Instruction costs of the variant that a policy runs, in the units of one machine. Made once for a
// run and shared by all its warps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/machine/config.hpp"
#include "model/policy/policy.hpp"
#include "model/policy/segment.hpp"
#include "model/policy/struct_layout.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

class PolicyTiming {
 public:
  // The architecture whose costs stand for the machine's: its own or, where the trace has none of
  // that, the one with the nearest number, of two the lower; empty where the trace has no costs.
  static std::string code_of(const trace::Header& header, const GpuConfig& gpu);
  // False where the trace has costs for that architecture, but none of the policy's variant.
  static bool has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy);
  // `structs`: what structs the policy's hardware adds to in one instruction, if any. `hardware`:
  // the words that its hardware sums, if it does.
  // Throws std::invalid_argument with one line when the trace has no costs, or none of the policy's
  // variant or of a part of it.
  PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy policy,
               const StructLayout& structs = {}, WordType hardware = WordType::kFp32);

  [[nodiscard]] const Segment& path(std::uint16_t index) const { return paths_[index]; }
  // What the pass of an event comes to.
  struct Pass {
    Segment taken;
    std::vector<Segment> parts;  // as PolicyRule::parts() has them
  };
  // Of the events of one site.
  struct OfSite {
    // The policy's or, where its variant has no code here, the baseline's.
    const PolicyRule* rule = nullptr;
    std::uint16_t first_parameter = 0;  // among those of all sites
    std::uint16_t end_parameter = 0;
    std::uint8_t words = 1;    // that one instruction adds to at most, of a struct
    bool wide = false;         // two words for each lane
    bool waits = false;        // the warp waits for the result
    bool passed_on = false;    // hardware that reduces does not do what it does: plain REDs
    std::vector<Pass> passes;  // one, or one for each number of lanes where it matters

    // By active lanes, of which there is at least one.
    [[nodiscard]] const Pass& pass(std::uint32_t lanes) const {
      return passes[passes.size() == 1 ? 0 : lanes - 1];
    }
  };
  [[nodiscard]] const OfSite& site(std::uint16_t index) const { return sites_[index]; }

  Policy policy;
  std::string costs_of;                   // architecture
  std::uint32_t registers = 0;            // of each thread
  bool any_waits = false;                 // whether warps wait for the results of atomics
  std::vector<trace::MemorySite> memory;  // of the trace; empty where that has no accesses
  // Loads that miss the L1, and stores, go to the L2. Beside a buffer they take a latency alone.
  bool loads_pass = true;
  // What a MATCH takes longer for each value but the first.
  std::uint64_t match_group = 0;
  Ticks match_group_ticks = 0;

 private:
  std::vector<Segment> paths_;
  std::vector<OfSite> sites_;
};

}  // namespace warpfold
