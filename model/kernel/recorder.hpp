// SPDX-License-Identifier: Apache-2.0
// What blocks note down of themselves for a timeline, each in its own cycle, so that
// it does not matter which of them are ahead. A block that nobody looks at has null pointers to
// these. Owned by the GPU; each is written to by the blocks of one partition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/outcome/run_result.hpp"
#include "model/types.hpp"

namespace warpfold {

// From `begin` on, before `end`.
struct CycleRange {
  Cycle begin = 0;
  Cycle end = 0;
  [[nodiscard]] bool contains(Cycle cycle) const { return cycle >= begin && cycle < end; }
};

// Which blocks a timeline shows in detail, and when.
struct TimelineDetail {
  CycleRange window;
  std::vector<std::uint32_t> sms;
  std::vector<std::uint32_t> l2_ports;
};

// What a unit did in a window, one thing at a time.
class SliceRecorder {
 public:
  // merge: what goes on without a pause is one slice.
  SliceRecorder(const CycleRange& window, bool merge)
      : begin_(at_cycle(window.begin)), end_(at_cycle(window.end)), merge_(merge) {}

  void add(Ticks begin, Ticks end, std::uint32_t what, std::uint32_t count = 0) {
    begin = std::max(begin, begin_);
    end = std::min(end, end_);
    if (begin >= end) {
      return;
    }
    if (merge_ && !slices_.empty() && slices_.back().what == what &&
        slices_.back().begin + slices_.back().length == begin) {
      slices_.back().length += end - begin;
      return;
    }
    slices_.push_back({.begin = begin, .length = end - begin, .what = what, .count = count});
  }
  // In the order of time, once.
  [[nodiscard]] std::vector<TimelineSlice> take() {
    std::sort(slices_.begin(), slices_.end(),
              [](const TimelineSlice& a, const TimelineSlice& b) { return a.begin < b.begin; });
    return std::move(slices_);
  }

 private:
  const Ticks begin_;
  const Ticks end_;
  const bool merge_;
  std::vector<TimelineSlice> slices_;
};

// How full a queue was in a window.
class LevelRecorder {
 public:
  explicit LevelRecorder(const CycleRange& window) : window_(window) {}

  // So much more, or less, from that cycle on. Changes need not come in order.
  void change(Cycle cycle, std::int64_t by) {
    if (cycle < window_.end && by != 0) {
      changes_.emplace_back(std::max(cycle, window_.begin), by);
      if (changes_.size() > 1 && changes_.back().first == changes_[changes_.size() - 2].first) {
        changes_[changes_.size() - 2].second += by;
        changes_.pop_back();
      }
    }
  }
  // The level at the beginning of the window and after each change, once.
  [[nodiscard]] std::vector<TimelineLevel> take() {
    std::sort(changes_.begin(), changes_.end());
    std::vector<TimelineLevel> levels{{.cycle = window_.begin, .value = 0}};
    std::int64_t level = 0;
    for (const auto& [cycle, by] : changes_) {
      level += by;
      if (levels.back().cycle != cycle) {
        levels.push_back({.cycle = cycle, .value = 0});
      }
      levels.back().value = static_cast<std::uint64_t>(level);
    }
    levels.erase(std::unique(levels.begin(), levels.end(),
                             [](const TimelineLevel& a, const TimelineLevel& b) {
                               return a.value == b.value;
                             }),
                 levels.end());
    changes_.clear();
    return levels;
  }

 private:
  const CycleRange window_;
  std::vector<std::pair<Cycle, std::int64_t>> changes_;
};

}  // namespace warpfold
