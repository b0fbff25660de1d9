// SPDX-License-Identifier: Apache-2.0
// All blocks of the simulated GPU and what they share, in the order in which they must be built.
// Owned by simulate(), for one run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/lazy_array.hpp"
#include "model/gpu/cta/cta.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/memory/memory_behind.hpp"
#include "model/gpu/memory/outside.hpp"
#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/run/dispatcher.hpp"
#include "model/gpu/run/launch.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/gpu/run/timeline.hpp"
#include "model/gpu/run/watchdog.hpp"
#include "model/gpu/sm/sm.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/kernel/clock.hpp"
#include "model/policy/buffer_shape.hpp"
#include "model/policy/timing.hpp"

namespace warpfold {

class Gpu {
 public:
  // `outside`: what the platform around brings in place of the GPU's own.
  Gpu(const SimOptions& options, const Launch& launch, const Outside& outside = {});

  // After sc_start(), which runs until nobody has anything left to do. Throws what a block has
  // thrown.
  [[nodiscard]] RunResult collect(const ReferenceSums& reference);
  [[nodiscard]] const std::vector<std::unique_ptr<Sm>>& sms() const { return sms_; }
  // Cycles that an SM may be ahead.
  [[nodiscard]] Cycle quantum() const { return quantum_; }

 private:
  void build_sms(const SimOptions& options, const Launch& launch);
  void build_l2(const Launch& launch, const Outside& outside);
  // The arrays were cleared just before the kernel, in address order: as much of them as fits is in
  // the L2, the last lines first.
  void warm_l2(const trace::Header& header);
  [[nodiscard]] bool l2_is_empty() const;
  [[nodiscard]] bool at_rest() const;
  // Why it has not come to rest, or nothing.
  [[nodiscard]] std::string stuck() const;

  const SimOptions options_;
  const GpuConfig& config_;
  const trace::Reader& trace_;
  const std::string costs_of_;
  const bool may_lag_;  // SMs may be behind
  const Cycle quantum_;
  AddressMap addresses_;
  LazyArray<Fp32Bits> memory_;
  CtaStore ctas_;
  LineSumsPool sums_;
  const std::unique_ptr<SliceMap> map_;
  Clock clock_;
  std::vector<Tally> tallies_;  // by partition
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<MemoryBehind>> behind_;  // of each port of the L2
  std::vector<std::unique_ptr<L2Port>> l2_;            // none where it lies outside,
  std::vector<std::unique_ptr<OutsidePort>> outside_;  // which has these
  Watchdog watchdog_;
  std::optional<TimelineRecorder> timeline_;
};

}  // namespace warpfold
