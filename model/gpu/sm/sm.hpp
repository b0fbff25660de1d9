// SPDX-License-Identifier: Apache-2.0
// A streaming multiprocessor: sub-cores, their load-store unit, an atomic or a merge buffer under
// a policy that has one, and the way out to the L2. Owned by the GPU.
//
// What lies within an SM has a domain of its own, which need not keep step with the rest of the GPU
// while nothing that passes between them can make a difference:
//
//   ahead    while its outlet is less than a quarter full, or has room and no sub-core looks at it:
//            it has room and nobody falls asleep or wakes by it whatever the injection port takes,
//            and no load that is in it can be answered
//   behind   while the outlet has plenty for the port, and no CTA can end
//
// both only where no CTA can be launched, since none has ended of as many as fit, or none is left.
// So what a processor has in its cache of an SM is used for many cycles; the results are those of
// SMs that keep step.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/gpu/noc/boundary.hpp"
#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/sm/injection_port.hpp"
#include "model/gpu/sm/lsu.hpp"
#include "model/gpu/sm/lsu_pipe.hpp"
#include "model/gpu/sm/outlet.hpp"
#include "model/gpu/sm/residency.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/sm/sm_control.hpp"
#include "model/gpu/sm/subcore.hpp"
#include "model/gpu/sm/sum_buffer.hpp"

namespace warpfold {

// Makes the ARC unit of a sub-core; null where the policy has none.
using UnitMaker = std::function<std::unique_ptr<ArcUnit>()>;

class Sm : public Block, public CtaRunner, public PortOwner {
 public:
  Sm(std::string name, Partition& partition, const SmContext& context, const UnitMaker& make_unit);

  void connect(const SliceMap& map, std::vector<Entrance*> entrances);
  [[nodiscard]] Residency& residency() { return residency_; }
  [[nodiscard]] Injector& injector() { return port_; }

  // CtaRunner: something comes to the SM in this cycle of the GPU.
  void begin_cta(CtaContext& cta) override;
  void begin_warp(CtaContext& cta, std::uint32_t warp, std::size_t subcore) override;
  void end_kernel() override;
  // PortOwner.
  void red_left(CtaContext& cta) override { residency_.red_left(cta); }
  void answer_load(std::uint64_t asker, Cycle due) override;
  void answer_red(std::uint64_t asker, Cycle due) override;
  void fill(std::uint64_t line, std::uint32_t sectors, Cycle due) override;

  [[nodiscard]] bool empty() const;
  // When the last of its units is done with what it was given.
  [[nodiscard]] Ticks busy_until() const {
    return std::max({pipe_.busy_until(), port_.busy_until(), buffer_ ? buffer_->busy_until() : 0});
  }
  // Brings the statistics of its sub-cores up to `end`, the first cycle that no longer counts.
  void finish(Cycle end);

  // For who looks at a run: its blocks. The buffer is null unless the policy has one.
  [[nodiscard]] const std::vector<std::unique_ptr<Subcore>>& subcores() const { return subcores_; }
  [[nodiscard]] const LsuPipe& pipe() const { return pipe_; }
  [[nodiscard]] const Lsu& lsu() const { return lsu_; }
  [[nodiscard]] const Outlet& outlet() const { return outlet_; }
  [[nodiscard]] const InjectionPort& port() const { return port_; }
  [[nodiscard]] const SumBuffer* buffer() const { return buffer_.get(); }

  // Has its blocks note down what they do. `of_units`: none where sub-cores have no unit.
  struct Recorders {
    std::vector<SliceRecorder*> of_subcores, of_units;
    std::vector<LevelRecorder*> memory_queues;
    SliceRecorder* pipe = nullptr;
    SliceRecorder* lsu_blocked = nullptr;
    SliceRecorder* port = nullptr;
    LevelRecorder* outlet = nullptr;
  };
  void record(const Recorders& recorders);
  // After the run, what the pipe has not noted down yet.
  void record_rest() const { pipe_.record_rest(); }
  // Has the ports of an ARC unit of its looked at.
  void probe(const PortProbe& probe);
  // Faults for tests of the checks (SimOptions).
  void lose_grants(std::uint64_t grants) { port_.lose_grants(grants); }
  void lose_flushed(std::uint64_t sectors) {
    if (buffer_) {
      buffer_->lose_flushed(sectors);
    }
  }

 private:
  static constexpr std::size_t kAhead = 256;  // of the ring of its domain

  void tick() override;
  std::unique_ptr<SumBuffer> make_buffer();
  void receive();
  [[nodiscard]] Cycle next_cycle() const { return std::min(domain_.next(), outlet_.room_from()); }
  [[nodiscard]] bool may_pass_port(Cycle next) const;
  [[nodiscard]] bool looks_at_way_out() const;
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] Cycle may_stay_until(Cycle end);
  void tell_ended();

  const SmContext context_;
  const AdmissionRule& admission_;
  const Cycle load_latency_;  // from a load's grant to its answer, at least
  const Cycle red_latency_;   // of answers to REDs and accesses; kNever where there are none
  Domain domain_;
  Residency residency_;
  SmControl control_;
  LsuPipe pipe_;
  LsuPipe match_pipe_;
  Outlet outlet_;
  InjectionPort port_;
  Mailbox<std::uint32_t>* loads_ = nullptr;  // of the buffer, where that takes them
  std::unique_ptr<SumBuffer> buffer_;
  Lsu lsu_;
  std::vector<std::unique_ptr<Subcore>> subcores_;

  Cycle no_end_before_ = 0;  // of a CTA
  Cycle estimate_at_ = 0;    // that again, no sooner
  Cycle pause_ = 0;          // how long not, after one that was short
};

}  // namespace warpfold
