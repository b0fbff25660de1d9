// SPDX-License-Identifier: Apache-2.0
// What the device callbacks, the injected libraries and `warpfold record` say to each other. Plain
// data; device code includes it, too.
//
// A connection is a stream socket. The injected library sends messages, each a MessageHead and so
// many bytes. It waits for an answer after kLaunch alone: a LaunchAnswer and so many bytes.
//
// Several launches may be recorded at a time. Each has a slot, and their records share one ring.
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
  kBulk,   // a reduction of a row of shared memory to global memory; uniform
};

// Each record lies at a multiple of 16 bytes in the ring, and its length is one, too. All four
// words of its head differ from 0 once it is written, and so does each address behind it: whoever
// reads a ring that was zero before needs no further sign that a record is whole.
//   word 0   marker | warp << 4 | kUniform | kWholeBarrier | slot << 16
//   word 1   number of the instruction in its kernel, plus 1
//   word 2   linear index of the CTA, plus 1
//   word 3   active lanes
// A record of an addition goes on with the byte addresses, 8 bytes each, with kAddressTag: one with
// kUniform, else one for each active lane from the lowest. With kOperands, which only the header
// for a program's own kernels sets (header/), the lanes' operands are next: for each word of 32
// bits 8 bytes, with kAddressTag. A record of kBulk has one address and its length in units of 16
// bytes, both with kAddressTag.
// A record of a load or a store goes on with the lines that it touches, in the order of the lanes
// that come to them first: kAddressTag | line << kLineSectors | a bit for each of its sectors. The
// first word says how many there are.
inline constexpr std::uint32_t kMarkerBits = 0xfU;
inline constexpr std::uint32_t kWarpShift = 4;
inline constexpr std::uint32_t kWarpBits = 0x1fU;
inline constexpr std::uint32_t kUniform = 1U << 9U;        // all lanes add to one address
inline constexpr std::uint32_t kAddresses = 1U << 10U;     // addresses follow
inline constexpr std::uint32_t kWholeBarrier = 1U << 11U;  // barrier 0, of all threads of the CTA
inline constexpr std::uint32_t kOperands = 1U << 12U;
inline constexpr std::uint32_t kTypeShift = 13;  // of a trace::ValueType, in records of the header
inline constexpr std::uint32_t kTypeBits = 3;
inline constexpr std::uint32_t kSlotShift = 16;
inline constexpr std::uint32_t kSlotBits = 0x3fU;
inline constexpr std::uint32_t kSlots = 64;  // launches that are recorded at a time, of a context
static_assert(kSlots == kSlotBits + 1);
inline constexpr std::uint32_t kLinesShift = 22;
inline constexpr std::uint32_t kLinesBits = 0x3fU;
inline constexpr std::uint32_t kLineShift = 7;    // of an address
inline constexpr std::uint32_t kSectorShift = 5;  // the same
inline constexpr std::uint32_t kLineSectors = 4;
inline constexpr std::uint64_t kAddressTag = std::uint64_t{1} << 63U;
inline constexpr std::uint32_t kHeadWords = 4;
inline constexpr std::uint32_t kInstructionBytes = 16;

// The slot of a record with this first word, and the lines behind it.
constexpr std::uint32_t slot_of(std::uint32_t first) {
  return first >> kSlotShift & kSlotBits;
}
constexpr std::uint32_t lines_of(std::uint32_t first) {
  return first >> kLinesShift & kLinesBits;
}

// Words of 32 bits that a lane's operand has.
constexpr std::uint32_t operand_words(std::uint32_t first) {
  constexpr std::uint32_t f64 = 3;
  return (first & kOperands) == 0 ? 0 : ((first >> kTypeShift & kTypeBits) == f64 ? 2 : 1);
}

// Numbers of 8 bytes behind the head of a record with so many active lanes and this first word,
// without kOperands.
constexpr std::uint32_t plain_payload(std::uint32_t first, std::uint32_t lanes) {
  if ((first & kAddresses) == 0) {
    return lines_of(first);
  }
  if ((first & kMarkerBits) == static_cast<std::uint32_t>(Marker::kBulk)) {
    return 2;
  }
  return (first & kUniform) != 0 ? 1 : lanes;
}
constexpr std::uint32_t words_with(std::uint32_t payload) {
  return kHeadWords + (2 * payload + 3) / 4 * 4;
}
// Words of such a record.
constexpr std::uint32_t plain_record_words(std::uint32_t first, std::uint32_t lanes) {
  return words_with(plain_payload(first, lanes));
}
// The same of any record.
constexpr std::uint32_t record_words(std::uint32_t first, std::uint32_t lanes) {
  return words_with(plain_payload(first, lanes) + operand_words(first) * lanes);
}

// What all launches of a context write their records into; in device memory.
struct Ring {
  unsigned long long reserved;  // words given to records
  unsigned long long limit;     // up to where `words` is free, as far as the device knows
  const volatile unsigned long long* tail;  // in host memory: words that were read
  std::uint32_t* words;                     // in host memory
  unsigned long long capacity;              // words, a power of two
};

// Of an instruction, what is wanted beside the marker: each lane's address, or the lines.
enum Wanted : std::uint8_t { kNothing = 0, kLaneAddresses = 1, kLines = 2 };

// What one launch's callbacks work on; in device memory.
struct LaunchControl {
  Ring* ring;
  std::uint64_t pc;            // of the kernel's first instruction
  const std::uint8_t* wanted;  // for each instruction what is wanted of it: a Wanted
  // Of a node of a graph: its grid, and who else is recorded of the kernel in that launch of the
  // graph, or null: all nodes of a kernel have the data of the one that was set last. Else 0.
  std::uint64_t grid;
  const LaunchControl* next;
  std::uint32_t instructions;
  std::uint32_t every;  // of the CTAs, those with an index modulo `every` of `phase` are recorded
  std::uint32_t phase;
  std::uint32_t slot;
};

// ---- between the injected library and `warpfold record` -----------------------------------------

enum class Message : std::uint32_t {
  kHello = 1,    // JSON: which library in which process
  kModule,       // a number, 8 bytes, and a cubin
  kLaunch,       // JSON: a launch that may be recorded
  kSeen,         // JSON: one of a kernel of which no more are recorded
  kAllocations,  // JSON: what memory there is as a launch begins that is recorded
  kRecords,      // words of the ring, of any launches
  kLaunchEnd,    // JSON: how the launch in a slot ended, or that nothing can be recorded
  kTimes,        // JSON: launches with their times
  kNote,         // JSON: what the user is to know
  kStuck,        // JSON: what the recorder has waited for too long
};

struct MessageHead {
  Message kind;
  std::uint32_t reserved;
  std::uint64_t bytes;
};

// Whether to record a launch, and LaunchControl::wanted behind it.
struct LaunchAnswer {
  enum Verdict : std::uint32_t {
    kNo = 0,
    kYes,
    kNoMore,  // nor any later one of the kernel, but they are to be told of by kSeen
    kNever,   // the kernel is of no interest
  };
  std::uint32_t record;
  std::uint32_t every;
  std::uint64_t instructions;
};

// Environment of the program.
inline constexpr const char* kSocketVariable = "WARPFOLD_RECORD_SOCKET";
inline constexpr const char* kPatchesVariable = "WARPFOLD_RECORD_PATCHES";
inline constexpr const char* kPatienceVariable = "WARPFOLD_RECORD_PATIENCE";  // seconds

}  // namespace warpfold::record
