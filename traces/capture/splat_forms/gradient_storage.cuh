// SPDX-License-Identifier: Apache-2.0
// Where the gradients of the forms go: the four arrays of the original, or a struct for each
// Gaussian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/reduce/fixed_point.cuh"
#include "traces/capture/splat/backward.cuh"
#include "traces/capture/workload/fixed_sums.cuh"
#include "traces/capture/workload/workload.hpp"

namespace warpfold::capture::splat_forms {

// The last three stay unused, so that structs lie at multiples of 16 bytes.
inline constexpr int kStructFloats = 12;

// As warpfold::reduce_arc wants it.
struct GradientStructs {
  float* gradient;
  __device__ __forceinline__ float* operator()(int idx, int parameter) const {
    return gradient + static_cast<long long>(idx) * kStructFloats + parameter;
  }
};

// The same, with words in fixed point in the place of the floats.
struct FixedStructs : GradientStructs {
  FixedWords sums;
  __device__ __forceinline__ const FixedWords& fixed() const { return sums; }
  __device__ __forceinline__ unsigned long long* word(int idx, int parameter) const {
    return sums.words + static_cast<long long>(idx) * kStructFloats + parameter;
  }
  __device__ __forceinline__ int place(int parameter) const { return parameter; }
  __device__ __forceinline__ float scale(int parameter) const { return sums.scale[parameter]; }
};

class ArrayStorage {
 public:
  using Pointers = GradientPointers;

  void allocate(std::uint64_t gaussians) {
    for (int i = 0; i < kGradientArrays; ++i) {
      arrays_[i] = DeviceBuffer<float>::on_own_pages(gaussians * kGradientFloats[i]);
    }
  }
  [[nodiscard]] Pointers pointers() const {
    Pointers result{};
    for (int i = 0; i < kGradientArrays; ++i) {
      result.array[i] = arrays_[i].data();
    }
    return result;
  }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const {
    std::vector<trace::Parameter> result;
    for (const GradientSlot& slot : kGradientSlots) {
      result.push_back({slot.name,
                        reinterpret_cast<std::uintptr_t>(arrays_[slot.array].data()) +
                            slot.offset * sizeof(float),
                        static_cast<std::uint32_t>(kGradientFloats[slot.array] * sizeof(float))});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const {
    std::vector<workload::Array> result;
    for (int i = 0; i < kGradientArrays; ++i) {
      result.push_back({kGradientArrayNames[i], arrays_[i].data(), arrays_[i].size()});
    }
    return result;
  }
  // kParameters values for each Gaussian, as they lie in the arrays.
  [[nodiscard]] std::vector<double> arrange(const std::vector<double>& gradients) const {
    std::vector<double> result;
    std::size_t begin[kGradientArrays];
    for (int i = 0; i < kGradientArrays; ++i) {
      begin[i] = result.size();
      result.resize(result.size() + arrays_[i].size(), 0.0);
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const GradientSlot& slot = kGradientSlots[i % kParameters];
      result[begin[slot.array] + i / kParameters * kGradientFloats[slot.array] + slot.offset] =
          gradients[i];
    }
    return result;
  }

 private:
  DeviceBuffer<float> arrays_[kGradientArrays];
};

class StructStorage {
 public:
  using Pointers = GradientStructs;

  void allocate(std::uint64_t gaussians) {
    structs_ = DeviceBuffer<float>::on_own_pages(gaussians * kStructFloats);
  }
  [[nodiscard]] Pointers pointers() const { return {structs_.data()}; }
  [[nodiscard]] std::vector<trace::Parameter> parameters() const {
    std::vector<trace::Parameter> result;
    for (std::size_t k = 0; k < kParameters; ++k) {
      result.push_back({kGradientSlots[k].name,
                        reinterpret_cast<std::uintptr_t>(structs_.data() + k),
                        kStructFloats * sizeof(float)});
    }
    return result;
  }
  // Words of which each takes at most `additions`.
  [[nodiscard]] std::unique_ptr<workload::FixedSums> in_fixed_point(std::uint64_t additions,
                                                                    FixedWords& arguments) const {
    return std::make_unique<workload::FixedSums>(structs_.data(), structs_.size(), kStructFloats,
                                                 additions, arguments);
  }
  // The struct seen as pieces of so many floats, each a primitive.
  [[nodiscard]] std::vector<trace::Parameter> pieces(std::uint32_t floats) const {
    std::vector<trace::Parameter> result;
    for (std::uint32_t k = 0; k < floats; ++k) {
      result.push_back({"float " + std::to_string(k) + " of a piece",
                        reinterpret_cast<std::uintptr_t>(structs_.data() + k),
                        floats * static_cast<std::uint32_t>(sizeof(float))});
    }
    return result;
  }
  [[nodiscard]] std::vector<workload::Array> arrays() const {
    return {{"dL_dgaussian", structs_.data(), structs_.size()}};
  }
  [[nodiscard]] std::vector<double> arrange(const std::vector<double>& gradients) const {
    std::vector<double> result(structs_.size(), 0.0);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      result[i / kParameters * kStructFloats + i % kParameters] = gradients[i];
    }
    return result;
  }

 private:
  DeviceBuffer<float> structs_;
};

}  // namespace warpfold::capture::splat_forms
