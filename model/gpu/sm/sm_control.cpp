// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/sm_control.hpp"

#include <algorithm>

#include "model/base/check.hpp"

namespace warpfold {

void SmControl::launch(CtaContext* cta) {
  running_.push_back({.cta = cta,
                      .warps = static_cast<std::uint32_t>(cta->trace.warps.size()),
                      .at_barrier = 0,
                      .arrived = 0});
}

SmControl::Running& SmControl::find(const CtaContext* cta) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [cta](const Running& r) { return r.cta == cta; });
  ARC_CHECK(found != running_.end(), "a warp of a CTA that is not running");
  return *found;
}

void SmControl::warp_finished(CtaContext* cta) {
  --find(cta).warps;
  request_update();
}

void SmControl::barrier_arrived(CtaContext* cta, Cycle cycle) {
  arrivals_.push_back(cta);
  arrived_in_ = cycle;
  request_update();
}

Cycle SmControl::no_end_before() const {
  Cycle first = kNever;
  for (const Running& running : running_) {
    first = std::min(first, running.cta->no_end_before);
  }
  return first;
}

void SmControl::update() {
  // Those of one cycle are taken in the order of their CTAs.
  std::sort(arrivals_.begin(), arrivals_.end(),
            [](const CtaContext* a, const CtaContext* b) { return a->sequence < b->sequence; });
  for (const CtaContext* cta : arrivals_) {
    arrived_ = std::max(arrived_, at_cycle(arrived_in_)) + barrier_warp_;
    Running& arrived = find(cta);
    ++arrived.at_barrier;
    arrived.arrived = arrived_;
  }
  arrivals_.clear();
  std::erase_if(running_, [&](Running& running) {
    if (running.warps > 0 && running.at_barrier == running.warps) {
      running.at_barrier = 0;
      for (Mailbox<BarrierRelease>* releases : releases_) {
        releases->deliver({running.cta, running.arrived});
      }
    }
    const bool over = running.warps == 0 && (!buffered_ || !running.cta->has_reds_out());
    if (over) {
      ended.push_back({.cta = running.cta, .cycle = domain().now()});
      if (domain().steps() != nullptr) {
        sm_.tick_again();
      }
    }
    return over;
  });
}

}  // namespace warpfold
