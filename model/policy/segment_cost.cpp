// SPDX-License-Identifier: Apache-2.0
#include "model/policy/segment_cost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpfold {

namespace {

// What a pass of so many lanes waits for words that each reads on to, on average: that of the L2
// unless all lanes stay in the sector that they read last.
std::uint64_t next_word_latency(const GpuConfig::Latency& latency, std::uint32_t lanes) {
  constexpr double kStay = 7.0 / 8;  // words of 4 bytes, sectors of 32
  const double in_l1 = std::pow(kStay, lanes);
  return static_cast<std::uint64_t>(
      std::llround(in_l1 * latency.l1_load + (1 - in_l1) * latency.global_load));
}

std::uint64_t latency_of(trace::ResultClass kind, const GpuConfig::Latency& latency,
                         std::uint32_t lanes) {
  switch (kind) {
    case trace::ResultClass::kSfu:
      return latency.sfu;
    case trace::ResultClass::kShared:
      return latency.shared;
    case trace::ResultClass::kGlobalLoad:
      return latency.global_load;
    case trace::ResultClass::kShuffle:
      return latency.shuffle;
    case trace::ResultClass::kShuffleIndex:
      return latency.shuffle_index;
    case trace::ResultClass::kMatch:
      return latency.match;
    case trace::ResultClass::kRedux:
      return latency.redux;
    case trace::ResultClass::kSpecial:
      return latency.special;
    case trace::ResultClass::kUniform:
      return latency.uniform;
    case trace::ResultClass::kConstant:
      return latency.constant;
    case trace::ResultClass::kNextWord:
      return next_word_latency(latency, lanes);
    case trace::ResultClass::kSharedCas:
      return latency.shared_cas;
    case trace::ResultClass::kFence:
      return latency.fence;
    case trace::ResultClass::kCount:
      break;
  }
  return 0;
}

bool is_shuffle(trace::ResultClass kind) {
  return kind == trace::ResultClass::kShuffle || kind == trace::ResultClass::kShuffleIndex;
}
bool is_cas(trace::ResultClass kind) {
  return kind == trace::ResultClass::kSharedCas;
}
bool is_shared(trace::ResultClass kind) {
  return kind == trace::ResultClass::kShared || is_cas(kind);
}
bool is_global(trace::ResultClass kind) {
  return kind == trace::ResultClass::kGlobalLoad;
}

// How much later than by its stall counts alone a lone warp is through: each wait puts off all that
// comes behind it, requests of later waits included.
std::uint64_t waiting(const std::vector<trace::ResultWait>& waits,
                      const GpuConfig::Latency& latency, std::uint32_t lanes) {
  std::vector<std::uint64_t> delays;  // behind each wait
  std::uint64_t delay = 0;
  for (const trace::ResultWait& wait : waits) {
    // The request was put off by the waits ahead of it.
    std::uint64_t then = 0;
    for (std::size_t i = 0; i < delays.size() && waits[i].wanted <= wait.asked; ++i) {
      then = delays[i];
    }
    const std::uint64_t there = wait.asked + then + latency_of(wait.kind, latency, lanes);
    delay = std::max(delay, there - std::min<std::uint64_t>(there, wait.wanted));
    delays.push_back(delay);
  }
  return delay;
}

// How often results of a kind are waited for one after the other: the next is asked for when the
// one before is there.
std::uint32_t in_turn(const std::vector<trace::ResultWait>& waits,
                      bool (*counts)(trace::ResultClass)) {
  std::uint32_t turns = 0;
  std::uint32_t last = 0;
  for (const trace::ResultWait& wait : waits) {
    if (counts(wait.kind) && (turns == 0 || wait.asked >= last)) {
      ++turns;
      last = wait.wanted;
    }
  }
  return turns;
}

std::uint32_t cas_count(const trace::InstructionCost& cost) {
  return static_cast<std::uint32_t>(
      std::count_if(cost.waits.begin(), cost.waits.end(),
                    [](const trace::ResultWait& wait) { return is_cas(wait.kind); }));
}

// Of results of shared memory, the mean over those that are waited for.
std::uint32_t shared_latency(const trace::InstructionCost& cost,
                             const GpuConfig::Latency& latency) {
  const auto all =
      std::count_if(cost.waits.begin(), cost.waits.end(),
                    [](const trace::ResultWait& wait) { return is_shared(wait.kind); });
  const double cas = static_cast<double>(cas_count(cost)) / static_cast<double>(all);
  return static_cast<std::uint32_t>(
      std::lround((1 - cas) * latency.shared + cas * latency.shared_cas));
}

// Cycles of the load-store unit that the instructions of each kind take.
struct Occupancy {
  Occupancy(const trace::InstructionCost& cost, const GpuConfig& gpu)
      : shuffles((cost.shuffle + cost.shuffle_index) * gpu.lsu.shuffle +
                 (cost.match + cost.redux) * gpu.lsu.match),
        shared(cost.shared * gpu.lsu.shared_access + cost.shared_wide * gpu.lsu.shared_wide +
               // A file may have more waits for compare-and-swaps than accesses.
               std::min<double>(cas_count(cost), cost.shared) *
                   (gpu.lsu.shared_cas - gpu.lsu.shared_access)),
        loads(cost.global_load * gpu.lsu.global_load) {}

  double shuffles, shared, loads;
};

// The same of a segment's accesses that are apart and of those that are not, and what the sub-core
// takes to hand those apart over.
struct Apart {
  double access = 0;
  double hand = 0;
  double beside = 0;
};

Apart shuffles_apart(Segment& segment, const trace::InstructionCost& cost, const GpuConfig& gpu,
                     std::uint32_t turns) {
  segment.accesses = cost.shuffle + cost.shuffle_index;
  segment.waits = turns;
  segment.latency = cost.shuffle_index > 0 ? gpu.latency.shuffle_index : gpu.latency.shuffle;
  const Occupancy cycles(cost, gpu);
  const std::uint32_t matches = cost.match + cost.redux;
  return {.access = cycles.shuffles,
          .hand = cost.shuffle * gpu.lsu.hand_shuffle +
                  cost.shuffle_index * gpu.lsu.hand_shuffle_index + matches * gpu.lsu.hand_match,
          .beside = cycles.shared + cycles.loads};
}

Apart loads_apart(Segment& segment, const trace::InstructionCost& cost, const GpuConfig& gpu) {
  segment.kind = AccessKind::kGlobal;
  segment.accesses = cost.global_load;
  segment.waits = 1;
  segment.latency = gpu.latency.global_load;
  const Occupancy cycles(cost, gpu);
  return {.access = cycles.loads, .beside = cycles.shuffles + cycles.shared};
}

Apart shared_apart(Segment& segment, const trace::InstructionCost& cost, const GpuConfig& gpu,
                   std::uint32_t turns) {
  segment.kind = AccessKind::kShared;
  segment.accesses = cost.shared + cost.shared_wide;
  segment.waits = std::min(turns, segment.accesses);
  segment.latency = shared_latency(cost, gpu.latency);
  const Occupancy cycles(cost, gpu);
  return {.access = cycles.shared, .beside = cycles.shuffles + cycles.loads};
}

// Of what it waits for, a segment has one kind apart: shuffles, else global loads, else accesses of
// shared memory. Of its loads one trip to the L2 is apart: which of them find their sectors in the
// L1 a trace does not say, and all but one may, such as words that all threads read
// (docs/fidelity.md).
Apart set_apart(Segment& segment, const trace::InstructionCost& cost, const SegmentSetting& setting,
                const ShuffleRounds& rounds) {
  const std::uint32_t shuffle_turns =
      std::clamp(in_turn(cost.waits, is_shuffle), rounds.least, rounds.most);
  if (cost.shuffle + cost.shuffle_index > 0 && shuffle_turns > 0) {
    return shuffles_apart(segment, cost, setting.gpu, shuffle_turns);
  }
  if (setting.loads_apart && cost.global_load > 0 && in_turn(cost.waits, is_global) > 0) {
    return loads_apart(segment, cost, setting.gpu);
  }
  const std::uint32_t shared_turns = in_turn(cost.waits, is_shared);
  if (shared_turns > 0 && cost.shared + cost.shared_wide > 0) {
    return shared_apart(segment, cost, setting.gpu, shared_turns);
  }
  const Occupancy cycles(cost, setting.gpu);
  return {.beside = cycles.shuffles + cycles.loads + cycles.shared};
}

std::vector<Share> shares_of(const Segment& segment) {
  std::vector<Share> shares;
  for (std::uint32_t index = 0; index < segment.waits; ++index) {
    const auto share = [index, waits = segment.waits](auto whole) {
      return whole * (index + 1) / waits - whole * index / waits;
    };
    Share own;
    own.slots = share(segment.slots);
    own.min_cycles = share(segment.min_cycles);
    own.lsu_ticks = share(segment.lsu_ticks);
    own.match_ticks = share(segment.match_ticks);
    own.loads = share(segment.loads);
    own.access.kind = segment.kind;
    own.access.slots = share(segment.accesses);
    own.access.lsu_ticks = share(segment.access_ticks);
    own.access.hand_ticks = share(segment.hand_ticks);
    own.access.latency = segment.latency;
    shares.push_back(own);
  }
  return shares;
}

}  // namespace

Segment segment_of(const trace::InstructionCost& cost, const SegmentSetting& setting,
                   std::uint32_t lanes, const ShuffleRounds& rounds) {
  const GpuConfig& gpu = setting.gpu;
  Segment segment;
  const Apart apart = set_apart(segment, cost, setting, rounds);
  segment.access_ticks = to_ticks(apart.access);
  segment.hand_ticks = to_ticks(apart.hand);
  segment.lsu_ticks = to_ticks(apart.beside);
  segment.match_ticks = to_ticks((cost.match + cost.redux) * gpu.lsu.match_unit);
  segment.matches = cost.match;
  segment.loads = cost.global_load;
  const double pipes = std::max(cost.integer * gpu.pipe.integer, cost.sfu * gpu.pipe.sfu);
  segment.slots = std::max<std::uint64_t>(cost.issue_slots() - segment.accesses,
                                          static_cast<std::uint64_t>(std::llround(pipes)));
  // What the accesses take of a lone warp's time comes with them; loads are on their way before the
  // load-store unit is through with them.
  const double handed = segment.kind == AccessKind::kGlobal
                            ? segment.accesses
                            : std::max(apart.hand, segment.accesses + apart.access);
  const auto with_them =
      static_cast<std::uint64_t>(std::llround(segment.waits * segment.latency + handed));
  segment.min_cycles = cost.stall_cycles + std::uint64_t{cost.branches} * gpu.latency.branch +
                       waiting(cost.waits, gpu.latency, lanes);
  segment.min_cycles -= std::min(segment.min_cycles, with_them);
  segment.shares = shares_of(segment);
  return segment;
}

bool reads_on(const trace::InstructionCost& cost) {
  return std::any_of(cost.waits.begin(), cost.waits.end(), [](const trace::ResultWait& wait) {
    return wait.kind == trace::ResultClass::kNextWord;
  });
}

}  // namespace warpfold
