// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/lsu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/base/bits.hpp"
#include "model/gpu/sm/sm.hpp"
#include "model/gpu/sm/subcore.hpp"
#include "model/policy/program.hpp"

namespace warpfold {

Lsu::Lsu(const sc_core::sc_module_name& name, Domain& domain, const GpuConfig& config,
         const AddressMap& addresses, bool has_values, SmControl& control, LsuPipe& pipe,
         Outlet& outlet, Fifo<Transaction>* buffer, bool beside_pipe, LineSumsPool& sums,
         Tally& tally, CtaStore& ctas)
    : Block(name, domain),
      addresses_(addresses),
      has_values_(has_values),
      control_(control),
      pipe_(pipe),
      outlet_(outlet),
      buffer_(buffer),
      beside_pipe_(beside_pipe),
      sums_(sums),
      tally_(tally),
      ctas_(ctas),
      line_mask_(~Address{config.l1.line_bytes - 1}),
      by_line_(buffer == nullptr),
      piece_mask_(by_line_ ? line_mask_ : ~Address{kSectorBytes - 1}),
      red_min_(to_ticks(config.lsu.red_min)),
      red_flit_(to_ticks(config.lsu.red_flit)),
      red_change_(to_ticks(config.lsu.red_change)),
      hand_red_(to_ticks(config.lsu.hand_red)) {
  flushes.bind(*this);
}

void Lsu::tick() {
  if (has_mail()) {
    flushes.take([this](bool) { flush_ = true; });
    mail_taken();
  }
  if (!holding_ && inputs.held == 0) {
    inputs.wanted = true;
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
    inputs.wanted = true;  // of a sub-core that could hand over at once
    return;
  }
  if (holding_) {
    if (!can_send()) {
      if (blocked_since_ == kNever) {
        blocked_since_ = now();
      }
      want_room();
      return;
    }
    if (blocked_since_ != kNever) {
      blocked_cycles_ += now() - blocked_since_;
      if (blocked_ != nullptr) {
        blocked_->add(at_cycle(blocked_since_), at_cycle(now()), 0);
      }
      blocked_since_ = kNever;
    }
    holding_ = sent_ + 1 < count_;
    if (!holding_ && by_line_) {
      transactions_[sent_].last_of = cta_;
    }
    send(transactions_[sent_]);
    if (!beside_pipe_) {
      const Ticks until = pipe_.start(occupancy_[sent_]);
      if (slices_ != nullptr) {
        const Transaction& sent = transactions_[sent_];
        const LsuWork work = sent.load                      ? LsuWork::kLoad
                             : sent.reduced || sent.partial ? LsuWork::kReduced
                                                            : LsuWork::kRed;
        slices_->add(until - occupancy_[sent_], until, static_cast<std::uint32_t>(work),
                     sent.load ? 1U : sent.packets);
      }
    }
    if (!holding_ && !by_line_ && cta_ != nullptr) {
      control_.red_buffered(cta_);  // into the buffer
    }
    ++sent_;
  }
  // The end of the kernel does not wait for the pipe.
  if (beside_pipe_ || flush_) {
    wake_next();
  } else if (!holding_ && !has_more()) {
    inputs.wanted = true;
  } else {
    wake_at(std::max(now() + 1, cycle_of(pipe_.started_until())));
  }
}

std::string Lsu::waits() const {
  if (holding_) {
    return fmt::format("{} holds {} transactions for the {}, which has {}", name(), count_ - sent_,
                       buffer_ != nullptr ? "atomic buffer" : "injection port",
                       can_send() ? "room" : "no room");
  }
  return flush_ ? fmt::format("{} has the end of the kernel to send", name()) : "";
}

void Lsu::send(const Transaction& transaction) {
  if (buffer_ != nullptr) {
    buffer_->push(transaction);
  } else {
    outlet_.push(transaction);
  }
}

void Lsu::want_room() {
  if (buffer_ != nullptr) {
    buffer_->want_room();
  } else {
    outlet_.want_room();
  }
}

void Lsu::send_flush() {
  if (!can_send()) {
    want_room();
    return;
  }
  Transaction transaction;
  transaction.flush = true;
  send(transaction);
  flush_ = false;
}

// Whether a memory queue holds anything when this cycle is over, but for what comes in it.
bool Lsu::has_more() const {
  const std::uint32_t taken = turn_ - 1;  // of that sub-core, the last one
  return (inputs.held & ~(std::uint32_t{1} << taken)) != 0 ||
         !subcores_[taken]->memory_queue.empty();
}

// Takes the next instruction that can start, sub-cores in turn; false if there is none, as all wait
// for the pipe or to be handed over. Shuffles and shared-memory accesses are done with at once; a
// RED is held until its transactions have left.
bool Lsu::take_next() {
  Ticks soonest = ~Ticks{0};
  std::uint32_t from = turn_;
  for (std::uint32_t rest = inputs.held; rest != 0;) {
    const std::uint32_t index = next_from(rest, from);
    rest &= ~(std::uint32_t{1} << index);
    from = index + 1;
    Subcore& subcore = *subcores_[index];
    const MemOp& op = subcore.memory_queue.front();  // stays until the cycle ends
    const bool on_pipe = op.kind == MemOpKind::kShuffle || op.kind == MemOpKind::kShared ||
                         op.kind == MemOpKind::kCached;
    const Ticks start = std::max(handed_[index], on_pipe ? pipe_.free_at() : 0);
    if (start >= at_cycle(now() + 1)) {
      soonest = std::min(soonest, start);
      continue;
    }
    turn_ = index + 1;
    subcore.memory_queue.pop();
    if (on_pipe) {
      handed_[index] = std::max(handed_[index], at_cycle(op.begun)) + op.hand_ticks;
      const Ticks until = pipe_.start(op.lsu_ticks);
      const Ticks done = std::max(until, handed_[index]);
      if (slices_ != nullptr) {
        const LsuWork work = op.kind == MemOpKind::kShuffle  ? LsuWork::kShuffle
                             : op.kind == MemOpKind::kShared ? LsuWork::kShared
                                                             : LsuWork::kLoad;
        slices_->add(until - op.lsu_ticks, until, static_cast<std::uint32_t>(work));
      }
      if (op.kind != MemOpKind::kCached) {
        subcore.shuffle_answered(op.warp_slot, std::max(now() + 1, cycle_after(done) + op.latency));
      }
    } else if (op.kind == MemOpKind::kLoad) {
      split_load(op, index);
    } else {
      handed_[index] = std::max(handed_[index], at_cycle(now())) + hand_red_;
      split(op);
    }
    return true;
  }
  wake_at(cycle_of(soonest));
  return false;
}

// Transactions of a load of a word for each lane, neighbours: one for each sector of a line. Where
// it lies a trace does not say: anywhere.
void Lsu::split_load(const MemOp& op, std::uint32_t subcore) {
  Transaction transaction;
  transaction.load = true;
  transaction.subcore = static_cast<std::uint8_t>(subcore);
  transaction.address = op.address;
  sent_ = 0;
  count_ = kLineSectors;
  holding_ = true;
  cta_ = nullptr;
  for (std::size_t i = 0; i < count_; ++i) {
    transactions_[i] = transaction;
    occupancy_[i] = op.lsu_ticks / count_;
  }
  transactions_[count_ - 1].answers = op.warp_slot;
}

// Transactions of a RED: one for each line, or sector, that its lanes touch.
void Lsu::split(const MemOp& op) {
  sent_ = 0;
  count_ = 0;
  holding_ = true;
  cta_ = op.cta;
  if (op.kind == MemOpKind::kReduced && op.event.cta != nullptr) {
    split_sums(op);
    return;
  }
  if (op.kind == MemOpKind::kReduced || op.uniform) {
    // Lanes on one and the same address: a flit each.
    const bool reduced = op.kind == MemOpKind::kReduced;
    const auto lanes = static_cast<std::uint16_t>(reduced ? 1 : lane_count(op.mask));
    Transaction& transaction = transactions_[count_++];
    transaction = Transaction{};
    transaction.parameter = op.parameter;
    transaction.event = op.event;
    transaction.reduced = reduced;
    transaction.uniform = !reduced;
    transaction.sectors = sector_bit(op.address);
    transaction.turns = lanes;
    transaction.packets = lanes;
    transaction.lone_words = lanes;
    transaction.flits = lanes;
    transaction.mask = reduced ? 1 : op.mask;
    transaction.data = op.data;
    transaction.address = op.address;
    set_occupancies();
    return;
  }
  Transaction transaction;
  transaction.parameter = op.parameter;
  transaction.event = op.event;
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  std::array<Address, kLanes> addresses;
  for (LaneMask rest = op.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    addresses[lane] = addresses_.address(lane_primitive(trace, event, lane), op.parameter);
  }
  for (LaneMask rest = op.mask; rest != 0;) {
    const Address lead = addresses[static_cast<std::size_t>(std::countr_zero(rest))];
    transaction.address = lead;
    transaction.mask = 0;
    clear_words(count_);
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      if (((addresses[lane] ^ lead) & piece_mask_) == 0) {
        transaction.mask |= LaneMask{1} << lane;
        turn_of_[lane] = add_word(count_, addresses[lane]);
      }
    }
    rest &= ~transaction.mask;
    if (count_ > 0) {
      op.event.cta->hold();  // one for each transaction; the instruction brought the first
    }
    transactions_[count_++] = transaction;
  }
  count_turns();
  set_occupancies();
}

void Lsu::clear_words(std::size_t transaction) {
  words_[transaction].fill(0);
  added_[transaction] = 0;
}

// Returns the turn in which it is added to.
std::uint8_t Lsu::add_word(std::size_t transaction, Address address) {
  const std::size_t word = address % kLineBytes / sizeof(Fp32Bits);
  added_[transaction] |= 1U << word;
  return words_[transaction][word]++;
}

// What the turns over each line add to. A transaction that is a line keeps those turns that add to
// the same sectors in the same way; the next ones are another's.
void Lsu::count_turns() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (transactions_[i].turns != 0) {
      continue;  // counted with another of its line
    }
    // The transactions of the line.
    std::array<std::size_t, kLineSectors> mates;
    std::size_t pieces = 0;
    mates[pieces++] = i;
    for (std::size_t k = i + 1; k < count_ && !by_line_; ++k) {
      if (((transactions_[k].address ^ transactions_[i].address) & line_mask_) == 0) {
        mates[pieces++] = k;
      }
    }
    for (std::uint32_t turn = 0;; ++turn) {
      std::array<std::uint32_t, mates.size()> words;
      std::uint32_t all = 0;
      for (std::size_t m = 0; m < pieces; ++m) {
        // Of a line's first transaction, whose words those that follow it have too.
        words[m] = words_of_turn(by_line_ ? i : mates[m], turn);
        all |= words[m];
      }
      if (all == 0) {
        break;
      }
      const bool lone = std::has_single_bit(all);
      bool head = !lone;
      for (std::size_t m = 0; m < pieces; ++m) {
        if (words[m] != 0) {
          add_turn(mates[m], turn, words[m], lone, head);
          head = false;
        }
      }
    }
  }
}

// A turn that adds to these words, to one in all if `lone`; with the turn's head if `head`.
// `transaction` becomes another where that one has turns of another kind.
void Lsu::add_turn(std::size_t& transaction, std::uint32_t turn, std::uint32_t words, bool lone,
                   bool head) {
  const std::uint8_t sectors = sectors_of(words);
  const auto packets = static_cast<std::uint16_t>(std::popcount(unsigned{sectors}));
  const bool whole = static_cast<std::uint32_t>(std::popcount(words)) == packets * kSectorWords;
  Transaction* t = &transactions_[transaction];
  if (t->turns == 0) {
    t->sectors = sectors;
    t->whole = whole;
  } else if (by_line_ &&
             (t->sectors != sectors || t->whole != whole || (t->lone_words != 0) != lone)) {
    Transaction& next = transactions_[count_];
    next = *t;
    next.sectors = sectors;
    next.whole = whole;
    next.turns = next.packets = next.flits = next.lone_words = 0;
    for (LaneMask rest = t->mask; rest != 0; rest &= rest - 1) {
      if (turn_of_[static_cast<std::size_t>(std::countr_zero(rest))] < turn) {
        next.mask &= ~(rest & (~rest + 1));
      }
    }
    t->mask &= ~next.mask;
    t->event.cta->hold();
    transaction = count_++;
    t = &next;
  }
  t->whole = t->whole && whole;
  ++t->turns;
  t->packets = static_cast<std::uint16_t>(t->packets + packets);
  t->flits = static_cast<std::uint16_t>(t->flits + packets + (head ? 1 : 0));
  t->lone_words = static_cast<std::uint16_t>(t->lone_words + (lone ? 1 : 0));
}

// The words of a transaction that get an addition in that turn.
std::uint32_t Lsu::words_of_turn(std::size_t transaction, std::uint32_t turn) const {
  if (turn == 0) {
    return added_[transaction];
  }
  std::uint32_t words = 0;
  for (std::uint32_t rest = added_[transaction]; rest != 0; rest &= rest - 1) {
    if (words_[transaction][static_cast<std::size_t>(std::countr_zero(rest))] > turn) {
      words |= rest & (~rest + 1);
    }
  }
  return words;
}

// A flit of the RED after another, and the changes of line between lone words, red_min in all.
void Lsu::set_occupancies() {
  Ticks total = 0;
  std::uint32_t most = 0;  // lone words of a line so far
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint32_t words = transactions_[i].lone_words;
    // A pass beyond the first changes line once less than it has lines.
    const std::uint32_t changes = std::max(std::min(words, most), 1U) - 1;
    most = std::max(most, words);
    occupancy_[i] = red_flit_ * transactions_[i].flits + red_change_ * changes;
    total += occupancy_[i];
  }
  occupancy_[count_ - 1] += red_min_ - std::min(red_min_, total);
}

// A RED by one lane of each primitive, of sums formed in software: one transaction for each line.
void Lsu::split_sums(const MemOp& op) {
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  const EventValues event_values(op.event, has_values_);
  std::array<Fp32Bits, kLanes> values{};
  for (LaneMask rest = op.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    values[lane] = event_values.of(op.parameter, lane);
  }
  std::array<LineSums, kLanes> lines;
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
    const auto found = std::find_if(transactions_.begin(), end, [&](const Transaction& t) {
      return ((t.address ^ address) & piece_mask_) == 0;
    });
    const auto index = static_cast<std::size_t>(found - transactions_.begin());
    if (found == end) {
      transactions_[count_] = Transaction{};
      transactions_[count_].parameter = op.parameter;
      transactions_[count_].address = address & piece_mask_;
      clear_words(count_);
      ++count_;
    }
    const std::size_t word = address % kLineBytes / sizeof(Fp32Bits);
    add_word(index, address);
    lines[index][word] = software_sum(values.data(), group, SumOrder::kSerial);
    ++tally_.software_reduced;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    transactions_[i].partial = true;
    transactions_[i].mask = added_[i];
    transactions_[i].data = sums_.put(lines[i]);
  }
  count_turns();
  set_occupancies();
  ctas_.release(op.event.cta);
}

}  // namespace warpfold
