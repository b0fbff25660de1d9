// SPDX-License-Identifier: Apache-2.0
// The load-store unit of an SM: takes instructions from the sub-cores' memory queues in turn,
// splits REDs into transactions by line and hands them to the SM's outlet, or by 32-byte sector and
// hands them to its atomic buffer. Owned by its SM. Shuffles and shared-memory accesses share the
// pipe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/gpu/sm/l1_cache.hpp"
#include "model/gpu/sm/lsu_pipe.hpp"
#include "model/gpu/sm/mem_op.hpp"
#include "model/gpu/sm/outlet.hpp"
#include "model/gpu/sm/red_splitter.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/sm/sm_control.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"

namespace warpfold {

class Lsu : public Block {
 public:
  // Whom it serves.
  struct Source {
    Fifo<MemOp>* queue;
    AccessAnswers* answers;
  };
  // Where transactions go: to the outlet, or to an atomic buffer, if there is one.
  struct Sinks {
    Outlet& outlet;
    Fifo<Transaction>* buffer;
  };

  Lsu(std::string name, Domain& domain, const SmContext& context, SmControl& control, LsuPipe& pipe,
      const Sinks& sinks);

  Inputs inputs;  // the sources' queues

  // The kernel has ended: a transaction that says so follows the last RED into the sink.
  Mailbox<bool> flushes;

  void connect(std::vector<Source> sources) {
    sources_ = std::move(sources);
    handed_.assign(sources_.size(), 0);
  }
  [[nodiscard]] bool empty() const { return !holding_ && !flush_ && (!l1_ || l1_->unknown() == 0); }
  // Sectors of a line are there in that cycle, which is to come.
  void fill(std::uint64_t line, std::uint32_t sectors, Cycle due);
  // As loads with addresses see it; null where the trace has none.
  [[nodiscard]] const L1Cache* l1() const { return l1_.get(); }
  // What it has to do, and for what that waits, or nothing.
  [[nodiscard]] std::string waits() const;
  // Cycles in which an instruction waited for the injection port or the atomic buffer.
  [[nodiscard]] std::uint64_t blocked_cycles() const { return blocked_cycles_; }
  // What it starts on the pipe, and when it is blocked.
  void record(SliceRecorder* slices, SliceRecorder* blocked) {
    slices_ = slices;
    blocked_ = blocked;
  }

 private:
  void tick() override;
  [[nodiscard]] bool can_send() const {
    return sinks_.buffer ? sinks_.buffer->can_push() : sinks_.outlet.can_push();
  }
  void send(Transaction&& transaction);
  void send_next();
  void want_room();
  void send_flush();
  bool take_next();
  void take(MemOp& op, std::uint32_t source);
  void expect_answers(const MemOp& op, std::uint32_t source);
  void serve_on_pipe(const MemOp& op, std::uint32_t source);
  [[nodiscard]] bool has_more() const;
  void begin_access(MemOp& op, std::uint32_t source);
  bool serve_access();
  void send_access(std::uint64_t line, std::uint32_t sectors, bool load);
  void blocked();
  void unblocked();

  SmControl& control_;
  LsuPipe& pipe_;
  const Sinks sinks_;
  // REDs do not occupy the pipe on their way to the buffer, one transaction a cycle.
  const bool beside_pipe_;
  const Ticks hand_red_;
  const bool reds_answered_;    // warps wait for their REDs (red_wait.hpp)
  const Cycle buffer_latency_;  // of the answer of an atomic buffer
  bool flush_ = false;
  std::vector<Source> sources_;
  std::vector<Ticks> handed_;      // by source: when it has handed over what was taken
  std::uint32_t next_source_ = 0;  // whose turn it is

  // The RED in hand, of whose transactions some have not left yet.
  bool holding_ = false;
  RedSplitter splitter_;
  std::size_t sent_ = 0;
  CtaContext* cta_ = nullptr;       // that waits for it
  AccessAnswers* asker_ = nullptr;  // who is told, and of which warp, when the buffer has it
  std::uint32_t asker_slot_ = 0;
  Cycle blocked_since_ = kNever;
  std::uint64_t blocked_cycles_ = 0;
  // The load or store in hand, of whose lines some have not been looked up.
  struct LinePart {
    std::uint64_t line = 0;  // address / kLineBytes
    std::uint32_t sectors = 0;
  };
  bool accessing_ = false;
  std::unique_ptr<L1Cache> l1_;
  const bool loads_pass_;   // to the L2
  const Cycle l2_latency_;  // of those that do not
  const std::vector<trace::MemorySite>& memory_;
  const Ticks access_ticks_;
  std::vector<LinePart> lines_;
  std::size_t line_at_ = 0;
  L1Cache::Asker access_asker_;
  Cycle access_due_ = 0;  // when the last of what the L1 has is there
  SliceRecorder* slices_ = nullptr;
  SliceRecorder* blocked_ = nullptr;
};

}  // namespace warpfold
