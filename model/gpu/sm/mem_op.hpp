// SPDX-License-Identifier: Apache-2.0
// An instruction on its way from a sub-core to the load-store unit, and the answer.
#pragma once

#include <cstdint>

#include "model/base/ticks.hpp"
#include "model/gpu/cta/cta.hpp"
#include "model/types.hpp"

namespace warpfold {

enum class MemOpKind : std::uint8_t {
  kRed,  // the lanes of `mask` add their own values, to `words` neighbouring words each
  // One addition of `data` at `address`; with `event` of sums of the lanes of `mask`; with several
  // words of the first `words` sums at `data` in the LineSumsPool, from `address` on.
  kReduced,
  kShuffle,  // occupies the pipe for `lsu_ticks`, answers warp `warp_slot` `latency` later
  kShared,   // the same, accesses of shared memory
  kCached,   // a load that the L1 answers: occupies the pipe for `lsu_ticks`
  kLoad,     // one that goes to the L2, which answers warp `warp_slot`
  kAccess,   // the memory instruction of `event`, of which the trace says what it touches
};

// Whether the load-store unit does it with its pipe alone: nothing of it leaves the SM.
constexpr bool is_on_pipe(MemOpKind kind) {
  return kind == MemOpKind::kShuffle || kind == MemOpKind::kShared || kind == MemOpKind::kCached;
}

// An instruction in a sub-core's memory queue.
struct MemOp {
  MemOpKind kind = MemOpKind::kRed;
  bool uniform = false;         // kRed: all lanes of `mask` add to `address`
  std::uint16_t parameter = 0;  // among those of all sites
  std::uint8_t warp_slot = 0;
  std::uint8_t words = 1;
  bool passes = false;  // kRed: goes by an atomic buffer, which does not know its type
  bool wide = false;    // kRed, kReduced: two words for each addition
  bool spread = false;  // kReduced: of its words each is another lane's
  bool waits = false;   // kRed: its warp waits until it has been answered
  LaneMask mask = 0;
  Fp32Bits data = 0;
  std::uint32_t latency = 0;
  Address address = 0;        // kReduced, kRed if uniform
  EventRef event;             // kRed, kReduced with several sums
  CtaContext* cta = nullptr;  // whose RED it is, where that is waited for
  Ticks lsu_ticks = 0;
  Ticks hand_ticks = 0;  // kShuffle, kShared: that the sub-core takes from `begun` on
  Cycle begun = 0;
};

// Who waits for answers of the load-store unit: a sub-core.
class AccessAnswers {
 public:
  virtual ~AccessAnswers() = default;
  // The load-store unit is through with what the warp in that slot waits for of it, in this cycle:
  // the result is there when `due` comes, until which the warp waits for nothing but its latency.
  virtual void access_answered(std::uint32_t slot, Cycle due) = 0;
  // Where warps wait for their REDs (red_wait.hpp): a RED of that warp has become so many
  // transactions, each of which the L2 answers; or an atomic buffer has one, whose answer is there
  // when `due` comes.
  virtual void red_split(std::uint32_t /*slot*/, std::uint32_t /*transactions*/) {}
  virtual void red_answered(std::uint32_t /*slot*/, Cycle /*due*/) {}
  // What that warp loads by a memory instruction comes in so many parts more; one of them is there
  // when `due` comes. An issued load is one by itself until the load-store unit is through with it.
  virtual void load_parts(std::uint32_t /*slot*/, std::uint16_t /*site*/, std::uint32_t /*parts*/) {
  }
  virtual void load_part(std::uint32_t /*slot*/, std::uint16_t /*site*/, Cycle /*due*/) {}
};

}  // namespace warpfold
