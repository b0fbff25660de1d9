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
  started_until_ = std::max(free_at_, at_cycle(clock_.now())) + occupancy;
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
  return std::max(free_at_, at_cycle(clock_.now())) + occupancy;
}

void LsuPipe::update() {
  free_at_ = std::max(free_at_, started_until_);
  started_until_ = 0;
  if (charged_ > 0) {
    free_at_ = std::max(free_at_, at_cycle(clock_.now())) + charged_;
    charged_ = 0;
  }
}

Lsu::Lsu(const sc_core::sc_module_name& name, Clock& clock, const GpuConfig& config,
         const AddressMap& addresses, bool has_values, LsuPipe& pipe, Fifo<Transaction>& sink,
         bool beside_pipe, SectorSumsPool& sums, Tally& tally, CtaStore& ctas)
    : Block(name, clock),
      flushes("flushes"),
      addresses_(addresses),
      has_values_(has_values),
      pipe_(pipe),
      sink_(sink),
      beside_pipe_(beside_pipe),
      sums_(sums),
      tally_(tally),
      ctas_(ctas),
      red_min_(to_ticks(config.lsu.red_min)),
      red_lane_(to_ticks(config.lsu.red_lane)),
      red_sector_(to_ticks(config.lsu.red_sector)),
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
    const std::size_t index = (turn_ + i) % subcores_.size();
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
    turn_ = (index + 1) % subcores_.size();
    const MemOp op = subcore.memory_queue.front();
    subcore.memory_queue.pop();
    if (on_pipe) {
      handed_[index] = std::max(handed_[index], at_cycle(op.begun)) + op.hand_ticks;
      const Ticks done = std::max(pipe_.start(op.lsu_ticks), handed_[index]);
      subcore.shuffles_done.post({op.warp_slot, cycle_after(done) + op.latency});
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
  if (op.kind == MemOpKind::kReduced) {
    transaction.reduced = true;
    transaction.packets = 1;
    transaction.mask = 1;
    transaction.data = op.data;
    transaction.address = op.address;
    transactions_[count_++] = transaction;
    occupancy_[0] = std::max(red_min_, red_sector_);
    return;
  }
  if (op.uniform) {
    const auto lanes = static_cast<std::uint32_t>(lane_count(op.mask));
    transaction.uniform = true;
    transaction.packets = static_cast<std::uint16_t>(lanes);
    transaction.mask = op.mask;
    transaction.address = op.address;
    transactions_[count_++] = transaction;
    occupancy_[0] = std::max({red_min_, red_lane_ * lanes, red_sector_});
    return;
  }
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  const auto address_of = [&](int lane) {
    return addresses_.address(lane_primitive(trace, event, static_cast<std::uint32_t>(lane)),
                              op.parameter);
  };
  Ticks total = 0;
  for (LaneMask rest = op.mask; rest != 0;) {
    const Address lead = address_of(std::countr_zero(rest));
    transaction.address = lead;
    transaction.mask = 0;
    std::uint32_t deepest = 0;
    // Lanes of the sector, counted by word: the fullest word decides.
    std::array<std::uint32_t, 1U << kSectorShift> words{};
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const Address address = address_of(lane);
      if (address >> kSectorShift == lead >> kSectorShift) {
        transaction.mask |= LaneMask{1} << lane;
        deepest = std::max(deepest, ++words[address & ((1U << kSectorShift) - 1)]);
      }
    }
    rest &= ~transaction.mask;
    transaction.packets = static_cast<std::uint16_t>(deepest);
    Ticks occupancy = std::max(red_lane_ * deepest, red_sector_);
    total += occupancy;
    if (rest == 0 && total < red_min_) {
      occupancy += red_min_ - total;
    }
    transactions_[count_] = transaction;
    occupancy_[count_] = occupancy;
    ++count_;
    if (rest != 0) {
      ++op.event.cta->live;  // one for each transaction; the instruction brought the first
    }
  }
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
      occupancy_[count_] = red_sector_;
      ++count_;
    }
    const std::size_t word = address % kSectorBytes / sizeof(Fp32Bits);
    transactions_[index].mask |= LaneMask{1} << word;
    sectors[index][word] = software_sum(values.data(), group, SumOrder::kSerial);
    ++tally_.software_reduced;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    transactions_[i].partial = true;
    transactions_[i].data = sums_.put(sectors[i]);
  }
  const Ticks total = red_sector_ * count_;
  occupancy_[count_ - 1] += red_min_ - std::min(red_min_, total);
  ctas_.release(op.event.cta);
}

}  // namespace warpfold
