// SPDX-License-Identifier: Apache-2.0
// What the port of an L2 and its slices have been busy for, by what a round takes of each. Part of
// the model of rounds; no clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/gpu/memory/round_stream.hpp"
#include "model/gpu/memory/round_time.hpp"

namespace warpfold {

class SliceBusy {
 public:
  // Of a slice: what taking turns in took, and adding. The two overlap.
  struct Part {
    Ticks intake = 0;
    Ticks additions = 0;
    [[nodiscard]] Ticks busy() const { return std::max(intake, additions); }
  };

  explicit SliceBusy(std::uint32_t slices) : slices_(slices) {}
  // All turns of a stream are done.
  void done(std::uint32_t of_slice, const RoundTotals& stream) {
    Part& slice = slices_[of_slice];
    all_ -= slice.busy();
    slice.intake += intake_of(stream);
    slice.additions += additions_of(stream);
    all_ += slice.busy();
    port_ += stream.port;
  }
  // Of a stream, rounded down.
  [[nodiscard]] static Ticks intake_of(const RoundTotals& stream) {
    return stream.intake * kTicksPerCycle >> kFineBits;
  }
  [[nodiscard]] static Ticks additions_of(const RoundTotals& stream) {
    return stream.additions * kTicksPerCycle >> kFineBits;
  }

  [[nodiscard]] Ticks port() const { return port_ * kTicksPerCycle >> kFineBits; }
  [[nodiscard]] Ticks all() const { return all_; }  // over the slices
  [[nodiscard]] const std::vector<Part>& slices() const { return slices_; }
  // Of the slice that has had most to do: the longer of what it took to take all turns in and to do
  // all additions, not the longer of the two of each turn. What it has itself counts `own` and what
  // all have `even`, as in a round; so many rounds have passed.
  [[nodiscard]] Ticks busiest(Portion own, Portion even, Rounds rounds) const;

 private:
  std::vector<Part> slices_;
  Ticks all_ = 0;
  Fine port_ = 0;
};

}  // namespace warpfold
