// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/neighbours.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "traces/capture/splat/for_each_tile.hpp"

namespace warpfold::capture::training {
namespace {

using Point = std::array<float, 3>;

constexpr std::size_t kLeaf = 8;
constexpr std::size_t kNeighbours = 3;

// A balanced k-d tree in place: the order of the points alone. The middle one of a range divides it
// along the axis in which the range is widest.
class Tree {
 public:
  explicit Tree(std::span<const Point> points)
      : points_(points), order_(points.size()), axis_(points.size(), 0) {
    std::iota(order_.begin(), order_.end(), 0U);
    divide(0, points.size());
  }

  [[nodiscard]] float mean_squared_distance(std::uint32_t point) const {
    Nearest nearest;
    search(0, points_.size(), point, nearest);
    const std::size_t found = std::min(kNeighbours, points_.size() - 1);
    float sum = 0;
    for (std::size_t i = 0; i < found; ++i) {
      sum += nearest.squared[i];
    }
    return found == 0 ? 0.0F : sum / static_cast<float>(found);
  }

 private:
  struct Nearest {
    std::array<float, kNeighbours> squared;  // increasing
    Nearest() { squared.fill(std::numeric_limits<float>::infinity()); }

    void offer(float value) {
      if (value < squared.back()) {
        squared.back() = value;
        std::sort(squared.begin(), squared.end());
      }
    }
  };

  void divide(std::size_t begin, std::size_t end) {
    if (end - begin <= kLeaf) {
      return;
    }
    Point low = points_[order_[begin]];
    Point high = low;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t a = 0; a < 3; ++a) {
        low[a] = std::min(low[a], points_[order_[i]][a]);
        high[a] = std::max(high[a], points_[order_[i]][a]);
      }
    }
    std::size_t axis = 0;
    for (std::size_t a = 1; a < 3; ++a) {
      axis = high[a] - low[a] > high[axis] - low[axis] ? a : axis;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [this](std::size_t i) {
      return order_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::nth_element(at(begin), at(middle), at(end), [&](std::uint32_t a, std::uint32_t b) {
      return points_[a][axis] < points_[b][axis];
    });
    axis_[middle] = static_cast<std::uint8_t>(axis);
    divide(begin, middle);
    divide(middle + 1, end);
  }

  void search(std::size_t begin, std::size_t end, std::uint32_t point, Nearest& nearest) const {
    const Point& from = points_[point];
    const auto offer = [&](std::size_t i) {
      if (order_[i] == point) {
        return;
      }
      float squared = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const float d = points_[order_[i]][a] - from[a];
        squared += d * d;
      }
      nearest.offer(squared);
    };
    if (end - begin <= kLeaf) {
      for (std::size_t i = begin; i < end; ++i) {
        offer(i);
      }
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const std::size_t axis = axis_[middle];
    const float across = from[axis] - points_[order_[middle]][axis];
    offer(middle);
    // First the side on which the point lies, then the other if it can be near enough.
    for (const bool near_side : {true, false}) {
      // What is as far as the third lies no nearer: of many points in one place few are looked at.
      if (!near_side && across * across >= nearest.squared.back()) {
        return;
      }
      if ((across < 0) == near_side) {
        search(begin, middle, point, nearest);
      } else {
        search(middle + 1, end, point, nearest);
      }
    }
  }

  std::span<const Point> points_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> axis_;
};

}  // namespace

std::vector<float> neighbour_distances(std::span<const Point> points) {
  const Tree tree(points);
  std::vector<float> distances(points.size());
  constexpr std::size_t kChunk = 1024;
  for_each_tile((points.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    const std::size_t end = std::min(points.size(), (chunk + 1) * kChunk);
    for (std::size_t i = chunk * kChunk; i < end; ++i) {
      distances[i] = tree.mean_squared_distance(static_cast<std::uint32_t>(i));
    }
  });
  return distances;
}

}  // namespace warpfold::capture::training
