// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/lsu.hpp"

#include <algorithm>
#include <bit>

#include "model/gpu/sm.hpp"
#include "model/gpu/subcore.hpp"
#include "model/policy/program.hpp"

namespace warpfold {

Ticks LsuPipe::start(Ticks occupancy) {
  ARC_CHECK(free() && started_until_ == 0, "the pipe is taken");
  started_until_ = std::max(free_at_, at_cycle(partition().now())) + occupancy;
  busy_ += occupancy;
  request_update();
  return started_until_;
}

Ticks LsuPipe::charge(Ticks occupancy) {
  if (occupancy == 0) {
    return 0;
  }
  charged_ += occupancy;
  busy_ += occupancy;
  request_update();
  return std::max(free_at_, at_cycle(partition().now())) + occupancy;
}

void LsuPipe::update() {
  free_at_ = std::max(free_at_, started_until_);
  started_until_ = 0;
  if (charged_ > 0) {
    free_at_ = std::max(free_at_, at_cycle(partition().now())) + charged_;
    charged_ = 0;
  }
}

Lsu::Lsu(const sc_core::sc_module_name& name, Partition& partition, const GpuConfig& config,
         const AddressMap& addresses, bool has_values, LsuPipe& pipe, Fifo<Transaction>& sink,
         bool beside_pipe, SectorSumsPool& sums, Tally& tally, CtaStore& ctas)
    : Block(name, partition),
      flushes("flushes"),
      addresses_(addresses),
      has_values_(has_values),
      pipe_(pipe),
      sink_(sink),
      beside_pipe_(beside_pipe),
      sums_(sums),
      tally_(tally),
      ctas_(ctas),
      line_bytes_(config.l1.line_bytes),
      red_min_(to_ticks(config.lsu.red_min)),
      red_flit_(to_ticks(config.lsu.red_flit)),
      hand_red_(to_ticks(config.lsu.hand_red)) {
  flushes.bind(*this);
}

void Lsu::tick() {
  if (has_mail()) {
    flushes.take([this](bool) { flush_ = true; });
    mail_taken();
  }
  const bool work =
      holding_ || std::any_of(subcores_.begin(), subcores_.end(), [](const Subcore* subcore) {
        return !subcore->memory_queue.empty();
      });
  if (!work) {
    want_entries();
    if (flush_) {
      send_flush();
    }
    return;
  }
  if (!beside_pipe_ && !pipe_.free()) {
    wake_at(cycle_of(pipe_.free_at()));
    return;
  }
  if (!holding_ && !take_next()) {
    want_entries();  // of a sub-core that could hand over at once
    return;
  }
  if (holding_) {
    if (!sink_.can_push()) {
      if (blocked_since_ == kNever) {
        blocked_since_ = now();
      }
      sink_.want_room();
      return;
    }
    if (blocked_since_ != kNever) {
      blocked_cycles_ += now() - blocked_since_;
      blocked_since_ = kNever;
    }
    sink_.push(transactions_[sent_]);
    if (!beside_pipe_) {
      pipe_.start(occupancy_[sent_]);
    }
    holding_ = ++sent_ < count_;
  }
  // The end of the kernel does not wait for the pipe.
  if (beside_pipe_ || flush_) {
    wake_next();
  } else {
    wake_at(std::max(now() + 1, cycle_of(pipe_.started_until())));
  }
}

void Lsu::want_entries() {
  for (Subcore* subcore : subcores_) {
    subcore->memory_queue.want_entries();
  }
}

void Lsu::send_flush() {
  if (!sink_.can_push()) {
    sink_.want_room();
    return;
  }
  Transaction transaction;
  transaction.flush = true;
  sink_.push(transaction);
  flush_ = false;
}

// Takes the next instruction that can start, sub-cores in turn; false if there is none, as all wait
// for the pipe or to be handed over. Shuffles and shared-memory accesses are done with at once; a
// RED is held until its transactions have left.
bool Lsu::take_next() {
  Ticks soonest = ~Ticks{0};
  for (std::size_t i = 0; i < subcores_.size(); ++i) {
    const std::size_t place = turn_ + i;
    const std::size_t index = place < subcores_.size() ? place : place - subcores_.size();
    Subcore& subcore = *subcores_[index];
    if (subcore.memory_queue.empty()) {
      continue;
    }
    const MemOpKind kind = subcore.memory_queue.front().kind;
    const bool on_pipe = kind == MemOpKind::kShuffle || kind == MemOpKind::kShared;
    const Ticks start = std::max(handed_[index], on_pipe ? pipe_.free_at() : 0);
    if (start >= at_cycle(now() + 1)) {
      soonest = std::min(soonest, start);
      continue;
    }
    turn_ = index + 1 < subcores_.size() ? index + 1 : 0;
    const MemOp op = subcore.memory_queue.front();
    subcore.memory_queue.pop();
    if (on_pipe) {
      handed_[index] = std::max(handed_[index], at_cycle(op.begun)) + op.hand_ticks;
      const Ticks done = std::max(pipe_.start(op.lsu_ticks), handed_[index]);
      subcore.shuffles_done.post({.warp_slot = op.warp_slot,
                                  .arrives = now() + 1,
                                  .due = std::max(now() + 1, cycle_after(done) + op.latency)});
    } else {
      handed_[index] = std::max(handed_[index], at_cycle(now())) + hand_red_;
      split(op);
    }
    return true;
  }
  wake_at(cycle_of(soonest));
  return false;
}

// Transactions of a RED: one for each 32-byte sector that its lanes touch.
void Lsu::split(const MemOp& op) {
  Transaction transaction;
  transaction.parameter = op.parameter;
  transaction.event = op.event;
  sent_ = 0;
  count_ = 0;
  holding_ = true;
  if (op.kind == MemOpKind::kReduced && op.event.cta != nullptr) {
    split_sums(op);
    return;
  }
  if (op.kind == MemOpKind::kReduced || op.uniform) {
    // Lanes on one and the same address: a flit each.
    const bool reduced = op.kind == MemOpKind::kReduced;
    const auto lanes = static_cast<std::uint16_t>(reduced ? 1 : lane_count(op.mask));
    transaction.reduced = reduced;
    transaction.uniform = !reduced;
    transaction.packets = lanes;
    transaction.lone_words = lanes;
    transaction.flits = lanes;
    transaction.mask = reduced ? 1 : op.mask;
    transaction.data = op.data;
    transaction.address = op.address;
    transactions_[count_++] = transaction;
    set_occupancies();
    return;
  }
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  const auto address_of = [&](int lane) {
    return addresses_.address(lane_primitive(trace, event, static_cast<std::uint32_t>(lane)),
                              op.parameter);
  };
  for (LaneMask rest = op.mask; rest != 0;) {
    const Address lead = address_of(std::countr_zero(rest));
    transaction.address = lead;
    transaction.mask = 0;
    auto& words = words_[count_];
    words.fill(0);
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const Address address = address_of(lane);
      if (address >> kSectorShift == lead >> kSectorShift) {
        transaction.mask |= LaneMask{1} << lane;
        ++words[address % kSectorBytes / sizeof(Fp32Bits)];
      }
    }
    rest &= ~transaction.mask;
    // The fullest word decides.
    transaction.packets = *std::max_element(words.begin(), words.end());
    transactions_[count_++] = transaction;
    if (rest != 0) {
      op.event.cta->hold();  // one for each transaction; the instruction brought the first
    }
  }
  count_flits();
  set_occupancies();
}

// Of the transactions in hand: those of a line travel together.
void Lsu::count_flits() {
  std::array<std::size_t, kLanes> mates{};
  std::array<std::uint64_t, kLanes> lines{};
  for (std::size_t i = 0; i < count_; ++i) {
    lines[i] = line_bytes_.quotient(transactions_[i].address);
  }
  for (std::size_t i = 0; i < count_; ++i) {
    if (transactions_[i].flits != 0) {
      continue;  // counted with a sector before it
    }
    std::size_t sectors = 0;
    std::uint32_t passes = 0;
    for (std::size_t k = i; k < count_; ++k) {
      if (lines[k] == lines[i]) {
        mates[sectors++] = k;
        passes = std::max<std::uint32_t>(passes, transactions_[k].packets);
      }
    }
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      std::uint32_t added = 0;  // words that this pass adds to
      for (std::size_t m = 0; m < sectors; ++m) {
        for (const std::uint8_t word : words_[mates[m]]) {
          added += word > pass ? 1 : 0;
        }
      }
      bool head = added > 1;
      for (std::size_t m = 0; m < sectors; ++m) {
        Transaction& transaction = transactions_[mates[m]];
        if (transaction.packets > pass) {
          transaction.flits = static_cast<std::uint16_t>(transaction.flits + (head ? 2 : 1));
          transaction.lone_words =
              static_cast<std::uint16_t>(transaction.lone_words + (added == 1 ? 1 : 0));
          head = false;
        }
      }
    }
  }
}

// A flit of the RED after another, red_min in all.
void Lsu::set_occupancies() {
  Ticks total = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    occupancy_[i] = red_flit_ * transactions_[i].flits;
    total += occupancy_[i];
  }
  occupancy_[count_ - 1] += red_min_ - std::min(red_min_, total);
}

// A RED by one lane of each primitive, of sums formed in software: one transaction for each sector.
void Lsu::split_sums(const MemOp& op) {
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  const EventValues event_values(op.event, has_values_);
  std::array<Fp32Bits, kLanes> values{};
  for (LaneMask rest = op.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    values[lane] = event_values.of(op.parameter, lane);
  }
  std::array<SectorSums, kLanes> sectors;
  for (LaneMask rest = op.mask; rest != 0;) {
    const auto primitive_of = [&](LaneMask lanes) {
      return lane_primitive(trace, event, static_cast<std::uint32_t>(std::countr_zero(lanes)));
    };
    const std::uint32_t primitive = primitive_of(rest);
    LaneMask group = 0;
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      group |= primitive_of(m) == primitive ? m & (~m + 1) : 0;
    }
    rest &= ~group;
    const Address address = addresses_.address(primitive, op.parameter);
    const auto end = transactions_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto found = std::find_if(transactions_.begin(), end, [address](const Transaction& t) {
      return t.address >> kSectorShift == address >> kSectorShift;
    });
    const auto index = static_cast<std::size_t>(found - transactions_.begin());
    if (found == end) {
      transactions_[count_] = Transaction{};
      transactions_[count_].parameter = op.parameter;
      transactions_[count_].packets = 1;
      transactions_[count_].address = address >> kSectorShift << kSectorShift;
      words_[count_].fill(0);
      ++count_;
    }
    const std::size_t word = address % kSectorBytes / sizeof(Fp32Bits);
    transactions_[index].mask |= LaneMask{1} << word;
    words_[index][word] = 1;
    sectors[index][word] = software_sum(values.data(), group, SumOrder::kSerial);
    ++tally_.software_reduced;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    transactions_[i].partial = true;
    transactions_[i].data = sums_.put(sectors[i]);
  }
  count_flits();
  set_occupancies();
  ctas_.release(op.event.cta);
}

}  // namespace warpfold
