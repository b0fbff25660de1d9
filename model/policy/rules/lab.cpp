// SPDX-License-Identifier: Apache-2.0
#include "model/policy/plain_rule.hpp"
#include "model/policy/rules/rule_file.hpp"

namespace warpfold::rules {

class Lab final : public PlainRule {
 public:
  Lab()
      : PlainRule({.name = "lab",
                   .source = "LAB (HPCA '22), ARC 6",
                   .description = "LAB: REDs sum up in a local atomic buffer, a part of each SM's "
                                  "L1 and shared-memory SRAM.",
                   .path = AdditionPath::kBuffer}) {}

  [[nodiscard]] std::uint64_t kept_from_shared(const GpuConfig& gpu) const override {
    return gpu.lab.bytes;
  }
  [[nodiscard]] BufferShape buffer(const GpuConfig& gpu,
                                   std::uint64_t /*shared_bytes*/) const override {
    BufferShape shape = buffer_on_pipe(gpu);
    shape.bytes = gpu.lab.bytes;
    shape.ways = gpu.lab.ways;
    shape.line_bytes = gpu.lab.entry_bytes;
    return shape;
  }
};

class LabIdeal final : public PlainRule {
 public:
  LabIdeal()
      : PlainRule({.name = "lab-ideal",
                   .source = "ARC 6",
                   .description = "LAB in an SRAM of its own as large as the L1, without tags, "
                                  "queues for misses or contention.",
                   .path = AdditionPath::kBuffer}) {}

  // As much as the L1 and shared memory together, beside them; nothing to look up or wait for.
  [[nodiscard]] BufferShape buffer(const GpuConfig& gpu,
                                   std::uint64_t /*shared_bytes*/) const override {
    BufferShape shape = buffer_on_pipe(gpu);
    shape.bytes = gpu.l1.bytes;
    shape.line_bytes = gpu.lab.entry_bytes;
    shape.victims = 0;
    shape.access = 0;
    shape.beside_pipe = true;
    return shape;
  }
};

template const PolicyRule& rule_of<Lab>();
template const PolicyRule& rule_of<LabIdeal>();

}  // namespace warpfold::rules
