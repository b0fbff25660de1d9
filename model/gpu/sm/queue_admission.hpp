// SPDX-License-Identifier: Apache-2.0
// A rule of the GPU: which of a sub-core's warps get room in its memory queue. The machine file
// names one, rules.admission; `warpfold rules` lists them. Each is one file in admission/ and one
// line in model/rules.cmake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/rule_list.hpp"
#include "model/gpu/cta/cta.hpp"
#include "model/gpu/sm/outlet.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// Of one sub-core, which calls it in its own cycles. What warps want is an instruction that the
// load-store unit takes: a RED or a load, which leave the SM, or something that stays in it.
class QueueAdmission {
 public:
  using SlotMask = std::uint32_t;  // a bit for each warp slot of the sub-core

  QueueAdmission() = default;
  QueueAdmission(const QueueAdmission&) = delete;
  QueueAdmission& operator=(const QueueAdmission&) = delete;
  virtual ~QueueAdmission() = default;

  // Whether it lets in all that want room, at all times: it is neither told nor asked anything
  // then. Asked once.
  [[nodiscard]] virtual bool admits_all() const { return false; }
  // A warp of that CTA has come into the slot.
  virtual void launched(std::uint32_t /*slot*/, const CtaContext& /*cta*/) {}
  // From that cycle on its warp wants room for a RED or a load.
  virtual void wants(std::uint32_t /*slot*/, Cycle /*cycle*/) {}
  // Its RED or load goes into the queue in that cycle, which is this one.
  virtual void enters(std::uint32_t /*slot*/, Cycle /*cycle*/) {}
  // Of the warps that want room, for whatever, and there is room: those that take it, in turn.
  [[nodiscard]] virtual SlotMask admitted(SlotMask wanting) = 0;
  // The sub-core has decided for that cycle; with has_room or without, somebody may want room. Who
  // is admitted changes with the time alone by the cycle that this returns, or kNever.
  virtual Cycle decided(bool /*has_room*/, Cycle /*cycle*/) { return kNever; }
  // Whether who is admitted may change with the time alone.
  [[nodiscard]] virtual bool depends_on_time() const { return false; }
  // Whether that may depend on how full the way out is in the next cycle; has_room: for three more.
  [[nodiscard]] virtual bool looks_at_way_out(bool /*has_room*/) const { return false; }
};

// What the rule of an SM knows of it.
struct AdmissionContext {
  const GpuConfig& config;
  const Domain& domain;   // the SM's own
  const Outlet& way_out;  // to the L2
  std::uint32_t sm;       // its number
};

// One for each sub-core of an SM.
using Admissions = std::vector<std::unique_ptr<QueueAdmission>>;

struct AdmissionRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  bool watches_way_out;  // may ever look at it
  Admissions (*make)(const AdmissionContext& context);
};

const RuleList<AdmissionRule>& admission_rules();

// The machine's: warps sleep where it says for how long, unless it says otherwise.
inline std::string admission_of(const GpuConfig& config) {
  return config.rules.admission.or_else(config.lsu.sleep_cycles > 0 ? "sleepers" : "round-robin");
}

}  // namespace warpfold
