// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/residency.hpp"

#include <algorithm>
#include <utility>

#include "model/base/check.hpp"

namespace warpfold {

void Residency::launch(CtaHold cta) {
  launched_.push_back(std::move(cta));
  request_update();
}

void Residency::close() {
  closes_ = true;
  request_update();
}

void Residency::flush() {
  flushes_ = true;
  request_update();
}

void Residency::ended(CtaContext& cta) {
  const auto found = std::find_if(residents_.begin(), residents_.end(),
                                  [&cta](const Resident& r) { return r.cta.get() == &cta; });
  ARC_CHECK(found != residents_.end(), "a CTA that is not resident has ended");
  found->ended = true;
  request_update();
}

void Residency::place(CtaHold cta) {
  std::vector<std::uint32_t> placed(held_.size(), 0);
  runner_.begin_cta(*cta);
  for (std::uint32_t warp = 0; warp < cta->trace.warps.size(); ++warp) {
    std::size_t best = next_subcore_;
    for (std::size_t i = 1; i < held_.size(); ++i) {
      const std::size_t subcore = (next_subcore_ + i) % held_.size();
      if (held_[subcore] < held_[best]) {
        best = subcore;
      }
    }
    ++held_[best];
    ++placed[best];
    next_subcore_ = (best + 1) % held_.size();
    runner_.begin_warp(*cta, warp, best);
  }
  residents_.push_back({.cta = std::move(cta), .ended = false, .placed = std::move(placed)});
}

void Residency::update() {
  // Warps that end in this cycle still hold their places.
  for (CtaHold& cta : launched_) {
    place(std::move(cta));
  }
  launched_.clear();
  closed_ = closes_;
  if (flushes_) {
    runner_.end_kernel();
  }
  flushes_ = false;
  std::erase_if(residents_, [&](const Resident& resident) {
    if (!resident.ended || resident.cta->has_reds_out()) {
      return false;
    }
    partition_.tell(*of_finished_, *finished_, resident.cta->sm,
                    [](Mailbox<std::uint32_t>& finished, std::uint64_t sm) {
                      finished.deliver(static_cast<std::uint32_t>(sm));
                    });
    for (std::size_t subcore = 0; subcore < held_.size(); ++subcore) {
      held_[subcore] -= resident.placed[subcore];
    }
    return true;
  });
}

}  // namespace warpfold
