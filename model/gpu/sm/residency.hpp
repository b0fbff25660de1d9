// SPDX-License-Identifier: Apache-2.0
// Which CTAs an SM has, in cycles of the GPU. Owned by the SM; the dispatcher talks to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/gpu/cta/cta.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"

namespace warpfold {

// What a Residency has its SM do, in the cycle that ends.
class CtaRunner {
 public:
  virtual ~CtaRunner() = default;
  // A CTA comes; its warps follow, each for one sub-core.
  virtual void begin_cta(CtaContext& cta) = 0;
  virtual void begin_warp(CtaContext& cta, std::uint32_t warp, std::size_t subcore) = 0;
  // All CTAs of the kernel have ended: what an atomic buffer holds goes out.
  virtual void end_kernel() = 0;
};

// A CTA whose warps have ended keeps its place until all its REDs have left.
class Residency : public Channel {
 public:
  Residency(Partition& partition, CtaRunner& runner, std::size_t subcores)
      : partition_(partition), runner_(runner), held_(subcores, 0) {
    join(partition);
  }
  // `finished`, in that partition, is told the number of the SM with each CTA that ends.
  void connect(Partition& of_finished, Mailbox<std::uint32_t>& finished) {
    of_finished_ = &of_finished;
    finished_ = &finished;
  }
  [[nodiscard]] Partition& partition() const { return partition_; }

  // From the dispatcher, each in this partition: a CTA is to run; no CTA will come any more; the
  // kernel has ended.
  void launch(CtaHold cta);
  void close();
  void flush();
  // The warps of a CTA have ended in this cycle.
  void ended(CtaContext& cta);
  // A RED has left the SM.
  void red_left(CtaContext& cta) {
    if (cta.red_left()) {
      request_update();
    }
  }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool empty() const { return residents_.empty(); }

 private:
  struct Resident {
    CtaHold cta;  // its warps', which so end together: no sub-core can outlive its trace
    bool ended = false;
    std::vector<std::uint32_t> placed;  // warps by sub-core
  };
  void update() override;
  // Each of a CTA's warps goes to the sub-core with the most free slots, the next in turn among
  // equals.
  void place(CtaHold cta);

  Partition& partition_;
  CtaRunner& runner_;
  Partition* of_finished_ = nullptr;
  Mailbox<std::uint32_t>* finished_ = nullptr;
  std::vector<CtaHold> launched_;  // in this cycle
  bool closes_ = false, closed_ = false;
  bool flushes_ = false;
  std::vector<Resident> residents_;
  std::vector<std::uint32_t> held_;  // warp slots given to resident CTAs, by sub-core
  std::size_t next_subcore_ = 0;
};

}  // namespace warpfold
