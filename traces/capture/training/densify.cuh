// SPDX-License-Identifier: Apache-2.0
// Which Gaussians are cloned, split and pruned, and where the halves of a split one come to lie.
#pragma once

#include "traces/capture/training/gaussian_math.cuh"
#include "traces/capture/training/settings.hpp"

namespace warpfold::capture::training {

inline constexpr float kSplitScale = 1.6F;  // a half is that much smaller

enum class Fate : int { kPrune = 0, kKeep = 1, kClone = 2, kSplit = 3 };

// How many Gaussians take the place of one.
WARPFOLD_HOST_DEVICE int successors(Fate fate) {
  return fate == Fate::kPrune ? 0 : fate == Fate::kKeep ? 1 : 2;
}

// `gradient` is the mean over the iterations that saw it, 0 if none did.
template <class Real>
WARPFOLD_HOST_DEVICE Fate fate_of(const Parameters<Real>& p, Real gradient, Real extent,
                                  bool prune_large, const Settings& settings) {
  Real largest = p.row[kScaleRow];
  for (int axis = 1; axis < 3; ++axis) {
    largest = p.row[kScaleRow + axis] > largest ? p.row[kScaleRow + axis] : largest;
  }
  largest = exponential(largest);
  Fate fate = Fate::kKeep;
  if (gradient >= Real(settings.densify_gradient)) {
    fate = largest > Real(settings.clone_below) * extent ? Fate::kSplit : Fate::kClone;
  }
  const Real size = fate == Fate::kSplit ? largest / Real(kSplitScale) : largest;
  if (logistic(p.row[kOpacityRow]) < Real(settings.prune_opacity) ||
      (prune_large && size > Real(settings.prune_above) * extent)) {
    fate = Fate::kPrune;
  }
  return fate;
}

// A stream of random bits for each (seed, index): the finalizer of SplitMix64 over a counter.
WARPFOLD_HOST_DEVICE std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15ULL + (index + 1) * 0xd1342543de82ef95ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Standard normal numbers by Box and Muller.
template <class Real>
WARPFOLD_HOST_DEVICE Real random_normal(std::uint64_t seed, std::uint64_t index) {
  constexpr Real kUnit = Real(1.0 / 16'777'216.0);  // of 24 bits
  const std::uint64_t bits = random_bits(seed, index);
  const Real u = (Real(bits >> 40) + Real(0.5)) * kUnit;
  const Real v = Real(bits & 0xffffff) * kUnit;
  return square_root(Real(-2) * natural_logarithm(u)) * cosine(Real(6.283185307179586) * v);
}

// One half of a split Gaussian: drawn from it as a density, and smaller.
template <class Real>
WARPFOLD_HOST_DEVICE void halve(Parameters<Real>& p, std::uint64_t seed, std::uint64_t index) {
  Real rotation[3][3];
  rotation_matrix(p, rotation);
  for (int axis = 0; axis < 3; ++axis) {
    const Real step = exponential(p.row[kScaleRow + axis]) *
                      random_normal<Real>(seed, 3 * index + static_cast<std::uint64_t>(axis));
    for (int r = 0; r < 3; ++r) {
      p.row[kPositionRow + r] += rotation[r][axis] * step;
    }
    p.row[kScaleRow + axis] -= natural_logarithm(Real(kSplitScale));
  }
}

}  // namespace warpfold::capture::training
