// SPDX-License-Identifier: Apache-2.0
// One L2 slice: tags, the DRAM channel behind them, and the ROP units, which do additions one
// sector operation after another, those to one sector always in the same ROP. Owned by the GPU.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "model/gpu/clock.hpp"
#include "model/gpu/config.hpp"
#include "model/gpu/noc.hpp"
#include "model/gpu/sector_sums.hpp"
#include "model/gpu/ticks.hpp"
#include "model/gpu/traffic.hpp"

namespace warpfold {

class CtaStore;

// Set-associative tags with least-recently-used replacement. Every line that is in holds additions,
// so every eviction writes back.
class L2Tags {
 public:
  L2Tags(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes);
  struct Access {
    bool hit = false;
    bool evicted = false;
  };
  // Looks a line up and brings it in.
  Access access(Address address);

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  std::uint32_t ways_;
  std::uint32_t line_bytes_;
  std::uint64_t sets_;
  std::vector<std::uint64_t> store_;  // lines, set by set, the most recently used of a set first
};

struct SliceStats {
  std::uint64_t rop_ops = 0;
  Ticks rop_busy = 0;     // over all ROPs of the slice
  Ticks rop_busiest = 0;  // of the one that had most to do
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  Cycle last_done = 0;  // first cycle after the last addition
};

class L2Slice : public Block {
 public:
  L2Slice(const sc_core::sc_module_name& name, Clock& clock, const GpuConfig& config,
          const SliceMap& map, const AddressMap& addresses, bool has_values,
          std::vector<Fp32Bits>& memory, SectorSumsPool& sums, Tally& tally, CtaStore& ctas);

  SliceIngress ingress;
  // Marks a line as present before the kernel begins: the arrays were just cleared.
  void warm(Address address) { tags_.access(address); }
  [[nodiscard]] const SliceStats& stats() const { return stats_; }
  [[nodiscard]] bool empty() const;

 private:
  struct Rop {
    std::deque<Transaction> queue;
    bool busy = false;
    Ticks free_at = 0;
    std::uint32_t packets = 0;
    Ticks served = 0;  // that it has been busy
  };

  void tick() override;
  void accept(const Transaction& transaction);
  void serve(Rop& rop);
  void add(const Transaction& transaction);
  void add_partial(const Transaction& transaction);

  const SliceMap& map_;
  const AddressMap& addresses_;
  const bool has_values_;
  std::vector<Fp32Bits>& memory_;
  SectorSumsPool& sums_;
  Tally& tally_;
  CtaStore& ctas_;
  const Ticks rop_ticks_;  // no less than a packet takes to come
  const std::uint32_t line_bytes_;
  const std::uint32_t dram_latency_;
  const Ticks dram_line_ticks_;

  L2Tags tags_;
  std::vector<Rop> rops_;
  Ticks dram_free_at_ = 0;
  std::unordered_map<std::uint64_t, Cycle> filling_;  // line -> cycle in which it is there
  std::multimap<Cycle, Transaction> waiting_;         // for their line
  SliceStats stats_;
};

}  // namespace warpfold
