// SPDX-License-Identifier: Apache-2.0
// The arrays of a launch as structs, for hardware that adds to several words in one instruction:
// the parameters of a site in neighbouring words. Plain values, made once for a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/format/trace.hpp"

namespace warpfold {

class StructLayout {
 public:
  // No structs.
  StructLayout() = default;
  // For instructions of at most `most_words`. A site whose parameters lie in neighbouring words
  // stays as it is. Where they do not, and no other site may add to the same addresses, the kernel
  // is taken to have them in a struct behind all arrays of the launch: of 2^n words so that none
  // lies in two lines, or, beyond 8 words, in multiples of 32 bytes. All other sites, and those
  // that do not add FP32, have none. With code of its own (`as_traced`) a kernel has the structs
  // that the trace has, and no others.
  StructLayout(const trace::Header& header, std::uint32_t most_words, bool as_traced = false);

  [[nodiscard]] std::uint32_t most_words() const { return most_words_; }
  // Whether that site adds to structs; whether they are not what the trace has.
  [[nodiscard]] bool has(std::size_t site) const { return kind(site) != Kind::kNone; }
  [[nodiscard]] bool moved(std::size_t site) const { return kind(site) == Kind::kMoved; }
  // The sites where they lie then.
  [[nodiscard]] std::vector<trace::Site> sites(const trace::Header& header) const;

  // What the code of an event takes to find a struct: an index times its size and a base, as
  // compiled for the kernel form with gradients in one struct (traces/capture/splat_forms; sm_86,
  // sm_89 and sm_90 alike).
  static trace::InstructionCost address_cost();

 private:
  enum class Kind : std::uint8_t { kNone, kAsTraced, kMoved };
  [[nodiscard]] Kind kind(std::size_t site) const {
    return site < kinds_.size() ? kinds_[site] : Kind::kNone;
  }

  std::uint32_t most_words_ = 1;
  std::vector<Kind> kinds_;
};

}  // namespace warpfold
