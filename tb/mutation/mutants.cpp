// SPDX-License-Identifier: Apache-2.0
// Runs mutants of the RTL against the golden unit. The Verilated netlist holds all of them: while
// its input mutsel has a mutant's number, that mutant's change is in effect, and with 0 none is.
//
//   mutants_<kind> COUNT SEED        standard output: "1 killed cycle 12: lsu_data_o: ..." or
//                                    "1 survived", one line for each mutant, in any order
//
// A mutant is killed at the first cycle in which any port differs from the golden unit's. The
// unchanged netlist runs first, through the whole of what a survivor runs; exit 1 if it differs.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "Varc_subcore_mutants.h"
#include "model/unit/lockstep.hpp"
#include "model/unit/request_shapes.hpp"
#include "model/unit/verilated_unit.hpp"

namespace warpfold {
namespace {

using MutantUnit = RtlUnit<Varc_subcore_mutants>;

constexpr int kStreams = 600;
constexpr int kRequests = 100;  // of a stream

// Registers without reset start with random bits.
std::unique_ptr<VerilatedContext> random_context(std::uint64_t seed) {
  auto context = single_threaded_context();
  context->randReset(2);
  context->randSeed(static_cast<int>(seed % 0x7fffffff) + 1);
  return context;
}

// A stall probability: none, some, or nearly always.
double random_stall(SplitMix64& random) {
  constexpr double kStalls[] = {0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97};
  return kStalls[random.below(std::size(kStalls))];
}

// Streams of random requests, each of its own shape and under its own back-pressure, until one
// finds a difference. One stream in four ends in the middle: the next one resets the unit at work.
std::optional<std::string> first_difference(UnitKind kind, std::uint32_t mutant,
                                            std::uint64_t seed) {
  const std::unique_ptr<ArcUnit> golden = make_unit(UnitModel::kGolden, kind);
  MutantUnit unit(golden->ports(), random_context(seed));
  unit.model().mutsel = mutant;
  SplitMix64 random(SplitMix64::mix(seed));
  for (int stream = 0; stream < kStreams; ++stream) {
    const auto shape =
        static_cast<Shape>(random.below(static_cast<std::uint32_t>(Shape::kAny) + 1));
    LockstepOptions options{.kind = kind, .seed = random.next()};
    options.lsu_stall_probability = random_stall(random);
    options.rf_stall_probability = random_stall(random);
    options.gap_probability = random_stall(random);
    const bool cut = random.below(4) == 0;
    Lockstep lockstep(unit, *golden, options);
    for (auto left = cut ? random.below(kRequests) : kRequests; left > 0; --left) {
      if (!lockstep.send(with_words(random_request(random, shape), kind, random))) {
        return lockstep.message();
      }
    }
    if (!cut && !lockstep.drain()) {
      return lockstep.message();
    }
  }
  return std::nullopt;
}

int run(UnitKind kind, std::uint32_t count, std::uint64_t seed) {
  if (const auto difference = first_difference(kind, 0, seed)) {
    std::cerr << "mutants: the unchanged netlist differs: " << *difference << '\n';
    return 1;
  }
  std::atomic<std::uint32_t> next = 1;
  std::mutex output;
  auto work = [&] {
    for (std::uint32_t mutant = next++; mutant <= count; mutant = next++) {
      const auto difference = first_difference(kind, mutant, seed);
      const std::lock_guard lock(output);
      std::cout << mutant << (difference ? " killed " + *difference : " survived") << '\n';
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
    workers.emplace_back(work);
  }
  work();
  for (std::thread& worker : workers) {
    worker.join();
  }
  return 0;
}

}  // namespace
}  // namespace warpfold

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " COUNT SEED\n";
    return 2;
  }
  return warpfold::run(warpfold::parse_unit_kind(WARPFOLD_UNIT_KIND),
                       static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 0)),
                       std::strtoull(argv[2], nullptr, 0));
}
