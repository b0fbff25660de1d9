// SPDX-License-Identifier: Apache-2.0
// Runs two units side by side, cycle by cycle, and stops at the first output that differs. Lockstep
// stands in for the sub-core around the unit: it holds the request, grants register-file reads and
// takes transactions, with seeded random back-pressure. It also checks what leaves the unit against
// the request itself, so that a fault common to both units is found as well.
// Owned by a test or by regress_trace(); its clock is its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_declaration.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// splitmix64: small, fast, and the same numbers on every host.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15U); }
  // Below `bound`, which is less than 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) < probability * 0x1p53;
  }
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// A ready signal that is low in the fraction `stall_probability` of all cycles. Time is cut into
// phases of 1 to 64 cycles, one in sixteen of them eight times as long. In half of the phases every
// cycle is drawn by itself; the others are stalled or ready throughout.
class BackPressure {
 public:
  BackPressure(std::uint64_t seed, double stall_probability);
  bool next_ready();

 private:
  SplitMix64 random_;
  double stall_probability_;
  double phase_stall_ = 0;
  std::uint32_t left_ = 0;
};

// One atomred and the operand values that its lanes hold in the register file.
struct AtomredRequest {
  using Operand = std::array<Fp32Bits, kLanes>;

  LaneMask mask = 0;
  std::array<Address, kLanes> addresses{};
  Operand values{};
  std::vector<Operand> more_words;  // a request of the vector unit: those behind the first

  [[nodiscard]] std::uint32_t words() const {
    return 1 + static_cast<std::uint32_t>(more_words.size());
  }
  // Of a word below words().
  [[nodiscard]] const Operand& operand(std::uint32_t word) const {
    return word == 0 ? values : more_words[word - 1];
  }
};

// Called with what stands at the ports in a cycle, before it is compared; may be empty.
using PortWatch = std::function<void(Cycle cycle, const UnitInputs& inputs, const UnitOutputs& unit,
                                     const UnitOutputs& golden)>;

struct LockstepOptions {
  UnitKind kind = UnitKind::kSerial;
  const UnitPromise* promise = nullptr;  // of units that are of no kind
  std::uint64_t seed = 1;
  double lsu_stall_probability = 0.5;  // both: at least 0 and below 1
  double rf_stall_probability = 0.25;
  double gap_probability = 0.25;  // that a request comes 1 to 8 cycles late, rarely 1 to 64
  // While there is nothing to do, each unit is clocked or not at random: that must not matter.
  bool gate_idle = true;
  PortWatch watch = nullptr;
};

struct LockstepCounts {
  std::uint64_t cycles = 0;
  std::uint64_t requests = 0;
  std::uint64_t plain_transactions = 0;
  std::uint64_t plain_lanes = 0;           // once for each word
  std::uint64_t reduced_transactions = 0;  // sums: one for each word
  std::uint64_t reduced_lanes = 0;
};

class Lockstep {
 public:
  // `unit` is the one under test, `golden` the one that it must equal; both are reset.
  // Throws std::invalid_argument if a stall probability is out of range.
  Lockstep(ArcUnit& unit, ArcUnit& golden, const LockstepOptions& options);

  // Offers one request after a random gap and runs until it is accepted. False at the first
  // difference, also found earlier; message() then says which.
  bool send(const AtomredRequest& request);
  // Runs until both units are idle and checks that every lane has left exactly once.
  bool drain();

  // One line, "cycle 12: lsu_data_o: unit 0x3f800000, golden 0x3f800001"; empty as long as none.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const LockstepCounts& counts() const { return counts_; }

 private:
  // A request on its way through the unit. At most four are: held, in the word sequencer, and two
  // in the reduction unit. The low bits of a tag are its slot, the rest counts, so that all tag
  // bits move.
  static constexpr std::size_t kSlots = 8;
  struct Slot {
    AtomredRequest request;
    Tag tag = 0;
    LaneMask remaining = 0;  // lanes that have not left the unit, with all of their words
    // Lanes that the unit has not read from the register file, of each word.
    std::array<LaneMask, kMaxWords> unread{};
    bool held = false;  // not accepted yet

    // Lanes no word of which has been read.
    [[nodiscard]] LaneMask untouched() const;
  };
  // The packet of sums of which the last one has not come.
  struct OpenPacket {
    Slot* slot = nullptr;
    Address address = 0;
    std::uint32_t next_word = 0;
  };

  bool cycle();
  bool check_functionally(const UnitOutputs& outputs);
  bool check_transaction(const UnitOutputs& outputs);
  bool check_read(const UnitOutputs& outputs);
  bool check_sum(const UnitOutputs& outputs, Slot& slot);
  bool check_place(const UnitOutputs& outputs, Slot& slot);
  bool check_value(Fp32Bits value, LaneMask lanes, const std::array<Fp32Bits, kLanes>& values);
  bool check_red(const UnitOutputs& outputs, Slot& slot);
  bool fail(std::string_view what);
  bool fail(std::string_view port, std::uint64_t unit_value, std::string_view other,
            std::uint64_t other_value);
  Slot* slot_of(Tag tag);

  ArcUnit& unit_;
  ArcUnit& golden_;
  ArcUnit::Ports unit_ports_;
  const UnitPromise* promise_;
  UnitKind kind_;
  double gap_probability_;
  bool gate_idle_;
  PortWatch watch_;
  std::uint64_t first_tag_;  // so that short runs move the upper bits as well
  SplitMix64 random_;
  BackPressure lsu_;
  BackPressure rf_;
  std::array<Slot, kSlots> slots_;
  UnitInputs inputs_;
  Slot* held_ = nullptr;
  OpenPacket packet_;
  std::uint64_t quiet_cycles_ = 0;  // since the last handshake
  LockstepCounts counts_;
  std::string message_;
};

struct RegressResult {
  bool passed = true;
  std::string message;  // the first difference in one line, with the event that led to it
  std::uint64_t ctas = 0;
  std::uint64_t events = 0;
  LockstepCounts counts;
};

struct RegressOptions {
  UnitKind kind = UnitKind::kSerial;
  std::string scheduler = {};  // of both units, by default that of the kind
  std::uint64_t seed = 1;
  std::uint64_t max_events = 0;          // 0: all
  double stall_probability = 0.5;        // of the memory queue; of the register file, half of it
  ArcUnit* unit = nullptr;               // the unit under test instead of the RTL
  ArcUnit* golden = nullptr;             // and the one that it must equal instead of the kind's
  const UnitPromise* promise = nullptr;  // of units that are of no kind
  PortWatch watch = nullptr;
  // Called after the last warp of every CTA.
  std::function<void(const RegressResult&)> progress = nullptr;
};

// Operand value for a trace without values: a function of its arguments and of nothing else. All
// lanes of an instruction draw from one kind of values, because a single NaN would hide the others:
// one instruction in eight from all bit patterns, so that infinities, NaNs and overflows meet; one
// from zeros of both signs, subnormals and the smallest normal numbers; one from powers of two near
// 1, whose sums often cancel; the other five from normal numbers of 2^-12 to 2^5, with some zeros.
Fp32Bits synthetic_value(std::uint64_t cta, std::uint32_t warp, std::uint64_t event,
                         std::uint32_t parameter, std::uint32_t lane);

// Two binary16 values that are to each other about what these are: signs, upper bits of the
// fractions, and exponents brought into their range, those near its ends to its ends.
Fp32Bits halves_after(Fp32Bits lower, Fp32Bits upper);

// RTL unit against golden unit over a trace: CTA by CTA and warp by warp, each event becomes one
// atomred for each of its parameters, with the addresses and values that it had on the GPU; for the
// vector unit one for each kMaxWords of them, as if the words of a struct, at the address of the
// first. Those of types that it does not add are no work for the unit. Stops at the first
// difference. Throws trace::TraceError if the trace cannot be read.
RegressResult regress_trace(const trace::Reader& reader, const RegressOptions& options);

}  // namespace warpfold
