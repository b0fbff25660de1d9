// SPDX-License-Identifier: Apache-2.0
// warpfold_capture: runs the 3D Gaussian Splatting backward pass on a GPU and records its atomics.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "traces/capture/commands.hpp"
#include "traces/capture/output_options.hpp"
#include "traces/capture/rasterizer.hpp"
#include "traces/format/trace.hpp"

namespace {

using namespace warpfold::capture;

constexpr int kBadInput = 2;

void add_scene(CLI::App& command, SceneOptions& scene, bool required) {
  command.add_option("--scene", scene.scene, "Gaussians, a .splat or .gaussians file")
      ->required(required);
  command.add_option("--camera", scene.cameras, "viewpoints for a .splat file, a cameras.json");
  command.add_option("--name", scene.name, "which viewpoint; also the name of the output");
}

int run(int argc, char** argv) {
  CLI::App app("Captures warp atomic traces of the 3D Gaussian Splatting backward pass");
  app.require_subcommand(1);
  CheckOptions check;
  CLI::App* check_app = app.add_subcommand("check", "compare the GPU with the CPU reference");
  add_scene(*check_app, check.scene, false);
  check_app->add_option("--seed", check.seed, "of the random scene")->capture_default_str();

  TimeOptions time;
  CLI::App* time_app = app.add_subcommand("time", "time the backward kernel under every policy");
  add_scene(*time_app, time.scene, true);
  time_app->add_option("--json", time.json, "write the times there");
  time_app->add_option("--warmup", time.warmup, "launches before those timed")
      ->capture_default_str();
  time_app->add_option("--runs", time.runs, "launches timed")->capture_default_str();

  EnergyOptions energy;
  CLI::App* energy_app = app.add_subcommand("energy", "joules of the backward kernel, by NVML");
  add_scene(*energy_app, energy.scene, true);
  energy_app->add_option("--json", energy.json, "write the result there");
  energy_app->add_option("--seconds", energy.seconds, "length of each loop")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();

  LaunchOptions launch;
  CLI::App* launch_app = app.add_subcommand("launch", "launch each variant once, for a profiler");
  add_scene(*launch_app, launch.scene, true);
  launch_app->add_option("--policy", launch.policies, "which, such as sw-b:16");

  CaptureOptions capture;
  capture.workload = "3D";
  CLI::App* capture_app = app.add_subcommand("record", "write the traces");
  add_output_options(*capture_app, capture);
  capture_app->add_option("--times", capture.times, "times, from the time command");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  (void)gpu_info();  // no GPU is told before anything is loaded
  if (check_app->parsed()) {
    return check_command(check);
  }
  if (time_app->parsed()) {
    return time_command(time);
  }
  if (energy_app->parsed()) {
    return energy_command(energy);
  }
  if (launch_app->parsed()) {
    return launch_command(launch);
  }
  return capture_command(capture);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_capture: %s\n", error.what());
    return kBadInput;
  }
}
