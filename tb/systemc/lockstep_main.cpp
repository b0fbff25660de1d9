// SPDX-License-Identifier: Apache-2.0
// The Verilated arc_subcore against the golden one, as SystemC modules, port by port.
//   systemc_lockstep KIND [--cycles N] [--seed N] [--mislead-from N] [--break-promise-from N]
// The seed is that of WARPFOLD_SEED unless given. Exit code 0: equal in all cycles. 1: a
// difference, told in one line. 2: bad usage.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tb/lockstep/test_seed.hpp"
#include "tb/systemc/bench.hpp"

namespace warpfold::systemc {
namespace {

int run(const UnitKind& kind, const BenchOptions& options) {
  const Bench bench("bench", kind, options);
  sc_core::sc_start();
  const BenchCounts& counts = bench.counts();
  if (!bench.message().empty()) {
    std::cout << unit_kind_name(kind) << ": " << bench.message() << " (seed " << options.seed
              << ")\n";
    return 1;
  }
  std::cout << unit_kind_name(kind) << ": RTL and golden module agree: " << counts.cycles
            << " cycles, " << counts.comparisons << " comparisons, " << counts.requests
            << " requests, " << counts.plain_lanes << " lanes passed on, " << counts.sums
            << " sums, " << counts.resets << " resets\n";
  // A run without one of these would show little.
  const bool idle = counts.plain_lanes == 0 || counts.sums == 0 || counts.resets == 0;
  return idle ? 1 : 0;
}

int main_of(int argc, char** argv) {
  CLI::App app("The Verilated arc_subcore against the golden one, as SystemC modules");
  std::string kind;
  BenchOptions options{
      .seed = test_seed(), .cycles = 100'000, .mislead_from = {}, .break_promise_from = {}};
  app.add_option("kind", kind, unit_kind_list())->required();
  app.add_option("--cycles", options.cycles, "cycles with requests");
  app.add_option("--seed", options.seed, "of all that is drawn");
  app.add_option("--mislead-from", options.mislead_from,
                 "from this cycle on, the golden module sees another memory queue");
  app.add_option("--break-promise-from", options.break_promise_from,
                 "from this cycle on, tags of held requests change");
  CLI11_PARSE(app, argc, argv);
  return run(parse_unit_kind(kind), options);
}

}  // namespace
}  // namespace warpfold::systemc

int sc_main(int argc, char** argv) {
  try {
    return warpfold::systemc::main_of(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << "systemc_lockstep: " << error.what() << '\n';
    return 2;
  }
}
