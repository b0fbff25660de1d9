// SPDX-License-Identifier: Apache-2.0
// What the model of rounds knows of a transaction: as it comes to a slice, and while it is served.
// Plain values.
#pragma once

#include <cstdint>

#include "model/gpu/memory/round_time.hpp"

namespace warpfold {

// A transaction as it comes: how often it adds to what (transaction.hpp).
struct RoundWork {
  std::uint32_t sm = 0;
  std::uint32_t slice = 0;   // of the port
  std::uint64_t pair = 0;    // of lines, that it adds to
  std::uint8_t sectors = 0;  // of the pair, a bit each
  bool whole = false;        // no turn leaves out a word of a sector that it adds to
  std::uint16_t turns = 0;
  std::uint16_t packets = 0;     // sector operations of all turns
  std::uint16_t lone_words = 0;  // of them, those that are one flit
  std::uint16_t flits = 0;       // of all packets
};

// The same while it is being served: a line of the host's cache.
struct alignas(64) RoundStream {
  std::uint32_t queue = 0;
  std::uint32_t input = 0;
  std::uint32_t slice = 0;
  std::uint8_t sectors = 0;
  Portion weight = 0;    // its turns in a round
  Rounds rounds = 0;     // that it takes
  Fine port = 0;         // what each of its turns takes of the port, times its turns in a round
  Fine time = 0;         // and of its slice's ROP
  Fine wait = 0;         // what a turn on one of its sectors that follows it has to wait
  Fine wait_beside = 0;  // and one on others of the pair of lines
};

// And what all its turns take: of the port, of its slice to be taken in, and of the ROP.
struct RoundTotals {
  Fine port = 0;
  Fine intake = 0;
  Fine additions = 0;
};

}  // namespace warpfold
