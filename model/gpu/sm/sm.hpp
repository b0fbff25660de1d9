// SPDX-License-Identifier: Apache-2.0
// A streaming multiprocessor: sub-cores, their load-store unit and injection port, and what CTAs
// share: barriers and the count of warps still running. Also the dispatcher that fills SMs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/gpu/sm/atomic_buffer.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"
#include "model/gpu/sm/lsu.hpp"
#include "model/gpu/noc/noc.hpp"
#include "model/gpu/sm/subcore.hpp"
#include "model/gpu/traffic/traffic.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// Keeps CTAs from dispatch until nothing points to them. Shared by the partitions.
class CtaStore {
 public:
  CtaContext& add(trace::CtaTrace trace);
  // One warp or transaction fewer points to it.
  void release(CtaContext* cta);
  [[nodiscard]] bool empty() const { return free_.size() == store_.size(); }

 private:
  std::mutex mutex_;
  std::deque<CtaContext> store_;
  std::vector<std::uint32_t> free_;
};

class Dispatcher;

// What the warps of an SM tell each other: barriers, and that the last warp of a CTA has ended.
// Sub-cores report during a cycle; the outcome is told when it ends, for the next one.
class SmControl : public Channel {
 public:
  // buffered: a CTA has not ended before its REDs are in the SM's atomic buffer.
  SmControl(Domain& domain, CtaStore& ctas, const GpuConfig& config, bool buffered)
      : ctas_(ctas), barrier_warp_(to_ticks(config.latency.barrier_warp)), buffered_(buffered) {
    join(domain);
  }
  void connect(std::vector<Subcore*> subcores) { subcores_ = std::move(subcores); }

  // The sub-cores get its warps.
  void launch(CtaContext* cta);
  void warp_finished(CtaContext* cta);
  void barrier_arrived(CtaContext* cta, Cycle cycle);
  // A RED has come into the atomic buffer.
  void red_buffered(CtaContext* cta) {
    if (--cta->reds_out == 0) {
      request_update();
    }
  }
  void release(CtaContext* cta) { ctas_.release(cta); }

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

  CtaStore& ctas_;
  const Ticks barrier_warp_;
  const bool buffered_;
  std::vector<const CtaContext*> arrivals_;  // in this cycle, which is
  Cycle arrived_in_ = 0;
  Ticks arrived_ = 0;  // when the SM has taken the last arrival
  std::vector<Subcore*> subcores_;
  std::vector<Running> running_;
};

class Sm;

// Begins and ends of one SM's CTAs, in cycles of the GPU. A CTA whose warps have ended keeps its
// place until all its REDs have left.
class Residency : public Channel {
 public:
  Residency(Partition& partition, CtaStore& ctas, Sm& sm) : ctas_(ctas), sm_(sm) {
    join(partition);
  }
  void connect(std::vector<Subcore*> subcores, Dispatcher& dispatcher) {
    subcores_ = std::move(subcores);
    dispatcher_ = &dispatcher;
    held_.assign(subcores_.size(), 0);
  }

  // From the dispatcher: hands the warps of a CTA to the sub-cores; no CTA will come any more; the
  // kernel has ended, and what an atomic buffer holds goes out.
  void launch(CtaContext* cta);
  void close();
  void flush();
  // The warps of a CTA have ended in this cycle.
  void ended(CtaContext* cta);
  // A RED has left the SM.
  void red_left(CtaContext* cta) {
    if (--cta->reds_out == 0) {
      request_update();
    }
  }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool empty() const { return residents_.empty(); }

 private:
  struct Resident {
    CtaContext* cta;
    bool ended;
    std::vector<std::uint32_t> placed;  // warps by sub-core
  };
  void update() override;
  // Registers a CTA. Each of its warps goes to the sub-core with the most free slots, the next in
  // turn among equals.
  void place(CtaContext* cta);

  CtaStore& ctas_;
  Sm& sm_;
  std::vector<CtaContext*> launched_;  // in this cycle
  bool closes_ = false, closed_ = false;
  bool flushes_ = false;
  std::vector<Subcore*> subcores_;
  Dispatcher* dispatcher_ = nullptr;
  std::vector<Resident> residents_;
  std::vector<std::uint32_t> held_;  // warp slots given to resident CTAs, by sub-core
  std::size_t turn_ = 0;
};

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
class Sm : public Block {
 public:
  // resident_ctas: how many fit. quantum: it does not run ahead beyond the next multiple of these
  // cycles.
  Sm(const sc_core::sc_module_name& name, Partition& partition, const Subcore::Context& context,
     CtaStore& ctas, std::uint32_t index, const std::function<std::unique_ptr<ArcUnit>()>& unit,
     const BufferShape& buffer_shape, LineSumsPool& sums, std::uint32_t resident_ctas,
     Cycle quantum);

  void connect(Dispatcher& dispatcher, const SliceMap& map, std::vector<SliceIngress*> slices);
  // A CTA, or the end of the kernel, comes in this cycle of the GPU.
  void receive();
  // What a warp's load has asked the L2 for is there in that cycle.
  void answer_load(const Transaction& load, Cycle due);
  [[nodiscard]] bool empty() const;
  // When the last of its units is done with what it was given.
  [[nodiscard]] Ticks busy_until() const {
    return std::max({pipe.busy_until(), port.busy_until(), buffer ? buffer->busy_until() : 0});
  }
  // Has the ports of an ARC unit of its looked at.
  void probe(const PortProbe& probe);

  Domain domain;
  Residency residency;
  SmControl control;
  QueueTurn queue_turn;
  LsuPipe pipe;
  LsuPipe match_pipe;
  InjectionPort port;
  std::unique_ptr<AtomicBuffer> buffer;  // null unless the policy has one
  std::vector<std::unique_ptr<Subcore>> subcores;
  Lsu lsu;

 private:
  static constexpr std::size_t kAhead = 256;  // of the ring of its domain

  void tick() override;
  [[nodiscard]] Cycle next_cycle() const { return std::min(domain.next(), port.queue.room_from()); }
  [[nodiscard]] bool may_pass_port(Cycle next) const;
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] Cycle may_stay_until(Cycle end);
  void tell_ended();

  const std::uint32_t resident_ctas_;
  const Cycle quantum_;
  const Cycle load_latency_;
  const bool warps_sleep_;
  const bool clock_all_;
  Cycle no_end_before_ = 0;  // of a CTA
  Cycle estimate_at_ = 0;    // that again, no sooner
  Cycle pause_ = 0;          // how long not, after one that was short
};

// Gives CTAs to SMs in launch order, one a cycle, to the next SM in turn that has room.
class Dispatcher : public Block {
 public:
  Dispatcher(const sc_core::sc_module_name& name, Partition& partition, const trace::Reader& trace,
             CtaStore& ctas, std::uint32_t ctas_per_sm, std::function<void(double)> progress);
  void connect(std::vector<Sm*> sms);
  [[nodiscard]] Partition& partition() const { return partition_; }

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
  std::vector<Sm*> sms_;
  std::vector<std::uint32_t> resident_;
  std::size_t turn_ = 0;
  std::size_t next_ = 0;
  std::size_t completed_ = 0;
  Cycle last_end_ = 0;
};

// Bytes of the SM's SRAM that a CTA takes as shared memory.
std::uint32_t shared_per_cta(const trace::Header& header);

// CTAs of the trace that fit an SM together: warp slots, registers, shared memory and the CTA
// limit. Zero when one does not fit.
std::uint32_t ctas_per_sm(const GpuConfig& config, const trace::Header& header,
                          std::uint32_t registers_per_thread);

}  // namespace warpfold
