// SPDX-License-Identifier: Apache-2.0
// Turns the policy-independent records of a warp into what a sub-core issues under one policy. A
// WarpProgram belongs to one resident warp, which asks for its next step when the last is done.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/policy/program_items.hpp"
#include "model/policy/step.hpp"
#include "model/policy/timing.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

class WarpProgram {
 public:
  void start(const PolicyTiming& timing, const trace::WarpTrace& warp);
  // Puts the next step in program order in place of the last, which is a new Step at the start;
  // kEnd for ever after the last.
  void next(Step& step) {
    if (!next_parameter(step)) {
      next_entry(step);
    }
  }
  // The same where that is one more addition of the same lanes; else false, and nothing changes.
  [[nodiscard]] bool next_parameter(Step& step) const {
    const bool atomic = step.kind == StepKind::kAtomic || step.kind == StepKind::kReduced;
    const std::uint32_t next = step.parameter + std::uint32_t{step.words};
    if (!atomic || next >= step.end_parameter) {
      return false;
    }
    step.parameter = static_cast<std::uint16_t>(next);
    step.words =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(step.words, step.end_parameter - next));
    return true;
  }
  // Issue slots of the records that are still to come, in all or at least so many.
  [[nodiscard]] std::uint64_t slots_left(std::uint64_t enough) const;
  // Events expanded so far.
  [[nodiscard]] std::uint32_t events() const { return events_; }

 private:
  void next_entry(Step& step);
  bool expand_record(const Step& run);
  void expand_event(const trace::Record& event);
  void expand_work(const trace::Record& record, const Step& run);
  // Adds the item's work to `step`, a run, or makes it the item's next step, if that has one by
  // itself; true when `step` is complete.
  bool take(const ProgramItem& item, Step& step);
  bool take_share(const ProgramItem& item, Step& step);
  void take_atomics(const ProgramItem& item, Step& step);

  const PolicyTiming* timing_ = nullptr;
  const trace::WarpTrace* warp_ = nullptr;
  const trace::Record* records_ = nullptr;  // those of the warp
  std::uint32_t record_ = 0;                // next record to expand
  std::uint32_t record_count_ = 0;
  std::uint32_t passes_ = 0;  // of it, passes already gathered
  std::uint32_t events_ = 0;
  // Of the last record expanded, what is not done with; of the first of that the times and shares
  // that are.
  std::uint32_t times_ = 0;
  std::uint32_t share_ = 0;
  ProgramItems items_;
};

}  // namespace warpfold
