// SPDX-License-Identifier: Apache-2.0
// What the sums of a run are checked against, straight from the trace and without the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  // n * 2^-24 * sum|v| plus one smallest normal number for each flush.
  [[nodiscard]] Comparison compare(const std::vector<Fp32Bits>& memory) const;

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t lane_atomics() const { return lane_atomics_; }

 private:
  struct Element {
    double sum = 0;
    double magnitude = 0;  // sum of |v|
    std::uint64_t additions = 0;
  };
  std::vector<Element> elements_;
  std::uint64_t events_ = 0;
  std::uint64_t lane_atomics_ = 0;
  bool exact_ = false;
};

}  // namespace warpfold
