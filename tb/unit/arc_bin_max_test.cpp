// SPDX-License-Identifier: Apache-2.0
// The largest of 32 bins against a search.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "Varc_bin_max.h"
#include "model/types.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

constexpr unsigned kBinWidth = 5;
constexpr unsigned kBins = 1U << kBinWidth;

using Bins = std::array<unsigned, kLanes>;

class BinMax : public testing::Test {
 protected:
  void check(LaneMask valid, const Bins& bins) {
    unsigned want = 0;
    for (unsigned word = 0; word < kBinWidth; ++word) {
      dut_->bin_i[word] = 0;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned low = kBinWidth * lane;
      const std::uint64_t bits = std::uint64_t{bins[lane]} << low % 32;
      dut_->bin_i[low / 32] |= static_cast<std::uint32_t>(bits);
      if (bits >> 32 != 0) {
        dut_->bin_i[low / 32 + 1] |= static_cast<std::uint32_t>(bits >> 32);
      }
      if ((valid >> lane & 1U) != 0) {
        want = std::max(want, bins[lane]);
      }
    }
    dut_->valid_i = valid;
    dut_.settle();
    ASSERT_EQ(dut_->max_o, want) << "valid " << std::hex << valid;
  }

  bench::Dut<Varc_bin_max> dut_;
};

TEST_F(BinMax, NoneIsZero) {
  Bins bins;
  bins.fill(kBins - 1);
  check(0, bins);
}

// Every pair of bins, at every pair of neighbouring lanes and of lanes far apart.
TEST_F(BinMax, EveryPair) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (const unsigned other : {(lane + 1) % kLanes, (lane + 17) % kLanes}) {
      for (unsigned a = 0; a < kBins; ++a) {
        for (unsigned b = 0; b < kBins; ++b) {
          Bins bins;
          bins.fill(kBins - 1);  // of lanes that do not count
          bins[lane] = a;
          bins[other] = b;
          ASSERT_NO_FATAL_FAILURE(check(LaneMask{1} << lane | LaneMask{1} << other, bins));
        }
      }
    }
  }
}

TEST_F(BinMax, Random) {
  bench::Rng rng(bench::seed());
  for (int i = 0; i < 300'000; ++i) {
    LaneMask valid = static_cast<LaneMask>(rng());
    if (bench::chance(rng, 50)) {
      valid &= static_cast<LaneMask>(rng() & rng());
    }
    // Narrow ranges, so that lanes share upper bits and the lower ones decide.
    const unsigned range = 1U << rng() % (kBinWidth + 1);
    const unsigned base = static_cast<unsigned>(rng()) % (kBins - range + 1);
    Bins bins;
    for (unsigned& bin : bins) {
      bin = base + static_cast<unsigned>(rng()) % range;
    }
    ASSERT_NO_FATAL_FAILURE(check(valid, bins));
  }
}

}  // namespace
}  // namespace warpfold
