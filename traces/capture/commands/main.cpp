// SPDX-License-Identifier: Apache-2.0
// warpfold_capture: runs the 3D Gaussian Splatting backward pass on a GPU and records its atomics.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "traces/capture/commands/commands.hpp"
#include "traces/capture/commands/output_options.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/splat/tiles_option.hpp"
#include "traces/capture/splat_forms/form.hpp"
#include "traces/capture/training/commands.hpp"
#include "traces/format/trace.hpp"

namespace {

using namespace warpfold::capture;

constexpr int kBadInput = 2;

void add_scene(CLI::App& command, SceneOptions& scene, bool required) {
  command.add_option("--scene", scene.scene, "Gaussians, a .splat or .gaussians file")
      ->required(required);
  command.add_option("--camera", scene.cameras, "viewpoints for a .splat file, a cameras.json");
  command.add_option("--name", scene.name,
                     "which viewpoint of a .splat file; also the name of the output");
}

#if defined(WARPFOLD_TRAINING)
void add_training(CLI::App& command, training::TrainOptions& options) {
  command.add_option("--images", options.images, "folder of the photos, PNG files")->required();
  command.add_option("--transforms", options.transforms, "views, a NeRF-synthetic transforms.json")
      ->required();
  command.add_option("--name", options.name, "of the scene, for the output")->required();
  command
      .add_option("--policy", options.policies,
                  "a training for each: baseline, sw-b:X, sw-s:X, skip, or auto")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--form", options.forms,
                  "a training for each of these forms of the backward kernel as well: " +
                      splat_forms::form_names())
      ->delimiter(',');
  add_tiles_option(command, options.tiles);
  command.add_option("--iterations", options.iterations, "of each training")->capture_default_str();
  command.add_option("--snapshot", options.snapshots, "iterations to write a .gaussians file in")
      ->delimiter(',');
  command.add_option("--out", options.out, "folder for pictures and snapshots")
      ->capture_default_str();
  command.add_option("--json", options.json, "write the results there");
  command.add_option("--points", options.points, "random points to start from")
      ->capture_default_str();
  command.add_option("--tune-every", options.tune_every, "iterations between two choices of auto")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "of the points, the order of views, and splits")
      ->capture_default_str();
  command.add_option("--picture", options.picture_view, "number of the view shown at the end")
      ->capture_default_str();
}
#endif

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
  add_tiles_option(*time_app, time.scene.tiles);
  time_app->add_option("--json", time.json, "write the times there");
  time_app->add_option("--warmup", time.warmup, "launches before those timed")
      ->capture_default_str();
  time_app->add_option("--runs", time.runs, "launches timed")->capture_default_str();

  EnergyOptions energy;
  CLI::App* energy_app = app.add_subcommand("energy", "joules of the backward kernel, by NVML");
  add_scene(*energy_app, energy.scene, true);
  add_tiles_option(*energy_app, energy.scene.tiles);
  energy_app->add_option("--json", energy.json, "write the result there");
  energy_app->add_option("--seconds", energy.seconds, "length of each loop")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();

  energy_app->add_option("--policy", energy.policies, "these as well, such as cccl,sw-b:32")
      ->delimiter(',');

  LaunchOptions launch;
  CLI::App* launch_app = app.add_subcommand("launch", "launch each variant once, for a profiler");
  add_scene(*launch_app, launch.scene, true);
  add_tiles_option(*launch_app, launch.scene.tiles);
  launch_app->add_option("--policy", launch.policies, "which, such as sw-b:16");

  CaptureOptions capture;
  capture.workload = "3D";
  CLI::App* capture_app = app.add_subcommand("record", "write the traces");
  add_output_options(*capture_app, capture);
  capture_app->add_option("--times", capture.times, "times, from the time command");

#if defined(WARPFOLD_TRAINING)
  training::TrainOptions train;
  CLI::App* train_app = app.add_subcommand("train", "train a scene from photos");
  add_training(*train_app, train);
  std::uint64_t training_seed = 1;
  CLI::App* check_training_app =
      app.add_subcommand("check-training", "compare a training's kernels with the CPU reference");
  check_training_app->add_option("--seed", training_seed, "of the random scene")
      ->capture_default_str();
#endif

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
#if defined(WARPFOLD_TRAINING)
  if (train_app->parsed()) {
    return training::train_command(train);
  }
  if (check_training_app->parsed()) {
    return training::check_training_command(training_seed);
  }
#endif
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
