// SPDX-License-Identifier: Apache-2.0
// A rule of the GPU: whether a warp waits for its own REDs before it goes on. The machine file
// names one, rules.red_wait; `warpfold rules` lists them. Each is one file in red_wait/ and one
// line in model/rules.cmake.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/base/check.hpp"
#include "model/base/rule_list.hpp"
#include "model/machine/config.hpp"
#include "model/types.hpp"

namespace warpfold {

struct RedWaitRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  // Whether REDs are answered: each of their transactions by the L2 when its additions are done, or
  // all at once by an atomic buffer that has taken them. Else warps are told nothing.
  bool answered;
  // Whether a warp that has issued an atomic issues nothing more while so many parts of its REDs
  // are on their way. A part is a transaction, or a RED that has not been split into these, or an
  // atomred of which the ARC unit has lanes or a sum.
  bool (*waits)(std::uint32_t parts);
};

const RuleList<RedWaitRule>& red_wait_rules();

// The machine's.
inline std::string red_wait_of(const GpuConfig& config) {
  return config.rules.red_wait.or_else("go-on");
}

// What an answer takes from the last addition on: as the answer to a load does, whose latency holds
// the way there, too.
inline Cycle answer_cycles(const GpuConfig& config) {
  return config.latency.global_load > config.noc.latency
             ? config.latency.global_load - config.noc.latency
             : 1;
}

// What is on its way of the REDs of a sub-core's warps, where that is to be known: all of them
// under a rule that answers them, else atomics whose results are waited for. Owned by the sub-core,
// with which its ARC unit and what its load-store unit tells it share it.
class RedsOut {
 public:
  explicit RedsOut(const GpuConfig& config) : rule_(red_wait_rules().find(red_wait_of(config))) {}

  // Whether an atomic is to be counted: under the rule, or because its own warp `waits`.
  [[nodiscard]] bool answered(bool waits = false) const { return rule_.answered || waits; }
  void add(std::uint32_t slot, std::uint32_t parts = 1) { parts_[slot] += parts; }
  void end(std::uint32_t slot) {
    ARC_CHECK(parts_[slot] > 0, "an answer to a RED that is not on its way");
    if (--parts_[slot] == 0) {
      results_ &= ~(1U << slot);
    }
  }
  // The warp wants the result of what it has just issued.
  void want_result(std::uint32_t slot) { results_ |= 1U << slot; }
  [[nodiscard]] bool waits(std::uint32_t slot) const {
    return (results_ >> slot & 1U) != 0 || rule_.waits(parts_[slot]);
  }

 private:
  const RedWaitRule& rule_;
  std::array<std::uint32_t, kMaxSubcoreWarps> parts_{};  // by slot of the warp
  std::uint32_t results_ = 0;                            // bit of each warp that wants a result
};

}  // namespace warpfold
