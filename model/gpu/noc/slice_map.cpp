// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/noc/slice_map.hpp"

#include <numeric>

namespace warpfold {

namespace {

// The numbers from 1 to `number` that have no divisor in common with it.
std::vector<std::uint32_t> coprime_to(std::uint32_t number) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t step = 1; step <= number; ++step) {
    if (std::gcd(step, number) == 1) {
      found.push_back(step);
    }
  }
  return found;
}

}  // namespace

SliceMap::SliceMap(const GpuConfig& config)
    : ports_(config.l2.ports()),
      slices_per_port_(config.l2.slices_per_port),
      interleave_(config.l2.interleave_bytes),
      slice_bytes_(config.l2.slice_bytes),
      steps_(coprime_to(config.l2.ports())),
      step_count_(steps_.size()),
      apart_(steps_[steps_.size() / 3]) {}

SliceMap::Place SliceMap::place(Address address) const {
  const std::uint64_t piece = interleave_.quotient(address);
  const std::uint64_t run = ports_.quotient(piece);
  std::uint64_t hash = run;
  hash = (hash ^ (hash >> 31U)) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 32U;
  const std::uint64_t step = steps_[step_count_.remainder(hash)];
  const std::uint64_t group =
      ports_.remainder((piece - run * ports_.divisor()) * step + (hash >> 8U));
  const std::uint64_t turn =
      slices_per_port_.remainder(slice_bytes_.quotient(address) + (hash >> 40U));
  // The slices of a group lie behind different ports.
  return {static_cast<std::uint32_t>(ports_.remainder(group + turn * apart_)),
          static_cast<std::uint32_t>(turn)};
}

}  // namespace warpfold
