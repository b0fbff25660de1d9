// SPDX-License-Identifier: Apache-2.0
// The recorded values of a launch, added up by address, against what the GPU's additions have made
// of them in an order that nobody knows. Host only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace warpfold::capture {

// Of additions.
struct Precision {
  double roundoff = std::numeric_limits<float>::epsilon() / 2;
  double lost = std::numeric_limits<float>::min();  // what an addition of small numbers may lose
};

class RecordedSums {
 public:
  explicit RecordedSums(std::size_t addresses, Precision precision = {})
      : cells_(addresses), precision_(precision) {}

  void add(std::size_t address, float value) {
    if (std::abs(value) < std::numeric_limits<float>::min()) {
      value = 0;  // as a RED does
    }
    Cell& cell = cells_[address];
    cell.sum += static_cast<double>(value);
    cell.magnitude += std::abs(static_cast<double>(value));
    ++cell.count;
    cell.last = value;
  }

  // The error of the address that is farthest off, of those that `chosen` takes, over what rounding
  // may do there: n additions are off by no more than n u sum |v|, and, as their errors go both
  // ways, rather by some sqrt(n) u sum |v| (Higham and Mary, A new approach to probabilistic
  // rounding error analysis, 2019), however much of the sum cancels. Small values that are added to
  // a large sum are lost one like the other, so kLikely leaves room: 14 sqrt(n) is the most that
  // was seen, of a Gaussian that covers a picture of a million pixels. Up to 1 is good.
  template <class Chosen>
  [[nodiscard]] double worst_error(std::span<const float> added, Chosen&& chosen) const {
    double worst = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (!chosen(i)) {
        continue;
      }
      const double difference = std::abs(static_cast<double>(added[i]) - cells_[i].sum);
      if (!(difference <= worst * allowed(cells_[i]))) {
        const double error = difference / allowed(cells_[i]);
        worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      }
    }
    return worst;
  }

  // Addresses with a single value, and of those the ones that hold another.
  [[nodiscard]] std::size_t singles() const {
    return static_cast<std::size_t>(std::count_if(
        cells_.begin(), cells_.end(), [](const Cell& cell) { return cell.count == 1; }));
  }
  [[nodiscard]] std::size_t inexact_singles(std::span<const float> added) const {
    std::size_t inexact = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      inexact += cells_[i].count == 1 && cells_[i].last != added[i] ? 1U : 0U;
    }
    return inexact;
  }

 private:
  struct Cell {
    double sum = 0;
    double magnitude = 0;  // sum of the absolute values
    std::uint64_t count = 0;
    float last = 0;
  };
  [[nodiscard]] double allowed(const Cell& cell) const {
    constexpr double kLikely = 32;
    const auto count = static_cast<double>(cell.count);
    return precision_.roundoff * cell.magnitude * std::min(count, kLikely * std::sqrt(count)) +
           count * precision_.lost;
  }

  std::vector<Cell> cells_;
  Precision precision_;
};

}  // namespace warpfold::capture
