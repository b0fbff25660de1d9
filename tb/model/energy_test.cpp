// SPDX-License-Identifier: Apache-2.0
// Energy of a run, worked out by hand.
#include "model/results/energy.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "model/results/json.hpp"

namespace warpfold {
namespace {

double nj(const std::vector<EnergyPart>& parts, const std::string& name) {
  for (const EnergyPart& part : parts) {
    if (part.name == name) {
      return part.nj();
    }
  }
  ADD_FAILURE() << "no part " << name;
  return 0;
}

// Every coefficient a different one, so that no two can be taken for each other.
RunResult made_up_run() {
  RunResult run;
  run.policy = "arc-hw";
  run.cycles = 4000;
  run.config.sm.clock_ghz = 2.0;
  run.config.l2.line_bytes = 128;
  run.config.energy = {.instruction_pj = 200,
                       .shuffle_pj = 500,
                       .register_lane_pj = 0.5,
                       .unit_lane_pj = 1.5,
                       .add_lane_pj = 3,
                       .buffer_access_pj = 40,
                       .noc_byte_pj = 7,
                       .rop_pj = 300,
                       .dram_byte_pj = 25,
                       .active_watts = 80,
                       .idle_watts = 110};
  run.rop_ops = 50;
  run.noc_bytes = 2000;
  run.activity = {{"instructions", 10000}, {"shuffles", 100},   {"shuffles_of_zeros", 40},
                  {"lanes_to_unit", 700},  {"buffer_hits", 30}, {"buffer_misses", 5},
                  {"lanes_to_buffer", 90}, {"l2_misses", 4},    {"l2_evictions", 3}};
  return run;
}

TEST(Energy, IsCountsTimesCoefficientsAndPowerTimesTime) {
  const std::vector<EnergyPart> parts = energy_parts(made_up_run());
  EXPECT_DOUBLE_EQ(nj(parts, "instructions"), 2000);   // 10,000 x 200 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "shuffles"), 30);         // (100 - 40) x 500 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "unit"), 1.4);            // 700 x (0.5 + 1.5) pJ
  EXPECT_DOUBLE_EQ(nj(parts, "buffer_sram"), 1.4);     // 35 x 40 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "buffer_adds"), 0.27);    // 90 x 3 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "noc"), 14);              // 2,000 x 7 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "rop"), 15);              // 50 x 300 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "dram"), 22.4);           // 7 x 128 bytes x 25 pJ
  EXPECT_DOUBLE_EQ(nj(parts, "active"), 2000 * 80.0);  // 4,000 cycles at 2 GHz are 2,000 ns
  EXPECT_DOUBLE_EQ(nj(parts, "idle"), 2000 * 110.0);
  EXPECT_EQ(parts.size(), 10U);
  EXPECT_DOUBLE_EQ(total_nj(parts), 2000 + 30 + 1.4 + 1.4 + 0.27 + 14 + 15 + 22.4 + 380000);
}

TEST(Energy, OfARunThatDidNothingIsPowerTimesTime) {
  RunResult run = made_up_run();
  run.activity.clear();
  run.rop_ops = run.noc_bytes = 0;
  EXPECT_DOUBLE_EQ(total_nj(energy_parts(run)), 2000 * 190.0);
}

TEST(Energy, IsInTheResultsAndInAFileOfItsOwn) {
  const RunResult run = made_up_run();
  const auto result = nlohmann::json::parse(results_to_json({run}))["runs"][0]["energy_nj"];
  EXPECT_DOUBLE_EQ(result["rop"], 15);
  EXPECT_DOUBLE_EQ(result["total"], total_nj(energy_parts(run)));
  const auto document = nlohmann::json::parse(energies_to_json({run}));
  EXPECT_EQ(document["schema"], "warpfold.energy-model/1");
  const auto& entry = document["runs"][0];
  EXPECT_EQ(entry["policy"], "arc-hw");
  EXPECT_EQ(entry["parts"][0]["part"], "instructions");
  EXPECT_DOUBLE_EQ(entry["parts"][0]["count"], 10000);
  EXPECT_EQ(entry["parts"][0]["per"], "warp instruction");
  EXPECT_DOUBLE_EQ(entry["parts"][0]["pj"], 200);
  EXPECT_DOUBLE_EQ(entry["total_nj"], result["total"]);
}

TEST(Energy, EveryBuiltInMachineHasCoefficients) {
  for (const std::string& name : gpu_names()) {
    const GpuConfig::Energy energy = load_gpu(name).energy;
    EXPECT_GT(energy.instruction_pj, 0) << name;
    EXPECT_GT(energy.rop_pj, 0) << name;
    EXPECT_GT(energy.noc_byte_pj, 0) << name;
    EXPECT_GT(energy.idle_watts, 0) << name;
  }
}

}  // namespace
}  // namespace warpfold
