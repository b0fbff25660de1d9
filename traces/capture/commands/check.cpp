// SPDX-License-Identifier: Apache-2.0
// The GPU against the CPU reference.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <span>

#include "traces/capture/commands/commands.hpp"
#include "traces/capture/common/recorded_sums.hpp"
#include "traces/capture/common/verdict.hpp"
#include "traces/capture/splat/rasterizer.hpp"
#include "traces/capture/splat/reference.hpp"

namespace warpfold::capture {
namespace {

// Bounds. Single against double precision differs by rounding, and where a lane falls on the other
// side of one of the limits (alpha against 1/255, transmittance against 1e-4): that moves a pixel
// by less than 1/255 of a colour, and few of them.
constexpr double kMaxRadiusMismatch = 1e-3;  // share of the Gaussians
constexpr double kMaxPositionError = 1e-2;   // pixels over 1 + position
constexpr double kMaxMeanConicError = 1e-3;  // over the largest entry; single needles differ more
constexpr double kMaxMeanImageError = 1e-5;
constexpr double kMaxLastMismatch = 1e-3;   // share of the pixels
constexpr double kMaxGradientError = 1e-3;  // norm of the difference over norm, by array
constexpr double kMaxMaskMismatch = 1e-4;   // share of the lanes of all events

// Norm of the difference over the norm of the reference, for one gradient array.
double relative_error(std::span<const float> values, std::span<const double> reference, int array) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (kGradientSlots[i % kParameters].array == array) {
      const double d = static_cast<double>(values[i]) - reference[i];
      difference += d * d;
      norm += reference[i] * reference[i];
    }
  }
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void check_projection(std::span<const SceneGaussian> gaussians, const Camera& camera,
                      std::span<const ProjectedGaussian> gpu, Verdict& verdict) {
  const auto cpu = reference::project(gaussians, camera);
  std::size_t mismatches = 0;
  double position = 0;
  double conic = 0;
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    const reference::Gaussian& g = cpu[i].gaussian;
    if (cpu[i].radius != gpu[i].radius) {
      ++mismatches;
      continue;
    }
    if (cpu[i].radius == 0) {
      continue;
    }
    position =
        std::max({position, std::abs(g.x - static_cast<double>(gpu[i].x)) / (1 + std::abs(g.x)),
                  std::abs(g.y - static_cast<double>(gpu[i].y)) / (1 + std::abs(g.y))});
    const double scale = std::max(g.conic[0], g.conic[2]);
    for (int k = 0; k < 3; ++k) {
      conic += std::abs(g.conic[k] - static_cast<double>(gpu[i].conic[k])) / scale;
    }
  }
  verdict.expect("Gaussians with another radius, share", share(mismatches, cpu.size()),
                 kMaxRadiusMismatch);
  verdict.expect("position, largest relative difference", position, kMaxPositionError);
  verdict.expect("conic, mean relative difference", conic / (3 * static_cast<double>(cpu.size())),
                 kMaxMeanConicError);
}

void check_recording(Rasterizer& rasterizer, const Recording& expected, Verdict& verdict) {
  const Recording recording = rasterizer.record();
  const TileLists& lists = rasterizer.lists();
  std::uint64_t lanes = 0;
  std::uint64_t different = 0;
  std::size_t wrong_stage = 0;
  for (std::size_t i = 0; i < recording.masks.size(); ++i) {
    lanes += static_cast<std::uint64_t>(std::popcount(expected.masks[i]));
    different += static_cast<std::uint64_t>(std::popcount(expected.masks[i] ^ recording.masks[i]));
    wrong_stage += (recording.stages[i] == Stage::kTaken) != (recording.masks[i] != 0) ? 1U : 0U;
  }
  verdict.expect("recorded lanes that differ, share", share(different, lanes), kMaxMaskMismatch);
  verdict.expect("passes whose stage contradicts the mask", static_cast<double>(wrong_stage), 0);

  // The values, where they fit: their sum must be what the baseline adds up to, and where a
  // Gaussian has one value only, it must be that value bit for bit.
  const std::uint64_t bytes = lanes * kParameters * sizeof(float);
  if (bytes > (std::uint64_t{1} << 31)) {
    return;
  }
  SampledValues sample = choose_sample(lists, recording, UINT64_MAX);
  rasterizer.record_values(sample);
  rasterizer.backward({Variant::kBaseline, 0});
  const std::vector<float> added = rasterizer.gradients();
  RecordedSums sums(added.size());
  for (std::size_t s = 0; s < sample.tiles.size(); ++s) {
    const trace::CtaTrace cta = make_cta(lists, recording, sample.tiles[s], &sample, s);
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        if (record.kind != trace::RecordKind::kEvent) {
          continue;
        }
        const auto active = static_cast<std::size_t>(std::popcount(record.mask));
        for (std::size_t p = 0; p < kParameters; ++p) {
          for (std::size_t k = 0; k < active; ++k) {
            sums.add(std::size_t{record.primitive} * kParameters + p,
                     std::bit_cast<float>(warp.values[record.values + p * active + k]));
          }
        }
      }
    }
  }
  for (int array = 0; array < kGradientArrays; ++array) {
    const std::string what = std::string("sum of recorded values, ") + kGradientArrayNames[array];
    const double error = sums.worst_error(
        added, [&](std::size_t i) { return kGradientSlots[i % kParameters].array == array; });
    verdict.expect(what, error, 1);
  }
  std::printf("  %zu gradients have a single contribution\n", sums.singles());
  verdict.expect("of them, those that differ from the recorded bits",
                 static_cast<double>(sums.inexact_singles(added)), 0);
}

// As the GPU has projected them.
std::vector<reference::Gaussian> reference_gaussians(std::span<const ProjectedGaussian> projected) {
  std::vector<reference::Gaussian> gaussians(projected.size());
  for (std::size_t i = 0; i < projected.size(); ++i) {
    const ProjectedGaussian& p = projected[i];
    reference::Gaussian& g = gaussians[i];
    g.x = static_cast<double>(p.x);
    g.y = static_cast<double>(p.y);
    g.opacity = static_cast<double>(p.opacity);
    for (int k = 0; k < 3; ++k) {
      g.conic[k] = static_cast<double>(p.conic[k]);
      g.color[k] = static_cast<double>(p.color[k]);
    }
  }
  return gaussians;
}

// A tight list leaves out nothing that counts: every bit of the picture is that of the other list.
void check_tight_lists(const Rasterizer& tight, const Rasterizer& box, Verdict& verdict) {
  std::printf("  %zu pairs of tile and Gaussian of %zu\n", tight.lists().primitives.size(),
              box.lists().primitives.size());
  const RenderedFrame frame = tight.frame();
  const RenderedFrame expected = box.frame();
  std::size_t different = 0;
  for (std::size_t i = 0; i < frame.image.size(); ++i) {
    different += frame.image[i] != expected.image[i] ? 1U : 0U;
  }
  for (std::size_t i = 0; i < frame.final_t.size(); ++i) {
    different += frame.final_t[i] != expected.final_t[i] ? 1U : 0U;
  }
  verdict.expect("values of the picture that are not those of the box",
                 static_cast<double>(different), 0);
}

void check_scene(const Scene& scene, TileRule rule, Verdict& verdict) {
  const Camera& camera = scene.camera;
  std::printf("%s%s: %zu Gaussians, %dx%d\n", scene.name.c_str(), name_ending(rule),
              scene.gaussians.size(), camera.width, camera.height);
  Rasterizer rasterizer(scene.gaussians, camera, scene.loss_gradient, rule);
  const auto projected = rasterizer.projected();
  if (rule == TileRule::kBox) {
    check_projection(scene.gaussians, camera, projected, verdict);
  } else {
    check_tight_lists(rasterizer, Rasterizer(scene.gaussians, camera, scene.loss_gradient),
                      verdict);
  }

  // From here on the reference starts from the GPU's projection, so that only rendering is
  // compared.
  const auto gaussians = reference_gaussians(projected);
  const reference::Frame expected = reference::render(gaussians, rasterizer.lists(), camera);
  const RenderedFrame frame = rasterizer.frame();
  double error = 0;
  for (std::size_t i = 0; i < frame.image.size(); ++i) {
    error += std::abs(static_cast<double>(frame.image[i]) - expected.image[i]);
  }
  std::size_t last = 0;
  for (std::size_t i = 0; i < frame.last.size(); ++i) {
    last += frame.last[i] != expected.last[i] ? 1U : 0U;
  }
  verdict.expect("picture, mean absolute difference",
                 error / static_cast<double>(frame.image.size()), kMaxMeanImageError);
  verdict.expect("pixels with another last contributor, share", share(last, frame.last.size()),
                 kMaxLastMismatch);

  Recording recording;
  const auto gradients = reference::backward(gaussians, rasterizer.lists(), camera, expected,
                                             rasterizer.loss_gradient(), &recording);
  for (const char* policy : {"baseline", "skip", "cccl", "sw-b:0", "sw-b:12", "sw-b:32",
                             "sw-b-uniform:12", "sw-s:0", "sw-s:12", "sw-s:32"}) {
    rasterizer.backward(parse_policy(policy));
    const auto result = rasterizer.gradients();
    for (int array = 0; array < kGradientArrays; ++array) {
      const std::string what = std::string(policy) + ", " + kGradientArrayNames[array];
      verdict.expect(what, relative_error(result, gradients, array), kMaxGradientError);
    }
  }
  check_recording(rasterizer, recording, verdict);
}

}  // namespace

int check_command(const CheckOptions& options) {
  Verdict verdict;
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  Scene random;
  random.name = "random scene";
  random.gaussians = decode(random_splats(2000, options.seed));
  random.camera = random_camera(203, 117);
  for (const TileRule rule : {TileRule::kBox, TileRule::kTight}) {
    check_scene(random, rule, verdict);
  }
  if (!options.scene.scene.empty()) {
    const Scene scene = load_scene(options.scene.scene, options.scene.cameras, options.scene.name);
    for (const TileRule rule : {TileRule::kBox, TileRule::kTight}) {
      check_scene(scene, rule, verdict);
    }
  }
  std::printf("%s\n", verdict.failed() ? "check FAILED" : "check passed");
  return verdict.failed() ? 1 : 0;
}

}  // namespace warpfold::capture
