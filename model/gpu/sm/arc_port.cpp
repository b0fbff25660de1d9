// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/arc_port.hpp"

#include <algorithm>
#include <utility>

#include "model/base/bits.hpp"
#include "model/base/check.hpp"

namespace warpfold {

ArcPort::ArcPort(const Around& around, std::unique_ptr<ArcUnit> unit)
    : context_(around.context),
      subcore_(around.subcore),
      memory_queue_(around.memory_queue),
      reds_(around.reds),
      unit_(std::move(unit)),
      ports_(unit_ ? unit_->ports() : ArcUnit::Ports{}),
      operands_(ports_.operands),
      unsent_(unit_ && reds_.answered() ? ports_.operands : 0) {}

void ArcPort::request(const Asker& asker, const Step& step, Cycle cycle) {
  // A tag is free again once all lanes of its operand have been read or sent: a sum on its way out
  // needs no operand.
  Tag tag = 0;
  while (operands_[tag].words_left != 0) {
    ++tag;
    ARC_CHECK(tag < operands_.size(), "the ARC unit holds more operands than it has places for");
  }
  Operand& operand = operands_[tag];
  operand.event = {.cta = CtaHold::of(asker.cta), .warp = asker.warp, .record = step.record};
  operand.values = EventValues(operand.event, context_.addresses);
  operand.parameter = step.parameter;
  operand.uniform = step.uniform;
  operand.words = step.words;
  std::fill_n(operand.lanes_left.begin(), step.words, step.mask);
  operand.words_left = step.mask == 0 ? 0 : (1U << step.words) - 1;
  if (answered_ == &operand) {
    answered_ = nullptr;
  }
  end_rest(cycle + 1);
  still_ = 0;
  request_.req_valid = true;
  request_.req_mask = step.mask;
  request_.req_tag = tag;
  request_.req_words = step.words;
  if (step.uniform) {
    request_.req_addr.fill(context_.addresses.address(step.primitive, step.parameter));
  } else {
    const trace::WarpTrace& trace = operand.event.warp_trace();
    const trace::Record& event = operand.event.event();
    for_each_bit(step.mask, [&](std::uint32_t lane) {
      request_.req_addr[lane] =
          context_.addresses.address(lane_primitive(trace, event, lane), step.parameter);
    });
  }
  context_.tally.lanes_issued += static_cast<std::uint64_t>(lane_count(step.mask)) * step.words;
  if (!unsent_.empty()) {
    ARC_CHECK(step.mask != 0, "an atomred without lanes");
    unsent_[tag].push_back(
        {.slot = asker.slot, .lanes = step.mask, .addresses = request_.req_addr});
  }
}

// These lanes of the atomred that has the tag leave as a RED.
void ArcPort::count_red(Tag tag, LaneMask lanes, MemOp& op) {
  std::deque<Unsent>& of_tag = unsent_[tag];
  Unsent& atomred = of_tag.back();
  atomred.lanes &= ~lanes;
  sent(atomred.slot, op, atomred.lanes == 0);
  if (atomred.lanes == 0) {
    of_tag.pop_back();
  }
}

// A sum leaves, of all lanes of the address: those of the atomred that has had the tag for longest.
void ArcPort::count_sum(Tag tag, Address address, MemOp& op) {
  for (auto atomred = unsent_[tag].begin(); atomred != unsent_[tag].end(); ++atomred) {
    LaneMask summed = 0;
    for_each_bit(atomred->lanes, [&](std::uint32_t lane) {
      summed |= LaneMask{atomred->addresses[lane] == address} << lane;
    });
    if (summed != 0) {
      atomred->lanes &= ~summed;
      sent(atomred->slot, op, atomred->lanes == 0);
      if (atomred->lanes == 0) {
        unsent_[tag].erase(atomred);
      }
      return;
    }
  }
  ARC_CHECK(false, "the ARC unit sent two sums of an address");
}

// What leaves in `op` is on its way for itself, and is the last of its atomred, if that.
void ArcPort::sent(std::uint32_t slot, MemOp& op, bool last) {
  op.warp_slot = static_cast<std::uint8_t>(slot);
  reds_.add(slot);
  if (last) {
    reds_.end(slot);
  }
}

// One clock of the unit with what stands at its ports.
void ArcPort::clock(Cycle cycle) {
  request_.lsu_room = has_room();
  request_.rf_ready = true;
  const UnitOutputs out = unit_->tick(request_);
  if ((slices_ != nullptr) | (probe_ != nullptr)) [[unlikely]] {
    record_work(cycle, out);
  }
  if (out.lsu_valid && request_.lsu_room) {
    send(out);
  } else if (out.lsu_valid) {
    ++stats_.blocked_cycles;
  }
  if (out.rf_valid) {
    read(out);
  }
  // A request of which the last lanes leave as a RED leaves nothing behind.
  const bool passed_on = out.req_ready && out.lsu_valid && !out.lsu_reduced &&
                         operands_[request_.req_tag].words_left == 0;
  works_ = out.busy || (request_.req_valid && !passed_on);
  if (request_.req_valid && out.req_ready) {
    request_.req_valid = false;
  }
  come_to_rest(cycle, out);
}

// What stands at the port to the memory queue, which has room, goes there.
void ArcPort::send(const UnitOutputs& out) {
  Operand& operand = operands_[out.lsu_tag];
  if (out.lsu_reduced) {
    ++context_.tally.unit_reduced;
    send_sum(out, operand);
    return;
  }
  MemOp& op = memory_queue_.push_new();
  op.mask = out.lsu_mask;
  op.address = out.lsu_addr;
  op.parameter = operand.parameter;
  op.words = operand.words;
  op.kind = MemOpKind::kRed;
  op.event = operand.event.share();
  // Lanes of several addresses have them in their registers, beside the values.
  op.uniform = operand.uniform;
  for (std::uint32_t w = 0; w < operand.words; ++w) {
    operand.take(w, out.lsu_mask);
  }
  context_.tally.lanes_as_red +=
      static_cast<std::uint64_t>(lane_count(out.lsu_mask)) * operand.words;
  if (!unsent_.empty()) {
    count_red(out.lsu_tag, out.lsu_mask, op);
  }
}

// Sums of a struct fill the entry of a RED word by word, as lanes' values would.
inline void ArcPort::send_sum(const UnitOutputs& out, const Operand& operand) {
  packet_[out.lsu_word] = out.lsu_data;
  if (!out.lsu_last) {
    return;
  }
  MemOp& op = memory_queue_.push_new();
  op.kind = MemOpKind::kReduced;
  op.mask = out.lsu_mask;
  op.address = out.lsu_addr;
  op.parameter = operand.parameter;
  op.words = static_cast<std::uint8_t>(out.lsu_word + 1);
  op.spread = true;
  op.data = op.words > 1 ? context_.sums.put(packet_) : out.lsu_data;
  if (!unsent_.empty()) {
    count_sum(out.lsu_tag, out.lsu_addr, op);
  }
}

void ArcPort::Operand::take(std::uint32_t word, LaneMask lanes) {
  ARC_CHECK(word < words && lanes != 0 && (lanes_left[word] & lanes) == lanes,
            "the ARC unit took a lane twice or one that was not asked for");
  lanes_left[word] &= ~lanes;
  words_left &= ~(lanes_left[word] == 0 ? 1U << word : 0U);
}

// The register file grants every read.
inline void ArcPort::read(const UnitOutputs& out) {
  Operand& operand = operands_[out.rf_tag];
  operand.take(out.rf_word, out.rf_mask);
  answer(operand, out.rf_word, out.rf_mask);
  context_.tally.lanes_to_unit += static_cast<std::uint64_t>(lane_count(out.rf_mask));
  ++stats_.read_cycles;
}

// Puts what the register file delivers onto the unit's ports. Values of lanes that are not read
// matter to no unit, but for the exponents of the whole operand where it sees these: all its values
// are fetched with the first read then, and stay at hand until another operand is read.
inline void ArcPort::answer(const Operand& operand, std::uint32_t word, LaneMask lanes) {
  if (!ports_.sees_exponents) {
    for_each_bit(lanes, [&](std::uint32_t lane) {
      request_.rf_data[lane & (ports_.read_lanes - 1)] =
          operand.values.of(operand.parameter + word, lane);
    });
    return;
  }
  if (answered_ != &operand || answered_word_ != word) {
    fetch(operand, word);
  }
  for_each_bit(lanes, [&](std::uint32_t lane) {
    request_.rf_data[lane & (ports_.read_lanes - 1)] = values_[lane];
  });
}

void ArcPort::fetch(const Operand& operand, std::uint32_t word) {
  answered_ = &operand;
  answered_word_ = word;
  for_each_bit(operand.event.event().mask, [&](std::uint32_t lane) {
    values_[lane] = operand.values.of(operand.parameter + word, lane);
    request_.rf_bins[lane] = exponent_bin(values_[lane]);
  });
}

// After a cycle: is clocked in the next one, rests, or is done.
inline void ArcPort::come_to_rest(Cycle cycle, const UnitOutputs& out) {
  const bool still = !request_.lsu_room && !out.req_ready && !out.rf_valid;
  still_ = !still ? 0 : out.lsu_valid == sum_waits_ ? still_ + 1 : 1;
  sum_waits_ = out.lsu_valid;
  if (!held()) {
    release_operands();
    return;
  }
  // Lanes of several addresses may be gathered meanwhile, one a cycle.
  const bool gathers = request_.req_valid && !operands_[request_.req_tag].uniform;
  const std::uint32_t enough = ports_.cycles_to_rest + (gathers ? kLanes : 0);
  if (still_ >= enough && !context_.reference) {
    resting_since_ = cycle + 1;
    memory_queue_.want_room();
  } else {
    subcore_.wake_at(cycle + 1);
  }
}

// Puts the cycles that the unit has rested down to what they were, and wakes it as it would be had
// it been clocked.
void ArcPort::end_rest(Cycle cycle) {
  if (resting_since_ == kNever) {
    return;
  }
  const std::uint64_t rested = cycle - resting_since_;
  if (slices_ != nullptr) [[unlikely]] {
    slices_->add(at_cycle(resting_since_), at_cycle(cycle),
                 static_cast<std::uint32_t>(sum_waits_ ? UnitWork::kWaits : UnitWork::kHolds));
  }
  request_.lsu_room = false;
  for (auto left = rested % ports_.rest_period; left > 0; --left) {
    unit_->tick(request_);
  }
  stats_.blocked_cycles += sum_waits_ ? rested : 0;
  resting_since_ = kNever;
  still_ = 0;
}

// An idle unit reads nothing more: lets go of the CTAs whose operands it might have read.
void ArcPort::release_operands() {
  for (Operand& operand : operands_) {
    ARC_CHECK(operand.words_left == 0, "the ARC unit went idle with lanes unread");
    operand.event = {};
  }
}

void ArcPort::probe(const PortProbe& probe) {
  probe_ = &probe;
  subcore_.wake_next();
}

// A probe sees all cycles. In those in which the unit is not clocked its ports are what they were,
// if it rests, or idle.
void ArcPort::show_resting(Cycle cycle, bool resting) {
  if (const CycleRange& window = probe_->window; cycle + 1 < window.end) {
    // Not all at once: a run is not to last until the window begins.
    constexpr Cycle kMost = 128;
    subcore_.wake_at(std::clamp(window.begin, cycle + 1, cycle + kMost));
  }
  if (!resting && held()) {
    return;  // it is clocked
  }
  request_.lsu_room = has_room();
  request_.rf_ready = true;
  shown_ = resting ? shown_ : UnitOutputs{};
  if (probe_->window.contains(cycle)) {
    probe_->show(cycle, request_, shown_);
  }
}

// What the unit, which has been clocked, shows and does in this cycle.
void ArcPort::record_work(Cycle cycle, const UnitOutputs& out) {
  if (slices_ != nullptr) [[unlikely]] {
    const UnitWork work = out.rf_valid        ? UnitWork::kReads
                          : !out.lsu_valid    ? UnitWork::kHolds
                          : request_.lsu_room ? UnitWork::kSends
                                              : UnitWork::kWaits;
    slices_->add(at_cycle(cycle), at_cycle(cycle + 1), static_cast<std::uint32_t>(work));
  }
  if (probe_ != nullptr) {
    shown_ = out;
    if (probe_->works) {
      probe_->works(cycle);
    }
    if (probe_->window.contains(cycle)) {
      probe_->show(cycle, request_, out);
    }
  }
}

}  // namespace warpfold
