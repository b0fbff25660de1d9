// SPDX-License-Identifier: Apache-2.0
// What an environment did to a unit, cycle by cycle, so that it can be done again: requests, and
// what was granted. Written by a contract run while it goes, read back from a file.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "model/unit/lockstep.hpp"
#include "model/unit/scoreboard.hpp"

namespace warpfold {

class Replay {
 public:
  // The request that is offered before the next cycle.
  void offer(const AtomredRequest& request, Tag tag) {
    requests_.push_back({request, tag});
    offered_ = true;
  }
  void cycle(const Grants& grants);
  // The unit is idle: a shorter replay may begin here.
  void mark_idle();

  // Does it to the unit behind a scoreboard that is new. False at a broken rule. All of it, or from
  // an idle place on: idle_places() is where the last cycle was.
  bool run(Scoreboard& scoreboard, std::size_t from_place) const;
  bool run(Scoreboard& scoreboard) const { return run(scoreboard, 0); }
  [[nodiscard]] std::size_t idle_places() const { return places_.size(); }
  // From an idle place on.
  [[nodiscard]] Replay part(std::size_t from_place) const;
  [[nodiscard]] std::uint64_t cycles() const { return cycles_.size(); }
  [[nodiscard]] std::uint64_t requests() const { return requests_.size(); }

  // Lines of text: a name and a version, then "r TAG MASK" and an address and a value for each
  // active lane for a request, "w" and their values for each further word of it, and "c LETTERS"
  // for cycles.
  [[nodiscard]] std::string text() const;
  // Throws std::invalid_argument with one line where that is not what is there.
  static Replay read(std::istream& stream);

 private:
  enum : std::uint8_t { kRoom = 1, kReady = 2, kClocked = 4, kOffer = 8 };
  struct Tagged {
    AtomredRequest request;
    Tag tag = 0;
  };
  struct Place {
    std::size_t cycle = 0;
    std::size_t request = 0;
  };

  std::vector<Tagged> requests_;
  std::vector<std::uint8_t> cycles_;
  std::vector<Place> places_{Place{}};
  bool offered_ = false;
};

}  // namespace warpfold
