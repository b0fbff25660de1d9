// SPDX-License-Identifier: Apache-2.0
// How long launches took in runs without the recorder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "traces/format/trace.hpp"

namespace warpfold::record {

class LaunchTimes {
 public:
  // A message of the timing library, of one process of one run. Throws trace::TraceError if it is
  // not one.
  void add(const std::string& message);
  // The times of the so-manieth launch of a kernel, as a trace has them; none if it was not seen.
  [[nodiscard]] std::vector<trace::VariantTime> of(const std::string& function,
                                                   std::uint32_t ordinal) const;

 private:
  std::map<std::pair<std::string, std::uint32_t>, std::vector<double>> milliseconds_;
  double clock_mhz_ = 0;
};

}  // namespace warpfold::record
