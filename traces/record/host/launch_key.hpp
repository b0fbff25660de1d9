// SPDX-License-Identifier: Apache-2.0
// What tells launches of several runs of a program apart, and which of them are the same launch.
//
// A launch is the so-manieth of its key in its process, and a process is known by its rank: the
// order in which the processes began that use a GPU. Two runs are alike, as far as a launch goes,
// if they have as many processes and the launch's process has made as many launches of the key.
// Otherwise nobody can say which is which, and nothing is taken from one run for another.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace warpfold::record {

using Dimensions = std::array<std::uint32_t, 3>;

struct LaunchKey {
  std::string function;
  Dimensions grid{}, block{};
  friend auto operator<=>(const LaunchKey&, const LaunchKey&) = default;
};

// When a process began, and its number.
struct ProcessAge {
  std::uint64_t started = 0;
  std::uint64_t pid = 0;
  friend auto operator<=>(const ProcessAge&, const ProcessAge&) = default;
};

// As a process tells of itself (inject/process.hpp).
[[nodiscard]] ProcessAge age_of(const nlohmann::json& hello);

// The launches of one run: what they are to each, and in which order within a key.
template <typename Launch>
class RunLaunches {
 public:
  struct Process {
    ProcessAge age;
    std::map<LaunchKey, std::vector<Launch>> launches = {};
  };
  // Its place in all processes so far.
  std::size_t add_process(const ProcessAge& age) {
    processes_.push_back({.age = age});
    return processes_.size() - 1;
  }
  [[nodiscard]] Process& process(std::size_t place) { return processes_[place]; }
  [[nodiscard]] const Process& process(std::size_t place) const { return processes_[place]; }
  [[nodiscard]] std::size_t processes() const { return processes_.size(); }
  // From the one that began first.
  [[nodiscard]] std::size_t rank(std::size_t place) const {
    return static_cast<std::size_t>(
        std::count_if(processes_.begin(), processes_.end(),
                      [&](const Process& other) { return other.age < processes_[place].age; }));
  }
  [[nodiscard]] const Process& of_rank(std::size_t wanted) const {
    std::vector<std::size_t> places(processes_.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = i;
    }
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(processes_[a].age, a) < std::pair(processes_[b].age, b);
    });
    return processes_[places.at(wanted)];
  }

 private:
  std::vector<Process> processes_;
};

// One launch of a run that is recorded, and what it is to be found by in others.
struct LaunchPlace {
  LaunchKey key;
  std::size_t processes = 0;  // of the run
  std::size_t rank = 0;       // of its process
  std::size_t number = 0;     // from 0 on, of its key in its process
  std::size_t of = 0;         // launches of the key in its process
};

// All launches of the key that the process of that rank made in another run, in their order; none
// where the two runs are not alike, and `why` says what differs.
template <typename Launch>
const std::vector<Launch>* launches_like(const RunLaunches<Launch>& run, const LaunchPlace& place,
                                         std::string& why) {
  if (run.processes() != place.processes) {
    why = std::to_string(run.processes()) + " processes use the GPU, not " +
          std::to_string(place.processes);
    return nullptr;
  }
  const auto& launches = run.of_rank(place.rank).launches;
  const auto found = launches.find(place.key);
  const std::size_t count = found == launches.end() ? 0 : found->second.size();
  if (count != place.of) {
    why =
        std::to_string(count) + " launches of this grid and block, not " + std::to_string(place.of);
    return nullptr;
  }
  return &found->second;
}

}  // namespace warpfold::record
