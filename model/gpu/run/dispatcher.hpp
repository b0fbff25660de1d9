// SPDX-License-Identifier: Apache-2.0
// Hands out the CTAs of a launch. Owned by the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/gpu/cta/cta.hpp"
#include "model/gpu/sm/residency.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// Gives CTAs to SMs in launch order, one a cycle, to the next SM in turn that has room.
class Dispatcher : public Block {
 public:
  Dispatcher(std::string name, Partition& partition, const trace::Reader& trace, CtaStore& ctas,
             std::uint32_t ctas_per_sm, std::function<void(double)> progress);
  void connect(std::vector<Residency*> sms);
  [[nodiscard]] Partition& partition() const { return partition_; }
  // Called in the cycle in which it learns of the end of the last CTA.
  void tell_end(std::function<void()> listener) { of_end_.push_back(std::move(listener)); }

  Mailbox<std::uint32_t> finished;  // SMs, once for each CTA that ended
  [[nodiscard]] bool done() const { return completed_ == trace_.cta_count(); }
  [[nodiscard]] std::size_t completed() const { return completed_; }
  // First cycle after the last warp ended.
  [[nodiscard]] Cycle last_end() const { return last_end_; }

 private:
  void tick() override;

  Partition& partition_;
  const trace::Reader& trace_;
  CtaStore& ctas_;
  const std::uint32_t ctas_per_sm_;
  std::function<void(double)> progress_;
  std::vector<Residency*> sms_;
  std::vector<std::function<void()>> of_end_;
  std::vector<std::uint32_t> resident_;
  std::size_t next_sm_ = 0;
  std::size_t next_cta_ = 0;
  std::size_t completed_ = 0;
  Cycle last_end_ = 0;
};

}  // namespace warpfold
