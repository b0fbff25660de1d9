// SPDX-License-Identifier: Apache-2.0
// What travels through the GPU: a resident CTA, an instruction in a memory queue, and a transaction
// on its way to a ROP. Plain values; the blocks that hold them say when they move.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/base/ticks.hpp"
#include "model/types.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// A CTA from its dispatch until its last addition is done. Owned by the CtaStore; `live` counts the
// warps and transactions that still point to it, in all partitions, and decides nothing but when it
// is freed.
struct CtaContext {
  trace::CtaTrace trace;
  std::uint32_t slot = 0;  // index in the CtaStore
  std::atomic<std::uint32_t> live = 0;
  std::uint32_t sm = 0;
  std::uint64_t sequence = 0;  // order of dispatch
  // The SM's own: REDs that it has issued and that have not left the SM, and before which cycle it
  // cannot end.
  std::uint32_t reds_out = 0;
  std::uint64_t no_end_before = 0;

  // One more points to it, beside one that does.
  void hold() { live.fetch_add(1, std::memory_order_relaxed); }
};

// One event of a resident warp.
struct EventRef {
  CtaContext* cta = nullptr;
  std::uint32_t warp = 0;
  std::uint32_t record = 0;

  [[nodiscard]] const trace::WarpTrace& warp_trace() const { return cta->trace.warps[warp]; }
  [[nodiscard]] const trace::Record& event() const { return warp_trace().records[record]; }
  [[nodiscard]] EventKey key() const { return {cta->trace.cta, warp, record}; }
};

// What the lanes of an event add. Valid as long as its CTA.
class EventValues {
 public:
  EventValues() = default;
  EventValues(const EventRef& ref, bool has_values) {
    if (has_values) {
      mask_ = ref.event().mask;
      values_ = &ref.warp_trace().values[ref.event().values];
    } else {
      seed_ = synthetic_seed(ref.key());
    }
  }
  // By `lane`, an active one, to `parameter`.
  [[nodiscard]] Fp32Bits of(std::uint32_t parameter, std::uint32_t lane) const {
    return values_ == nullptr ? synthetic_value(seed_, parameter, lane)
                              : traced_value(values_, mask_, parameter, lane);
  }

 private:
  const Fp32Bits* values_ = nullptr;
  LaneMask mask_ = 0;
  std::uint64_t seed_ = 0;
};

enum class MemOpKind : std::uint8_t {
  kRed,      // the lanes of `mask` add their own values
  kReduced,  // one addition of `data` at `address`; with `event` of sums of the lanes of `mask`
  kShuffle,  // occupies the pipe for `lsu_ticks`, answers warp `warp_slot` `latency` later
  kShared,   // the same, accesses of shared memory
  kCached,   // a load that the L1 answers: occupies the pipe for `lsu_ticks`
  kLoad,     // one that goes to the L2, which answers warp `warp_slot`
};

// An instruction in a sub-core's memory queue.
struct MemOp {
  MemOpKind kind = MemOpKind::kRed;
  bool uniform = false;  // kRed: all lanes of `mask` add to `address`
  std::uint16_t parameter = 0;
  std::uint8_t warp_slot = 0;
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

// Additions to one line, or to one 32-byte sector where an atomic buffer takes or sends them: what
// the load-store unit sends to an L2 slice. In each of its `turns` every word is added to once at
// most, so lanes on one and the same address need one each; turns over a line add to the same
// sectors. `packets` counts the sector operations of all turns. A turn is one flit where it adds to
// one word in all, else a head and one for each sector.
//
// Or a load's: one of the sectors of the line that a warp reads.
struct Transaction {
  // Of a load's: which warp of its SM is answered by this one, the last, if any.
  static constexpr std::uint8_t kNoAnswer = 0xff;
  bool load : 1 = false;
  bool reduced : 1 = false;
  bool uniform : 1 = false;  // all lanes of `mask` add to `address`
  // Sums of the words in `mask` of the line, at `data` in the LineSumsPool.
  bool partial : 1 = false;
  bool flush : 1 = false;  // no addition: the end of the kernel, for an atomic buffer
  bool whole : 1 = false;  // no turn leaves out a word of a sector that it adds to
  std::uint8_t subcore = 0;
  std::uint8_t answers = kNoAnswer;  // its slot in the sub-core
  std::uint8_t sectors = 0;          // of the line, those that are added to
  std::uint16_t parameter = 0;
  std::uint16_t turns = 0;
  std::uint16_t packets = 0;
  std::uint16_t lone_words = 0;  // of the packets, those that are one flit
  std::uint16_t flits = 0;       // of all packets
  std::uint8_t slice = 0;        // of the port of the L2, once it is on its way there
  LaneMask mask = 0;
  Fp32Bits data = 0;
  Address address = 0;            // of the first lane, or of the reduced addition
  EventRef event;                 // unless reduced or partial
  CtaContext* last_of = nullptr;  // the CTA of the RED of which it is the last one

  // What it takes of the buffer of a port, in half flits: a lone word is half of one, and a load
  // none.
  [[nodiscard]] std::uint32_t room() const { return 2U * flits - lone_words; }
};

// For Transaction::sectors: that of an address, and those of a line's words.
constexpr std::uint8_t sector_bit(Address address) {
  return static_cast<std::uint8_t>(1U << (address / kSectorBytes % kLineSectors));
}
constexpr std::uint8_t sectors_of(std::uint32_t words) {
  std::uint32_t sectors = 0;
  for (std::uint32_t s = 0; s < kLineSectors; ++s) {
    sectors |= (words >> s * kSectorWords & kSectorMask) != 0 ? 1U << s : 0;
  }
  return static_cast<std::uint8_t>(sectors);
}

// Counters of a run that are not one block's own, one for each partition. Incremented by its
// blocks; read at the end.
struct alignas(64) Tally {
  std::uint64_t lanes_issued = 0;       // lane additions that warps asked for in hardware
  std::uint64_t lanes_software = 0;     // lane additions summed by shuffles before their RED
  std::uint64_t lanes_to_unit = 0;      // values that the reduction units read
  std::uint64_t lanes_as_red = 0;       // values that went to the ROPs lane by lane
  std::uint64_t software_reduced = 0;   // additions that carry a software sum
  std::uint64_t unit_reduced = 0;       // additions that carry a reduction unit's sum
  std::uint64_t lanes_buffered = 0;     // values that atomic buffers summed
  std::uint64_t buffer_sums_begun = 0;  // sums that they began
  std::uint64_t buffer_reduced = 0;     // additions that carry one of them
  std::uint64_t lanes_added = 0;        // single lane additions done at ROPs
  std::uint64_t sums_added = 0;         // additions of sums done at ROPs

  Tally& operator+=(const Tally& other) {
    lanes_issued += other.lanes_issued;
    lanes_software += other.lanes_software;
    lanes_to_unit += other.lanes_to_unit;
    lanes_as_red += other.lanes_as_red;
    software_reduced += other.software_reduced;
    unit_reduced += other.unit_reduced;
    lanes_buffered += other.lanes_buffered;
    buffer_sums_begun += other.buffer_sums_begun;
    buffer_reduced += other.buffer_reduced;
    lanes_added += other.lanes_added;
    sums_added += other.sums_added;
    return *this;
  }
};

}  // namespace warpfold
