// SPDX-License-Identifier: Apache-2.0
// A transaction on its way from an SM to a ROP. Plain values; the blocks that hold it say when it
// moves.
#pragma once

#include <cstdint>

#include "model/gpu/cta/cta.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/types.hpp"

namespace warpfold {

// Additions to one line, or to one 32-byte sector where an atomic buffer takes or sends them: what
// the load-store unit sends to an L2 slice. In each of its `turns` every word is added to once at
// most, so lanes on one and the same address need one each; turns over a line add to the same
// sectors. `packets` counts the sector operations of all turns. A turn is one flit where it adds to
// one word in all, else a head and one for each sector.
//
// Or a load's: one of the sectors of the line that a warp reads.
struct TransactionFields {
  // Which warp of its SM is answered by this one, if any: of a load's, by the last; of a RED's, by
  // all where warps wait for their REDs.
  static constexpr std::uint8_t kNoAnswer = 0xff;
  bool load : 1 = false;
  bool reduced : 1 = false;
  bool uniform : 1 = false;  // all lanes of `mask` add to `address`
  // Sums of the words in `mask` of the line, at `data` in the LineSumsPool.
  bool partial : 1 = false;
  bool own : 1 = false;     // the sums are lanes' own values
  bool flush : 1 = false;   // no addition: the end of the kernel, for an atomic buffer
  bool whole : 1 = false;   // no turn leaves out a word of a sector that it adds to
  bool passes : 1 = false;  // by an atomic or merge buffer
  // A load or store of the `sectors` of a line, which the L2 looks up.
  bool access : 1 = false;
  std::uint8_t subcore = 0;
  std::uint8_t answers = kNoAnswer;  // its slot in the sub-core
  std::uint8_t sectors = 0;          // of the line, those that are added to, or read
  std::uint16_t parameter = 0;       // among those of all sites
  std::uint16_t turns = 0;
  std::uint16_t packets = 0;
  std::uint16_t lone_words = 0;  // of the packets, those that are one flit
  std::uint16_t flits = 0;       // of all packets
  std::uint8_t slice = 0;        // of the port of the L2, once it is on its way there
  LaneMask mask = 0;
  Fp32Bits data = 0;
  Address address = 0;            // of the first lane, or of the reduced addition
  CtaContext* last_of = nullptr;  // the CTA of the RED of which it is the last one

  // What it takes of the buffer of a port, in half flits: a lone word is half of one, and a load
  // none.
  [[nodiscard]] std::uint32_t room() const { return 2U * flits - lone_words; }
  // Sums that a port of the L2 has merged: they have not come to it over the network.
  [[nodiscard]] bool of_port() const { return flits == 0; }
};

// Moves from block to block, and with it its hold on the CTA.
struct Transaction : TransactionFields {
  EventRef event;  // unless reduced or partial
};

// Who is answered by it, as one word, and the parts of that.
constexpr std::uint64_t asker_of(const TransactionFields& transaction) {
  return std::uint64_t{transaction.subcore} << 8U | transaction.answers;
}
constexpr std::uint32_t subcore_of_asker(std::uint64_t asker) {
  return static_cast<std::uint32_t>(asker >> 8U);
}
constexpr std::uint32_t slot_of_asker(std::uint64_t asker) {
  return static_cast<std::uint32_t>(asker & 0xffU);
}

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

}  // namespace warpfold
