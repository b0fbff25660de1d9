// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/atomic_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace warpfold {

AtomicBuffer::AtomicBuffer(std::string name, Domain& domain, const SmContext& context,
                           LsuPipe& pipe, Outlet& injection)
    : SumBuffer(std::move(name), domain, context.buffer.queue_depth),
      context_(context),
      shape_(context.buffer),
      pipe_(pipe),
      injection_(injection),
      store_(shape_.bytes, shape_.ways, shape_.line_bytes),
      // Beyond every address of the unit, so that no load shares a line with a sum.
      next_load_line_((kAddrMask + 1) / shape_.line_bytes) {
  loads.bind(*this);
}

void AtomicBuffer::tick() {
  loads.take([this](std::uint32_t count) { fills_ += std::uint64_t{count} * shape_.load_lines; });
  drain();
  // A stage that is done within this cycle makes way for what begins at that very instant.
  const Ticks cycle_end = at_cycle(now() + 1);
  for (;;) {
    if (adding_ && adder_free_at_ < cycle_end) {
      finish_adding();
    } else if (looked_up_ && !adding_ && lookup_done_ < cycle_end) {
      start_adding();
    } else if (looked_up_ || last_lookup_ == now() || input.empty() || !look_up()) {
      break;
    }
  }
  fill();
  flush();

  if (adding_) {
    wake_at(cycle_of(adder_free_at_));
  } else if (looked_up_) {
    wake_at(cycle_of(lookup_done_));
  }
  if (input.empty()) {
    input.want_entries();
  } else if (!looked_up_ && input.front().passes && !injection_.can_push()) {
    injection_.want_room();
  } else if (!looked_up_ && blocked_since_ == kNever &&
             !(input.front().flush && (adding_ || fills_ != 0))) {
    wake_next();  // whatever is in front now came behind what was passed on in this cycle
  }
  if (!victims_.empty()) {
    if (injection_.can_push()) {
      wake_next();
    } else {
      injection_.want_room();
    }
  }
}

std::string AtomicBuffer::waits() const {
  if (empty()) {
    return "";
  }
  return fmt::format("{} holds {} sums, {} sectors for the injection port{}", name(),
                     store_.words(), victims_.size(),
                     blocked_since_ != kNever ? ", a look-up waits for a place" : "");
}

// One sector a cycle to the injection port.
void AtomicBuffer::drain() {
  if (!victims_.empty() && injection_.can_push()) {
    injection_.push(std::move(victims_.front()));
    victims_.pop_front();
    drained_ = now();
  }
}

// Looks the oldest transaction up; false if it has to wait.
bool AtomicBuffer::look_up() {
  Transaction& transaction = input.front();
  if (transaction.flush) {
    if (adding_ || fills_ != 0) {
      return false;
    }
    flushing_ = true;
    input.pop();
    return true;
  }
  ARC_CHECK(!transaction.reduced && !flushing_, "a buffer sums REDs, until it is flushed");
  if (transaction.passes) {
    return pass(transaction);
  }
  const SumStore::Line line = store_.line_of(transaction.address);
  const std::uint32_t lookups =
      shape_.by_lane ? static_cast<std::uint32_t>(lane_count(transaction.mask)) : 1;
  std::uint32_t accesses = lookups;
  auto slot = store_.find(line);
  if (slot) {
    stats_.hits += lookups;
  } else {
    const auto evicted = make_room(line);
    if (!evicted) {
      if (blocked_since_ == kNever) {
        blocked_since_ = now();
      }
      return false;
    }
    slot = store_.find(line);
    accesses += *evicted;
    ++stats_.misses;
    stats_.hits += lookups - 1;
  }
  if (blocked_since_ != kNever) {
    stats_.blocked_cycles += now() - blocked_since_;
    blocked_since_ = kNever;
  }
  store_.touch(*slot);
  absorb(transaction, *slot);
  lookup_line_ = line;
  lookup_accesses_ = lookups;
  lookup_depth_ = shape_.by_lane ? lookups : transaction.packets;
  lookup_done_ = shape_.access == 0 ? at_cycle(now()) : pipe_.charge(shape_.access * accesses);
  looked_up_ = true;
  last_lookup_ = now();
  input.pop();
  return true;
}

// What it cannot sum goes on to the injection port, in order; false if that has no room.
bool AtomicBuffer::pass(Transaction& transaction) {
  if (drained_ == now() || !injection_.can_push()) {
    return false;
  }
  injection_.push(std::move(transaction));
  last_lookup_ = now();
  input.pop();
  return true;
}

// Sends out what the line's place holds and gives it the place. Returns the sectors sent; nothing
// if it has to wait for room in the victim queue or for the adder to be done with the old line.
std::optional<std::uint32_t> AtomicBuffer::make_room(SumStore::Line line) {
  const SumStore::Slot slot = store_.victim(line);
  const std::uint32_t sectors = store_.dirty_sectors(slot);
  if (sectors > 0) {
    const SumStore::Line old = store_.line_at(slot);
    if (!has_room(sectors) || (adding_ && old == adding_line_) ||
        (looked_up_ && old == lookup_line_)) {
      return std::nullopt;
    }
    while (const auto sector = store_.take_sector(slot)) {
      send(*sector);
      ++stats_.evicted;
    }
  }
  store_.assign(slot, line);
  return sectors;
}

// The additions of a transaction, lanes in order.
void AtomicBuffer::absorb(Transaction& transaction, SumStore::Slot slot) {
  EventRef& ref = transaction.event;
  const std::uint32_t p = transaction.parameter;
  const EventValues values(ref, context_.addresses);
  for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const Address address =
        transaction.uniform
            ? transaction.address
            : context_.addresses.address(lane_primitive(ref.warp_trace(), ref.event(), lane), p);
    context_.tally.buffer_sums_begun += store_.add(slot, address, values.of(p, lane)) ? 1U : 0U;
  }
  context_.tally.lanes_buffered += static_cast<std::uint64_t>(lane_count(transaction.mask));
  ref = {};
}

void AtomicBuffer::start_adding() {
  const Ticks occupancy = shape_.add * lookup_depth_;
  adder_free_at_ = std::max(adder_free_at_, lookup_done_) + occupancy;
  stats_.adder_busy += occupancy;
  adding_ = true;
  adding_accesses_ = lookup_accesses_;
  adding_line_ = lookup_line_;
  looked_up_ = false;
}

// The sums go back into the SRAM.
void AtomicBuffer::finish_adding() {
  adding_ = false;
  pipe_.charge(shape_.access * adding_accesses_);
}

// One line of an ordinary load a cycle. Loads do not come back, so their lines are all new.
void AtomicBuffer::fill() {
  if (fills_ == 0) {
    return;
  }
  const auto evicted = make_room(next_load_line_);
  if (!evicted) {
    return;  // the victim queue or a stage wakes the buffer
  }
  pipe_.charge(shape_.access * *evicted);
  store_.touch(*store_.find(next_load_line_));
  ++next_load_line_;
  if (--fills_ > 0 || !input.empty()) {
    wake_next();
  }
}

// A sector for each access of the SRAM, one a cycle at most.
void AtomicBuffer::flush() {
  if (!flushing_ || flush_free_at_ >= at_cycle(now() + 1) || !has_room(1)) {
    return;
  }
  while (flush_slot_ < store_.slots()) {
    const auto sector = store_.take_sector(flush_slot_);
    if (!sector) {
      ++flush_slot_;
      continue;
    }
    if (!loses_one()) {
      send(*sector);
    }
    ++stats_.flushed;
    flush_free_at_ = shape_.access == 0 ? at_cycle(now() + 1) : pipe_.charge(shape_.access);
    wake_at(std::max(now() + 1, cycle_of(flush_free_at_)));
    return;
  }
}

void AtomicBuffer::send(const SumsOfSector& sector) {
  victims_.push_back(sector_packet(context_, sector));
}

}  // namespace warpfold
