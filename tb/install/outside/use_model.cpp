// SPDX-License-Identifier: Apache-2.0
// A trace under two policies on a machine from its installed file.
#include <iostream>

#include "model/results/runner.hpp"

int main(int, char** argv) {
  warpfold::SimulationPlan plan;
  plan.traces.emplace_back(argv[1]);
  plan.gpus.push_back(warpfold::load_gpu(MACHINE));
  plan.policies = warpfold::parse_policies("baseline,arc-hw");
  plan.unit.model = warpfold::UnitModel::kGolden;
  const warpfold::SimulationReport report = warpfold::run_simulations(plan);
  for (const warpfold::RunResult& run : report.runs) {
    std::cout << run.cycles << " cycles\n";
  }
  return report.failures.empty() ? 0 : 1;
}
