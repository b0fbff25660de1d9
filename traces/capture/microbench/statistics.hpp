// SPDX-License-Identifier: Apache-2.0
// What a microbenchmark says about repeated measurements. Pure functions, host only.
#pragma once

#include <span>

namespace warpfold::microbench {

struct Summary {
  double median = 0;
  double min = 0;
  double max = 0;
  double quartile_low = 0;   // a quarter of the values lies below
  double quartile_high = 0;  // a quarter lies above
  int count = 0;
};

// Quantiles are interpolated between the two nearest values. Throws std::invalid_argument if there
// are no values.
[[nodiscard]] Summary summarize(std::span<const double> values);

// A burst of posted instructions into a queue that a server empties: times[i] is the cycle in which
// instruction i issued, the first of them at or after 0.
struct QueueFit {
  double first_gap = 0;    // cycles between issues while there is room, median of the first three
  double steady_gap = 0;   // cycles between issues in the second half, the slope of a straight line
  double depth = 0;        // instructions ahead of the server when issue is blocked: where the line
                           // of the second half meets the first issue, less the one in service
  int first_blocked = -1;  // first instruction whose gap is beyond the middle of both gaps, or -1
};

// Throws std::invalid_argument for fewer than eight times.
[[nodiscard]] QueueFit fit_queue(std::span<const double> times);

}  // namespace warpfold::microbench
