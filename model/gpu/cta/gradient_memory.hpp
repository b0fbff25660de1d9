// SPDX-License-Identifier: Apache-2.0
// The arrays that a trace adds to: which lane adds what to which address. Pure functions of the
// trace.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/divider.hpp"
#include "model/base/halves.hpp"
#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// One element of the arrays. Whichever site names an address, it is the same element: where no two
// sites may share one, the elements of a site are parameter p of primitive i at i * parameters + p,
// those of one site behind those of another; else words of the address ranges that sites reach.
using ElementIndex = std::uint64_t;

// Byte addresses of the elements, from the trace header. A parameter has one number among those of
// all sites, in the order of sites.
class AddressMap {
 public:
  explicit AddressMap(const trace::Header& header);

  [[nodiscard]] Address address(std::uint32_t primitive, std::uint32_t parameter) const {
    return parameters_[parameter].base + primitive * parameters_[parameter].stride_bytes.divisor();
  }
  [[nodiscard]] ElementIndex element(std::uint32_t primitive, std::uint32_t parameter) const {
    const Span& span = parameters_[parameter];
    return span.first + primitive * span.step;
  }
  // The element at an address, and a parameter that has it; both throw CheckError when none has one
  // there. `guess` is the parameter that is looked at first.
  [[nodiscard]] ElementIndex element_at(Address address, std::uint32_t guess) const;
  [[nodiscard]] std::uint32_t parameter_at(Address address, std::uint32_t guess) const;
  // Of that address, or nothing.
  [[nodiscard]] std::optional<ElementIndex> find(Address address) const;
  [[nodiscard]] std::uint64_t element_count() const { return element_count_; }

  struct OfSite {
    std::uint32_t first_parameter = 0;
    std::uint32_t parameters = 0;
    // Sites of pairs of binary16 add halves, all others FP32. Where a site of another type may add
    // to the same addresses, those of pairs add FP32 as well.
    WordType type = WordType::kFp32;
    // Whether lanes add the values that the trace keeps: those of FP32 and of halves. All others
    // add made-up ones, which stand for one addition each.
    bool traced = false;
  };
  [[nodiscard]] const OfSite& site(std::uint16_t index) const { return sites_[index]; }
  // Whether any site is traced.
  [[nodiscard]] bool any_traced() const { return any_traced_; }
  // What the words of a parameter are, and whether those of any are halves.
  [[nodiscard]] WordType type_of(std::uint32_t parameter) const {
    return parameters_[parameter].type;
  }
  [[nodiscard]] bool any_halves() const { return any_halves_; }

 private:
  struct Span {
    Address base;
    Divider stride_bytes;
    std::uint64_t primitives;
    ElementIndex first;  // of primitive 0
    std::uint64_t step;  // from one primitive to the next
    WordType type;
  };
  [[nodiscard]] std::optional<std::uint32_t> find_parameter(Address address,
                                                            std::uint32_t guess) const;
  [[nodiscard]] ElementIndex element_of(Address address, std::uint32_t parameter) const;
  void number_by_site();
  void number_by_address(const trace::Header& header);

  std::vector<Span> parameters_;
  std::vector<OfSite> sites_;
  std::uint64_t element_count_ = 0;
  bool any_traced_ = false;
  bool any_halves_ = false;
};

// Names one event of a CTA, so that its values can be looked up or made.
struct EventKey {
  std::uint64_t cta = 0;
  std::uint32_t warp = 0;
  std::uint32_t record = 0;
};

// Seed of the made-up values of an event of a trace that keeps none.
std::uint64_t synthetic_seed(const EventKey& key);

// Of that event, for each parameter and lane.
inline std::uint64_t synthetic_hash(std::uint64_t seed, std::uint32_t parameter,
                                    std::uint32_t lane) {
  std::uint64_t x = seed + (std::uint64_t{parameter} * kLanes + lane) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 31U);
}

// A whole number from -64 to 63 as FP32, the same for the same event, parameter and lane. Sums of
// these are exact in FP32 in any order as long as they stay under 2^24, so a lost or doubled lane
// shows as a wrong sum.
inline Fp32Bits synthetic_value(std::uint64_t seed, std::uint32_t parameter, std::uint32_t lane) {
  const std::uint64_t hash = synthetic_hash(seed, parameter, lane);
  return std::bit_cast<Fp32Bits>(static_cast<float>(static_cast<int>(hash & 127U) - 64));
}

// The same as two binary16 values, of which one in 16 is 1 or -1 and all others 0: sums of them are
// exact in any order as long as they stay under 2^11.
inline Fp32Bits synthetic_halves(std::uint64_t seed, std::uint32_t parameter, std::uint32_t lane) {
  const std::uint64_t hash = synthetic_hash(seed, parameter, lane);
  const auto half = [hash](std::uint32_t first_bit) {
    const auto bits = static_cast<std::uint32_t>(hash >> first_bit);
    return static_cast<HalfBits>((bits & 0xfU) == 0 ? (bits << 11U & kHalfSign) | 0x3c00U : 0U);
  };
  return word_of_halves(half(0), half(32));
}

// Of a type.
inline Fp32Bits made_up_value(WordType type, std::uint64_t seed, std::uint32_t parameter,
                              std::uint32_t lane) {
  return type == WordType::kHalves ? synthetic_halves(seed, parameter, lane)
                                   : synthetic_value(seed, parameter, lane);
}

// Value that `lane`, an active one, adds to `parameter` in an event with these lanes, whose values
// begin at `values`.
inline Fp32Bits traced_value(const Fp32Bits* values, LaneMask mask, std::uint32_t parameter,
                             std::uint32_t lane) {
  const auto active = static_cast<std::size_t>(lane_count(mask));
  const auto rank = static_cast<std::size_t>(lane_count(mask & ((LaneMask{1} << lane) - 1)));
  return values[parameter * active + rank];
}

// Primitive that `lane` adds to in this event.
inline std::uint32_t lane_primitive(const trace::WarpTrace& warp, const trace::Record& event,
                                    std::uint32_t lane) {
  return event.lane_primitives == trace::Record::kUniform
             ? event.primitive
             : warp.lane_primitives[event.lane_primitives + lane];
}

}  // namespace warpfold
