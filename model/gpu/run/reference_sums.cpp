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
  sums.touched_.resize(map.element_count() / kBlock + 1);
  for (std::size_t i = 0; i < trace.cta_count(); ++i) {
    const trace::CtaTrace cta = trace.read_cta(i);
    for (std::uint32_t w = 0; w < cta.warps.size(); ++w) {
      const trace::WarpTrace& warp = cta.warps[w];
      for (std::uint32_t r = 0; r < warp.records.size(); ++r) {
        const trace::Record& event = warp.records[r];
        if (event.kind != trace::RecordKind::kEvent) {
          continue;
        }
        const AddressMap::OfSite& site = map.site(event.site);
        ++sums.events_;
        sums.warp_atomics_ += site.parameters;
        const std::uint64_t seed = synthetic_seed({cta.cta, w, r});
        std::uint64_t value_index = event.values;
        const std::uint32_t end = site.first_parameter + site.parameters;
        for (std::uint32_t p = site.first_parameter; p < end; ++p) {
          for (LaneMask rest = event.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
            const Fp32Bits bits =
                site.traced ? warp.values[value_index++] : synthetic_value(seed, p, lane);
            const double value = double{std::bit_cast<float>(bits)};
            const ElementIndex index = map.element(lane_primitive(warp, event, lane), p);
            Element& element = sums.elements_[index];
            sums.touched_[index / kBlock] = true;
            element.sum += value;
            element.magnitude += std::fabs(value);
            ++element.additions;
            ++sums.lane_atomics_;
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
      sums.exact_ = sums.exact_ && sums.elements_[i].magnitude < 0x1p24;
    }
  }
  sums.dense_ = 2 * touched >= sums.touched_.size();
  return sums;
}

double ReferenceSums::error_of(const Element& element, float found) const {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (!std::isfinite(element.sum) || !std::isfinite(element.magnitude)) {
    return std::isfinite(found) ? kWrong : 0.0;
  }
  const auto additions = static_cast<double>(element.additions);
  const double allowed =
      exact_
          ? 0.0
          : additions * (0x1p-24 * element.magnitude + double{std::numeric_limits<float>::min()});
  if (!std::isfinite(found)) {
    // From here on FP32 rounds to infinity.
    constexpr double kOverflow = 0x1.ffffffp127;
    const bool up = (element.magnitude + element.sum) / 2 + allowed >= kOverflow;
    const bool down = (element.magnitude - element.sum) / 2 + allowed >= kOverflow;
    const bool right = std::isnan(found) ? up && down : found > 0 ? up : down;
    return right ? 0.0 : kWrong;
  }
  const double difference = std::fabs(double{found} - element.sum);
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
  const Element none{};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool touched = touched_[i / kBlock];
    if (!touched && memory[i] == 0) {
      continue;
    }
    const Element& element = touched ? elements_[i] : none;
    const float found = std::bit_cast<float>(memory[i]);
    const double error = error_of(element, found);
    if (!(error <= 1.0) && result.match) {
      result.match = false;
      result.first_difference = fmt::format("element {} holds {:.9g}, the trace adds up to {:.9g}",
                                            i, double{found}, element.sum);
    }
    if (!(error <= result.max_error)) {
      result.max_error = error;
    }
  }
  return result;
}

}  // namespace warpfold
