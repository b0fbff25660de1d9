// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/launch_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "traces/record/host/json_number.hpp"

namespace warpfold::record {

void LaunchTimes::add(const std::string& message) {
  try {
    const nlohmann::json json = nlohmann::json::parse(message);
    clock_mhz_ = std::max(clock_mhz_, json.at("sm_clock_mhz").get<double>());
    // In the order in which the program made them.
    std::vector<nlohmann::json> launches = json.at("launches");
    std::sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
      return whole_number<std::uint64_t>(a.at(0)) < whole_number<std::uint64_t>(b.at(0));
    });
    std::map<std::string, std::uint32_t> seen;
    for (const nlohmann::json& launch : launches) {
      const std::string name = launch.at(1);
      const std::uint32_t ordinal = ++seen[name];
      if (const double ns = launch.at(2); ns > 0) {
        milliseconds_[{name, ordinal}].push_back(ns * 1e-6);
      }
    }
  } catch (const nlohmann::json::exception& error) {
    throw trace::TraceError(
        fmt::format("the timing library says what is no time: {}", error.what()));
  }
}

std::vector<trace::VariantTime> LaunchTimes::of(const std::string& function,
                                                std::uint32_t ordinal) const {
  const auto found = milliseconds_.find({function, ordinal});
  if (found == milliseconds_.end()) {
    return {};
  }
  std::vector<double> sorted = found->second;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const double median =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return {{.policy = "baseline",
           .median_ms = median,
           .min_ms = sorted.front(),
           .max_ms = sorted.back(),
           .runs = static_cast<std::uint32_t>(sorted.size()),
           .sm_clock_mhz = clock_mhz_}};
}

}  // namespace warpfold::record
