// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <stdexcept>

#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class Phi final : public PlainRule {
 public:
  Phi()
      : PlainRule({.name = "phi",
                   .source = "PHI (MICRO '19), ARC 6",
                   .description =
                       "PHI: REDs sum up in lines of the L1 cache, with a look-up for each lane.",
                   .path = AdditionPath::kBuffer}) {}

  [[nodiscard]] BufferShape buffer(const GpuConfig& gpu,
                                   std::uint64_t shared_bytes) const override {
    const std::uint64_t set = std::uint64_t{gpu.l1.ways} * gpu.l1.line_bytes;
    if (shared_bytes + set > gpu.l1.bytes) {
      throw std::invalid_argument(
          fmt::format("phi: {} bytes of shared memory leave no L1 cache of the {} bytes of an SM",
                      shared_bytes, gpu.l1.bytes));
    }
    BufferShape shape = buffer_on_pipe(gpu);
    shape.bytes = (gpu.l1.bytes - shared_bytes) / set * set;
    shape.ways = gpu.l1.ways;
    shape.line_bytes = gpu.l1.line_bytes;
    shape.by_lane = true;
    shape.load_lines = gpu.l1.load_lines;
    return shape;
  }
};

template const PolicyRule& rule_of<Phi>();

}  // namespace warpfold::rules
