// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include "traces/capture/common/linear_grid.hpp"
#include "traces/capture/workload/fixed_scale.hpp"
#include "traces/capture/workload/fixed_sums.cuh"

namespace warpfold::capture::workload {
namespace {

constexpr std::size_t kWordsOfThread = 4;

struct Steps {
  float of_place[kFixedPlaces];
  unsigned places;
};

}  // namespace

// Four words a thread, all of one struct.
extern "C" __global__ void __launch_bounds__(kLinearBlock)
    warpfold_fixed_to_floats(const ulonglong2* words, float4* floats, std::size_t threads,
                             const __grid_constant__ Steps steps) {
  const std::size_t thread = std::size_t{blockIdx.x} * kLinearBlock + threadIdx.x;
  if (thread >= threads) {
    return;
  }
  const float* const step = steps.of_place + thread * kWordsOfThread % steps.places;
  const ulonglong2 low = words[2 * thread];
  const ulonglong2 high = words[2 * thread + 1];
  floats[thread] = make_float4(from_steps(low.x, step[0]), from_steps(low.y, step[1]),
                               from_steps(high.x, step[2]), from_steps(high.y, step[3]));
}

FixedSums::FixedSums(float* floats, std::size_t count, int places, std::uint64_t additions,
                     FixedWords& arguments)
    : floats_(floats),
      places_(places),
      additions_(additions),
      arguments_(arguments),
      words_(DeviceBuffer<unsigned long long>::on_own_pages(count)),
      saturated_(1),
      greatest_(kFixedPlaces) {
  greatest_.clear_async();
  arguments_ = {words_.data(), saturated_.data(), greatest_.data(), {}, addition_limit(additions)};
}

void FixedSums::find_scales() {
  const std::vector<unsigned> greatest = greatest_.to_host();
  for (int place = 0; place < places_; ++place) {
    arguments_.scale[place] =
        fixed_scale(std::bit_cast<float>(greatest[static_cast<std::size_t>(place)]), additions_);
  }
  saturated_.clear_async();
}

void FixedSums::raise_scales(int bits) {
  for (float& scale : arguments_.scale) {
    scale = std::ldexp(scale, bits);
  }
  saturated_.clear_async();
}

void FixedSums::clear() const {
  words_.clear_async();
}

void FixedSums::finish() const {
  Steps steps{{}, static_cast<unsigned>(places_)};
  for (int place = 0; place < places_; ++place) {
    steps.of_place[place] = 1.0F / arguments_.scale[place];
  }
  const std::size_t threads = words_.size() / kWordsOfThread;
  warpfold_fixed_to_floats<<<linear_grid(threads), kLinearBlock>>>(
      reinterpret_cast<const ulonglong2*>(words_.data()), reinterpret_cast<float4*>(floats_),
      threads, steps);
  check_launch("words to floats");
}

std::uint64_t FixedSums::saturated() const {
  return saturated_.to_host().front();
}

std::vector<float> FixedSums::to_floats(const std::vector<unsigned long long>& words) const {
  std::vector<float> floats;
  floats.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    floats.push_back(
        from_steps(words[i], 1.0F / arguments_.scale[i % static_cast<std::size_t>(places_)]));
  }
  return floats;
}

}  // namespace warpfold::capture::workload
