// SPDX-License-Identifier: Apache-2.0
// An SM's buffer that sums REDs before they leave for the L2: the local atomic buffer of LAB, its
// idealised form, or the L1 cache itself as in PHI. Owned by its SM; stands between the load-store
// unit and the injection port.
//
//   input --> look-up --> adder          (two stages: the next is looked up while one is added)
//                |
//                +-- evicted sectors --> victim queue --> injection port
//
// A look-up finds the line of a transaction or takes the place of the one not used for the longest
// time. Sums begin at zero, so a miss fetches nothing; it waits for room in the victim queue if the
// line that must go holds sums. The adder takes one lane after the other of those on one word;
// different words of a sector are added side by side. A transaction that stands for the end of the
// kernel sends everything out.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "model/base/ticks.hpp"
#include "model/gpu/sm/lsu_pipe.hpp"
#include "model/gpu/sm/outlet.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/sm/sum_buffer.hpp"
#include "model/gpu/sm/sum_store.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"

namespace warpfold {

class AtomicBuffer : public SumBuffer {
 public:
  AtomicBuffer(std::string name, Domain& domain, const SmContext& context, LsuPipe& pipe,
               Outlet& injection);

  Mailbox<std::uint32_t> loads;  // ordinary loads that warps have issued

  [[nodiscard]] bool empty() const override {
    return input.empty() && victims_.empty() && !looked_up_ && !adding_ && fills_ == 0 &&
           store_.words() == 0;
  }
  [[nodiscard]] std::string waits() const override;
  [[nodiscard]] const BufferStats& stats() const override { return stats_; }
  [[nodiscard]] Ticks busy_until() const override { return adder_free_at_; }

 private:
  void tick() override;
  void drain();
  bool look_up();
  bool pass(Transaction& transaction);
  std::optional<std::uint32_t> make_room(SumStore::Line line);
  void absorb(Transaction& transaction, SumStore::Slot slot);
  void start_adding();
  void finish_adding();
  void fill();
  void flush();
  void send(const SumsOfSector& sector);
  [[nodiscard]] bool has_room(std::uint32_t sectors) const {
    return shape_.victims == 0 || victims_.size() + sectors <= shape_.victims;
  }

  const SmContext& context_;
  const BufferShape& shape_;
  LsuPipe& pipe_;
  Outlet& injection_;
  SumStore store_;
  BufferStats stats_;

  // The look-up stage holds a transaction until the adder takes it. What is added is in the store
  // from the look-up on; the stages only keep time.
  bool looked_up_ = false;
  Ticks lookup_done_ = 0;
  std::uint32_t lookup_accesses_ = 0;  // one, or one for each lane
  std::uint32_t lookup_depth_ = 0;     // additions one after the other
  SumStore::Line lookup_line_ = 0;
  Cycle last_lookup_ = kNever;
  bool adding_ = false;
  Ticks adder_free_at_ = 0;
  std::uint32_t adding_accesses_ = 0;
  SumStore::Line adding_line_ = 0;

  std::deque<Transaction> victims_;
  Cycle drained_ = kNever;  // the last in which one left
  Cycle blocked_since_ = kNever;

  std::uint64_t fills_ = 0;  // lines of loads that are still to come in
  SumStore::Line next_load_line_;

  bool flushing_ = false;
  SumStore::Slot flush_slot_ = 0;
  Ticks flush_free_at_ = 0;
};

}  // namespace warpfold
