// SPDX-License-Identifier: Apache-2.0
// What the warps of an SM have in common: barriers, and the end of their CTA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/gpu/cta/cta.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// All warps of a CTA have arrived at a barrier; the SM has taken the last arrival at that time.
struct BarrierRelease {
  const CtaContext* cta = nullptr;
  Ticks arrived = 0;
};

// What the warps of an SM tell each other: barriers, and that the last warp of a CTA has ended.
// Sub-cores report during a cycle; the outcome is told when it ends, for the next one.
class SmControl : public Channel {
 public:
  // buffered: a CTA has not ended before its REDs are in the SM's atomic buffer.
  // In the reference `sm` is told when a CTA has ended, in the same cycle.
  SmControl(Domain& domain, const GpuConfig& config, bool buffered, Block& sm)
      : barrier_warp_(to_ticks(config.latency.barrier_warp)), buffered_(buffered), sm_(sm) {
    join(domain);
  }
  // `releases`: where each sub-core is told of them.
  void connect(std::vector<Mailbox<BarrierRelease>*> releases) { releases_ = std::move(releases); }

  // The sub-cores get its warps.
  void launch(CtaContext* cta);
  void warp_finished(CtaContext* cta);
  void barrier_arrived(CtaContext* cta, Cycle cycle);
  // A RED has come into the atomic buffer.
  void red_buffered(CtaContext* cta) {
    if (cta->red_left()) {
      request_update();
    }
  }

  // The first cycle in which one of them may end, as far as that is known.
  [[nodiscard]] Cycle no_end_before() const;
  // CTAs that have not ended.
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  // Those that have, in the order in which they did, with the cycle.
  struct Ended {
    CtaContext* cta;
    Cycle cycle;
  };
  std::deque<Ended> ended;

 private:
  struct Running {
    CtaContext* cta;
    std::uint32_t warps;
    std::uint32_t at_barrier;
    Ticks arrived;  // when its last arrival has been taken
  };
  void update() override;
  Running& find(const CtaContext* cta);

  const Ticks barrier_warp_;
  const bool buffered_;
  Block& sm_;
  std::vector<const CtaContext*> arrivals_;  // in this cycle, which is
  Cycle arrived_in_ = 0;
  Ticks arrived_ = 0;  // when the SM has taken the last arrival
  std::vector<Mailbox<BarrierRelease>*> releases_;
  std::vector<Running> running_;
};

}  // namespace warpfold
