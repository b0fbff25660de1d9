// SPDX-License-Identifier: Apache-2.0
// The host recorder, in single precision and the kernels' order, against the reference in double
// precision.
#include "traces/capture/splat/host_frame.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tb/capture/fixture.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/splat/output.hpp"
#include "traces/format/manifest.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::capture {
namespace {

constexpr double kMaxImageError = 1e-5;            // mean absolute difference
constexpr double kMaxGradientError = 1e-3;         // norm of the difference over norm
constexpr std::uint64_t kLanesPerMismatch = 1000;  // a lane may fall on the other side of a limit

struct Both {
  SmallFrame reference{600, 83, 61, 7};
  HostFrame host{reference.scene, reference.camera};
};

TEST(HostFrame, RendersThePictureOfTheReference) {
  const Both f;
  ASSERT_EQ(f.host.image().size(), f.reference.frame.image.size());
  double error = 0;
  for (std::size_t i = 0; i < f.host.image().size(); ++i) {
    error += std::abs(static_cast<double>(f.host.image()[i]) - f.reference.frame.image[i]);
  }
  EXPECT_LT(error / static_cast<double>(f.host.image().size()), kMaxImageError);
  EXPECT_EQ(f.host.lists().primitives, f.reference.lists.primitives);
  std::uint64_t visible = 0;
  for (const reference::Projected& p : f.reference.projected) {
    visible += p.radius > 0 ? 1U : 0U;
  }
  EXPECT_EQ(f.host.visible(), visible);
}

TEST(HostFrame, RecordsTheLanesOfTheReference) {
  const Both f;
  const Recording recording = f.host.record();
  ASSERT_EQ(recording.masks.size(), f.reference.recording.masks.size());
  std::uint64_t lanes = 0;
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < recording.masks.size(); ++i) {
    lanes += static_cast<std::uint64_t>(std::popcount(recording.masks[i]));
    different += static_cast<std::uint64_t>(
        std::popcount(recording.masks[i] ^ f.reference.recording.masks[i]));
    EXPECT_EQ(recording.masks[i] != 0, recording.stages[i] == Stage::kTaken);
  }
  EXPECT_GT(lanes, kLanesPerMismatch);
  EXPECT_LE(different * kLanesPerMismatch, lanes);
}

TEST(HostFrame, ItsValuesSumToTheGradientsOfTheReference) {
  const Both f;
  const Recording recording = f.host.record();
  SampledValues all = choose_sample(f.host.lists(), recording, UINT64_MAX);
  f.host.record_values(all);
  std::vector<double> sums(f.reference.gradients.size(), 0.0);
  for (std::size_t s = 0; s < all.tiles.size(); ++s) {
    const trace::CtaTrace cta = make_cta(f.host.lists(), recording, all.tiles[s], &all, s);
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        if (record.kind != trace::RecordKind::kEvent) {
          continue;
        }
        const auto active = static_cast<std::size_t>(std::popcount(record.mask));
        for (std::size_t p = 0; p < kParameters; ++p) {
          for (std::size_t k = 0; k < active; ++k) {
            sums[std::size_t{record.primitive} * kParameters + p] += static_cast<double>(
                std::bit_cast<float>(warp.values[record.values + p * active + k]));
          }
        }
      }
    }
  }
  for (int array = 0; array < kGradientArrays; ++array) {
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (kGradientSlots[i % kParameters].array == array) {
        difference += std::pow(sums[i] - f.reference.gradients[i], 2);
        norm += std::pow(f.reference.gradients[i], 2);
      }
    }
    EXPECT_GT(norm, 0.0);
    EXPECT_LT(std::sqrt(difference / norm), kMaxGradientError) << kGradientArrayNames[array];
  }
}

TEST(HostFrame, OutputIsReadBackAndEntersTheManifest) {
  const Both f;
  const Recording recording = f.host.record();
  const auto folder = std::filesystem::path(testing::TempDir()) / "capture_output";
  std::filesystem::remove_all(folder);
  OutputOptions options;
  options.scene = "folder/small.splat";
  options.cameras = "cameras.json";
  options.name = "small";
  options.workload = "test";
  options.out = folder;
  options.manifest = folder / "MANIFEST.json";
  options.value_bytes = 200'000;
  Scene scene;
  scene.name = "small";
  Recorder recorder;
  recorder.program = "test";
  recorder.gpu = "none";
  recorder.registers = 32;
  choose_addresses(f.reference.scene.size(), recorder.addresses);
  const RecordedFrame frame{f.host.lists(), recording, f.reference.scene.size(), f.host.visible(),
                            [&](SampledValues& sample) { f.host.record_values(sample); }};
  ASSERT_TRUE(write_output(options, recorder, scene, frame));
  ASSERT_TRUE(write_output(options, recorder, scene, frame));  // entries are renewed, not added
  const auto entries = trace::read_manifest(options.manifest);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].file, "small.wft");
  EXPECT_EQ(entries[1].file, "small-values.wft");
  EXPECT_EQ(entries[0].command.find("folder"), std::string::npos);
  for (const trace::ManifestEntry& entry : entries) {
    const trace::Reader reader(folder / entry.file);
    EXPECT_EQ(reader.file_hash(), entry.xxh64);
    EXPECT_EQ(reader.header().workload, entry.workload);
  }

  // Costs: registers come from them where the recorder has none; other files are refused.
  recorder.registers = 0;
  EXPECT_THROW((void)write_output(options, recorder, scene, frame), InputError);
  options.costs = folder / "costs.json";
  std::ofstream(options.costs) << "{\"schema\": \"warpfold.costs/3\", \"paths\": [\"taken\"]}";
  EXPECT_THROW((void)write_output(options, recorder, scene, frame), InputError);
  std::ofstream(options.costs) << "{";
  EXPECT_THROW((void)write_output(options, recorder, scene, frame), InputError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace warpfold::capture
