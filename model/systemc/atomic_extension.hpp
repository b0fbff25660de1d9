// SPDX-License-Identifier: Apache-2.0
// What a generic payload between an SM and the L2 carries beside its address: which lanes add, and
// how much that is for whoever serves it. The values themselves stay with the GPU, which does the
// additions when the L2 says that they are done.
//
// A payload is one transaction of an SM: additions to one line of the L1's size, in `turns` of
// which each adds to every word once at most, or the read of one 32-byte sector by a load. Its
// command is TLM_IGNORE_COMMAND for additions and TLM_READ_COMMAND for a load; its address is that
// of the first byte that is added to, or read.
#pragma once

#include <cstdint>
#include <tlm>

#include "model/types.hpp"

namespace warpfold::systemc {

enum class AtomicOperation : std::uint8_t {
  kAddLanes,  // each lane of `mask` adds a value of its own
  kAddSum,    // one addition: a reduction unit's sum, or software's
  kAddSums,   // sums of the words in `mask` of the line, from an atomic buffer or software
  kLoad,      // no addition
};

struct AtomicExtension : tlm::tlm_extension<AtomicExtension> {
  AtomicOperation operation = AtomicOperation::kAddLanes;
  std::uint32_t sm = 0;
  std::uint32_t slice = 0;       // of the port
  std::uint32_t lanes = 0;       // additions in all
  LaneMask mask = 0;             // lanes, or words of the line
  std::uint32_t turns = 0;       // over the line, one after the other
  std::uint32_t packets = 0;     // sector operations of all turns
  std::uint32_t lone_words = 0;  // of them, those that are one flit
  std::uint32_t flits = 0;       // on the crossbar, of all
  std::uint8_t sectors = 0;      // of the line, a bit for each that is added to
  bool whole = false;            // no turn leaves out a word of a sector that it adds to

  [[nodiscard]] tlm_extension_base* clone() const override { return new AtomicExtension(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const AtomicExtension&>(other);
  }
};

}  // namespace warpfold::systemc
