// SPDX-License-Identifier: Apache-2.0
// How near to the exact sum the serial chain, the fused and the paired sum come, on every
// transaction of every shipped trace that has values: lanes of one event and parameter that add to
// one primitive.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>

#include "model/types.hpp"
#include "model/unit/fp32.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {
namespace {

// A signed whole number of 2^-149, of which every finite FP32 value is one. 320 bits hold 32 of the
// largest values; two's complement.
class Exact {
 public:
  void add(Fp32Bits value) {
    const std::uint32_t exponent = value >> 23 & 0xffU;
    const std::uint32_t significand = (value & 0x7fffffU) | (exponent != 0 ? 0x800000U : 0U);
    const std::uint32_t shift = exponent != 0 ? exponent - 1 : 0;
    Exact term;
    const std::uint64_t low = std::uint64_t{significand} << shift % 32;
    term.limbs_[shift / 32] = static_cast<std::uint32_t>(low);
    term.limbs_[shift / 32 + 1] = static_cast<std::uint32_t>(low >> 32);
    *this = sum(*this, (value & kFp32Sign) != 0 ? term.negated() : term);
  }

  [[nodiscard]] Exact magnitude() const { return negative() ? negated() : *this; }
  [[nodiscard]] Exact less(const Exact& other) const { return sum(*this, other.negated()); }
  [[nodiscard]] bool zero() const { return limbs_ == Limbs{}; }

  // Exponent of the leading one of a magnitude that is not zero, 0 for 2^-149.
  [[nodiscard]] int leading() const {
    std::size_t limb = kLimbs - 1;
    while (limbs_[limb] == 0) {
      --limb;
    }
    return static_cast<int>(32 * limb) + 31 - std::countl_zero(limbs_[limb]);
  }
  // A magnitude in units of 2^exponent times 2^-149.
  [[nodiscard]] double in_units_of(int exponent) const {
    double value = 0;
    for (std::size_t limb = 0; limb < kLimbs; ++limb) {
      value +=
          std::ldexp(static_cast<double>(limbs_[limb]), static_cast<int>(32 * limb) - exponent);
    }
    return value;
  }

  // Of magnitudes.
  friend bool operator<(const Exact& a, const Exact& b) {
    return std::lexicographical_compare(a.limbs_.rbegin(), a.limbs_.rend(), b.limbs_.rbegin(),
                                        b.limbs_.rend());
  }

 private:
  static constexpr std::size_t kLimbs = 10;
  using Limbs = std::array<std::uint32_t, kLimbs>;

  [[nodiscard]] bool negative() const { return limbs_[kLimbs - 1] >> 31 != 0; }
  [[nodiscard]] Exact negated() const {
    Exact complement;
    Exact one;
    for (std::size_t limb = 0; limb < kLimbs; ++limb) {
      complement.limbs_[limb] = ~limbs_[limb];
    }
    one.limbs_[0] = 1;
    return sum(complement, one);
  }
  static Exact sum(const Exact& a, const Exact& b) {
    Exact result;
    std::uint64_t carry = 0;
    for (std::size_t limb = 0; limb < kLimbs; ++limb) {
      carry += std::uint64_t{a.limbs_[limb]} + b.limbs_[limb];
      result.limbs_[limb] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return result;
  }

  Limbs limbs_{};
};

// Errors of one way to add, in places of the exact sum's last bit.
struct Errors {
  double total = 0;
  double largest = 0;
  std::uint64_t wrong = 0;  // not the exact sum

  void add(const Exact& error, int ulp) {
    if (!error.zero()) {
      const double places = error.in_units_of(ulp);
      total += places;
      largest = std::max(largest, places);
      ++wrong;
    }
  }
};

bool finite(Fp32Bits value) {
  return (value & kFp32Infinity) != kFp32Infinity;
}

class Accuracy {
 public:
  void transaction(LaneMask mask, const std::array<Fp32Bits, kLanes>& values) {
    ++transactions_;
    if (lane_count(mask) < 2) {
      ++single_;
    }
    Exact exact;
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const Fp32Bits value = values[static_cast<std::size_t>(std::countr_zero(left))];
      if (!finite(value)) {
        ++not_finite_;
        return;
      }
      // What the atomic units of the GPU would add.
      exact.add(fp32_flush_subnormal(value));
    }
    const Exact serial = error_of(reduction_reference(mask, values), exact);
    const Exact fused = error_of(fused_reference(mask, values), exact);
    ++(fused < serial ? better_ : serial < fused ? worse_ : equal_);
    const Exact magnitude = exact.magnitude();
    if (magnitude.zero()) {
      ++cancelled_;
      return;
    }
    // The last place of an FP32 number of that size; of subnormals, that of the least normal one.
    const int ulp = std::max(0, magnitude.leading() - 23);
    serial_.add(serial, ulp);
    fused_.add(fused, ulp);
    paired_.add(error_of(paired_reference(mask, values), exact), ulp);
  }

  void print() const {
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf("%llu transactions, %llu of one lane; %llu not finite, %llu with the sum zero\n",
                number(transactions_), number(single_), number(not_finite_), number(cancelled_));
    std::printf("fused is nearer to the exact sum %llu times, as near %llu, farther %llu\n",
                number(better_), number(equal_), number(worse_));
    const auto count = static_cast<double>(transactions_ - not_finite_ - cancelled_);
    for (const auto& [name, errors] :
         {std::pair{"serial", serial_}, std::pair{"fused", fused_}, std::pair{"paired", paired_}}) {
      std::printf("%-6s  inexact %llu, mean error %.4f ulp, largest %.4f ulp\n", name,
                  number(errors.wrong), errors.total / count, errors.largest);
    }
  }

  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  [[nodiscard]] std::uint64_t better() const { return better_; }
  [[nodiscard]] std::uint64_t worse() const { return worse_; }
  [[nodiscard]] std::uint64_t not_finite() const { return not_finite_; }
  [[nodiscard]] const Errors& serial() const { return serial_; }
  [[nodiscard]] const Errors& paired() const { return paired_; }

 private:
  static Exact error_of(Fp32Bits sum, const Exact& exact) {
    Exact value;
    value.add(sum);
    return value.less(exact).magnitude();
  }

  std::uint64_t transactions_ = 0;
  std::uint64_t single_ = 0;
  std::uint64_t not_finite_ = 0;
  std::uint64_t cancelled_ = 0;
  std::uint64_t better_ = 0;
  std::uint64_t equal_ = 0;
  std::uint64_t worse_ = 0;
  Errors serial_;
  Errors fused_;
  Errors paired_;
};

void add_transactions(const trace::Reader& reader, Accuracy& accuracy) {
  const std::size_t parameters = reader.header().sites[0].parameters.size();
  for (std::size_t c = 0; c < reader.cta_count(); ++c) {
    const trace::CtaTrace cta = reader.read_cta(c);
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        if (record.kind != trace::RecordKind::kEvent) {
          continue;
        }
        std::size_t index = record.values;
        for (std::size_t parameter = 0; parameter < parameters; ++parameter) {
          std::array<Fp32Bits, kLanes> values{};
          for (LaneMask left = record.mask; left != 0; left &= left - 1) {
            values[static_cast<std::size_t>(std::countr_zero(left))] = warp.values.at(index++);
          }
          const auto primitive = [&](int lane) {
            return record.lane_primitives == trace::Record::kUniform
                       ? record.primitive
                       : warp.lane_primitives.at(record.lane_primitives +
                                                 static_cast<std::size_t>(lane));
          };
          for (LaneMask left = record.mask; left != 0;) {
            LaneMask group = 0;
            for (LaneMask rest = left; rest != 0; rest &= rest - 1) {
              if (primitive(std::countr_zero(rest)) == primitive(std::countr_zero(left))) {
                group |= rest & (~rest + 1);
              }
            }
            accuracy.transaction(group, values);
            left &= ~group;
          }
        }
      }
    }
  }
}

TEST(ShippedValues, FusedSumIsNoFartherFromTheExactSumThanTheSerialChain) {
  std::set<std::filesystem::path> files;  // in the order of their names
  for (const auto& entry : std::filesystem::directory_iterator(WARPFOLD_TRACE_DATA)) {
    if (entry.path().extension() == ".wft") {
      files.insert(entry.path());
    }
  }
  std::uint64_t better = 0;
  for (const std::filesystem::path& file : files) {
    const trace::Reader reader(file);
    if (reader.header().values != trace::ValueMode::kOperands) {
      continue;
    }
    SCOPED_TRACE(file.filename().string());
    std::printf("%s: ", file.filename().c_str());
    Accuracy accuracy;
    add_transactions(reader, accuracy);
    accuracy.print();
    EXPECT_GT(accuracy.transactions(), 1'000U);
    EXPECT_EQ(accuracy.worse(), 0U);
    EXPECT_EQ(accuracy.not_finite(), 0U);
    EXPECT_LT(accuracy.paired().total, accuracy.serial().total);
    EXPECT_LT(accuracy.paired().largest, accuracy.serial().largest);
    better += accuracy.better();
  }
  EXPECT_GT(better, 1'000U) << "nothing was compared";
}

}  // namespace
}  // namespace warpfold
