// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/l2_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "model/base/check.hpp"
#include "model/gpu/memory/additions.hpp"

namespace warpfold {

namespace {

// OutsideRequest::id of a write: the line, with a bit that no number of a request has.
constexpr std::uint64_t kWrite = std::uint64_t{1} << 63U;

constexpr std::uint32_t kNoLoad = ~std::uint32_t{0};

// One that is free, or a new one.
template <typename T>
std::uint32_t take_free(std::vector<std::uint32_t>& free, std::vector<T>& all) {
  if (free.empty()) {
    free.push_back(static_cast<std::uint32_t>(all.size()));
    all.emplace_back();
  }
  const std::uint32_t index = free.back();
  free.pop_back();
  return index;
}

AdditionWork outside_work_of(const Transaction& transaction, std::uint32_t sm) {
  using Kind = AdditionWork::Kind;
  return {.kind = transaction.load      ? Kind::kLoad
                  : transaction.reduced ? Kind::kSum
                  : transaction.partial ? Kind::kSums
                                        : Kind::kReds,
          .sm = sm,
          .slice = transaction.slice,
          .mask = transaction.mask,
          .turns = transaction.turns,
          .packets = transaction.packets,
          .lone_words = transaction.lone_words,
          .flits = transaction.load ? 1U : transaction.flits,
          .sectors = transaction.sectors,
          .whole = transaction.whole};
}

// Of these sectors.
std::uint32_t first_sector(std::uint32_t sectors) {
  return static_cast<std::uint32_t>(std::countr_zero(sectors));
}
std::uint32_t sectors_to_last(std::uint32_t sectors) {
  return static_cast<std::uint32_t>(std::bit_width(sectors)) - first_sector(sectors);
}

Address line_of(Address address) {
  return address / kLineBytes * kLineBytes;
}

}  // namespace

L2Link::L2Link(std::string name, Partition& partition, const Context& context)
    : Block(std::move(name), partition),
      order_(context.order.make(context.config)),
      ingress(partition, context.config, *order_),
      out_(context.out),
      way_back_(context.way_back),
      additions_(context.additions),
      adder_(context.additions) {}

void L2Link::connect(const std::vector<Injector*>& injectors) {
  injectors_ = injectors;
  open_load_.assign(injectors.size(), kNoLoad);
  ingress.connect(*this, injectors, true);
}

std::string L2Link::waits() const {
  return empty() ? ""
                 : fmt::format("{} waits for {} answers, and {} SMs for its {} flits of room",
                               name(), pending_count_, ingress.waiting(), ingress.room() / 2);
}

void L2Link::tick() {
  for (auto [from, to] = due_.equal_range(now()); from != to; from = due_.erase(from)) {
    take(from->second.answer);
  }
  while (SliceIngress::Arrival* arrival = ingress.arrived()) {
    send(*arrival);
    ingress.take();
  }
}

void L2Link::send(SliceIngress::Arrival& arrival) {
  const std::uint32_t id = take_free(free_, pending_);
  ++pending_count_;
  Pending& pending = pending_[id];
  pending.arrival = std::move(arrival);
  const Transaction& transaction = pending.arrival.transaction;
  const std::uint32_t sectors = transaction.sectors;
  const Address line = line_of(transaction.address);
  pending.first = line + first_sector(sectors) * kSectorBytes;
  list_.clear();
  if (transaction.load) {
    begin_load(pending);
  } else {
    for_each_addition(transaction, additions_,
                      [this](const Addition& addition) { list_.push_back(addition); });
    ++lines_[line].reads;
  }
  const AdditionWork work = outside_work_of(transaction, pending.arrival.sm);
  out_.start({.write = false,
              .address = pending.first,
              .bytes = sectors_to_last(sectors) * kSectorBytes,
              .data = {},
              .work = &work,
              .additions = list_,
              .id = id},
             *this);
}

void L2Link::begin_load(Pending& pending) {
  std::uint32_t& open = open_load_[pending.arrival.sm];
  if (open == kNoLoad) {
    open = take_free(free_loads_, loads_);
    loads_[open] = {};
  }
  Load& load = loads_[open];
  pending.load = open;
  ++load.left;
  if (const Transaction& last = pending.arrival.transaction; last.answers != last.kNoAnswer) {
    load.named = true;
    load.asker = asker_of(last);
    open = kNoLoad;
  }
}

void L2Link::end_load(const Pending& pending) {
  Load& load = loads_[pending.load];
  if (--load.left == 0 && load.named) {
    injectors_[pending.arrival.sm]->loaded(load.asker, now() + way_back_);
    free_loads_.push_back(pending.load);
  }
}

void L2Link::answered(const OutsideAnswer& answer) {
  if (answer.in <= now()) {
    take(answer);
    return;
  }
  Due& due = due_.emplace(answer.in, Due{.answer = answer, .data = {}})->second;
  due.data.assign(answer.data.begin(), answer.data.end());
  due.answer.data = due.data;
  wake_at(answer.in);
}

void L2Link::take(const OutsideAnswer& answer) {
  if ((answer.id & kWrite) != 0) {
    wrote(answer.id & ~kWrite, answer);
  } else {
    read(answer);
  }
}

void L2Link::read(const OutsideAnswer& answer) {
  const auto id = static_cast<std::uint32_t>(answer.id);
  const Transaction& transaction = pending_[id].arrival.transaction;
  if (transaction.load) {
    finish(id, answer.from);
    return;
  }
  const Address address = line_of(transaction.address);
  Line& line = lines_.at(address);
  --line.reads;
  ARC_CHECK(line.added_outside ? answer.added : !answer.added || line.known == 0,
            "what lies outside does some additions to a line and leaves others");
  if (answer.added) {
    line.added_outside = true;
    if (line.reads == 0) {
      lines_.erase(address);
    }
    finish(id, answer.from);
    return;
  }
  add(line, id, answer);
  if (line.writes == 0) {
    write(address, line);
  }
}

// What has been read of it counts where nothing newer is known.
void L2Link::add(Line& line, std::uint32_t pending, const OutsideAnswer& answer) {
  const Transaction& transaction = pending_[pending].arrival.transaction;
  const auto offset = static_cast<std::uint32_t>(pending_[pending].first % kLineBytes);
  for (std::uint32_t at = 0; at < answer.data.size(); at += kSectorBytes) {
    const std::uint32_t bit = 1U << (offset + at) / kSectorBytes;
    if ((line.known & bit) == 0) {
      line.known |= bit;
      std::copy_n(answer.data.begin() + at, kSectorBytes, line.data.begin() + offset + at);
    }
  }
  for_each_addition(transaction, additions_, [&line](const Addition& addition) {
    add_to(std::span(line.data).subspan(addition.address % kLineBytes), addition);
  });
  line.dirty |= transaction.sectors;
  line.waiting.push_back(pending);
}

// Sectors that lie side by side by one access.
void L2Link::write(Address address, Line& line) {
  line.written = std::exchange(line.waiting, {});
  for (std::uint32_t rest = std::exchange(line.dirty, 0); rest != 0;) {
    const std::uint32_t first = first_sector(rest);
    const auto count = static_cast<std::uint32_t>(std::countr_one(rest >> first));
    rest &= ~(((1U << count) - 1) << first);
    ++line.writes;
    out_.start({.write = true,
                .address = address + first * kSectorBytes,
                .bytes = count * kSectorBytes,
                .data = std::span(line.data).subspan(first * kSectorBytes, count * kSectorBytes),
                .work = nullptr,
                .additions = {},
                .id = address | kWrite},
               *this);
  }
}

void L2Link::wrote(Address address, const OutsideAnswer& answer) {
  Line& line = lines_.at(address);
  if (--line.writes > 0) {
    return;
  }
  for (const std::uint32_t pending : std::exchange(line.written, {})) {
    finish(pending, answer.from);
  }
  if (line.dirty != 0) {
    write(address, line);
  } else if (line.reads == 0) {
    lines_.erase(address);
  }
}

void L2Link::finish(std::uint32_t id, Cycle from) {
  Pending& pending = pending_[id];
  Transaction& transaction = pending.arrival.transaction;
  if (transaction.load) {
    end_load(pending);
  } else {
    stats_.packets += transaction.packets;
    stats_.rop_ops += transaction.packets;
    stats_.last_done = std::max(stats_.last_done, from);
    adder_.add(transaction);
    if (transaction.answers != Transaction::kNoAnswer) {
      injectors_[pending.arrival.sm]->added(asker_of(transaction));
    }
    ingress.give_back(transaction.room());
  }
  transaction.event = {};
  free_.push_back(id);
  --pending_count_;
}

}  // namespace warpfold
