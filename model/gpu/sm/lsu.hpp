// SPDX-License-Identifier: Apache-2.0
// The load-store unit of an SM: takes instructions from the sub-cores' memory queues in turn,
// splits REDs into transactions by line and hands them to the SM's injection port, or by 32-byte
// sector and hands them to its atomic buffer. Owned by its SM. Timing as measured on an H200: a
// flit a cycle (traffic.hpp), so same-address lanes one a cycle and the four sectors of a line 5
// cycles, 2.09 cycles at least per RED; shuffles and shared-memory accesses share the pipe. Lanes
// on one word of each of several lines take turns by passes over these lines: in all passes but the
// first each change of line costs red_change.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/noc/noc.hpp"
#include "model/kernel/recorder.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/traffic/traffic.hpp"

namespace warpfold {

class CtaStore;
class SmControl;
class Subcore;

// Until when the pipe is taken. The LSU starts instructions on it; sub-cores charge it with the
// shared-memory accesses and loads of their runs, whose order against REDs does not matter here.
class LsuPipe {
 public:
  explicit LsuPipe(const Domain& domain) : domain_(domain) {}

  // LSU's side: an instruction may start in this cycle.
  [[nodiscard]] bool free() { return free_at() < at_cycle(domain_.now() + 1); }
  // As of the start of the cycle.
  [[nodiscard]] Ticks free_at() {
    settle();
    return free_at_;
  }
  // Starts an instruction; returns when it leaves the pipe.
  Ticks start(Ticks occupancy) {
    ARC_CHECK(free() && started_until_ == 0, "the pipe is taken");
    started_until_ = std::max(free_at_, at_cycle(domain_.now())) + occupancy;
    busy_ += occupancy;
    return started_until_;
  }
  // When that which has been started in this cycle leaves.
  [[nodiscard]] Ticks started_until() {
    settle();
    return started_until_;
  }
  // Sub-cores' side: that much occupancy after what is there already. Returns when it will be over,
  // what others charge in the same cycle left aside.
  Ticks charge(Ticks occupancy) {
    if (occupancy == 0) {
      return 0;
    }
    settle();
    charged_ += occupancy;
    busy_ += occupancy;
    return std::max(free_at_, at_cycle(domain_.now())) + occupancy;
  }

  [[nodiscard]] Ticks busy() const { return busy_; }
  [[nodiscard]] Ticks busy_until() const { return free_after_asked(); }
  // Of that, what lies before a cycle that has not begun.
  [[nodiscard]] Ticks busy_before(Cycle cycle) const {
    return done_before(cycle, busy_, free_after_asked());
  }
  // What sub-cores charge; of what the LSU starts it knows more itself.
  void record(SliceRecorder* slices) { slices_ = slices; }
  // After the run.
  void record_rest() const {
    if (charged_ != 0) {
      record_charged();
    }
  }

 private:
  void record_charged() const {
    const Ticks until = free_after_asked();
    slices_->add(until - charged_, until, static_cast<std::uint32_t>(LsuWork::kOfRuns));
  }
  [[nodiscard]] Ticks free_after_asked() const {
    const Ticks free_at = std::max(free_at_, started_until_);
    return charged_ == 0 ? free_at : std::max(free_at, at_cycle(asked_in_)) + charged_;
  }
  // What was asked for in a cycle that is over has been done.
  void settle() {
    if (asked_in_ != domain_.now()) {
      if (slices_ != nullptr && charged_ != 0) {
        record_charged();
      }
      free_at_ = free_after_asked();
      started_until_ = 0;
      charged_ = 0;
      asked_in_ = domain_.now();
    }
  }

  const Domain& domain_;
  Ticks free_at_ = 0;
  // In the cycle in which it was last asked for anything.
  Cycle asked_in_ = 0;
  Ticks started_until_ = 0;
  Ticks charged_ = 0;
  Ticks busy_ = 0;
  SliceRecorder* slices_ = nullptr;
};

class Lsu : public Block {
 public:
  // Transactions are lines and go to `outlet`; if there is a `buffer`, an atomic buffer's, sectors
  // that go there. `beside_pipe`: REDs do not occupy the pipe on their way there, one transaction a
  // cycle.
  Lsu(const sc_core::sc_module_name& name, Domain& domain, const GpuConfig& config,
      const AddressMap& addresses, bool has_values, SmControl& control, LsuPipe& pipe,
      Outlet& outlet, Fifo<Transaction>* buffer, bool beside_pipe, LineSumsPool& sums, Tally& tally,
      CtaStore& ctas);

  Inputs inputs;  // the sub-cores' memory queues

  // The kernel has ended: a transaction that says so follows the last RED into the sink.
  Mailbox<bool> flushes;

  void connect(std::vector<Subcore*> subcores) {
    subcores_ = std::move(subcores);
    handed_.assign(subcores_.size(), 0);
  }
  [[nodiscard]] bool empty() const { return !holding_ && !flush_; }
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
  [[nodiscard]] bool can_send() const { return buffer_ ? buffer_->can_push() : outlet_.can_push(); }
  void send(const Transaction& transaction);
  void want_room();
  void send_flush();
  bool take_next();
  [[nodiscard]] bool has_more() const;
  void split(const MemOp& op);
  void split_load(const MemOp& op, std::uint32_t subcore);
  void split_sums(const MemOp& op);
  void clear_words(std::size_t transaction);
  std::uint8_t add_word(std::size_t transaction, Address address);
  [[nodiscard]] std::uint32_t words_of_turn(std::size_t transaction, std::uint32_t turn) const;
  void count_turns();
  void add_turn(std::size_t& transaction, std::uint32_t turn, std::uint32_t words, bool lone,
                bool head);
  void set_occupancies();

  const AddressMap& addresses_;
  const bool has_values_;
  SmControl& control_;
  LsuPipe& pipe_;
  Outlet& outlet_;
  Fifo<Transaction>* const buffer_;
  const bool beside_pipe_;
  LineSumsPool& sums_;
  Tally& tally_;
  CtaStore& ctas_;
  bool flush_ = false;
  std::vector<Subcore*> subcores_;
  std::vector<Ticks> handed_;  // by sub-core: when it has handed over what was taken
  std::uint32_t turn_ = 0;

  const Address line_mask_;
  const bool by_line_;
  const Address piece_mask_;  // of an address, that of its transaction
  const Ticks red_min_, red_flit_, red_change_, hand_red_;
  // Transactions of the RED in hand that have not left yet, and their occupancies.
  bool holding_ = false;
  std::array<Transaction, kLanes> transactions_;
  // Of each, how many additions each word of its line gets, and which words get any.
  std::array<std::array<std::uint8_t, kLineWords>, kLanes> words_{};
  std::array<std::uint32_t, kLanes> added_{};
  std::array<std::uint8_t, kLanes> turn_of_{};  // of each lane, over its line
  std::array<Ticks, kLanes> occupancy_{};
  std::size_t sent_ = 0, count_ = 0;
  CtaContext* cta_ = nullptr;  // that waits for the RED in hand
  Cycle blocked_since_ = kNever;
  std::uint64_t blocked_cycles_ = 0;
  SliceRecorder* slices_ = nullptr;
  SliceRecorder* blocked_ = nullptr;
};

}  // namespace warpfold
