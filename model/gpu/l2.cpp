// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/l2.hpp"

#include <algorithm>
#include <bit>

#include "model/gpu/sm.hpp"
#include "model/unit/fp32.hpp"

namespace warpfold {

L2Tags::L2Tags(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes)
    : ways_(ways),
      line_bytes_(line_bytes),
      sets_(std::max<std::uint64_t>(bytes / line_bytes / ways, 1)),
      store_(sets_ * ways, kEmpty) {}

L2Tags::Access L2Tags::access(Address address) {
  const std::uint64_t line = address / line_bytes_;
  std::uint64_t hash = line * 0xd6e8feb86659fd93ULL;
  hash ^= hash >> 32U;
  std::uint64_t* const set = &store_[hash % sets_ * ways_];
  std::uint64_t* const end = set + ways_;
  std::uint64_t* const found = std::find(set, end, line);
  Access access{.hit = found != end, .evicted = false};
  std::uint64_t* const place = access.hit ? found : end - 1;
  access.evicted = !access.hit && *place != kEmpty;
  // To the front, the others one back.
  std::move_backward(set, place, place + 1);
  *set = line;
  return access;
}

L2Slice::L2Slice(const sc_core::sc_module_name& name, Clock& clock, const GpuConfig& config,
                 const SliceMap& map, const AddressMap& addresses, bool has_values,
                 std::vector<Fp32Bits>& memory, SectorSumsPool& sums, Tally& tally, CtaStore& ctas)
    : Block(name, clock),
      ingress("ingress", clock, config),
      map_(map),
      addresses_(addresses),
      has_values_(has_values),
      memory_(memory),
      sums_(sums),
      tally_(tally),
      ctas_(ctas),
      rop_ticks_(std::max(to_ticks(config.l2.rop_cycles), to_ticks(config.noc.packet_cycles))),
      line_bytes_(config.l2.line_bytes),
      dram_latency_(config.l2.dram_latency),
      dram_line_ticks_(to_ticks(config.l2.line_bytes * static_cast<double>(config.l2.slices) /
                                config.l2.dram_bytes_per_cycle)),
      tags_(config.l2.bytes / config.l2.slices, config.l2.ways, config.l2.line_bytes),
      rops_(config.l2.rops_per_slice) {}

bool L2Slice::empty() const {
  return ingress.empty() && waiting_.empty() &&
         std::all_of(rops_.begin(), rops_.end(),
                     [](const Rop& rop) { return !rop.busy && rop.queue.empty(); });
}

void L2Slice::tick() {
  while (!waiting_.empty() && waiting_.begin()->first <= now()) {
    const Transaction transaction = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    if (const auto fill = filling_.find(transaction.address / line_bytes_);
        fill != filling_.end() && fill->second <= now()) {
      filling_.erase(fill);
    }
    rops_[map_.rop(transaction.address)].queue.push_back(transaction);
  }
  while (const Transaction* transaction = ingress.arrived()) {
    accept(*transaction);
    ingress.take();
  }
  for (Rop& rop : rops_) {
    serve(rop);
  }
}

// Looks the line up; a transaction whose line is in goes on to its ROP.
void L2Slice::accept(const Transaction& transaction) {
  const std::uint64_t line = transaction.address / line_bytes_;
  const L2Tags::Access access = tags_.access(transaction.address);
  if (!access.hit) {
    ++stats_.misses;
    const Ticks lines = access.evicted ? 2 : 1;
    dram_free_at_ = std::max(dram_free_at_, at_cycle(now())) + lines * dram_line_ticks_;
    const Cycle ready = cycle_after(dram_free_at_) + dram_latency_;
    filling_[line] = ready;
    waiting_.emplace(ready, transaction);
    wake_at(ready);
    return;
  }
  ++stats_.hits;
  if (const auto fill = filling_.find(line); fill != filling_.end() && fill->second > now()) {
    waiting_.emplace(fill->second, transaction);
    return;
  }
  rops_[map_.rop(transaction.address)].queue.push_back(transaction);
}

void L2Slice::serve(Rop& rop) {
  // A service that ends within this cycle makes way for one that begins at that very instant.
  const Ticks cycle_end = at_cycle(now() + 1);
  while (rop.busy ? rop.free_at < cycle_end : !rop.queue.empty()) {
    if (rop.busy) {
      rop.busy = false;
      ingress.give_back(rop.packets);
      stats_.last_done = std::max(stats_.last_done, cycle_after(rop.free_at));
      continue;
    }
    const Transaction& transaction = rop.queue.front();
    const Ticks occupancy = rop_ticks_ * transaction.packets;
    rop.free_at = std::max(rop.free_at, at_cycle(now())) + occupancy;
    rop.packets = transaction.packets;
    rop.busy = true;
    stats_.rop_ops += transaction.packets;
    stats_.rop_busy += occupancy;
    rop.served += occupancy;
    stats_.rop_busiest = std::max(stats_.rop_busiest, rop.served);
    add(transaction);
    rop.queue.pop_front();
    if (rop.free_at >= cycle_end) {
      wake_at(cycle_of(rop.free_at));
    }
  }
}

// The additions themselves, lanes in order.
void L2Slice::add(const Transaction& transaction) {
  if (transaction.reduced) {
    Fp32Bits& cell = memory_[addresses_.element_at(transaction.address, transaction.parameter)];
    cell = fp32_add(cell, transaction.data);
    ++tally_.sums_added;
    return;
  }
  if (transaction.partial) {
    add_partial(transaction);
    return;
  }
  const std::uint32_t p = transaction.parameter;
  const EventRef& ref = transaction.event;
  std::uint64_t seed = transaction.seed;
  if (!transaction.uniform && !has_values_) {
    seed = synthetic_seed(ref.key());
  }
  for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const Fp32Bits value = has_values_
                               ? lane_value(ref.warp_trace(), ref.event(), ref.key(), true, p, lane)
                               : synthetic_value(seed, p, lane);
    Fp32Bits& cell =
        memory_[transaction.uniform
                    ? transaction.element
                    : addresses_.element(lane_primitive(ref.warp_trace(), ref.event(), lane), p)];
    cell = fp32_add(cell, value);
  }
  tally_.lanes_added += static_cast<std::uint64_t>(lane_count(transaction.mask));
  ctas_.release(ref.cta);
}

// The sums of a sector that an atomic buffer has sent, in the order of their addresses.
void L2Slice::add_partial(const Transaction& transaction) {
  const SectorSums sums = sums_.take(transaction.data);
  for (std::uint32_t rest = transaction.mask; rest != 0; rest &= rest - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(rest));
    const Address address = transaction.address + word * sizeof(Fp32Bits);
    Fp32Bits& cell = memory_[addresses_.element_at(address, 0)];
    cell = fp32_add(cell, sums[word]);
    ++tally_.sums_added;
  }
}

}  // namespace warpfold
