// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/cta/cta.hpp"

namespace warpfold {

CtaHold CtaStore::add(trace::CtaTrace trace) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    store_.emplace_back();
    store_.back().store_ = this;
    store_.back().slot_ = static_cast<std::uint32_t>(store_.size() - 1);
    free_.push_back(store_.back().slot_);
  }
  CtaContext& cta = store_[free_.back()];
  free_.pop_back();
  cta.trace = std::move(trace);
  cta.holds_ = 1;
  cta.no_end_before = 0;
  return CtaHold(&cta);
}

void CtaStore::free(CtaContext& cta) {
  cta.trace = {};
  const std::lock_guard lock(mutex_);
  free_.push_back(cta.slot_);
}

}  // namespace warpfold
