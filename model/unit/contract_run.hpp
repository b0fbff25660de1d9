// SPDX-License-Identifier: Apache-2.0
// Many requests through one unit, behind a scoreboard, under back-pressure of every sort: random
// requests, constrained to the shapes that meet the corners of such units, and those of traces.
// Owned by the command; deterministic for a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/unit/arc_unit.hpp"
#include "model/unit/replay.hpp"
#include "model/unit/scoreboard.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// A sort of back-pressure: what is granted in a cycle, given what the unit showed in the last one.
struct Pressure {
  std::string_view name;
  std::string_view description;
};
const std::vector<Pressure>& pressures();

struct ContractOptions {
  UnitDeclaration declaration;
  std::function<std::unique_ptr<ArcUnit>()> make_unit;
  std::uint64_t seed = 1;
  std::uint64_t random_requests = 1'000'000;  // over all sorts of back-pressure
  std::uint64_t recorded_requests = 40'000;   // of each trace
  std::vector<const trace::Reader*> traces;
  std::function<void(double share)> progress;  // may be empty
};

// How one sort of back-pressure went.
struct ContractPart {
  std::string name;
  Scoreboard::Counts counts;
};

// The rule that a unit breaks which gives up (UnitError), or ends the program that it runs in.
inline constexpr const char* kKeepsRunning = "keeps running";

struct ContractFailure {
  std::string rule;
  std::string message;  // one line, with where and when
  Replay replay;        // as short as it was found
};

struct ContractResult {
  std::vector<ContractPart> parts;
  std::unique_ptr<ContractFailure> failure;  // the first one, or null
};

ContractResult run_contract(const ContractOptions& options);

// A replay again. `watch` may be empty. Null if it keeps the contract.
std::unique_ptr<ContractFailure> run_replay(const ContractOptions& options, const Replay& replay,
                                            Scoreboard::Watch watch);

}  // namespace warpfold
