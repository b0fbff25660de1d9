// SPDX-License-Identifier: Apache-2.0
// The forms in which a workload's kernel can be compiled. Host only.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::capture::workload {

enum class Variant : int {
  kBaseline = 0,
  kSwS = 1,
  kSwB = 2,
  kSkip = 3,
  kCccl = 4,
  kNone = 5,        // the baseline without its atomics: the floor that no reduction can beat
  kVector = 6,      // the baseline, of four parameters at once where they lie together
  kSkipVector = 7,  // skip, the same way
  kSharedSlot = 8,  // lanes with one primitive add in shared memory first
  kBulk = 9,        // structs in shared memory are added by bulk operations, which sm_90 has
  kFixed = 10,      // the baseline in fixed point, with the pass that makes floats of the sums
};
inline constexpr int kVariants = 11;
inline constexpr int kBulkSince = 90;  // compute capability, times ten

struct VariantName {
  Variant variant;
  std::string_view name;
  bool has_threshold;
};
inline constexpr std::array<VariantName, kVariants> kVariantNames = {
    {{Variant::kBaseline, "baseline", false},
     {Variant::kSwS, "sw-s", true},
     {Variant::kSwB, "sw-b", true},
     {Variant::kSkip, "skip", false},
     {Variant::kCccl, "cccl", false},
     {Variant::kNone, "none", false},
     {Variant::kVector, "vector", false},
     {Variant::kSkipVector, "skip-vector", false},
     {Variant::kSharedSlot, "shared-slot", false},
     {Variant::kBulk, "bulk", false},
     {Variant::kFixed, "fixed", false}}};

struct Policy {
  Variant variant = Variant::kBaseline;
  int threshold = 0;  // balancing threshold of the two that have one

  [[nodiscard]] std::string name() const;  // "sw-b:16"
  friend bool operator==(const Policy&, const Policy&) = default;
};

// Kernels of a workload: null where a variant does not apply.
struct Kernels {
  std::array<const void*, kVariants> variants{};
  const void* recorder = nullptr;
  const void* greatest = nullptr;  // finds the scales of kFixed; null where that is

  [[nodiscard]] const void* of(Variant variant) const {
    return variants[static_cast<std::size_t>(variant)];
  }
};

// Throws InputError for an unknown name or a variant that `kernels` lacks.
[[nodiscard]] Policy parse_policy(std::string_view name, const Kernels& kernels);
// Every variant, sw-s and sw-b at 0, 4, ... 32.
[[nodiscard]] std::vector<Policy> timed_policies(const Kernels& kernels);
// One of each variant, sw-s and sw-b at 16.
[[nodiscard]] std::vector<Policy> profiled_policies(const Kernels& kernels);
// Every variant that adds, sw-s and sw-b at 0, 12 and 32.
[[nodiscard]] std::vector<Policy> checked_policies(const Kernels& kernels);

}  // namespace warpfold::capture::workload
