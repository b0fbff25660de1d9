// SPDX-License-Identifier: Apache-2.0
// Records the timeline of a run: how busy and how full units of each kind were from sample to
// sample, and what some SMs and ports of the L2 did in a window. Owned by the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/sm/sm.hpp"
#include "model/kernel/recorder.hpp"
#include "model/machine/config.hpp"
#include "model/outcome/run_result.hpp"

namespace warpfold {

class TimelineRecorder {
 public:
  // A run with more samples has them taken twice as seldom, as often as it takes.
  static constexpr std::size_t kMostSamples = 16384;

  TimelineRecorder(std::uint64_t interval, const TimelineDetail& detail, const GpuConfig& config,
                   const std::vector<std::unique_ptr<Sm>>& sms,
                   const std::vector<std::unique_ptr<L2Port>>& ports);

  // Before a cycle that is a multiple of the interval.
  void sample(Cycle cycle);
  // After the run, once.
  [[nodiscard]] Timeline finish(Cycle end);

 private:
  struct Sample {
    // What the units of each kind have been busy for, together.
    Ticks issue = 0, unit = 0, lsu = 0, adder = 0, port = 0, rop = 0;
    // What is in all queues of a kind.
    std::uint64_t memory_queue = 0, injection_queue = 0, l2_buffer = 0;
  };
  struct Slices {
    std::uint32_t place;  // in Timeline::places
    std::string name;
    std::vector<std::string> what;
    std::string count;
    SliceRecorder recorder;
  };
  struct Levels {
    std::uint32_t place;
    std::string name;
    std::uint32_t parts;  // of one
    LevelRecorder recorder;
  };

  void watch(Sm& sm, std::uint32_t index);
  void watch(L2Port& port, std::uint32_t index);
  SliceRecorder* slices(std::string name, std::vector<std::string> what, bool merge,
                        std::string count = "");
  LevelRecorder* levels(std::string name, std::uint32_t parts = 1);
  [[nodiscard]] Sample sample_before(Cycle cycle) const;
  [[nodiscard]] Sample total() const;
  void add_samples(Cycle end, Timeline& out) const;

  std::uint64_t interval_;
  const CycleRange window_;
  const GpuConfig& config_;
  const std::vector<std::unique_ptr<Sm>>& sms_;
  const std::vector<std::unique_ptr<L2Port>>& ports_;
  std::vector<Sample> samples_;  // one for each interval that is over
  std::vector<std::string> places_;
  std::vector<Sm*> watched_;
  std::deque<Slices> slices_;
  std::deque<Levels> levels_;
};

}  // namespace warpfold
