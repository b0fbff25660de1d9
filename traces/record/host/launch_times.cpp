// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/launch_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "traces/record/host/json_number.hpp"

namespace warpfold::record {

namespace {

Dimensions dimensions(const nlohmann::json& json) {
  Dimensions result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = whole_number<std::uint32_t>(json.at(i));
  }
  return result;
}

}  // namespace

ProcessAge age_of(const nlohmann::json& hello) {
  return {.started = whole_number<std::uint64_t>(hello.at("started")),
          .pid = whole_number<std::uint64_t>(hello.at("pid"))};
}

void LaunchTimes::add_process(Peer peer, const ProcessAge& age) {
  open_[peer] = {age, {}};
}

void LaunchTimes::add(Peer peer, const std::string& message) {
  try {
    const nlohmann::json json = nlohmann::json::parse(message);
    clock_mhz_ = std::max(clock_mhz_, json.at("sm_clock_mhz").get<double>());
    for (const nlohmann::json& launch : json.at("launches")) {
      open_[peer].second.push_back({.call = whole_number<std::uint64_t>(launch.at(0)),
                                    .begin = whole_number<std::uint64_t>(launch.at(1)),
                                    .key = {.function = launch.at(2),
                                            .grid = dimensions(launch.at(3)),
                                            .block = dimensions(launch.at(4))},
                                    .took = launch.at(6).get<double>() * 1e-6});
    }
  } catch (const nlohmann::json::exception& error) {
    throw trace::TraceError(
        fmt::format("the timing library says what is no time: {}", error.what()));
  }
}

// Its launches go in the order in which the program made them; those of one call of the driver, a
// graph, in that of the GPU.
void LaunchTimes::end_process(Peer peer) {
  const auto found = open_.find(peer);
  if (found == open_.end() || runs_.empty()) {
    return;
  }
  auto& [age, launches] = found->second;
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return std::tie(a.call, a.begin) < std::tie(b.call, b.begin);
  });
  RunLaunches<Milliseconds>& run = runs_.back();
  auto& process = run.process(run.add_process(age));
  for (Launch& launch : launches) {
    process.launches[std::move(launch.key)].push_back(launch.took);
  }
  open_.erase(found);
}

std::vector<trace::VariantTime> LaunchTimes::of(const LaunchPlace& place, std::string& why) const {
  // By state: those of the launch itself, and those of others of its key.
  std::vector<Milliseconds> own, cold, warm;
  for (const RunLaunches<Milliseconds>& run : runs_) {
    const auto* launches = launches_like(run, place, why);
    if (launches == nullptr) {
      continue;
    }
    for (std::size_t i = 0; i < launches->size(); ++i) {
      if (const Milliseconds took = (*launches)[i]; took > 0) {
        (i == place.number ? own : i == 0 ? cold : warm).push_back(took);
      }
    }
  }
  std::vector<trace::VariantTime> result;
  const auto add = [&](std::vector<Milliseconds>& sorted, trace::TimeState state) {
    if (sorted.empty()) {
      return;
    }
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    const double median =
        sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    result.push_back({.policy = "baseline",
                      .median_ms = median,
                      .min_ms = sorted.front(),
                      .max_ms = sorted.back(),
                      .runs = static_cast<std::uint32_t>(sorted.size()),
                      .sm_clock_mhz = clock_mhz_,
                      .gpu = {},
                      .state = state});
  };
  const bool is_first = place.number == 0;
  add(own, is_first ? trace::TimeState::kCold : trace::TimeState::kWarm);
  add(is_first ? warm : cold, is_first ? trace::TimeState::kWarm : trace::TimeState::kCold);
  return result;
}

}  // namespace warpfold::record
