// SPDX-License-Identifier: Apache-2.0
// Of units that run side by side, what stood at their ports in the last cycles. Owned by whoever
// writes the waves.
#pragma once

#include <cstddef>
#include <vector>

#include "model/unit/wave_file.hpp"

namespace warpfold {

class PortWindow {
 public:
  // depth: cycles that it keeps, from 1 on.
  explicit PortWindow(std::size_t depth) : depth_(depth) {}

  void add(Cycle cycle, const UnitInputs& inputs, const UnitOutputs& first,
           const UnitOutputs& second) {
    if (entries_.size() < depth_) {
      entries_.emplace_back();
    }
    entries_[next_] = {cycle, {inputs, first}, {inputs, second}};
    next_ = (next_ + 1) % depth_;
  }
  [[nodiscard]] bool has_cycles() const { return !entries_.empty(); }
  // The cycles that it holds, in their order.
  void write(WaveFile& file) const {
    const std::size_t begin = entries_.size() < depth_ ? 0 : next_;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[(begin + i) % entries_.size()];
      file.add(entry.cycle, {&entry.first, &entry.second});
    }
  }

 private:
  struct Entry {
    Cycle cycle = 0;
    PortValues first, second;
  };
  const std::size_t depth_;
  std::vector<Entry> entries_;
  std::size_t next_ = 0;
};

}  // namespace warpfold
