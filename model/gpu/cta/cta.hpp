// SPDX-License-Identifier: Apache-2.0
// A resident CTA and its events. The CtaStore owns CTAs; who needs one has a CtaHold, and a CTA is
// freed with its last hold. Nobody counts by hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "model/base/check.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

class CtaStore;

// A CTA from its dispatch until its last addition is done.
class CtaContext {
 public:
  trace::CtaTrace trace;
  std::uint32_t sm = 0;
  std::uint64_t sequence = 0;  // order of dispatch
  // Of its SM, which alone uses it: before which cycle it cannot end.
  std::uint64_t no_end_before = 0;

  // REDs that its warps have issued and that have not left the SM, or come into its atomic buffer.
  // The SM's own, too.
  void red_issued() { ++reds_out_; }
  // True if that was the last one.
  bool red_left() { return --reds_out_ == 0; }
  [[nodiscard]] bool has_reds_out() const { return reds_out_ > 0; }

 private:
  friend class CtaHold;
  friend class CtaStore;

  std::uint32_t reds_out_ = 0;
  CtaStore* store_ = nullptr;
  std::uint32_t slot_ = 0;                // in the store
  std::atomic<std::uint32_t> holds_ = 0;  // in all partitions
};

// Keeps CTAs from dispatch until nobody holds them. Shared by the partitions; outlives all holds.
class CtaStore {
 public:
  [[nodiscard]] class CtaHold add(trace::CtaTrace trace);
  [[nodiscard]] bool empty() const { return free_.size() == store_.size(); }

 private:
  friend class CtaHold;
  void free(CtaContext& cta);

  std::mutex mutex_;
  std::deque<CtaContext> store_;
  std::vector<std::uint32_t> free_;
};

// One share in a CTA's life. Moves; share() makes another.
class CtaHold {
 public:
  CtaHold() = default;
  CtaHold(CtaHold&& other) noexcept : cta_(std::exchange(other.cta_, nullptr)) {}
  CtaHold& operator=(CtaHold&& other) noexcept {
    if (cta_ != nullptr) {
      release();
    }
    cta_ = std::exchange(other.cta_, nullptr);
    return *this;
  }
  ~CtaHold() {
    if (cta_ != nullptr) {
      release();
    }
  }

  [[nodiscard]] CtaHold share() const { return of(*cta_); }
  // Of a CTA that somebody else is known to hold.
  [[nodiscard]] static CtaHold of(CtaContext& cta) {
    cta.holds_.fetch_add(1, std::memory_order_relaxed);
    return CtaHold(&cta);
  }
  // For a way that carries words only: what detach() gives, adopt() takes, once.
  [[nodiscard]] CtaContext* detach() { return std::exchange(cta_, nullptr); }
  [[nodiscard]] static CtaHold adopt(CtaContext* cta) { return CtaHold(cta); }

  [[nodiscard]] CtaContext* get() const { return cta_; }
  CtaContext* operator->() const { return cta_; }
  CtaContext& operator*() const { return *cta_; }
  explicit operator bool() const { return cta_ != nullptr; }

 private:
  friend class CtaStore;
  explicit CtaHold(CtaContext* cta) : cta_(cta) {}
  void release() {
    const std::uint32_t held = cta_->holds_.fetch_sub(1, std::memory_order_acq_rel);
    if (held == 1) {
      cta_->store_->free(*cta_);
    }
    cta_ = nullptr;
  }

  CtaContext* cta_ = nullptr;
};

// One event of a CTA's warp.
struct EventRef {
  CtaHold cta;
  std::uint32_t warp = 0;
  std::uint32_t record = 0;

  [[nodiscard]] EventRef share() const {
    return {.cta = cta.share(), .warp = warp, .record = record};
  }
  [[nodiscard]] const trace::WarpTrace& warp_trace() const { return cta->trace.warps[warp]; }
  [[nodiscard]] const trace::Record& event() const { return warp_trace().records[record]; }
  [[nodiscard]] EventKey key() const { return {cta->trace.cta, warp, record}; }
};

// What the lanes of an event add. Valid as long as its CTA is held.
class EventValues {
 public:
  EventValues() = default;
  EventValues(const EventRef& ref, const AddressMap& addresses) {
    if (addresses.any_traced() || addresses.any_halves()) {
      const trace::Record& event = ref.event();
      const AddressMap::OfSite& site = addresses.site(event.site);
      type_ = site.type;
      if (site.traced) {
        mask_ = event.mask;
        first_ = site.first_parameter;
        values_ = &ref.warp_trace().values[event.values];
        return;
      }
    }
    seed_ = synthetic_seed(ref.key());
  }
  // By `lane`, an active one, to `parameter` of those of all sites.
  [[nodiscard]] Fp32Bits of(std::uint32_t parameter, std::uint32_t lane) const {
    if (values_ != nullptr) {
      return traced_value(values_, mask_, parameter - first_, lane);
    }
    return made_up_value(type_, seed_, parameter, lane);
  }

 private:
  const Fp32Bits* values_ = nullptr;
  LaneMask mask_ = 0;
  std::uint32_t first_ = 0;  // parameter of the event's site
  WordType type_ = WordType::kFp32;
  std::uint64_t seed_ = 0;
};

}  // namespace warpfold
