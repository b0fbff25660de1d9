// SPDX-License-Identifier: Apache-2.0
// Loads and stores at a port of the L2: sectors that are missed are read from the memory behind,
// each once however many ask for it, and with the other sector of its 64 bytes; then the port gives
// out one line's sectors after the other's. Owned by the port.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/base/ticks.hpp"
#include "model/gpu/memory/l2_tags.hpp"
#include "model/gpu/memory/memory_behind.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/machine/config.hpp"
#include "model/types.hpp"

namespace warpfold {

class L2Reads {
 public:
  // Who asks for what: sectors of a line.
  struct Load {
    std::uint32_t sm = 0;
    std::uint64_t line = 0;  // address / kLineBytes
    std::uint32_t sectors = 0;
  };
  struct Stats {
    std::uint64_t hits = 0;    // sectors that loads found, or that were on their way
    std::uint64_t misses = 0;  // that they did not
    std::uint64_t read = 0;    // that were read from the memory behind
    std::uint64_t stored = 0;
    std::uint64_t sent = 0;       // sectors, in answer to loads
    std::uint64_t evictions = 0;  // lines that were written back
  };

  L2Reads(const GpuConfig& config, L2Tags& tags, MemoryBehind& behind);

  // Before the launch: these are in, and written if a store has brought them in.
  void warm(std::uint64_t line, std::uint32_t sectors, bool store);
  // `from`: the line is there no sooner, since an addition has had it read.
  void load(const Load& load, Cycle from, Cycle now);
  void store(std::uint64_t line, std::uint32_t sectors, Cycle now);
  // An addition comes to these sectors of a line that is in: whether some of them are not, and are
  // to be read. All of the line counts as there from then on.
  [[nodiscard]] bool lacks(std::uint64_t line, std::uint32_t sectors);
  // A line has been driven out by an addition: whether it is to be written back.
  [[nodiscard]] bool drops_clean(std::uint64_t line);

  // In every cycle in which next() falls: calls answer(load) for each that is done.
  template <typename Answer>
  void clock(Cycle now, Answer answer) {
    give_out(now);
    while (!done_.empty() && done_.front().first <= now) {
      stats_.sent += static_cast<std::uint64_t>(std::popcount(done_.front().second.sectors));
      answer(done_.front().second);
      done_.pop_front();
    }
  }
  [[nodiscard]] Cycle next() const;
  [[nodiscard]] bool empty() const { return ready_.empty() && done_.empty(); }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  // Sectors of a line that loads or stores have brought in: the others of the tags' lines are whole
  // and have been added to.
  struct Part {
    std::uint32_t sectors = 0;
    bool dirty = false;
  };
  Part& part_of(std::uint64_t line, Cycle now);
  void give_out(Cycle now);

  L2Tags& tags_;
  MemoryBehind& behind_;
  const Ticks line_ticks_;
  const Ticks sector_ticks_;
  std::unordered_map<std::uint64_t, Part> parts_;       // by line
  std::unordered_map<std::uint64_t, Cycle> fills_;      // sectors on their way
  std::deque<std::pair<Cycle, std::uint64_t>> coming_;  // the same, in order
  std::multimap<Cycle, Load> ready_;                    // by when all that they want is there
  Ticks free_at_ = 0;
  std::deque<std::pair<Cycle, Load>> done_;
  Part whole_;
  Stats stats_;
};

}  // namespace warpfold
