// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace warpfold::microbench {
namespace {

double quantile(std::span<const double> sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - std::floor(place);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarize(std::span<const double> values) {
  if (values.empty()) {
    throw std::invalid_argument("no values to summarize");
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return {.median = quantile(sorted, 0.5),
          .min = sorted.front(),
          .max = sorted.back(),
          .quartile_low = quantile(sorted, 0.25),
          .quartile_high = quantile(sorted, 0.75),
          .count = static_cast<int>(sorted.size())};
}

QueueFit fit_queue(std::span<const double> times) {
  const std::size_t count = times.size();
  if (count < 8) {
    throw std::invalid_argument("a burst has at least eight instructions");
  }
  QueueFit fit;
  std::array<double, 3> first{times[1] - times[0], times[2] - times[1], times[3] - times[2]};
  std::sort(first.begin(), first.end());
  fit.first_gap = first[1];

  // Least squares over the second half.
  const std::size_t begin = count / 2;
  const auto n = static_cast<double>(count - begin);
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (std::size_t i = begin; i < count; ++i) {
    const auto x = static_cast<double>(i);
    sum_x += x;
    sum_y += times[i];
    sum_xx += x * x;
    sum_xy += x * times[i];
  }
  fit.steady_gap = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  if (fit.steady_gap > 0) {
    const double intercept = (sum_y - fit.steady_gap * sum_x) / n;
    fit.depth = (times[0] - intercept) / fit.steady_gap;
  }
  const double middle = (fit.first_gap + fit.steady_gap) / 2;
  for (std::size_t i = 1; i < count && fit.steady_gap > 1.5 * fit.first_gap; ++i) {
    if (times[i] - times[i - 1] > middle) {
      fit.first_blocked = static_cast<int>(i);
      break;
    }
  }
  return fit;
}

}  // namespace warpfold::microbench
