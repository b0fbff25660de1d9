// SPDX-License-Identifier: Apache-2.0
// The callbacks that the injected library patches into a program's kernels, with NVIDIA's Compute
// Sanitizer API. Each writes one record for the lanes that are active into the ring (protocol.hpp).
// User data is the launch's LaunchControl, null in a launch that is not recorded.
#include <sanitizer_patching.h>

#include "traces/record/protocol.hpp"

namespace {

using warpfold::record::LaunchControl;
using warpfold::record::Marker;
using warpfold::record::Ring;

__device__ std::uint32_t lane_id() {
  std::uint32_t lane = 0;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ std::uint64_t grid_id() {
  std::uint64_t grid = 0;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
  return grid;
}

__device__ std::uint32_t cta_index() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

__device__ std::uint32_t thread_index() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

constexpr int kTurns = 22;
constexpr long long kPause = 4000;  // clocks, before the second look

// Waits, some seconds at most, for the ring to be free up to `end`; up to where it is. A lane that
// sleeps or yields could let the others of its warp go on past the point where they meet again, and
// the compiler yields in every loop that reads memory: so the host is asked a fixed number of
// times, after pauses that double.
__device__ __forceinline__ unsigned long long wait(const Ring* ring, unsigned long long end) {
  unsigned long long limit = 0;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    if (end > limit) {
      for (const long long begin = clock64(); clock64() - begin < kPause << turn;) {
      }
      limit = *ring->tail + ring->capacity;
    }
  }
  return limit;
}

// Room for so many words; waits until they have been read.
__device__ unsigned long long reserve(Ring* ring, std::uint32_t words) {
  const unsigned long long at = atomicAdd(&ring->reserved, static_cast<unsigned long long>(words));
  if (at + words > *static_cast<volatile unsigned long long*>(&ring->limit)) {
    unsigned long long limit = *ring->tail + ring->capacity;
    if (at + words > limit) {
      limit = wait(ring, at + words);
    }
    while (at + words > limit) {  // lest lanes of a warp wait for each other for ever
      __nanosleep(2000);
      limit = *ring->tail + ring->capacity;
    }
    atomicMax(&ring->limit, limit);
  }
  return at;
}

// What a record may have behind its head.
enum class Payload { kNone, kAddress, kRow };

// The lines that the lanes touch: each once, with the sectors of it.
struct Lines {
  std::uint32_t leaders;  // lanes that are the first in their lines
  std::uint32_t sectors;  // of this lane's line
};

// 1 for what is not 0, without a predicate.
__device__ __forceinline__ std::uint32_t any(std::uint32_t bits) {
  std::uint32_t result = 0;
  asm("min.u32 %0, %1, 1;" : "=r"(result) : "r"(bits));
  return result;
}

__device__ __forceinline__ Lines lines_of(std::uint32_t mask, std::uint32_t lane,
                                          std::uint64_t address) {
  static_assert(warpfold::record::kLineSectors == 4);
  const std::uint32_t alike = __match_any_sync(mask, address >> warpfold::record::kLineShift);
  const auto sector = static_cast<std::uint32_t>(address >> warpfold::record::kSectorShift);
  const std::uint32_t odd = __ballot_sync(mask, sector & 1U);
  const std::uint32_t high = __ballot_sync(mask, sector & 2U);
  const std::uint32_t first = alike & (0U - alike);
  return {.leaders = __ballot_sync(mask, first >> lane & 1U),
          .sectors = any(alike & ~odd & ~high) | any(alike & odd & ~high) << 1U |
                     any(alike & ~odd & high) << 2U | any(alike & odd & high) << 3U};
}

// plain_record_words(), without a branch or a selection, for predicates are scarce.
template <Payload kPayload>
__device__ __forceinline__ std::uint32_t words_of(std::uint32_t first, std::uint32_t lanes) {
  using warpfold::record::kHeadWords;
  if constexpr (kPayload == Payload::kNone) {
    return kHeadWords;
  }
  static_assert(warpfold::record::kAddresses == 1U << 10U &&
                warpfold::record::kUniform == 1U << 9U);
  const std::uint32_t some = first >> 10U & 1U;
  const std::uint32_t lines = warpfold::record::lines_of(first);
  const std::uint32_t uniform = first >> 9U & 1U;
  if constexpr (kPayload == Payload::kRow) {
    return kHeadWords + 4 * some;
  }
  return kHeadWords + (2 * ((lanes - uniform * (lanes - 1U)) * some + lines) + 3U) / 4U * 4U;
}

// With kAddress `address` is each lane's. With kRow it is that of all, and `length` its number of
// units.
template <Payload kPayload>
__device__ __forceinline__ void emit(void* data, std::uint64_t pc, Marker marker,
                                     std::uint32_t flags, std::uint64_t address = 0,
                                     std::uint32_t length = 0) {
  const LaunchControl* launch = static_cast<const LaunchControl*>(data);
  if (launch == nullptr) {
    return;
  }
  if (launch->grid != 0) {
    const std::uint64_t grid = grid_id();
    while (launch->grid != grid) {
      launch = launch->next;
      if (launch == nullptr) {
        return;
      }
    }
  }
  const std::uint32_t cta = cta_index();
  if (launch->every > 1 && cta % launch->every != launch->phase) {
    return;
  }
  Ring* ring = launch->ring;
  const std::uint32_t mask = __activemask();
  const std::uint32_t lane = lane_id();
  const std::uint32_t leader = __ffs(static_cast<int>(mask)) - 1;
  // The kernel is shorter than 4 GiB, and so the lower halves tell.
  const std::uint32_t number =
      marker == Marker::kEnter
          ? 0U
          : (static_cast<std::uint32_t>(pc) - static_cast<std::uint32_t>(launch->pc)) /
                warpfold::record::kInstructionBytes;
  std::uint32_t first = static_cast<std::uint32_t>(marker) | flags |
                        launch->slot << warpfold::record::kSlotShift |
                        (thread_index() / 32U) << warpfold::record::kWarpShift;
  Lines lines{};
  if constexpr (kPayload != Payload::kNone) {
    const std::uint32_t wanted = number < launch->instructions ? launch->wanted[number] : 0U;
    const std::uint64_t leading = __shfl_sync(mask, address, leader);
    if (kPayload == Payload::kAddress && wanted == warpfold::record::kLines) {
      lines = lines_of(mask, lane, address);
      first |= __popc(lines.leaders) << warpfold::record::kLinesShift;
    } else if (wanted != 0) {
      first |= warpfold::record::kAddresses;
      if (kPayload == Payload::kRow || __all_sync(mask, address == leading) != 0) {
        first |= warpfold::record::kUniform;
      }
    }
  }
  const std::uint32_t words = words_of<kPayload>(first, __popc(mask));
  unsigned long long at = 0;
  if (lane == leader) {
    at = reserve(ring, words);
  }
  at = __shfl_sync(mask, at, leader);
  // The ring has less than 2^32 words.
  const std::uint32_t place_of_head = static_cast<std::uint32_t>(at);
  const std::uint32_t wrap = static_cast<std::uint32_t>(ring->capacity) - 1U;
  const auto put = [&](std::uint32_t rank, std::uint64_t value) {
    const std::uint32_t place = (place_of_head + warpfold::record::kHeadWords + 2 * rank) & wrap;
    *reinterpret_cast<volatile unsigned long long*>(ring->words + place) =
        value | warpfold::record::kAddressTag;
  };
  if constexpr (kPayload != Payload::kNone) {
    if ((first & warpfold::record::kAddresses) != 0) {
      const bool uniform = (first & warpfold::record::kUniform) != 0;
      if (!uniform || lane == leader) {
        put(uniform ? 0 : __popc(mask & ((1U << lane) - 1U)), address);
      }
    }
  }
  if constexpr (kPayload == Payload::kAddress) {
    if ((lines.leaders >> lane & 1U) != 0) {
      put(__popc(lines.leaders & ((1U << lane) - 1U)),
          address >> warpfold::record::kLineShift << warpfold::record::kLineSectors |
              lines.sectors);
    }
  }
  if (lane == leader) {
    if constexpr (kPayload == Payload::kRow) {
      put(1, length);
    }
    asm volatile(
        "st.volatile.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(ring->words + (place_of_head & wrap)),
        "r"(first), "r"(number + 1U), "r"(cta + 1U), "r"(mask)
        : "memory");
  }
}

}  // namespace

#define WARPFOLD_CALLBACK extern "C" __device__ __noinline__ SanitizerPatchResult

WARPFOLD_CALLBACK warpfold_enter(void* data, uint64_t pc) {
  emit<Payload::kNone>(data, pc, Marker::kEnter, 0);
  return SANITIZER_PATCH_SUCCESS;
}

WARPFOLD_CALLBACK warpfold_exit(void* data, uint64_t pc) {
  emit<Payload::kNone>(data, pc, Marker::kExit, 0);
  return SANITIZER_PATCH_SUCCESS;
}

WARPFOLD_CALLBACK warpfold_global(void* data, uint64_t pc, void* pointer, uint32_t, uint32_t,
                                  const void*) {
  emit<Payload::kAddress>(data, pc, Marker::kGlobal, 0, reinterpret_cast<std::uint64_t>(pointer));
  return SANITIZER_PATCH_SUCCESS;
}

WARPFOLD_CALLBACK warpfold_shared(void* data, uint64_t pc, void*, uint32_t, uint32_t, const void*) {
  emit<Payload::kNone>(data, pc, Marker::kShared, 0);
  return SANITIZER_PATCH_SUCCESS;
}

WARPFOLD_CALLBACK warpfold_barrier(void* data, uint64_t pc, uint32_t index, uint32_t threads,
                                   uint32_t) {
  // A count is rounded up to whole warps; 0 stands for all. Counts and indices are small, so the
  // top bit of each difference says which is less.
  const std::uint32_t all = blockDim.x * blockDim.y * blockDim.z;
  const std::uint32_t part = (threads - all) & ~(threads - 1U) & 0x80000000U;
  const std::uint32_t other = (0U - index) & 0x80000000U;
  const std::uint32_t whole = ((part | other) >> 31U) ^ 1U;
  emit<Payload::kNone>(data, pc, Marker::kBarrier, whole * warpfold::record::kWholeBarrier);
  return SANITIZER_PATCH_SUCCESS;
}

WARPFOLD_CALLBACK warpfold_shuffle(void* data, uint64_t pc) {
  emit<Payload::kNone>(data, pc, Marker::kShuffle, 0);
  return SANITIZER_PATCH_SUCCESS;
}

WARPFOLD_CALLBACK warpfold_async(void* data, uint64_t pc, void*, uint32_t, uint32_t) {
  emit<Payload::kNone>(data, pc, Marker::kAsync, 0);
  return SANITIZER_PATCH_SUCCESS;
}

#ifdef WARPFOLD_BULK
WARPFOLD_CALLBACK warpfold_bulk(void* data, uint64_t pc, uint64_t to, uint32_t, uint32_t blocks) {
  emit<Payload::kRow>(data, pc, Marker::kBulk, 0, to, blocks);
  return SANITIZER_PATCH_SUCCESS;
}
#endif
