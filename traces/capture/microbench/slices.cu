// SPDX-License-Identifier: Apache-2.0
// How many slices the L2 has, which addresses share one, and which slices share a port: pieces of
// memory are sorted into classes that slow each other down, and classes into pairs.
#include <algorithm>
#include <numeric>
#include <optional>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

constexpr int kWarps = 8;              // of each SM
constexpr std::uint32_t kPiece = 256;  // bytes; addresses of a piece are taken to share a slice
constexpr int kInRow = 256;            // pieces in a row, from the begin of the buffer on
constexpr int kElsewhere = 1792;       // pieces at random places
constexpr std::size_t kMembers = 16;   // addresses of a slice that are added to, if it has as many
constexpr int kShort = 64;             // REDs of a warp, where slices are told apart
constexpr int kLong = 512;             // where what they take is measured
constexpr double kLeastConflict = 1.15;  // below it two sectors of a line do not share a ROP

// The first lane of each warp adds to one of `count` places: to one after the other, or at random.
template <bool kRandom>
__global__ void red_places(Probe probe, char* base, const std::uint32_t* places,
                           std::uint32_t count, int reds) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  std::uint32_t drawn = static_cast<std::uint32_t>(warp) * 104729U + 1;
  std::uint32_t at = static_cast<std::uint32_t>(warp) % count;
#pragma unroll 1
  for (int i = 0; i < reds; ++i) {
    if constexpr (kRandom) {
      drawn = drawn * 1664525U + 1013904223U;
      at = (drawn >> 16U) % count;
    }
    if (lane_id() == 0) {
      red_add(base + __ldg(places + at), 1.0F);
    }
    if constexpr (!kRandom) {
      at = at + 1 < count ? at + 1 : 0;
    }
  }
  watch.stop(probe, warp, true);
}

class SliceBench {
 public:
  explicit SliceBench(Harness& harness)
      : harness_(harness),
        placement_(harness.place(kWarps, true)),
        buffer_(kRedBytes),
        places_(2 * kMembers) {
    buffer_.clear_async();
  }

  void measure() {
    limit_ = find_limit();
    if (!limit_) {
      std::printf("  slices: two sectors of a line do not slow each other down: not sorted\n");
      return;
    }
    sort_pieces();
    report_classes();
    report_ports();
  }

 private:
  // SM cycles for an addition to each of two places.
  double both(std::uint32_t a, std::uint32_t b, int repetitions) {
    return 2 * cycles<false>({a, b}, 16, repetitions);
  }

  // SM cycles for one of all additions to these places.
  template <bool kRandom>
  double cycles(const std::vector<std::uint32_t>& places, int reds, int repetitions) {
    check(cudaMemcpy(places_.data(), places.data(), places.size() * sizeof places.front(),
                     cudaMemcpyHostToDevice),
          "places");
    const auto samples =
        harness_.run(placement_, repetitions, [&](const Probe& probe, int grid, int block) {
          red_places<kRandom><<<grid, block>>>(probe, buffer_.data(), places_.data(),
                                               static_cast<std::uint32_t>(places.size()), reds);
        });
    const double additions = static_cast<double>(harness_.device().sms) * kWarps * reds;
    return summarize_member(samples, &Sample::drained_window, additions).median;
  }

  // Between what two places of one ROP take, neighbouring sectors, and what two of different ones.
  std::optional<double> find_limit() {
    conflict_ = both(0, 32, harness_.repetitions());
    apart_ = conflict_;
    for (std::uint32_t piece = 1; piece <= 64; ++piece) {
      apart_ = std::min(apart_, both(0, piece * kPiece, 3));
    }
    if (conflict_ < kLeastConflict * apart_) {
      return std::nullopt;
    }
    return (conflict_ + apart_) / 2;
  }

  void sort_pieces() {
    std::uint32_t state = 1;
    for (int i = 0; i < kInRow + kElsewhere; ++i) {
      std::uint32_t offset = static_cast<std::uint32_t>(i) * kPiece;
      if (i >= kInRow) {
        state = state * 1664525U + 1013904223U;
        offset = (state >> 4U) % static_cast<std::uint32_t>(kRedBytes / kPiece) * kPiece;
      }
      const std::size_t number = class_of(offset);
      if (number == classes_.size()) {
        classes_.emplace_back();
      }
      auto& members = classes_[number];
      if (std::find(members.begin(), members.end(), offset) == members.end()) {
        members.push_back(offset);
      }
      if (i < kInRow) {
        of_row_.push_back(number);
      }
    }
  }

  // A launch that was disturbed neither joins two slices nor opens a new one.
  std::size_t class_of(std::uint32_t offset) {
    for (const int repetitions : {1, 3}) {
      for (std::size_t number = 0; number < classes_.size(); ++number) {
        const std::uint32_t first = classes_[number].front();
        if (first == offset ||
            (both(first, offset, repetitions) > *limit_ && both(first, offset, 3) > *limit_)) {
          return number;
        }
      }
    }
    return classes_.size();
  }

  Result head(const char* name, const char* unit, double value) const {
    Result result;
    result.group = "slices";
    result.name = name;
    result.parameters = {{"piece_bytes", kPiece},
                         {"pieces_in_row", kInRow},
                         {"pieces_elsewhere", kElsewhere},
                         {"region_bytes", kRedBytes}};
    result.unit = unit;
    result.value = summarize({&value, 1});
    result.grid = placement_.grid;
    result.block = placement_.block;
    return result;
  }

  void report_classes() {
    Result result = head("slices/classes", "classes of addresses that slow each other down",
                         static_cast<double>(classes_.size()));
    Json sizes = Json::array();
    for (const auto& members : classes_) {
      sizes.push_back(members.size());
    }
    result.extra = {{"cycles_of_two_sectors", conflict_},
                    {"cycles_apart", apart_},
                    {"limit", *limit_},
                    {"pieces_of_class", sizes},
                    {"class_of_piece", of_row_}};
    harness_.report().add(result);
  }

  // What additions at random to two slices take, for every two.
  void report_ports() {
    const std::size_t count = classes_.size();
    if (count < 2) {
      return;
    }
    std::vector<std::vector<double>> of_pair(count, std::vector<double>(count, 0));
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        of_pair[a][b] = of_pair[b][a] = cycles<true>(places_of(a, b), kShort, 1);
      }
    }
    Json partners = Json::array();
    std::vector<double> with_partner;
    std::vector<double> slowest;
    std::vector<double> next;
    std::vector<double> middle;
    for (std::size_t a = 0; a < count; ++a) {
      auto& row = of_pair[a];
      const auto most = std::max_element(row.begin(), row.end()) - row.begin();
      partners.push_back(most);
      with_partner.push_back(cycles<true>(places_of(a, static_cast<std::size_t>(most)), kLong, 3));
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(a));
      std::sort(row.rbegin(), row.rend());
      slowest.push_back(row[0]);
      next.push_back(row[std::min<std::size_t>(1, row.size() - 1)]);
      middle.push_back(row[row.size() / 2]);
    }
    Result result =
        head("slices/ports", "SM cycles/addition to a slice and the one it slows most", 0);
    result.value = summarize(with_partner);
    result.extra = {
        {"slowest_partner", partners}, {"slowest", slowest}, {"next", next}, {"middle", middle}};
    harness_.report().add(result);
  }

  // As many addresses of either slice.
  [[nodiscard]] std::vector<std::uint32_t> places_of(std::size_t a, std::size_t b) const {
    std::vector<std::uint32_t> places;
    const std::size_t most = std::min({kMembers, classes_[a].size(), classes_[b].size()});
    for (const auto* members : {&classes_[a], &classes_[b]}) {
      places.insert(places.end(), members->begin(),
                    members->begin() + static_cast<std::ptrdiff_t>(most));
    }
    return places;
  }

  Harness& harness_;
  Placement placement_;
  DeviceBuffer<char> buffer_;
  DeviceBuffer<std::uint32_t> places_;
  std::optional<double> limit_;
  double conflict_ = 0;
  double apart_ = 0;
  std::vector<std::vector<std::uint32_t>> classes_;  // offsets of the pieces of each
  std::vector<std::size_t> of_row_;                  // class of each piece in the row
};

}  // namespace

void bench_slice_classes(Harness& harness) {
  SliceBench(harness).measure();
}

}  // namespace warpfold::microbench
