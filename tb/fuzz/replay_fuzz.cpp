// SPDX-License-Identifier: Apache-2.0
// Replays of `warpfold contract`, done to the golden units.
#include <memory>
#include <sstream>
#include <stdexcept>

#include "model/unit/arc_scheduler.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/golden_words.hpp"
#include "model/unit/replay.hpp"
#include "model/unit/scoreboard.hpp"
#include "model/unit/unit_declaration.hpp"
#include "tb/fuzz/fuzz.hpp"

namespace warpfold::fuzz {

namespace {

constexpr std::uint64_t kMostCycles = 2000;  // of one that is done here

void check_unit(const UnitKind& kind, const Replay& replay) {
  // Not make_unit(), which the RTL, too, would have to be linked for.
  const SchedulerRule& rule = scheduler_rules().find(unit_scheduler(kind));
  const std::unique_ptr<ArcUnit> unit =
      with_golden_unit(kind, [&]<class Unit>(std::type_identity<Unit>) -> std::unique_ptr<ArcUnit> {
        return std::make_unique<Unit>(kind, rule);
      });
  Scoreboard scoreboard(*unit, unit_declaration(kind));
  // A replay may break the rules itself, which the scoreboard then says.
  if (!replay.run(scoreboard)) {
    check_line(scoreboard.message());
  }
}

}  // namespace

void run(std::string_view input) {
  std::istringstream text{std::string(input)};
  takes<std::invalid_argument>([&] {
    const Replay replay = Replay::read(text);
    std::istringstream again(replay.text());
    if (Replay::read(again).text() != replay.text()) {
      finding("written and read, the replay is another");
    }
    if (replay.cycles() > kMostCycles) {
      return;
    }
    for (const UnitKind& kind : unit_kinds()) {
      check_unit(kind, replay);
    }
  });
}

std::vector<std::string> seeds() {
  return {
      "warpfold-replay 1\nr 1 f 1000 3f800000 1000 40000000 1004 3f800000 1000 bf800000\n"
      "c dhhhhhhhhhhhhhhhhhhhhh\nr 2 80000001 2000 3f800000 2000 3f800000\nc "
      "hdhdhdhdhdhhhhhhhhhh\n",
      "warpfold-replay 1\nc ehhhh\nr 0 1 0 0\nc hhhhhhhhhh\n",
      "warpfold-replay 1\nr 3 3 1000 3f800000 1000 40000000\nw 3f800000 bf800000\nw 0 1\n"
      "c dhhhhhhhhhhhhhhhhhhhhhhhhhhhh\n"};
}

}  // namespace warpfold::fuzz
