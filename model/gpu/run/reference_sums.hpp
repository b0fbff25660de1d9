// SPDX-License-Identifier: Apache-2.0
// What the sums of a run are checked against, straight from the trace and without the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/base/lazy_array.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/types.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// What every element must hold at the end, straight from the trace in double precision.
class ReferenceSums {
 public:
  static ReferenceSums compute(const trace::Reader& trace);

  struct Comparison {
    bool match = false;
    bool exact = false;    // every sum had to be equal, not just within its bound
    double max_error = 0;  // largest |sum - reference| / allowed
    std::string first_difference;
  };
  // `memory[i]` is element i at the end of a run that began with zeros. Sums of whole numbers under
  // 2^24 must be equal; others may differ by what n reordered FP32 additions can:
  // n * 2^-24 * sum|v| plus one smallest normal number for each flush. Where FP32 can overflow on
  // the way, an infinity of that sign is right too, and a NaN where it can both ways. Of an element
  // of halves each half is held to that, with binary16 in place of FP32: 2^11, and
  // (e^(n * 2^-11) - 1) * sum|v|, as n may be so large that the bound is no longer linear.
  [[nodiscard]] Comparison compare(std::span<const Fp32Bits> memory) const;
  // Whether the events add to most of the elements.
  [[nodiscard]] bool dense() const { return dense_; }

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t warp_atomics() const { return warp_atomics_; }
  // Loads and stores of which the trace says what they touch.
  [[nodiscard]] std::uint64_t accesses() const { return accesses_; }
  [[nodiscard]] std::uint64_t lane_atomics() const { return lane_atomics_; }
  // Of the warp-atomics, those that add no floats.
  [[nodiscard]] std::uint64_t other_atomics() const { return other_atomics_; }

 private:
  struct Sum {
    double sum = 0;
    double magnitude = 0;  // sum of |v|
    void add(float value);
  };
  // Of halves the lower one.
  struct Element : Sum {
    std::uint64_t additions : 63 = 0;
    std::uint64_t halves : 1 = 0;
  };
  // Of what the trace adds up to this in so many additions of a type, how far a sum that is right
  // may be off, as a share of what is allowed.
  [[nodiscard]] double error_of(const Sum& sum, std::uint64_t additions, WordType type,
                                float found) const;
  void add(ElementIndex index, WordType type, Fp32Bits word);
  // Holds one sum against the trace's, and keeps the first difference.
  void compare_sum(std::size_t index, bool upper, float found, Comparison& result) const;
  [[nodiscard]] bool is_exact(std::size_t index) const;

  // Elements by blocks, which only the touched ones take memory for.
  static constexpr std::size_t kBlock = 128;
  LazyArray<Element> elements_;
  LazyArray<Sum> upper_;  // of halves; empty where there are none
  std::vector<bool> touched_;
  bool dense_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t warp_atomics_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t lane_atomics_ = 0;
  std::uint64_t other_atomics_ = 0;
  bool exact_ = false;
};

}  // namespace warpfold
