// SPDX-License-Identifier: Apache-2.0
// The words of a workload's variant `fixed`, and the pass that makes floats of them. Everything
// runs on the default stream. Throws CudaError when a CUDA call fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/reduce/fixed_point.cuh"

namespace warpfold::capture::workload {

class FixedSums {
 public:
  // A word for each of `count` floats, which are structs of `places` floats: a multiple of four, as
  // much as kFixedPlaces. A word takes at most `additions` in a launch. `arguments` are those of
  // the kernels, filled here and whenever the scales change.
  FixedSums(float* floats, std::size_t count, int places, std::uint64_t additions,
            FixedWords& arguments);

  // Scales by the rule of fixed_scale.hpp, from what a launch of Greatest has left.
  void find_scales();
  // Makes the steps shorter by so many powers of two.
  void raise_scales(int bits);
  // The words, before a launch.
  void clear() const;
  // The last pass, behind a launch: writes all the floats.
  void finish() const;
  // Additions that did not fit, of all launches since the scales were set. Waits.
  [[nodiscard]] std::uint64_t saturated() const;
  [[nodiscard]] std::vector<unsigned long long> words() const { return words_.to_host(); }
  // What the last pass makes of words, on the host.
  [[nodiscard]] std::vector<float> to_floats(const std::vector<unsigned long long>& words) const;

 private:
  float* floats_;
  int places_;
  std::uint64_t additions_;
  FixedWords& arguments_;
  DeviceBuffer<unsigned long long> words_, saturated_;
  DeviceBuffer<unsigned> greatest_;
};

}  // namespace warpfold::capture::workload
