// SPDX-License-Identifier: Apache-2.0
#include "model/results/energy.hpp"

#include <algorithm>
#include <string_view>

namespace warpfold {
namespace {

double count_of(const Counters& counters, std::string_view name) {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  return found == counters.end() ? 0 : static_cast<double>(found->second);
}

}  // namespace

std::vector<EnergyPart> energy_parts(const RunResult& run) {
  const GpuConfig::Energy& energy = run.config.energy;
  const auto activity = [&run](std::string_view name) { return count_of(run.activity, name); };
  constexpr double kPjPerNj = 1e3;
  const double ns = static_cast<double>(run.cycles) / run.config.sm.clock_ghz;
  return {
      {"instructions", activity("instructions"), "warp instruction", energy.instruction_pj},
      {"shuffles", activity("shuffles") - activity("shuffles_of_zeros"), "warp shuffle",
       energy.shuffle_pj},
      {"unit", activity("lanes_to_unit"), "lane", energy.register_lane_pj + energy.unit_lane_pj},
      {"buffer_sram", activity("buffer_hits") + activity("buffer_misses"), "look-up",
       energy.buffer_access_pj},
      {"buffer_adds", activity("lanes_to_buffer") + activity("sums_to_buffer"), "lane",
       energy.add_lane_pj},
      {"noc", static_cast<double>(run.noc_bytes), "byte", energy.noc_byte_pj},
      {"rop", static_cast<double>(run.rop_ops), "sector operation", energy.rop_pj},
      {"dram", (activity("l2_misses") + activity("l2_evictions")) * run.config.l2.line_bytes,
       "byte", energy.dram_byte_pj},
      {"active", ns, "ns", energy.active_watts * kPjPerNj},
      {"idle", ns, "ns", energy.idle_watts * kPjPerNj},
  };
}

double total_nj(const std::vector<EnergyPart>& parts) {
  double sum = 0;
  for (const EnergyPart& part : parts) {
    sum += part.nj();
  }
  return sum;
}

}  // namespace warpfold
