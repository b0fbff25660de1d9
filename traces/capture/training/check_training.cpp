// SPDX-License-Identifier: Apache-2.0
// The trainer's kernels against the double-precision reference.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/common/verdict.hpp"
#include "traces/capture/training/adam.cuh"
#include "traces/capture/training/commands.hpp"
#include "traces/capture/training/densify.cuh"
#include "traces/capture/training/host_step.hpp"
#include "traces/capture/training/trainer.hpp"
#include "traces/capture/training/training_scene.hpp"

namespace warpfold::capture::training {
namespace {

// Single against double precision, and a few lanes on the other side of a limit.
constexpr double kMaxRadiusMismatch = 1e-3;  // share of the Gaussians
constexpr double kMaxMeanImageError = 1e-5;
constexpr double kMaxLossError = 1e-5;
constexpr double kMaxLossGradientError = 1e-3;  // norm of the difference over norm
constexpr double kMaxGradientError = 3e-3;      // the same, by group of parameters
constexpr double kMaxStepError = 1e-5;          // of a parameter after Adam, over 1 + parameter
constexpr double kKink = 1e-4;                  // of L1, where picture and photo are the same
constexpr double kMaxFateMismatch = 0.0;

struct Group {
  const char* name;
  int begin, end;
};
constexpr Group kGroups[] = {
    {"position", kPositionRow, kScaleRow},   {"scale", kScaleRow, kRotationRow},
    {"rotation", kRotationRow, kOpacityRow}, {"opacity", kOpacityRow, kColorRow},
    {"colour", kColorRow, kColorRow + 3},    {"harmonics", kColorRow + 3, kRows}};

ExactModel exact(const Model& model) {
  ExactModel result(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    std::copy(std::begin(model[i].row), std::end(model[i].row), result[i].row);
  }
  return result;
}

std::vector<double> exact_photo(const View& view) {
  std::vector<double> photo;
  for (const std::uint8_t value : view.photo) {
    photo.push_back(value / 255.0);
  }
  return photo;
}

void check_gradients(const Model& values, const ExactModel& reference, const std::string& what,
                     Verdict& verdict) {
  for (const Group& group : kGroups) {
    std::vector<double> a, b;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      for (int row = group.begin; row < group.end; ++row) {
        a.push_back(static_cast<double>(values[i].row[row]));
        b.push_back(reference[i].row[row]);
      }
    }
    verdict.expect(what + ", gradient by " + group.name, relative_error(a, b), kMaxGradientError);
  }
}

void check_step(const TrainingScene& scene, std::size_t view, int degree, Verdict& verdict) {
  const Settings settings;
  Trainer trainer(scene.views, scene.model, 5.0, settings);
  trainer.forward(view, degree);
  const std::vector<double> photo = exact_photo(scene.views[view]);
  const std::vector<float> loss_gradient = trainer.loss_gradient();
  // The gradients below start from the GPU's loss gradient: an element that the kink of L1 puts on
  // the other side must not count in each of them.
  const HostStep expected =
      host_step(exact(scene.model), degree, scene.views[view].camera, photo, loss_gradient);
  const std::string what = "view " + std::to_string(view) + ", degree " + std::to_string(degree);

  std::size_t mismatches = 0;
  const std::vector<int> radii = trainer.radii();
  for (std::size_t i = 0; i < radii.size(); ++i) {
    mismatches += radii[i] != expected.radii[i] ? 1U : 0U;
  }
  verdict.expect(what + ", Gaussians with another radius, share",
                 static_cast<double>(mismatches) / static_cast<double>(radii.size()),
                 kMaxRadiusMismatch);
  double image = 0;
  const std::vector<float> rendered = trainer.image();
  for (std::size_t i = 0; i < rendered.size(); ++i) {
    image += std::abs(static_cast<double>(rendered[i]) - expected.image[i]);
  }
  verdict.expect(what + ", picture, mean difference", image / static_cast<double>(rendered.size()),
                 kMaxMeanImageError);
  verdict.expect(what + ", loss", std::abs(trainer.loss() - expected.loss.value), kMaxLossError);
  std::vector<float> away;
  std::vector<double> expected_away;
  for (std::size_t i = 0; i < photo.size(); ++i) {
    if (std::abs(expected.image[i] - photo[i]) > kKink) {
      away.push_back(loss_gradient[i]);
      expected_away.push_back(expected.loss.gradient[i]);
    }
  }
  verdict.expect(what + ", gradient by the picture", relative_error(away, expected_away),
                 kMaxLossGradientError);
  for (const char* policy : {"baseline", "sw-b:12", "sw-s:16"}) {
    trainer.clear_gradients();
    trainer.launch(parse_policy(policy));
    trainer.finish_backward();
    check_gradients(trainer.gradients(), expected.gradients, what + ", " + policy, verdict);
  }
  verdict.expect(what + ", gradient on the picture",
                 relative_error(trainer.picture_gradients(), expected.norms), kMaxGradientError);

  double psnr_sum = 0;
  for (std::size_t i = 0; i < expected.image.size(); ++i) {
    const double difference = std::clamp(expected.image[i], 0.0, 1.0) - photo[i];
    psnr_sum += difference * difference;
  }
  const double squared = psnr_sum / static_cast<double>(expected.image.size());
  verdict.expect(what + ", mean squared error",
                 std::abs(trainer.squared_error(view, degree) - squared) / squared,
                 kMaxLossGradientError);
}

// Two frames, so that nothing of the first is left in the second.
void check_form(const TrainingScene& scene, const Rendering& rendering, const std::string& what,
                Verdict& verdict) {
  Trainer trainer(scene.views, scene.model, 5.0, Settings{}, rendering);
  for (std::size_t view = 0; view < 2; ++view) {
    trainer.forward(view, kMaxDegree);
    trainer.clear_gradients();
    trainer.launch({Variant::kBaseline, 0});
    trainer.finish_backward();
    const HostStep expected = host_step(exact(scene.model), kMaxDegree, scene.views[view].camera,
                                        exact_photo(scene.views[view]), trainer.loss_gradient());
    verdict.expect(what + ", loss", std::abs(trainer.loss() - expected.loss.value), kMaxLossError);
    check_gradients(trainer.gradients(), expected.gradients, what, verdict);
  }
  verdict.expect(what + ", additions that saturated", static_cast<double>(trainer.saturated()), 0);
}

// Each form of the backward kernel that the GPU can run, on both kinds of tile lists, and the
// original on tight ones.
void check_forms(const TrainingScene& scene, Verdict& verdict) {
  const int capability = gpu_info().compute_capability;
  for (const TileRule tiles : {TileRule::kBox, TileRule::kTight}) {
    const std::string list = tiles == TileRule::kBox ? "box, " : "tight, ";
    check_form(scene, Rendering{tiles, std::nullopt}, list + "original", verdict);
    for (const auto& [form, name] : splat_forms::kFormNames) {
      if (capability >= splat_forms::least_capability(form)) {
        check_form(scene, Rendering{tiles, form}, list + std::string(name), verdict);
      }
    }
  }
}

// Two steps of Adam and a densification, each from what the GPU had before it.
void check_update(const TrainingScene& scene, Verdict& verdict) {
  constexpr double kExtent = 5.0;
  constexpr double kLeastGradient = 1e-16;
  constexpr int kIteration = 3100;  // large Gaussians are pruned then
  Settings settings;
  settings.densify_gradient = 1e-4F;  // some of this scene's lie on either side
  Trainer trainer(scene.views, scene.model, kExtent, settings);
  ExactModel means(scene.model.size()), variances(scene.model.size());
  for (int step = 1; step <= 2; ++step) {
    trainer.forward(0, kMaxDegree);
    trainer.clear_gradients();
    trainer.launch({Variant::kBaseline, 0});
    trainer.finish_backward();
    const ExactModel before = exact(trainer.model());
    const ExactModel gradients = exact(trainer.gradients());
    const Rates rates = rates_at(step, kExtent);
    trainer.update(step, rates);
    const Model after = trainer.model();
    const AdamStep<double> unbias{1 / (1 - std::pow(kBeta1, step)),
                                  1 / (1 - std::pow(kBeta2, step))};
    double worst = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (int row = 0; row < kRows; ++row) {
        const float rate = row < kScaleRow       ? rates.position
                           : row < kRotationRow  ? rates.scale
                           : row < kOpacityRow   ? rates.rotation
                           : row < kColorRow     ? rates.opacity
                           : row < kColorRow + 3 ? rates.color
                                                 : rates.harmonics;
        double parameter = before[i].row[row];
        adam(gradients[i].row[row], static_cast<double>(rate), unbias, means[i].row[row],
             variances[i].row[row], parameter);
        // Squares of smaller gradients are subnormal in single precision.
        const double gradient = std::abs(gradients[i].row[row]);
        if (gradient == 0 || gradient > kLeastGradient) {
          worst = std::max(worst, std::abs(parameter - static_cast<double>(after[i].row[row])) /
                                      (1 + std::abs(parameter)));
        }
      }
    }
    verdict.expect("parameters after a step of Adam", worst, kMaxStepError);
  }

  const Model before = trainer.model();
  const std::vector<float> norms = trainer.picture_gradients();
  trainer.densify(kIteration);
  const Model after = trainer.model();
  const std::uint64_t seed = random_bits(settings.seed, kIteration);
  std::size_t counts[4] = {};
  std::size_t next = 0;
  double worst = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Fate fate = fate_of(before[i], norms[i], static_cast<float>(kExtent), true, settings);
    ++counts[static_cast<std::size_t>(fate)];
    for (int s = 0; s < successors(fate); ++s, ++next) {
      Parameters<float> p = before[i];
      if (fate == Fate::kSplit) {
        halve(p, seed, 2 * static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(s));
      }
      for (int row = 0; row < kRows && next < after.size(); ++row) {
        worst = std::max(worst, static_cast<double>(std::abs(p.row[row] - after[next].row[row])));
      }
    }
  }
  std::printf("  densification: %zu pruned, %zu kept, %zu cloned, %zu split\n", counts[0],
              counts[1], counts[2], counts[3]);
  verdict.expect("Gaussians after densification, difference",
                 std::abs(static_cast<double>(next) - static_cast<double>(after.size())),
                 kMaxFateMismatch);
  verdict.expect("their parameters", worst, kMaxStepError);
  trainer.reset_opacities();
  double highest = 0;
  for (const Parameters<float>& p : trainer.model()) {
    highest = std::max(highest, static_cast<double>(logistic(p.row[kOpacityRow])));
  }
  verdict.expect("opacity after a reset", highest,
                 static_cast<double>(settings.reset_opacity) * 1.0001);
}

}  // namespace

int check_training_command(std::uint64_t seed) {
  Verdict verdict;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const TrainingScene scene = random_training_scene(2000, 203, 117, seed);
  for (int degree = 0; degree <= kMaxDegree; ++degree) {
    check_step(scene, static_cast<std::size_t>(degree % 2), degree, verdict);
  }
  check_forms(scene, verdict);
  check_update(scene, verdict);
  std::printf("%s\n", verdict.failed() ? "check FAILED" : "check passed");
  return verdict.failed() ? 1 : 0;
}

}  // namespace warpfold::capture::training
