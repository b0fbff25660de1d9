// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/reference_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "model/base/check.hpp"
#include "model/gpu/cta/gradient_memory.hpp"

namespace warpfold {

ReferenceSums ReferenceSums::compute(const trace::Reader& trace) {
  const trace::Header& header = trace.header();
  const AddressMap map(header);
  ReferenceSums sums;
  sums.elements_ = LazyArray<Element>(map.element_count(), false);
  if (map.any_halves()) {
    sums.upper_ = LazyArray<Sum>(map.element_count(), false);
  }
  sums.touched_.resize(map.element_count() / kBlock + 1);
  for (std::size_t i = 0; i < trace.cta_count(); ++i) {
    const trace::CtaTrace cta = trace.read_cta(i);
    for (std::uint32_t w = 0; w < cta.warps.size(); ++w) {
      const trace::WarpTrace& warp = cta.warps[w];
      for (std::uint32_t r = 0; r < warp.records.size(); ++r) {
        const trace::Record& event = warp.records[r];
        if (event.kind != trace::RecordKind::kEvent) {
          sums.accesses_ += event.kind == trace::RecordKind::kAccess ? 1U : 0U;
          continue;
        }
        const AddressMap::OfSite& site = map.site(event.site);
        ++sums.events_;
        const trace::Site& traced = header.sites[event.site];
        const std::uint32_t instructions = (site.parameters + traced.words - 1) / traced.words;
        sums.warp_atomics_ += instructions;
        const bool other =
            traced.type == trace::ValueType::kU32 || traced.type == trace::ValueType::kU64;
        sums.other_atomics_ += other ? instructions : 0;
        const std::uint64_t seed = synthetic_seed({cta.cta, w, r});
        std::uint64_t value_index = event.values;
        const std::uint32_t end = site.first_parameter + site.parameters;
        for (std::uint32_t p = site.first_parameter; p < end; ++p) {
          for (LaneMask rest = event.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
            const Fp32Bits bits =
                site.traced ? warp.values[value_index++] : made_up_value(site.type, seed, p, lane);
            sums.add(map.element(lane_primitive(warp, event, lane), p), site.type, bits);
          }
        }
      }
    }
  }
  sums.exact_ = !map.any_traced();
  std::size_t touched = 0;
  for (std::size_t block = 0; block < sums.touched_.size(); ++block) {
    if (!sums.touched_[block]) {
      continue;
    }
    ++touched;
    const std::size_t end = std::min((block + 1) * kBlock, sums.elements_.size());
    for (std::size_t i = block * kBlock; i < end; ++i) {
      sums.exact_ = sums.exact_ && sums.is_exact(i);
    }
  }
  sums.dense_ = 2 * touched >= sums.touched_.size();
  return sums;
}

void ReferenceSums::Sum::add(float value) {
  sum += double{value};
  magnitude += std::fabs(double{value});
}

void ReferenceSums::add(ElementIndex index, WordType type, Fp32Bits word) {
  touched_[index / kBlock] = true;
  Element& element = elements_[index];
  if (type == WordType::kHalves) {
    element.halves = 1;
    element.add(half_value(lower_half(word)));
    upper_[index].add(half_value(upper_half(word)));
  } else {
    element.add(std::bit_cast<float>(word));
  }
  ++element.additions;
  ++lane_atomics_;
}

// Whether a sum of whole numbers is small enough to be exact in any order.
bool ReferenceSums::is_exact(std::size_t index) const {
  const Element& element = elements_[index];
  return element.halves != 0 ? element.magnitude < 0x1p11 && upper_[index].magnitude < 0x1p11
                             : element.magnitude < 0x1p24;
}

double ReferenceSums::error_of(const Sum& sum, std::uint64_t additions, WordType type,
                               float found) const {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (!std::isfinite(sum.sum) || !std::isfinite(sum.magnitude)) {
    return std::isfinite(found) ? kWrong : 0.0;
  }
  const auto count = static_cast<double>(additions);
  const bool halves = type == WordType::kHalves;
  const double rounding =
      halves ? std::expm1(count * 0x1p-11) * sum.magnitude
             : count * (0x1p-24 * sum.magnitude + double{std::numeric_limits<float>::min()});
  const double allowed = exact_ ? 0.0 : rounding;
  if (!std::isfinite(found)) {
    // From here on FP32 or binary16 rounds to infinity.
    const double overflow = halves ? 65520.0 : 0x1.ffffffp127;
    const bool up = (sum.magnitude + sum.sum) / 2 + allowed >= overflow;
    const bool down = (sum.magnitude - sum.sum) / 2 + allowed >= overflow;
    const bool right = std::isnan(found) ? up && down : found > 0 ? up : down;
    return right ? 0.0 : kWrong;
  }
  const double difference = std::fabs(double{found} - sum.sum);
  if (allowed > 0) {
    return difference / allowed;
  }
  return difference <= allowed ? 0.0 : kWrong;
}

ReferenceSums::Comparison ReferenceSums::compare(std::span<const Fp32Bits> memory) const {
  ARC_CHECK(memory.size() == elements_.size(), "memory and reference differ in size");
  Comparison result;
  result.match = true;
  result.exact = exact_;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool touched = touched_[i / kBlock];
    if (!touched && memory[i] == 0) {
      continue;
    }
    if (touched && elements_[i].halves != 0) {
      compare_sum(i, false, half_value(lower_half(memory[i])), result);
      compare_sum(i, true, half_value(upper_half(memory[i])), result);
    } else {
      compare_sum(i, false, std::bit_cast<float>(memory[i]), result);
    }
  }
  return result;
}

void ReferenceSums::compare_sum(std::size_t index, bool upper, float found,
                                Comparison& result) const {
  const Element element = touched_[index / kBlock] ? elements_[index] : Element{};
  const Sum& sum = upper ? upper_[index] : element;
  const bool halves = element.halves != 0;
  const double error =
      error_of(sum, element.additions, halves ? WordType::kHalves : WordType::kFp32, found);
  if (!(error <= 1.0) && result.match) {
    result.match = false;
    result.first_difference =
        fmt::format("element {} holds {:.9g}{}, the trace adds up to {:.9g}", index, double{found},
                    !halves ? ""
                    : upper ? " in its upper half"
                            : " in its lower half",
                    sum.sum);
  }
  if (!(error <= result.max_error)) {
    result.max_error = error;
  }
}

}  // namespace warpfold
