// SPDX-License-Identifier: Apache-2.0
// Holds one unit to the contract of its ports (rtl/README.md) without knowing its timing: every
// active lane leaves once, sums are right for the kind of sum that the unit declares, what waits at
// a port stays, reads ask for lanes that are there, busy is true, and nothing stands still.
// Stands in for the sub-core around the unit, as Lockstep does, but says in which cycle what
// happens: its owner gives requests and grants. Owned by a contract run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {

// What the environment does in a cycle.
struct Grants {
  bool room = false;
  bool ready = false;
  bool clocked = true;  // an idle unit need not be
};

class Scoreboard {
 public:
  struct Counts {
    std::uint64_t cycles = 0;
    std::uint64_t requests = 0;
    std::uint64_t lanes = 0;
    std::uint64_t sums = 0;
    std::uint64_t summed_lanes = 0;
    std::uint64_t reds = 0;
  };
  using Watch = std::function<void(Cycle, const UnitInputs&, const UnitOutputs&)>;

  // Resets the unit. `watch` sees the ports of every cycle before they are judged; may be empty.
  Scoreboard(ArcUnit& unit, const UnitDeclaration& declaration, Watch watch = nullptr);

  // Whether no request is held.
  [[nodiscard]] bool takes_request() const { return held_ == kNone; }
  // Puts a request in front of the unit, from the next cycle on. False at a broken rule, which is
  // also a tag that lanes in the unit have.
  bool offer(const AtomredRequest& request, Tag tag);
  // The first tag from this one on that is free.
  [[nodiscard]] Tag free_tag(std::uint64_t from) const;
  // One cycle. False at a broken rule.
  bool cycle(const Grants& grants);
  // Nothing is held, by the environment or by the unit.
  [[nodiscard]] bool idle() const { return held_ == kNone && lanes_left_ == 0 && !unit_.busy(); }
  // Outputs of the last cycle.
  [[nodiscard]] const UnitOutputs& outputs() const { return last_; }

  // "sum", "lane once" and so on; empty as long as nothing is broken.
  [[nodiscard]] const std::string& rule() const { return rule_; }
  // One line that says what, without the cycle.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  // A request on its way: some of its lanes have not left.
  struct Slot {
    AtomredRequest request;
    Tag tag = 0;
    bool held = false;
    // Of each word: lanes that have not left, and of these those that have not been read.
    std::array<LaneMask, kMaxWords> remaining{};
    std::array<LaneMask, kMaxWords> unread{};
    LaneMask left = 0;       // lanes of which some word has not left
    bool rest_left = false;  // a plain RED without an address has left, which is the last
  };
  // Sums of a group with several words, of which some have left.
  struct Packet {
    bool open = false;
    Tag tag = 0;
    Address address = 0;
    LaneMask lanes = 0;
    std::uint32_t word = 0;  // the next one
  };
  static constexpr std::size_t kSlots = 64;
  static constexpr std::uint16_t kNone = 0xffff;
  struct Refused {
    LaneMask mask = 0;
    Tag tag = 0;
    std::uint32_t word = 0;
  };

  bool check_quiet(const UnitOutputs& out);
  bool check_held(const UnitOutputs& out);
  bool check_turn(const UnitOutputs& out, bool ready);
  bool check_read(const UnitOutputs& out);
  bool check_sum(const UnitOutputs& out);
  bool check_place(const UnitOutputs& out, const Slot& slot);
  bool check_red(const UnitOutputs& out);
  bool check_red_payload(const UnitOutputs& out, Slot& slot);
  bool check_busy(const UnitOutputs& out);
  bool check_progress(const Grants& grants, bool handed_over);
  bool accept();
  Slot* slot_of(Tag tag);
  void leave(Slot& slot, std::uint32_t word, LaneMask lanes);
  [[nodiscard]] std::uint32_t operands() const;
  bool fail(std::string_view rule, std::string_view message);

  ArcUnit& unit_;
  const UnitDeclaration declaration_;
  Watch watch_;
  std::vector<Slot> slots_{kSlots};
  std::vector<std::uint16_t> by_tag_;  // slot of a tag, or kNone
  std::uint16_t held_ = kNone;
  std::uint64_t lanes_left_ = 0;  // of all requests but the held one, each word counted
  Packet packet_;
  UnitInputs inputs_;
  UnitOutputs last_;
  bool last_room_ = true;
  std::vector<Refused> refused_;  // by cycle modulo the turn
  std::uint64_t fair_cycles_ = 0;
  Counts counts_;
  std::string rule_;
  std::string message_;
};

}  // namespace warpfold
