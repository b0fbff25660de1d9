// SPDX-License-Identifier: Apache-2.0
// Sums in fixed point: the same in every order, never wrong in silence, as near to the reference as
// floats are.
#include "traces/capture/reduce/fixed_point.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "traces/capture/camera_pose/cameras.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/workload/fixed_scale.hpp"

namespace warpfold {
namespace {

using capture::InputError;
using capture::workload::addition_limit;
using capture::workload::fixed_scale;
using capture::workload::kHeadroomBits;

struct Sum {
  unsigned long long word = 0;
  unsigned lost = 0;

  void add(float value, float scale, float limit) {
    word += static_cast<unsigned long long>(to_steps(value, scale, limit, lost));
  }
};

TEST(FixedPoint, EveryOrderGivesTheSameWord) {
  std::mt19937 random(5);
  std::vector<float> values;
  for (int i = 0; i < 4096; ++i) {
    const float sign = (random() & 1U) != 0 ? 1.0F : -1.0F;
    values.push_back(sign * std::ldexp(static_cast<float>(random() % 10007U + 1U),
                                       -static_cast<int>(random() % 30U)));
  }
  const float greatest = 10007;
  const float limit = addition_limit(values.size());
  const float scale = fixed_scale(greatest, values.size());
  const auto sum = [&] {
    Sum result;
    float floats = 0;
    for (const float value : values) {
      result.add(value, scale, limit);
      floats += value;
    }
    EXPECT_EQ(result.lost, 0U);
    return std::pair{result.word, floats};
  };
  const auto first = sum();
  bool floats_differ = false;
  for (int i = 0; i < 5; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    const auto other = sum();
    EXPECT_EQ(other.first, first.first);
    floats_differ = floats_differ || other.second != first.second;
  }
  EXPECT_TRUE(floats_differ);  // or these values would prove nothing
}

TEST(FixedPoint, RoundsToTheNearestStep) {
  unsigned lost = 0;
  const float limit = addition_limit(1024);
  EXPECT_EQ(to_steps(2.5F, 1, limit, lost), 2);
  EXPECT_EQ(to_steps(3.5F, 1, limit, lost), 4);
  EXPECT_EQ(to_steps(-2.5F, 1, limit, lost), -2);
  EXPECT_EQ(to_steps(-0.75F, 4, limit, lost), -3);
  EXPECT_EQ(to_steps(0.0F, 4, limit, lost), 0);
  EXPECT_EQ(to_steps(0x1.fffffep20F, 0x1p20F, limit, lost), 0x1fffffeLL << 16);
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(from_steps(static_cast<unsigned long long>(-3LL), 0.25F), -0.75F);
  EXPECT_EQ(from_steps((1ULL << 40U) + 1, 0x1p-40F), 1.0F);  // the nearest float
}

TEST(FixedPoint, SaturatesAndCountsIt) {
  const float limit = addition_limit(1U << 12U);
  EXPECT_LT(limit, 0x1p51F);
  const auto most = static_cast<long long>(limit);
  unsigned lost = 0;
  EXPECT_EQ(to_steps(limit, 1, limit, lost), most);
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(to_steps(0x1p51F, 1, limit, lost), most);
  EXPECT_EQ(lost, 1U);
  EXPECT_EQ(to_steps(-0x1p100F, 0x1p100F, limit, lost), -most);
  EXPECT_EQ(lost, 2U);
  EXPECT_EQ(to_steps(std::numeric_limits<float>::infinity(), 1, limit, lost), most);
  EXPECT_EQ(to_steps(std::numeric_limits<float>::quiet_NaN(), 1, limit, lost), -most);
  EXPECT_EQ(lost, 4U);
}

// As many additions as a word was made for, each the greatest.
TEST(FixedPoint, NoSumOverflows) {
  for (const std::uint64_t additions : {1ULL, 2ULL, 3ULL, 4096ULL, 5000ULL, 1ULL << 32U}) {
    const auto most = static_cast<long long>(addition_limit(additions));
    EXPECT_LE(static_cast<unsigned long long>(most), 0x7fffffffffffffffULL / additions)
        << additions;
  }
  EXPECT_THROW((void)addition_limit(0), InputError);
  EXPECT_THROW((void)addition_limit((1ULL << 32U) + 1), InputError);
}

TEST(FixedPoint, ScaleLeavesTheHeadroomAndNoMore) {
  for (const float greatest : {1.0F, 0.999F, 3e-5F, 7e6F, 1e-16F, 3e38F}) {
    const float scale = fixed_scale(greatest, 2000);
    const float limit = addition_limit(2000);
    unsigned lost = 0;
    (void)to_steps(greatest, std::ldexp(scale, kHeadroomBits), limit, lost);
    EXPECT_EQ(lost, 0U) << greatest;
    (void)to_steps(greatest, std::ldexp(scale, kHeadroomBits + 1), limit, lost);
    EXPECT_EQ(lost, 1U) << greatest;
  }
  EXPECT_EQ(fixed_scale(1e-35F, 2000), 0x1p100F);
  EXPECT_EQ(fixed_scale(0.0F, 2000), fixed_scale(1.0F, 2000));
  EXPECT_THROW((void)fixed_scale(std::numeric_limits<float>::infinity(), 1), InputError);
  EXPECT_THROW((void)fixed_scale(std::nanf(""), 1), InputError);
}

// The sums of warps of the pose gradient, in two orders.
TEST(FixedPoint, PosesAreNearTheReferenceInEveryOrder) {
  using namespace capture::camera_pose;
  const Gaussians made = make_gaussians({.gaussians = 1 << 13, .cameras = 1, .seed = 3});
  std::vector<std::array<float, kPoseValues>> warps(made.count() / 32);
  for (std::size_t k = 0; k < made.count(); ++k) {
    if (made.radii[k] == 0) {
      continue;
    }
    const auto slice = [k](const std::vector<float>& from, auto& to) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(k * std::size(to)), std::size(to), to);
    };
    float mean[3];
    float covariance[kSymmetric];
    float d_mean[3];
    float d_covariance[kSymmetric];
    float value[kPoseValues];
    slice(made.means, mean);
    slice(made.covariances, covariance);
    slice(made.mean_gradients, d_mean);
    slice(made.covariance_gradients, d_covariance);
    pose_gradient(made.cameras[0].rotation, mean, covariance, d_mean, d_covariance, value);
    for (std::size_t i = 0; i < kPoseValues; ++i) {
      warps[k / 32][i] += value[i];
    }
  }
  const float limit = addition_limit(warps.size());
  std::array<float, kPoseValues> scales{};
  for (std::size_t i = 0; i < kPoseValues; ++i) {
    float greatest = 0;
    for (const auto& warp : warps) {
      greatest = std::max(greatest, std::abs(warp[i]));
    }
    scales[i] = fixed_scale(greatest, warps.size());
  }
  const auto gradient = [&] {
    std::vector<float> floats(16);
    for (std::size_t i = 0; i < kPoseValues; ++i) {
      Sum sum;
      for (const auto& warp : warps) {
        sum.add(warp[i], scales[i], limit);
      }
      EXPECT_EQ(sum.lost, 0U);
      floats[i] = from_steps(sum.word, 1 / scales[i]);
    }
    return floats;
  };
  const std::vector<float> forward = gradient();
  std::reverse(warps.begin(), warps.end());
  EXPECT_EQ(gradient(), forward);
  EXPECT_LT(capture::relative_error(forward, backward(made)), 1e-6);
}

}  // namespace
}  // namespace warpfold
