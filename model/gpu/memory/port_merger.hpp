// SPDX-License-Identifier: Apache-2.0
// The merge buffer of a port of the L2: between what has arrived and the slices. Owned by its port,
// which clocks it.
//
//   arrivals --> a request for each turn on a sector --> golden model --> sums for the slices
//
// The port takes in flits at its rate, and of the requests one may be accepted in a cycle. Room in
// front of the port comes back, and a warp that waits is answered, once all of a transaction have
// been. Sums that leave take no time of the port. They queue up for the slices as those of SMs in
// turn, `buffer.victims` sectors at most. After the end of the kernel all sums leave once nothing
// has come for as long as a transaction takes to come.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "model/gpu/memory/ingress.hpp"
#include "model/gpu/memory/round_time.hpp"
#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/traffic/merger.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

class PortMerger {
 public:
  using Arrival = SliceIngress::Arrival;

  // Plain data; all references outlive the merger.
  struct Context {
    Merger::Context additions;
    const SliceMap& map;
    std::uint32_t rows;
  };
  PortMerger(const GpuConfig& config, const Context& context, SliceIngress& ingress);

  // What it takes over of what arrives: additions of FP32.
  [[nodiscard]] static bool takes(const Transaction& transaction) { return !transaction.passes; }
  void push(Arrival&& arrival, Cycle now);
  // No more warps will run.
  void end_kernel(Cycle now);
  // A cycle. Sums that leave, if any, as what has arrived of an SM.
  std::optional<Arrival> clock(Cycle now);
  // The slices have added sums of a sector.
  void added() { --leaving_; }

  // The next cycle in which it has something to do, or kNever.
  [[nodiscard]] Cycle next(Cycle now) const;
  [[nodiscard]] bool empty() const {
    return arrivals_.empty() && !merger_.busy() && merger_.words() == 0 && leaving_ == 0;
  }
  // What it has to do, or nothing.
  [[nodiscard]] std::string waits() const;
  [[nodiscard]] const BufferStats& stats() const { return merger_.stats(); }
  // What the port has taken in for it, and how long that took.
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] Ticks port_busy() const { return port_busy_ / (kFineCycle / kTicksPerCycle); }

 private:
  void begin(Cycle now);
  void end();
  [[nodiscard]] Arrival arrival_of(const SumsOfSector& sums, Cycle now);
  // In an Nth of a GPU all takes N times as long (round_model.hpp).
  [[nodiscard]] bool clocked(Cycle now) const { return now % period_ == 0; }
  [[nodiscard]] bool flushes(Cycle now) const;

  const Merger::Context additions_;
  const SliceMap& map_;
  SliceIngress& ingress_;
  Merger merger_;
  const Fine word_time_;  // of the port
  const Fine flit_time_;
  const std::uint32_t period_;
  const std::uint32_t sms_;
  const std::uint32_t room_;   // for sums on their way to the slices
  const std::uint32_t quiet_;  // cycles without an arrival before the flush

  std::deque<Arrival> arrivals_;  // the first is in hand while `busy_`
  bool busy_ = false;
  Fine port_free_at_ = 0;
  Fine port_busy_ = 0;
  std::uint64_t packets_ = 0;
  std::uint32_t leaving_ = 0;
  std::uint32_t next_sm_ = 0;
  bool ended_ = false;
  Cycle quiet_since_ = 0;
};

}  // namespace warpfold
