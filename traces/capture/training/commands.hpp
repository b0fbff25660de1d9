// SPDX-License-Identifier: Apache-2.0
// The training subcommands of warpfold_capture. Exit codes and exceptions are those of
// traces/capture/commands/commands.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture::training {

struct TrainOptions {
  std::filesystem::path images;      // folder of the photos, RGBA PNG files
  std::filesystem::path transforms;  // NeRF-synthetic transforms.json
  std::string name;                  // of the scene
  // Each is a training of its own: policies of the original backward kernel, of which "auto" tunes,
  // then other forms of the kernel (splat_forms/form.hpp).
  std::vector<std::string> policies = {"baseline"};
  std::vector<std::string> forms;
  TileRule tiles = TileRule::kBox;
  int iterations = 7000;
  std::vector<int> snapshots;  // iterations, of the first policy
  std::filesystem::path out = ".";
  std::filesystem::path json;  // result, if not empty
  std::size_t points = 100'000;
  std::size_t tune_every = 2000;  // iterations, of "auto"
  std::uint64_t seed = 1;
  int picture_view = 0;  // the view that is rendered beside its photo at the end
};
// Trains once for each policy from the same start: NAME-POLICY.png shows a view beside its photo,
// NAME-ITERATION.gaussians holds each snapshot.
int train_command(const TrainOptions& options);

// Every kernel of the trainer against the double-precision reference, on a random scene.
int check_training_command(std::uint64_t seed);

}  // namespace warpfold::capture::training
