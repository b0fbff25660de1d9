// SPDX-License-Identifier: Apache-2.0
// What a run cost in energy: its counts times the machine's energy for each (GpuConfig::Energy),
// and power times time. Pure functions of what the run measured.
#pragma once

#include <string>
#include <vector>

#include "model/outcome/run_result.hpp"

namespace warpfold {

// One kind of event: `count` of them at `pj` each. Of power over time the events are nanoseconds,
// of which each costs as many nanojoules as there are watts.
struct EnergyPart {
  std::string name;
  double count = 0;
  std::string per;  // what is counted
  double pj = 0;
  [[nodiscard]] double nj() const { return count * pj * 1e-3; }
};

// In a fixed order, "active" and "idle" last. All parts together are the energy of the whole GPU
// from launch to the last addition; all but "idle" what the kernel takes beyond an idle GPU.
std::vector<EnergyPart> energy_parts(const RunResult& run);

double total_nj(const std::vector<EnergyPart>& parts);

}  // namespace warpfold
