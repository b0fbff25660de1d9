// SPDX-License-Identifier: Apache-2.0
// One port of the L2 and the slices behind it: what has arrived is looked up in the tags, fetched
// from the memory behind where it is missed, queued up, and added when the model of rounds
// (round_model.hpp) says that its turns are done. Owned by the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/base/divider.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/memory/ingress.hpp"
#include "model/gpu/memory/l2_reads.hpp"
#include "model/gpu/memory/l2_tags.hpp"
#include "model/gpu/memory/memory_behind.hpp"
#include "model/gpu/memory/port_merger.hpp"
#include "model/gpu/memory/rop_adder.hpp"
#include "model/gpu/memory/round_model.hpp"
#include "model/gpu/memory/service_order.hpp"
#include "model/gpu/memory/transaction_queues.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// What a port of the L2 is given. Plain data; all references outlive the port.
struct L2Context {
  const GpuConfig& config;
  RopAdder::Context additions;
  const ServiceOrderRule& order;
  MemoryBehind& behind;  // this port alone
  const SliceMap& map;
  std::uint32_t merge_rows;  // of its merge buffer; 0: it has none
  bool has_loads = false;    // the trace says what loads and stores touch
};

struct L2Stats {
  std::uint64_t packets = 0;  // that have come and are done
  std::uint64_t rop_ops = 0;
  Ticks rop_busy = 0;     // over all slices of the port
  Ticks rop_busiest = 0;  // of the slice, or the port, that had most to do; no more than has passed
  Ticks port_busy = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;  // lines that a miss writes back
  Cycle last_done = 0;          // first cycle after the last addition
};

class L2Port : public Block {
  const std::unique_ptr<ServiceOrder> order_;  // in front of the ingress, which has it

 public:
  L2Port(std::string name, Partition& partition, const L2Context& context);

  SliceIngress ingress;
  // Marks a line as present before the kernel begins: the arrays were just cleared.
  void warm(Address address) { tags_.access(address); }
  // The same of sectors of a line that a load, or a store, has brought in.
  void warm(std::uint64_t line, std::uint32_t sectors, bool store) {
    reads_->warm(line, sectors, store);
  }
  [[nodiscard]] L2Stats stats() const;
  // rop_busy, and of what is being served what was done before a cycle that has not begun.
  [[nodiscard]] Ticks rop_busy_before(Cycle cycle) const {
    return rounds_.rop_busy_before(cycle << kFineBits);
  }
  // What it has to do, and for what that waits, or nothing.
  [[nodiscard]] std::string waits() const;
  // Whether something that it has will be done at a time that is known.
  [[nodiscard]] bool waits_for_time() const {
    return !rounds_.empty() || !waiting_.empty() || (reads_ && !reads_->empty());
  }
  // No more warps will run.
  void end_kernel();
  // A line for which the memory behind has named no cycle is there in that one, or in the next.
  void filled(Address line, Cycle cycle);
  // Of its merge buffer; null if it has none.
  [[nodiscard]] const BufferStats* buffer_stats() const {
    return merger_ ? &merger_->stats() : nullptr;
  }
  [[nodiscard]] bool empty() const;
  // Loads and stores; null where the trace has none.
  [[nodiscard]] const L2Reads* reads() const { return reads_ ? &*reads_ : nullptr; }
  // When each slice has something to add.
  void record(const std::vector<SliceRecorder*>& of_slices);

 private:
  using Arrival = SliceIngress::Arrival;
  struct Recorded {
    SliceRecorder* recorder = nullptr;
    Fine since = 0;  // it has something to add
  };

  void tick() override;
  void expect(const Transaction& transaction) const;
  void take_arrivals();
  void take_filled();
  void accept(Arrival& arrival);
  void accept_access(const Arrival& arrival);
  [[nodiscard]] Cycle fetch(std::uint64_t line, const L2Tags::Access& access);
  void wait_until(Cycle cycle, Arrival& arrival);
  void enqueue(Arrival& arrival);
  void begin(std::uint32_t queue, Fine time);
  // What ends before `until`, in the order of the ends.
  void serve(Fine until);
  void finish();

  MemoryBehind& behind_;
  const bool behind_has_data_;
  const Divider line_bytes_;
  L2Tags tags_;
  const RopAdder::Context additions_;
  RopAdder adder_;
  TransactionQueues queues_;  // what is served, in front
  RoundModel rounds_;
  // line -> cycle in which it is there; kNever if that is not known yet
  std::unordered_map<std::uint64_t, Cycle> filling_;
  // For their line, in that cycle, in the order in which they came.
  std::map<std::pair<Cycle, std::uint64_t>, Arrival> waiting_;
  std::uint64_t waited_ = 0;
  std::optional<PortMerger> merger_;
  std::optional<L2Reads> reads_;
  std::vector<Recorded> recorded_;  // by slice, if any
  L2Stats stats_;
};

}  // namespace warpfold
