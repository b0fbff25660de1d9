// SPDX-License-Identifier: Apache-2.0
// All blocks of the simulated GPU and what they share, in the order in which they must be built.
// For one launch; owned by who has its clock run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/base/lazy_array.hpp"
#include "model/gpu/cta/cta.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/memory/l2_link.hpp"
#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/memory/memory_behind.hpp"
#include "model/gpu/memory/memory_link.hpp"
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

  // To be run until nobody has anything left to do (kernel/clock_driver.hpp).
  [[nodiscard]] Clock& clock() { return clock_; }
  // After that.
  [[nodiscard]] RunResult collect(const ReferenceSums& reference);
  // After that, too: has what the L2 holds written to memory that lies outside. True if that takes
  // cycles, which follow those of the launch.
  bool flush();
  // What has been added to the words from an address on; bytes that nothing adds to are 0.
  void read(Address address, std::span<std::uint8_t> data) const;
  // What the L2 holds of a line of memory that lies outside, from an address in it on; false: it
  // does not.
  bool peek(Address address, std::span<std::uint8_t> data) const;

 private:
  // `way_back`: Outside::way_back, where the L2 lies outside.
  void build_sms(const SimOptions& options, const Launch& launch, std::optional<Cycle> way_back);
  void build_l2(const Launch& launch, const Outside& outside);
  // The arrays were cleared just before the kernel, in address order: as much of them as fits is in
  // the L2, the last lines first.
  void warm_l2(const trace::Header& header);
  void warm_l2_by_loads();
  [[nodiscard]] bool l2_is_empty() const;
  [[nodiscard]] bool at_rest() const;
  // Why it has not come to rest, or nothing.
  [[nodiscard]] std::string stuck() const;

  const SimOptions options_;
  const GpuConfig& config_;
  const trace::Reader& trace_;
  const std::string costs_of_;
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
  std::vector<MemoryLink*> memory_links_;              // those of them that lie outside
  std::vector<std::unique_ptr<L2Port>> l2_;            // none where it lies outside,
  std::vector<std::unique_ptr<L2Link>> links_;         // which has these
  Watchdog watchdog_;
  std::optional<TimelineRecorder> timeline_;
};

}  // namespace warpfold
