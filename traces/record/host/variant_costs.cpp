// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/variant_costs.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace warpfold::record {

namespace {

constexpr std::uint32_t kMostRegisters = 255;

nlohmann::json no_cost() {
  nlohmann::json cost;
  for (const char* key : kIssued) {
    cost[key] = 0;
  }
  cost["stall_cycles"] = 0;
  cost["branches"] = 0;
  cost["waits"] = nlohmann::json::array();
  return cost;
}

// The entry for so many parameters, or for the next more that there is; null if there is none.
nlohmann::json reduction_of(const nlohmann::json& by_parameters, std::size_t parameters) {
  nlohmann::json best;
  std::size_t least = 0;
  for (const auto& [key, entry] : by_parameters.items()) {
    std::size_t count = 0;
    std::from_chars(key.data(), key.data() + key.size(), count);
    if (count >= parameters && (best.is_null() || count < least)) {
      best = entry;
      least = count;
    }
  }
  return best;
}

}  // namespace

SlotBounds slot_bounds(const nlohmann::json& way_cost) {
  SlotBounds bounds;
  if (way_cost.is_null()) {
    return bounds;
  }
  for (const char* key : kIssued) {
    bounds.taken += way_cost.value(key, std::uint64_t{0});
  }
  bounds.least = bounds.most = bounds.taken;
  if (way_cost.contains("bounds")) {
    bounds.least = std::min(bounds.taken, way_cost.at("bounds").at(0).get<std::uint64_t>());
    bounds.most = std::max(bounds.taken, way_cost.at("bounds").at(1).get<std::uint64_t>());
  }
  return bounds;
}

nlohmann::json path_costs(const WayCosts& way_costs) {
  nlohmann::json paths = nlohmann::json::array();
  const auto add = [&](const nlohmann::json& cost) {
    nlohmann::json entry = cost.is_null() ? no_cost() : cost;
    if (cost.is_null()) {
      entry["estimated"] = true;
    } else if (!entry.value("estimated", false)) {
      entry.erase("estimated");
    }
    entry.erase("bounds");
    paths.push_back(std::move(entry));
  };
  for (std::size_t way = 0; way < way_costs.whole.size(); ++way) {
    if (way_costs.parts.is_null() || way_costs.parts.at(way).is_null()) {
      add(way_costs.whole.at(way));
      continue;
    }
    for (const nlohmann::json& part : way_costs.parts.at(way)) {
      if (const nlohmann::json& cost = part.at("cost"); !cost.is_null()) {
        add(cost);
      }
    }
  }
  return paths;
}

nlohmann::json variant_costs(const trace::Header& header, const WayCosts& way_costs,
                             const nlohmann::json& reductions) {
  const nlohmann::json paths = path_costs(way_costs);
  nlohmann::json plain = nlohmann::json::array();
  for (std::size_t site = 0; site < header.sites.size(); ++site) {
    plain.push_back({{"plain", no_cost()}});
  }
  nlohmann::json result;
  result["baseline"] = {
      {"paths", paths}, {"reduce", plain}, {"registers", header.registers_per_thread}};
  for (const auto& [variant, by_parameters] : reductions.items()) {
    nlohmann::json reduce = nlohmann::json::array();
    std::uint32_t registers = 0;
    bool any = false;
    for (const trace::Site& site : header.sites) {
      const bool may_reduce =
          site.type == trace::ValueType::kF32 && site.kind == trace::SiteKind::kRed;
      const nlohmann::json found =
          may_reduce ? reduction_of(by_parameters, site.parameters.size()) : nlohmann::json();
      nlohmann::json segments = nlohmann::json::object();
      if (!found.is_null()) {
        segments = found.at("reduce");
        for (auto& [name, cost] : segments.items()) {
          cost["estimated"] = true;
        }
        registers = std::max(registers, found.value("registers", 0U));
        any = true;
      }
      reduce.push_back(std::move(segments));
    }
    if (any) {
      result[variant] = {
          {"paths", paths},
          {"reduce", std::move(reduce)},
          {"registers", std::min(header.registers_per_thread + registers, kMostRegisters)}};
    }
  }
  return result;
}

}  // namespace warpfold::record
