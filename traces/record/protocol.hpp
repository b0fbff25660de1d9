// SPDX-License-Identifier: Apache-2.0
// What the device callbacks, the injected libraries and `warpfold record` say to each other. Plain
// data; device code includes it, too.
//
// A connection is a stream socket. The injected library sends messages, each a MessageHead and so
// many bytes. It waits for an answer after kLaunch alone: a LaunchAnswer and so many bytes.
#pragma once

#include <cstdint>

namespace warpfold::record {

// ---- between the device and the injected library ------------------------------------------------

// A marker: an instruction that the patches report. Accesses to local memory are none: what the
// compiler spills is not reported reliably.
enum class Marker : std::uint32_t {
  kEnter = 1,  // a warp begins; its offset is 0
  kExit,
  kGlobal,
  kShared,
  kBarrier,
  kShuffle,
  kAsync,  // LDGSTS
};

// Each record lies at a multiple of 16 bytes in the ring, and its length is one, too. All four
// words of its head differ from 0 once it is written, and so does each address behind it: whoever
// reads a ring that was zero before needs no further sign that a record is whole.
//   word 0   marker | warp << 4 | kUniform | kWholeBarrier
//   word 1   number of the instruction in its kernel, plus 1
//   word 2   linear index of the CTA, plus 1
//   word 3   active lanes
// A record of an addition goes on with the byte addresses, 8 bytes each, with kAddressTag: one with
// kUniform, else one for each active lane from the lowest. With kOperands, which only the header
// for a program's own kernels sets (header/), the lanes' operands are next: for each word of 32
// bits 8 bytes, with kAddressTag.
inline constexpr std::uint32_t kMarkerBits = 0xfU;
inline constexpr std::uint32_t kWarpShift = 4;
inline constexpr std::uint32_t kWarpBits = 0x1fU;
inline constexpr std::uint32_t kUniform = 1U << 9U;        // all lanes add to one address
inline constexpr std::uint32_t kAddresses = 1U << 10U;     // addresses follow
inline constexpr std::uint32_t kWholeBarrier = 1U << 11U;  // barrier 0, of all threads of the CTA
inline constexpr std::uint32_t kOperands = 1U << 12U;
inline constexpr std::uint32_t kTypeShift = 13;  // of a trace::ValueType, in records of the header
inline constexpr std::uint32_t kTypeBits = 3;
inline constexpr std::uint64_t kAddressTag = std::uint64_t{1} << 63U;
inline constexpr std::uint32_t kHeadWords = 4;
inline constexpr std::uint32_t kInstructionBytes = 16;

// Words of 32 bits that a lane's operand has.
constexpr std::uint32_t operand_words(std::uint32_t first) {
  constexpr std::uint32_t f64 = 3;
  return (first & kOperands) == 0 ? 0 : ((first >> kTypeShift & kTypeBits) == f64 ? 2 : 1);
}

// Words of a record with so many active lanes and this first word, without kOperands.
constexpr std::uint32_t plain_record_words(std::uint32_t first, std::uint32_t lanes) {
  if ((first & kAddresses) == 0) {
    return kHeadWords;
  }
  const std::uint32_t addresses = (first & kUniform) != 0 ? 1 : lanes;
  return kHeadWords + (2 * addresses + 3) / 4 * 4;
}
// The same of any record.
constexpr std::uint32_t record_words(std::uint32_t first, std::uint32_t lanes) {
  if ((first & kOperands) == 0) {
    return plain_record_words(first, lanes);
  }
  const std::uint32_t addresses = (first & kUniform) != 0 ? 1 : lanes;
  return kHeadWords + (2 * (addresses + operand_words(first) * lanes) + 3) / 4 * 4;
}

// What a launch's callbacks work on; in device memory.
struct Ring {
  unsigned long long reserved;  // words given to records
  unsigned long long limit;     // up to where `words` is free, as far as the device knows
  const volatile unsigned long long* tail;  // in host memory: words that were read
  std::uint32_t* words;                     // in host memory
  unsigned long long capacity;              // words, a power of two
  std::uint64_t pc;                         // of the kernel's first instruction
  const std::uint8_t* additions;  // for each instruction: whether its addresses are wanted
  std::uint32_t instructions;
  std::uint32_t every;  // of the CTAs, those with an index modulo `every` of `phase` are recorded
  std::uint32_t phase;
};

// ---- between the injected library and `warpfold record` -----------------------------------------

enum class Message : std::uint32_t {
  kHello = 1,  // JSON: who it is, see inject/hello.hpp
  kModule,     // a number, 8 bytes, and a cubin
  kLaunch,     // JSON: a launch that may be recorded
  kRecords,    // words of the ring
  kLaunchEnd,  // JSON: how it ended
  kTimes,      // JSON: launches with their times
};

struct MessageHead {
  Message kind;
  std::uint32_t reserved;
  std::uint64_t bytes;
};

// Whether to record a launch, and Ring::additions behind it.
struct LaunchAnswer {
  std::uint32_t record;
  std::uint32_t every;
  std::uint64_t instructions;
};

// Environment of the program.
inline constexpr const char* kSocketVariable = "WARPFOLD_RECORD_SOCKET";
inline constexpr const char* kPatchesVariable = "WARPFOLD_RECORD_PATCHES";

}  // namespace warpfold::record
