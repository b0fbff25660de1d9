// SPDX-License-Identifier: Apache-2.0
// Warps that want room in the memory queue take turns.
#include "model/gpu/sm/queue_admission.hpp"

namespace warpfold {

namespace {

class RoundRobin final : public QueueAdmission {
 public:
  [[nodiscard]] bool admits_all() const override { return true; }
  SlotMask admitted(SlotMask wanting) override { return wanting; }
};

Admissions make_round_robin(const AdmissionContext& context) {
  Admissions all;
  for (std::uint32_t i = 0; i < context.config.sm.subcores; ++i) {
    all.push_back(std::make_unique<RoundRobin>());
  }
  return all;
}

}  // namespace

extern const AdmissionRule round_robin_admission;
const AdmissionRule round_robin_admission{
    .name = "round-robin",
    .source = "docs/fidelity.md",
    .description = "Warps that want room in the memory queue take turns.",
    .watches_way_out = false,
    .make = make_round_robin};

}  // namespace warpfold
