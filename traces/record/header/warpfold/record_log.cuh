// SPDX-License-Identifier: Apache-2.0
// What a kernel calls to be recorded, the ring that it writes into, and the file that the ring is
// emptied into. See record.cuh.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif

namespace warpfold::record {

// A file of one launch: kMagic; records; four words, of which the first is 0, the second the bytes
// of the text behind them, the others the number of words before them, lower half first; a text in
// JSON. Each record has a multiple of four words. Neither the words of its head nor the upper
// halves of what follows are 0 once they are written.
//   word 0   marker | warp << 4 | flags | type << 13
//   word 1   parameter | site << 8, plus 1
//   word 2   linear index of the CTA, plus 1
//   word 3   active lanes
// An addition goes on with its addresses, 8 bytes each with kTag: one with kUniform, else one for
// each active lane from the lowest. With kOperands the lanes' operands are next, 8 bytes for each
// word of 32 bits, with kTag.
namespace layout {

inline constexpr const char* kMagic = "warpfold.record/1";
inline constexpr std::size_t kMagicBytes = 32;  // with line feeds behind it
enum Marker : std::uint32_t { kEnter = 1, kExit = 2, kAddition = 3, kBarrier = 5 };
enum Type : std::uint32_t { kF32 = 0, kF16x2 = 1, kBf16x2 = 2, kF64 = 3 };
inline constexpr std::uint32_t kWarpShift = 4;
inline constexpr std::uint32_t kUniform = 1U << 9U;
inline constexpr std::uint32_t kAddresses = 1U << 10U;
inline constexpr std::uint32_t kWholeBarrier = 1U << 11U;
inline constexpr std::uint32_t kOperands = 1U << 12U;
inline constexpr std::uint32_t kTypeShift = 13;
inline constexpr std::uint32_t kTypeBits = 3;
inline constexpr std::uint32_t kParameterShift = 8;
inline constexpr std::uint32_t kMostParameters = 64;
inline constexpr std::uint32_t kMostSites = 1U << 23U;
inline constexpr std::uint32_t kHeadWords = 4;
inline constexpr std::uint64_t kTag = std::uint64_t{1} << 63U;

#if defined(__CUDACC__)
#define WARPFOLD_RECORD_BOTH __host__ __device__
#else
#define WARPFOLD_RECORD_BOTH
#endif

// Pairs of words behind the head.
WARPFOLD_RECORD_BOTH constexpr std::uint32_t payload(std::uint32_t first, std::uint32_t lanes) {
  const std::uint32_t addresses =
      (first & kAddresses) == 0 ? 0 : ((first & kUniform) != 0 ? 1 : lanes);
  const std::uint32_t each = (first >> kTypeShift & kTypeBits) == kF64 ? 2 : 1;
  return addresses + ((first & kOperands) != 0 ? each * lanes : 0);
}
WARPFOLD_RECORD_BOTH constexpr std::uint32_t record_words(std::uint32_t first,
                                                          std::uint32_t lanes) {
  return kHeadWords + (2 * payload(first, lanes) + 3) / 4 * 4;
}
#undef WARPFOLD_RECORD_BOTH

}  // namespace layout

// Empties a ring into a file while a kernel fills it.
class RingFile {
 public:
  // `words`: `capacity` words, a power of two, all 0. `tail`: where the device reads how far the
  // ring has been read. All must outlive it.
  RingFile(std::FILE* file, volatile std::uint32_t* words, std::uint64_t capacity,
           volatile unsigned long long* tail)
      : file_(file), words_(words), capacity_(capacity), tail_(tail) {
    thread_ = std::thread([this] { run(); });
  }
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;
  ~RingFile() {
    if (thread_.joinable()) {
      given_up_.store(true);
      thread_.join();
    }
  }

  // `words`: what the device has given out. Returns what is wrong, or nothing.
  std::string finish(std::uint64_t words) {
    end_.store(words);
    thread_.join();
    if (failed_) {
      return "cannot be written";
    }
    return read_ == words ? "" : "records were lost";
  }

 private:
  static constexpr std::size_t kBatchWords = std::size_t{1} << 18U;
  static constexpr int kPatience =
      20'000;  // looks at the end of a ring that has an end, 50 us each

  void run() {
    int idle = 0;
    while (read_ != end_.load() && !given_up_.load()) {
      if (take_record()) {
        idle = 0;
        if (batch_.size() >= kBatchWords) {
          flush();
        }
        continue;
      }
      flush();
      if (++idle > 256) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      if (end_.load() != ~std::uint64_t{0} && idle > kPatience) {
        break;
      }
    }
    flush();
  }

  // False if the next record is not whole yet.
  bool take_record() {
    const std::uint64_t mask = capacity_ - 1;
    volatile std::uint32_t* head = words_ + (read_ & mask);
    const std::uint32_t first = head[0];
    const std::uint32_t lanes = head[3];
    if (first == 0 || head[1] == 0 || head[2] == 0 || lanes == 0) {
      return false;
    }
    const auto count = static_cast<std::uint32_t>(__builtin_popcount(lanes));
    const std::uint32_t pairs = layout::payload(first, count);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      if (words_[(read_ + layout::kHeadWords + 2 * i + 1) & mask] >> 31U == 0) {
        return false;
      }
    }
    const std::uint32_t length = layout::record_words(first, count);
    for (std::uint32_t i = 0; i < length; ++i) {
      volatile std::uint32_t& word = words_[(read_ + i) & mask];
      batch_.push_back(std::uint32_t{word});
      word = 0;
    }
    read_ += length;
    return true;
  }

  // Gives the room of what was read back, whether or not it can be kept: the kernel has to end.
  void flush() {
    if (batch_.empty()) {
      return;
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *tail_ = read_;
    failed_ = failed_ || std::fwrite(batch_.data(), sizeof(std::uint32_t), batch_.size(), file_) !=
                             batch_.size();
    batch_.clear();
  }

  std::FILE* file_;
  volatile std::uint32_t* words_;
  const std::uint64_t capacity_;
  volatile unsigned long long* tail_;
  std::vector<std::uint32_t> batch_;
  std::uint64_t read_ = 0;
  bool failed_ = false;
  std::atomic<bool> given_up_{false};
  std::atomic<std::uint64_t> end_{~std::uint64_t{0}};
  std::thread thread_;
};

#if defined(__CUDACC__)

// An addition whose operand is kept: Operand(sums + i, x).
template <typename T>
struct Operand {
  // `operand` is converted to what the pointer points to.
  __device__ Operand(T* to, std::enable_if_t<true, T> operand) : pointer(to), value(operand) {}
  T* pointer;
  T value;
};

// In place of a Log in a kernel that is not recorded: the compiler leaves nothing of it.
struct NoLog {
  struct Warp {
    __device__ ~Warp() {}
  };
  __device__ Warp warp() const { return {}; }
  template <typename... Additions>
  __device__ void event(std::uint32_t, const Additions&...) const {}
  __device__ void barrier() const {}
};

// A kernel's way to the ring; a Session makes it. Pass it by value.
class Log {
 public:
  // The lanes that are active here begin, and end where this goes out of scope.
  class Warp {
   public:
    __device__ explicit Warp(const Log& log) : log_(log) { log_.begin(); }
    __device__ ~Warp() { log_.mark(layout::kExit, 0); }
    Warp(const Warp&) = delete;
    Warp& operator=(const Warp&) = delete;

   private:
    const Log& log_;
  };
  __device__ Warp warp() const { return Warp(*this); }

  // Beside one atomicAdd, or several in a row by the same lanes: where each adds. `site` is a
  // number for this place of the kernel, below 2^23.
  template <typename T, typename... More>
  __device__ void event(std::uint32_t site, T* first, More*... more) const {
    static_assert((std::is_same<T, More>::value && ...), "a site adds values of one type");
    const std::uint64_t addresses[] = {reinterpret_cast<std::uint64_t>(first),
                                       reinterpret_cast<std::uint64_t>(more)...};
    add<T, false, 1 + sizeof...(More)>(site, addresses, nullptr);
  }
  // The same with what each adds.
  template <typename T, typename... More>
  __device__ void event(std::uint32_t site, const Operand<T>& first,
                        const Operand<More>&... more) const {
    static_assert((std::is_same<T, More>::value && ...), "a site adds values of one type");
    const std::uint64_t addresses[] = {reinterpret_cast<std::uint64_t>(first.pointer),
                                       reinterpret_cast<std::uint64_t>(more.pointer)...};
    const std::uint64_t operands[] = {bits(first.value), bits(more.value)...};
    add<T, true, 1 + sizeof...(More)>(site, addresses, operands);
  }
  // Beside each __syncthreads().
  __device__ void barrier() const { mark(layout::kBarrier, layout::kWholeBarrier); }

 private:
  friend class Session;
  struct State {
    unsigned long long reserved;  // words given to records
    unsigned long long limit;     // up to where the ring is free, as far as the device knows
    unsigned long long begun;     // threads
    unsigned grid[3], block[3], dynamic_shared;
  };

  static __device__ std::uint64_t bits(float value) { return __float_as_uint(value); }
  static __device__ std::uint64_t bits(double value) {
    return static_cast<std::uint64_t>(__double_as_longlong(value));
  }
  static __device__ std::uint64_t bits(__half2 value) {
    return *reinterpret_cast<const std::uint32_t*>(&value);
  }
  static __device__ std::uint64_t bits(__nv_bfloat162 value) {
    return *reinterpret_cast<const std::uint32_t*>(&value);
  }
  template <typename T>
  static __device__ constexpr layout::Type type_of() {
    static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value ||
                      std::is_same<T, __half2>::value || std::is_same<T, __nv_bfloat162>::value,
                  "a trace has float, double, __half2 and __nv_bfloat162");
    return std::is_same<T, double>::value           ? layout::kF64
           : std::is_same<T, __half2>::value        ? layout::kF16x2
           : std::is_same<T, __nv_bfloat162>::value ? layout::kBf16x2
                                                    : layout::kF32;
  }

  static __device__ std::uint32_t cta() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  static __device__ std::uint32_t lane() {
    std::uint32_t lane = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }
  __device__ bool recorded() const { return every_ <= 1 || cta() % every_ == every_ / 2; }

  __device__ void begin() const {
    const std::uint32_t mask = __activemask();
    if (lane() == static_cast<std::uint32_t>(__ffs(static_cast<int>(mask)) - 1)) {
      atomicAdd(&state_->begun, static_cast<unsigned long long>(__popc(mask)));
      if (*static_cast<volatile unsigned*>(state_->block) == 0) {
        const unsigned shape[] = {gridDim.x,  gridDim.y,  gridDim.z,
                                  blockDim.x, blockDim.y, blockDim.z};
        for (int i = 0; i < 3; ++i) {
          state_->grid[i] = shape[i];
          state_->block[i] = shape[3 + i];
        }
        asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(state_->dynamic_shared));
      }
    }
    mark(layout::kEnter, 0);
  }

  // Waits, some seconds at most, for the ring to be free up to `end`; up to where it is.
  //
  // A lane that sleeps or yields lets the others of its warp go on past the point where they meet
  // again, and the warp would part as it does not without a recorder. The compiler yields in every
  // loop that reads memory, and where a function begins. So there is neither: the host is asked a
  // fixed number of times, after pauses that double.
  __device__ __forceinline__ unsigned long long wait(unsigned long long end) const {
    unsigned long long limit = 0;
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      if (end > limit) {
        for (const long long begin = clock64(); clock64() - begin < kPause << turn;) {
        }
        limit = *tail_ + capacity_;
      }
    }
    return limit;
  }

  // Room for so many words; waits until they have been read.
  __device__ unsigned long long reserve(std::uint32_t words) const {
    const unsigned long long at =
        atomicAdd(&state_->reserved, static_cast<unsigned long long>(words));
    if (at + words > *static_cast<volatile unsigned long long*>(&state_->limit)) {
      unsigned long long limit = *tail_ + capacity_;
      if (at + words > limit) {
        limit = wait(at + words);
      }
      while (at + words > limit) {  // lest lanes of a warp wait for each other for ever
        __nanosleep(2000);
        limit = *tail_ + capacity_;
      }
      atomicMax(&state_->limit, limit);
    }
    return at;
  }

  __device__ void put_head(unsigned long long at, std::uint32_t first, std::uint32_t number,
                           std::uint32_t mask) const {
    const std::uint32_t thread =
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    asm volatile(
        "st.volatile.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(words_ + (at & (capacity_ - 1))),
        "r"(first | thread / 32U << layout::kWarpShift), "r"(number + 1U), "r"(cta() + 1U),
        "r"(mask)
        : "memory");
  }
  __device__ void put(unsigned long long at, std::uint64_t value) const {
    *reinterpret_cast<volatile unsigned long long*>(words_ + (at & (capacity_ - 1))) =
        value | layout::kTag;
  }

  __device__ void mark(layout::Marker marker, std::uint32_t flags) const {
    if (!recorded()) {
      return;
    }
    const std::uint32_t mask = __activemask();
    if (lane() == static_cast<std::uint32_t>(__ffs(static_cast<int>(mask)) - 1)) {
      put_head(reserve(layout::kHeadWords), marker | flags, 0, mask);
    }
  }

  // The records of all parameters lie one behind the other.
  template <typename T, bool kWithOperands, std::uint32_t kCount>
  __device__ void add(std::uint32_t site, const std::uint64_t (&addresses)[kCount],
                      const std::uint64_t* operands) const {
    static_assert(kCount <= layout::kMostParameters, "too many additions for one event");
    constexpr std::uint32_t kFirst = layout::kAddition | layout::kAddresses |
                                     static_cast<std::uint32_t>(type_of<T>())
                                         << layout::kTypeShift |
                                     (kWithOperands ? layout::kOperands : 0);
    if (!recorded()) {
      return;
    }
    if (site >= layout::kMostSites) {
      __trap();
    }
    const std::uint32_t mask = __activemask();
    const std::uint32_t leader = __ffs(static_cast<int>(mask)) - 1;
    const std::uint32_t rank = __popc(mask & ((1U << lane()) - 1U));
    const std::uint32_t lanes = __popc(mask);
    std::uint32_t first[kCount];
    std::uint32_t words = 0;
    for (std::uint32_t k = 0; k < kCount; ++k) {
      const std::uint64_t leading = __shfl_sync(mask, addresses[k], static_cast<int>(leader));
      first[k] = kFirst | (__all_sync(mask, addresses[k] == leading) != 0 ? layout::kUniform : 0);
      words += layout::record_words(first[k], lanes);
    }
    unsigned long long at = 0;
    if (rank == 0) {
      at = reserve(words);
    }
    at = __shfl_sync(mask, at, static_cast<int>(leader));
    for (std::uint32_t k = 0; k < kCount; ++k) {
      const bool uniform = (first[k] & layout::kUniform) != 0;
      if (!uniform || rank == 0) {
        put(at + layout::kHeadWords + 2 * (uniform ? 0 : rank), addresses[k]);
      }
      if constexpr (kWithOperands) {
        const unsigned long long behind = at + layout::kHeadWords + 2 * (uniform ? 1 : lanes);
        if constexpr (type_of<T>() == layout::kF64) {
          put(behind + 4 * rank, operands[k] & 0xffffffffU);
          put(behind + 4 * rank + 2, operands[k] >> 32U);
        } else {
          put(behind + 2 * rank, operands[k]);
        }
      }
      if (rank == 0) {
        put_head(at, first[k], site << layout::kParameterShift | k, mask);
      }
      at += layout::record_words(first[k], lanes);
    }
  }

  static constexpr long long kPause = 4000;  // cycles
  static constexpr int kTurns = 22;

  State* state_ = nullptr;
  const volatile unsigned long long* tail_ = nullptr;
  std::uint32_t* words_ = nullptr;
  unsigned long long capacity_ = 0;
  std::uint32_t every_ = 1;
};

#endif  // __CUDACC__

}  // namespace warpfold::record
