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

#include "model/gpu/atomic_buffer.hpp"
#include "model/gpu/channel.hpp"
#include "model/gpu/clock.hpp"
#include "model/gpu/config.hpp"
#include "model/gpu/lsu.hpp"
#include "model/gpu/noc.hpp"
#include "model/gpu/subcore.hpp"
#include "model/gpu/traffic.hpp"
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

// Begins and ends of one SM's CTAs, and their barriers. Sub-cores and the dispatcher report during
// a cycle; the outcome is told when it ends, for the next one.
class SmControl : public Channel {
 public:
  SmControl(Partition& partition, CtaStore& ctas, const GpuConfig& config)
      : ctas_(ctas), barrier_warp_(to_ticks(config.latency.barrier_warp)) {
    join(partition);
  }
  void connect(std::vector<Subcore*> subcores, Dispatcher& dispatcher) {
    subcores_ = std::move(subcores);
    dispatcher_ = &dispatcher;
    held_.assign(subcores_.size(), 0);
  }

  // Hands the warps of a CTA to the sub-cores.
  void launch(CtaContext* cta);
  void warp_finished(CtaContext* cta);
  void barrier_arrived(CtaContext* cta, Cycle cycle);
  void release(CtaContext* cta) { ctas_.release(cta); }
  // A RED has left the SM. A CTA whose warps have ended keeps its place until all its REDs have.
  void red_left(CtaContext* cta) {
    if (--cta->reds_out == 0) {
      request_update();
    }
  }
  [[nodiscard]] bool empty() const { return residents_.empty(); }

 private:
  struct Resident {
    CtaContext* cta;
    std::uint32_t running;  // warps
    std::uint32_t at_barrier;
    Ticks arrived;                      // when its last arrival has been taken
    std::vector<std::uint32_t> placed;  // warps by sub-core
  };
  void update() override;
  // Registers a CTA. Each of its warps goes to the sub-core with the most free slots, the next in
  // turn among equals.
  void place(CtaContext* cta);
  Resident& resident(const CtaContext* cta);

  CtaStore& ctas_;
  const Ticks barrier_warp_;
  std::vector<CtaContext*> launched_;        // in this cycle
  std::vector<const CtaContext*> arrivals_;  // in this cycle, which is
  Cycle arrived_in_ = 0;
  Ticks arrived_ = 0;  // when the SM has taken the last arrival
  std::vector<Subcore*> subcores_;
  Dispatcher* dispatcher_ = nullptr;
  std::vector<Resident> residents_;
  std::vector<std::uint32_t> held_;  // warp slots given to resident CTAs, by sub-core
  std::size_t turn_ = 0;
};

class Sm : public sc_core::sc_module {
 public:
  Sm(const sc_core::sc_module_name& name, Partition& partition, const Subcore::Context& context,
     CtaStore& ctas, std::uint32_t index, const std::function<std::unique_ptr<ArcUnit>()>& unit,
     const BufferShape& buffer_shape, LineSumsPool& sums);

  void connect(Dispatcher& dispatcher, const SliceMap& map, std::vector<SliceIngress*> slices);
  // The kernel has ended: what an atomic buffer holds goes out.
  void flush();
  [[nodiscard]] bool empty() const;

  SmControl control;
  LsuPipe pipe;
  LsuPipe match_pipe;
  InjectionPort port;
  std::unique_ptr<AtomicBuffer> buffer;  // null unless the policy has one
  std::vector<std::unique_ptr<Subcore>> subcores;
  Lsu lsu;
};

// Gives CTAs to SMs in launch order, one a cycle, to the next SM in turn that has room.
class Dispatcher : public Block {
 public:
  Dispatcher(const sc_core::sc_module_name& name, Partition& partition, const trace::Reader& trace,
             CtaStore& ctas, std::uint32_t ctas_per_sm, std::function<void(double)> progress);
  void connect(std::vector<Sm*> sms);

  Mailbox<std::uint32_t> finished;  // SMs, once for each CTA that ended
  [[nodiscard]] bool done() const { return completed_ == trace_.cta_count(); }
  // First cycle after the last warp ended.
  [[nodiscard]] Cycle last_end() const { return last_end_; }

 private:
  void tick() override;

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
