// SPDX-License-Identifier: Apache-2.0
// Turns the policy-independent records of a warp into what a sub-core issues under one policy. A
// WarpProgram belongs to one resident warp, which asks for its next step when the last is done.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/machine/config.hpp"
#include "model/policy/policy.hpp"
#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

enum class StepKind : std::uint8_t {
  kRun,      // `slots` issue slots, done no sooner than `min_cycles` after its begin, then `access`
  kAtomic,   // one RED (or atomred) of `parameter` by the lanes in `mask`, each its own value
  kReduced,  // one RED of `parameter`: the lanes in `mask` were summed in software by primitive
  kBarrier,
  kEnd,
};

// Order in which software sums lanes, which decides the rounding of a kReduced step: one after the
// other, halves of the warp first (offsets 16 to 1), or neighbours first (offsets 1 to 16).
enum class SumOrder : std::uint8_t { kSerial, kButterfly, kNeighbours };

// What a warp waits for of the load-store unit.
enum class AccessKind : std::uint8_t { kShuffle, kShared, kGlobal };

// Instructions of the load-store unit whose results the warp waits for.
struct Access {
  AccessKind kind = AccessKind::kShuffle;
  std::uint32_t slots = 0;    // of them; none at all if 0
  std::uint32_t latency = 0;  // of the last one's result
  Ticks lsu_ticks = 0;        // occupancy of the load-store unit
  Ticks hand_ticks = 0;       // what the sub-core takes to hand them over
};

struct Step {
  StepKind kind = StepKind::kEnd;
  SumOrder order = SumOrder::kSerial;
  std::uint16_t parameter = 0;
  LaneMask mask = 0;
  std::uint32_t record = 0;     // index of the event in its warp
  std::uint32_t primitive = 0;  // of every lane, if uniform
  bool uniform = false;
  std::uint32_t loads = 0;  // ordinary global loads of a kRun
  std::uint64_t slots = 0;
  std::uint64_t min_cycles = 0;
  Ticks lsu_ticks = 0;             // kRun: occupancy of the load-store unit, `access` left aside
  Ticks match_ticks = 0;           // kRun: of the SM's unit for MATCH and REDUX
  const Access* access = nullptr;  // kRun: what it ends with, if anything
};

// Instruction costs of the variant that a policy runs, in the units of one machine. Shared by all
// warps of a run.
class PolicyTiming {
 public:
  // False where the trace has costs for the architecture, but none of the policy's variant.
  static bool has_code(const trace::Header& header, const GpuConfig& gpu, Policy policy);
  // Throws std::invalid_argument with one line when the trace has no costs for the machine's
  // architecture or the policy's variant.
  PolicyTiming(const trace::Header& header, const GpuConfig& gpu, Policy policy);

  // One of the equal shares of a segment, from one wait to the next: work, then accesses whose
  // results what follows needs.
  struct Share {
    std::uint64_t slots = 0;
    std::uint64_t min_cycles = 0;
    Ticks lsu_ticks = 0;
    Ticks match_ticks = 0;
    std::uint32_t loads = 0;
    Access access;
  };
  struct Segment {
    std::uint64_t slots = 0;
    std::uint64_t min_cycles = 0;
    Ticks lsu_ticks = 0;
    Ticks match_ticks = 0;
    std::uint32_t matches = 0;  // MATCH, which take longer with several values
    std::uint32_t loads = 0;
    // Instructions whose results come from the load-store unit, apart from the rest: `waits` times
    // the warp waits for what it has asked for by then.
    AccessKind kind = AccessKind::kShuffle;
    std::uint32_t accesses = 0;
    Ticks access_ticks = 0;  // occupancy of the load-store unit, of all
    Ticks hand_ticks = 0;    // what the sub-core takes to hand them over, all
    std::uint32_t latency = 0;
    std::uint32_t waits = 0;
    std::vector<Share> shares;  // one for each wait
  };
  [[nodiscard]] const Segment& path(std::uint16_t index) const { return paths_[index]; }
  // What the pass of an event comes to.
  struct Pass {
    Segment taken, check, agree, plain, setup, per_lane, butterfly, leader;
    Segment plain_apart;  // the same where `agree` found that lanes do not
  };
  // By active lanes, of which there is at least one.
  [[nodiscard]] const Pass& pass(std::uint32_t lanes) const {
    return passes_[passes_.size() == 1 ? 0 : lanes - 1];
  }

  Policy policy;
  std::uint32_t parameters;
  // What a MATCH takes longer for each value but the first.
  std::uint64_t match_group = 0;
  Ticks match_group_ticks = 0;

 private:
  std::vector<Segment> paths_;
  std::vector<Pass> passes_;  // one, or one for each number of lanes where it matters
};

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
    if (!atomic || step.parameter + 1U >= timing_->parameters) {
      return false;
    }
    ++step.parameter;
    return true;
  }
  // Issue slots of the records that are still to come, in all or at least so many.
  [[nodiscard]] std::uint64_t slots_left(std::uint64_t enough) const;
  // Events expanded so far.
  [[nodiscard]] std::uint32_t events() const { return events_; }

 private:
  // What a record comes to, made into steps one by one as they are asked for: a warp's steps
  // together would be too many to keep.
  struct Item {
    enum class Kind : std::uint8_t {
      kSegment,  // `segment`, `times` over
      kGroups,   // what its MATCHes take longer with `times` values
      kFlush,    // what has been gathered is a step
      kAtomics,  // the same, then additions of all parameters
      kBarrier,  // the same, then a barrier
    };
    Kind kind = Kind::kSegment;
    StepKind atomics = StepKind::kAtomic;
    SumOrder order = SumOrder::kSerial;
    LaneMask mask = 0;
    std::uint32_t times = 1;
    const PolicyTiming::Segment* segment = nullptr;
  };

  void next_entry(Step& step);
  bool expand_record(const Step& run);
  void expand_event(const trace::Record& event);
  void expand_work(const trace::Record& record, const Step& run);
  // Adds the item's work to `step`, a run, or makes it the item's next step, if that has one by
  // itself; true when `step` is complete.
  bool take(const Item& item, Step& step);
  bool take_share(const Item& item, Step& step);
  void push(const Item& item);
  void add(const PolicyTiming::Segment& segment, std::uint32_t times = 1) {
    push({.kind = Item::Kind::kSegment, .times = times, .segment = &segment});
  }
  void add_atomics(StepKind kind, LaneMask mask, SumOrder order) {
    push({.kind = Item::Kind::kAtomics, .atomics = kind, .order = order, .mask = mask});
  }

  const PolicyTiming* timing_ = nullptr;
  const trace::WarpTrace* warp_ = nullptr;
  const trace::Record* records_ = nullptr;  // those of the warp
  std::uint32_t record_ = 0;                // next record to expand
  std::uint32_t record_count_ = 0;
  std::uint32_t passes_ = 0;  // of it, passes already gathered
  std::uint32_t events_ = 0;
  // Of the last record expanded, what is not done with, from item_ on; of that the times and shares
  // that are.
  static constexpr std::size_t kItems = 10;
  std::uint32_t item_ = 0, item_count_ = 0;
  std::uint32_t times_ = 0;
  std::uint32_t share_ = 0;
  std::array<Item, kItems> items_;
};

// Sum of the values of the lanes in `mask` as software forms it, with plain FADD (subnormals kept):
// serial in lane order, or a tree over all 32 lanes where inactive lanes hold +0.
Fp32Bits software_sum(const std::uint32_t* lane_values, LaneMask mask, SumOrder order);

}  // namespace warpfold
