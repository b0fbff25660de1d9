// SPDX-License-Identifier: Apache-2.0
// The one interface behind which the golden unit and the Verilated RTL unit stand. It is the port
// list of the RTL module arc_subcore, cycle for cycle; rtl/README.md is its specification.
// Owned by one SM sub-core, which calls tick() once in every cycle in which the unit is clocked.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "model/types.hpp"
#include "model/unit/unit_kind.hpp"

namespace warpfold {

// Banks through which the fused datapath reads: one lane of each in a cycle (arc_pkg::Banks).
inline constexpr std::uint32_t kBanks = 4;
// The same of the paired one (arc_pkg::PairedBanks).
inline constexpr std::uint32_t kPairedBanks = 2;
// Words of a lane that one request of any unit adds at most (arc_pkg::MostWords).
inline constexpr std::uint32_t kMaxWords = 16;
// Lanes that any unit may read in a cycle.
inline constexpr std::uint32_t kMostReadLanes = kLanes;

// Everything that drives the unit during one clock cycle.
struct UnitInputs {
  // atomred request: held unchanged by the requester from valid until ready.
  bool req_valid = false;
  LaneMask req_mask = 0;                   // active lanes
  std::array<Address, kLanes> req_addr{};  // one byte address a lane; inactive lanes are ignored
  Tag req_tag = 0;
  // Operands of the request, 1 to Ports::max_words: word w of lane l is added to req_addr[l] + 4 w.
  // A unit of one word does not look at it; the port has one less.
  std::uint32_t req_words = 1;
  // Memory queue of the sub-core has room. A registered status: it must not depend on this cycle's
  // outputs, because the ARC scheduler reads its absence as "the LSU path is stalled".
  bool lsu_room = false;
  // Register-file read port grants this cycle's read.
  bool rf_ready = false;
  // What the last granted read delivered, from the cycle after its grant until the next grant; see
  // answer_read(). That of lane l is in rf_data[l % Ports::read_lanes], and in rf_bins[l] are the
  // upper exponent bits of lane l of the whole operand word. What was not asked for is ignored.
  std::array<Fp32Bits, kMostReadLanes> rf_data{};
  std::array<std::uint8_t, kLanes> rf_bins{};

  friend bool operator==(const UnitInputs&, const UnitInputs&) = default;
};

// Everything the unit drives during the same cycle, a function of its state and its inputs.
struct UnitOutputs {
  bool req_ready = false;  // the whole request has been passed on with this cycle
  // Transaction to the memory queue: taken when lsu_valid and lsu_room.
  bool lsu_valid = false;
  Address lsu_addr = 0;      // 0 for a plain RED of several addresses
  LaneMask lsu_mask = 0;     // lanes of a plain RED; 1 for a reduced one
  bool lsu_reduced = false;  // true: one addition of lsu_data; false: the lanes' own values
  Fp32Bits lsu_data = 0;
  Tag lsu_tag = 0;
  // A sum of word lsu_word, to be added to lsu_addr + 4 lsu_word; the last one of its packet. A
  // plain RED carries all words of its lanes: word 0 and last.
  std::uint32_t lsu_word = 0;
  bool lsu_last = false;
  // Register-file read of the lanes in rf_mask: granted when rf_valid and rf_ready.
  bool rf_valid = false;
  LaneMask rf_mask = 0;
  Tag rf_tag = 0;
  std::uint32_t rf_word = 0;  // of which word of the operand
  // Holds state. When false and no request is valid, a clock edge changes nothing.
  bool busy = false;

  friend bool operator==(const UnitOutputs&, const UnitOutputs&) = default;
};

// A unit of somebody else gave up, in any of its functions: one line.
class UnitError : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// ArcUnit::Ports::cycles_to_rest of a unit of which nobody knows when it rests.
inline constexpr std::uint32_t kNeverRests = 1U << 30;

class ArcUnit {
 public:
  // What whoever drives the unit has to know of its kind.
  struct Ports {
    // Operands that it and the request in front of it may still have to read at once. A power of
    // two; so many tags are in use.
    std::uint32_t operands = 8;
    // Lanes that one read delivers at most, a power of two: lane l comes through
    // rf_data[l % read_lanes].
    std::uint32_t read_lanes = 1;
    bool sees_exponents = false;  // uses rf_bins, of the whole operand word
    std::uint32_t max_words = 1;  // operands of a request at most, req_words
    // After so many cycles in which the memory queue is full and neither a lane is read nor a
    // request accepted, and a sum waits in all of them or in none, it is at rest (rtl/README.md):
    // after each rest_period of further such cycles it is as it was.
    std::uint32_t cycles_to_rest = 1;
    std::uint32_t rest_period = 1;
  };

  ArcUnit() = default;
  virtual ~ArcUnit() = default;

  // Back to the state after reset: nothing held, busy() false.
  virtual void reset() = 0;

  // One clock cycle: settles the outputs for these inputs, takes the rising edge, returns the
  // outputs as they stood before the edge. Payload fields are zero while their valid is false.
  virtual UnitOutputs tick(const UnitInputs& inputs) = 0;

  [[nodiscard]] virtual Ports ports() const = 0;

  // State held after the last edge: false means the unit need not be clocked until a request.
  [[nodiscard]] virtual bool busy() const = 0;

 protected:
  // Of a unit whose class is known, if that is a plain value.
  ArcUnit(const ArcUnit&) = default;
  ArcUnit& operator=(const ArcUnit&) = default;
};

// Which of the two descriptions of the hardware runs.
enum class UnitModel { kGolden, kRtl };

// "golden" or "rtl"; throws std::invalid_argument on any other name.
UnitModel parse_unit_model(std::string_view name);
std::string_view unit_model_name(UnitModel model);

// The register file's answer to a granted read of `lanes` of an operand, for the next cycle.
void answer_read(UnitInputs& inputs, const ArcUnit::Ports& ports, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand);
void answer_read(UnitInputs& inputs, const UnitKind& kind, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand);
// The bin of a value: its exponent without the lowest three bits (arc_pkg::BinShift).
constexpr std::uint8_t exponent_bin(Fp32Bits value) {
  return static_cast<std::uint8_t>(value >> 26 & 0x1fU);
}

// Which of a transaction's words a sum is, and whether it ends the packet.
struct PacketWord {
  std::uint32_t word = 0;
  bool last = true;
};

// For the golden units: of the lanes left, the lowest of each bank, lane l being of bank l % banks;
// puts a finished sum onto the port to the memory queue, asks the register file for lanes.
constexpr LaneMask lowest_of_each_bank(LaneMask left, std::uint32_t banks) {
  LaneMask lanes = 0;
  for (std::uint32_t bank = 0; bank < banks; ++bank) {
    // In base 2^banks this quotient has a one in every digit.
    const LaneMask multiples = 0xffffffffU / ((1U << banks) - 1);
    const LaneMask of_bank = left & (multiples << bank);
    lanes |= of_bank & (~of_bank + 1U);
  }
  return lanes;
}
inline void offer_sum(UnitOutputs& outputs, Address address, Fp32Bits sum, Tag tag,
                      PacketWord place = {}) {
  outputs.lsu_valid = true;
  outputs.lsu_addr = address;
  outputs.lsu_mask = 1;
  outputs.lsu_reduced = true;
  outputs.lsu_data = sum;
  outputs.lsu_tag = tag;
  outputs.lsu_word = place.word;
  outputs.lsu_last = place.last;
}
inline void ask_for(UnitOutputs& outputs, LaneMask lanes, Tag tag, std::uint32_t word = 0) {
  outputs.rf_valid = true;
  outputs.rf_mask = lanes;
  outputs.rf_tag = tag;
  outputs.rf_word = word;
}

// Makes one unit in reset state. Defined beside the units, so that callers include no Verilated
// header.
// `scheduler`: a rule, by default that of the kind. Throws std::invalid_argument with one line for
// a name that is unknown, or for one that the RTL of the kind does not have, for an RTL unit.
std::unique_ptr<ArcUnit> make_unit(UnitModel model, const UnitKind& kind,
                                   std::string_view scheduler = {});

}  // namespace warpfold
