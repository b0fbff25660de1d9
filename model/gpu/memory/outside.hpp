// SPDX-License-Identifier: Apache-2.0
// What a platform around the GPU may bring in place of the GPU's own: the memory behind each port
// of the L2, or the L2 itself. The GPU asks it for sectors and lines, and is told when it has them.
// The GPU then has one partition, and so one host thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/types.hpp"

namespace warpfold {

// An addition of an OutsideRequest.
struct Addition {
  Address address = 0;
  WordType type = WordType::kFp32;
  Fp32Bits value = 0;
};

// What a transaction of an SM is for whoever serves it (traffic/transaction.hpp).
struct AdditionWork {
  enum class Kind : std::uint8_t {
    kReds,  // each lane of `mask` adds a value of its own
    kSum,   // one addition: a reduction unit's sum, or software's
    kSums,  // sums of the words in `mask` of the line, from an atomic buffer or software
    kLoad,  // of a sector
  };
  Kind kind = Kind::kLoad;
  std::uint32_t sm = 0;
  std::uint32_t slice = 0;       // of the port
  LaneMask mask = 0;             // lanes, or words of the line
  std::uint32_t turns = 0;       // over the line, one after the other
  std::uint32_t packets = 0;     // sector operations of all turns
  std::uint32_t lone_words = 0;  // of them, those that are one flit
  std::uint32_t flits = 0;       // on the crossbar, of all
  std::uint8_t sectors = 0;      // of the line, a bit for each that is added to, or read
  bool whole = false;            // no turn leaves out a word of a sector that it adds to
};

// A read or a write of whole sectors that lie in one line.
struct OutsideRequest {
  bool write = false;
  Address address = 0;
  std::uint32_t bytes = 0;
  std::span<const std::uint8_t> data;  // that is written; until start() returns
  // Of an SM's transaction, what it is. A read that has additions asks for them: whoever can does
  // them and says so in its answer; else the asker adds to what it has read, and writes that.
  const AdditionWork* work = nullptr;
  std::span<const Addition> additions;  // in order
  std::uint64_t id = 0;                 // the asker's
};

struct OutsideAnswer {
  std::uint64_t id = 0;                // OutsideRequest::id
  std::span<const std::uint8_t> data;  // that was read
  bool added = false;                  // the additions are done
  Cycle in = 0;    // the cycle in which it comes; that which ends, or a later one
  Cycle from = 0;  // the first that begins when it comes, or after that
};

// Who asks.
class Asker {
 public:
  virtual ~Asker() = default;
  // Between the two halves of a cycle. May start other accesses.
  virtual void answered(const OutsideAnswer& answer) = 0;
};

// One way out. Accesses go out in the order in which they are started; answers come in any.
class WayOut {
 public:
  virtual ~WayOut() = default;
  // In a cycle's first half, or from answered().
  virtual void start(const OutsideRequest& request, Asker& asker) = 0;
  // At once and outside of time: how many bytes it has read or written. None where what lies
  // outside does not do that.
  virtual std::uint32_t peek(Address address, std::span<std::uint8_t> data) = 0;
  virtual std::uint32_t poke(Address address, std::span<const std::uint8_t> data) = 0;
};

// By port of the L2. One or both are empty: the GPU's own.
struct Outside {
  std::vector<WayOut*> memory;
  std::vector<WayOut*> l2;
  // Of an L2 outside: cycles from its answer to the cycle in which a warp has it.
  Cycle way_back = 1;

  [[nodiscard]] bool any() const { return !memory.empty() || !l2.empty(); }
};

}  // namespace warpfold
