// SPDX-License-Identifier: Apache-2.0
// Whether a case keeps what every run must: all checks at its end true, and the same results from
// both units, on the gated clock and SystemC's, on any number of threads, with a timeline and
// without.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tb/soak/soak_case.hpp"

namespace warpfold::soak {

enum class Verdict : std::uint8_t {
  kPassed,
  kRefused,  // all say the same of why they cannot run it
  kFailed,
  kStopped,  // asked to, before it had an outcome
};

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string text;  // one line: why it was refused, or what failed
  std::uint64_t cycles = 0;
  bool referenced = false;  // SystemC's clock was among them: it takes too long for long runs
  // What failed without its numbers: two failures of one kind have the same.
  [[nodiscard]] std::string kind() const;
};

// In a process of its own, which may die or take too long; the trace is written there. `stopped` is
// asked ten times a second.
Outcome check(const Case& one, const std::filesystem::path& trace, unsigned seconds,
              const std::function<bool()>& stopped);

}  // namespace warpfold::soak
