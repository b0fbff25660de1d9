// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/reference_sums.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "model/gpu/check.hpp"
#include "model/gpu/gradient_memory.hpp"

namespace warpfold {

ReferenceSums ReferenceSums::compute(const trace::Reader& trace) {
  const trace::Header& header = trace.header();
  const AddressMap map(header);
  const bool has_values = header.values == trace::ValueMode::kFp32;
  ReferenceSums sums;
  sums.elements_.resize(map.element_count());
  for (std::size_t i = 0; i < trace.cta_count(); ++i) {
    const trace::CtaTrace cta = trace.read_cta(i);
    for (std::uint32_t w = 0; w < cta.warps.size(); ++w) {
      const trace::WarpTrace& warp = cta.warps[w];
      for (std::uint32_t r = 0; r < warp.records.size(); ++r) {
        const trace::Record& event = warp.records[r];
        if (event.kind != trace::RecordKind::kEvent) {
          continue;
        }
        ++sums.events_;
        const std::uint64_t seed = synthetic_seed({cta.cta, w, r});
        std::uint64_t value_index = event.values;
        for (std::uint32_t p = 0; p < map.parameter_count(); ++p) {
          for (LaneMask rest = event.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
            const Fp32Bits bits =
                has_values ? warp.values[value_index++] : synthetic_value(seed, p, lane);
            const double value = double{std::bit_cast<float>(bits)};
            Element& element = sums.elements_[map.element(lane_primitive(warp, event, lane), p)];
            element.sum += value;
            element.magnitude += std::fabs(value);
            ++element.additions;
            ++sums.lane_atomics_;
          }
        }
      }
    }
  }
  sums.exact_ = !has_values;
  for (const Element& element : sums.elements_) {
    sums.exact_ = sums.exact_ && element.magnitude < 0x1p24;
  }
  return sums;
}

ReferenceSums::Comparison ReferenceSums::compare(const std::vector<Fp32Bits>& memory) const {
  ARC_CHECK(memory.size() == elements_.size(), "memory and reference differ in size");
  Comparison result;
  result.match = true;
  result.exact = exact_;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const Element& element = elements_[i];
    const double found = double{std::bit_cast<float>(memory[i])};
    double error = 0;
    if (!std::isfinite(element.sum) || !std::isfinite(element.magnitude)) {
      error = std::isfinite(found) ? std::numeric_limits<double>::infinity() : 0.0;
    } else {
      const double difference = std::fabs(found - element.sum);
      const auto additions = static_cast<double>(element.additions);
      const double allowed = exact_ ? 0.0
                                    : additions * (0x1p-24 * element.magnitude +
                                                   double{std::numeric_limits<float>::min()});
      if (!(difference <= allowed)) {
        error = allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity();
      } else {
        error = allowed > 0 ? difference / allowed : 0.0;
      }
    }
    if (!(error <= 1.0) && result.match) {
      result.match = false;
      result.first_difference = fmt::format("element {} holds {:.9g}, the trace adds up to {:.9g}",
                                            i, found, element.sum);
    }
    if (!(error <= result.max_error)) {
      result.max_error = error;
    }
  }
  return result;
}

}  // namespace warpfold
