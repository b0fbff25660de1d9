// SPDX-License-Identifier: Apache-2.0
// What the GPU says of a READ at one of its `l2` sockets, beside its command, address and data: a
// load of a 32-byte sector, or additions to words of the sectors that it reads.
//
// To be ignored by whoever wants to: the READ is answered with what these sectors hold, and the GPU
// adds to that and sends a WRITE. Who does the additions itself sets `added` before the response,
// and no WRITE comes. The response then says when they are done; the data of the READ do not
// matter. For a line of 128 bytes it is the one or the other, never both at a time.
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

namespace warpfold::systemc {

enum class AtomicOperation : std::uint8_t {
  kLoad,   // no additions
  kLanes,  // each lane of `mask` adds a value of its own
  kSum,    // one addition: a reduction unit's sum, or software's
  kSums,   // sums of the words in `mask` of the line, from an atomic buffer or software
};

// To a word at an address of the platform: an FP32, or two binary16 values.
struct AtomicAddition {
  sc_dt::uint64 address = 0;
  std::uint32_t value = 0;
  bool halves = false;
};

struct AtomicExtension : tlm::tlm_extension<AtomicExtension> {
  AtomicOperation operation = AtomicOperation::kLoad;
  std::vector<AtomicAddition> additions;  // to be done in this order
  bool added = false;                     // the target has done them

  // How much it is for an L2: additions to one line of 128 bytes, in `turns`, each of which adds to
  // every word once at most.
  std::uint32_t sm = 0;
  std::uint32_t slice = 0;       // of the port
  std::uint32_t mask = 0;        // lanes, or words of the line
  std::uint32_t turns = 0;       // over the line, one after the other
  std::uint32_t packets = 0;     // sector operations of all turns
  std::uint32_t lone_words = 0;  // of them, those that are one flit
  std::uint32_t flits = 0;       // on the crossbar, of all
  std::uint8_t sectors = 0;      // of the line, a bit for each that is added to, or read
  bool whole = false;            // no turn leaves out a word of a sector that it adds to

  // Does the additions, as the GPU would, to memory of which `bytes` is that at `first`.
  void add_to(unsigned char* bytes, sc_dt::uint64 first);

  [[nodiscard]] tlm_extension_base* clone() const override { return new AtomicExtension(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const AtomicExtension&>(other);
  }
};

}  // namespace warpfold::systemc
