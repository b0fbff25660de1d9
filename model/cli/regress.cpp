// SPDX-License-Identifier: Apache-2.0
// warpfold regress.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cli/apart.hpp"
#include "model/cli/command.hpp"
#include "model/cli/progress_line.hpp"
#include "model/results/output_file.hpp"
#include "model/results/table.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/port_window.hpp"
#include "model/unit/unit_library.hpp"
#include "model/unit/wave_file.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::cli {
namespace {

struct RegressArguments {
  std::vector<std::string> traces;
  std::uint64_t seed = 1;
  std::uint64_t max_events = 0;
  double stall_probability = 0.5;
  std::string unit_kind = "serial";
  std::string scheduler;
  std::string unit_library;
  std::string golden_library;
  std::string wave;
  std::string wave_cycles;
  ApartLimits limits;
};

// Cycles before a difference, or before the end, that are written unless others are asked for.
constexpr std::size_t kLastCycles = 10'000;

// The waves of one trace: of the cycles that are asked for, or of the last ones.
class RegressWave {
 public:
  RegressWave(const RegressArguments& arguments, const ArcUnit::Ports& ports, const Apart& apart)
      : output_(arguments.wave, apart.deliver()),
        file_(ports, {"rtl", "golden"}),
        last_(kLastCycles) {
    if (!arguments.wave_cycles.empty()) {
      range_ = parse_cycles("--wave-cycles", arguments.wave_cycles, kMostWaveCycles);
    }
  }
  void add(Cycle cycle, const UnitInputs& inputs, const UnitOutputs& rtl,
           const UnitOutputs& golden) {
    if (!range_) {
      last_.add(cycle, inputs, rtl, golden);
    } else if (range_->contains(cycle)) {
      rtl_ = {inputs, rtl};
      golden_ = {inputs, golden};
      file_.add(cycle, {&rtl_, &golden_});
    }
  }
  [[nodiscard]] bool has_cycles() const { return file_.cycles() > 0 || last_.has_cycles(); }
  // `cycles`: of the run.
  void write(std::uint64_t cycles) {
    last_.write(file_);
    if (file_.cycles() == 0) {
      throw UsageError(range_ ? fmt::format("--wave-cycles {}:{}: the run ended after {} cycles",
                                            range_->begin, range_->end, cycles)
                              : "--wave: the trace has no events");
    }
    output_.write(file_.finish());
  }

 private:
  OutputFile output_;
  WaveFile file_;
  PortWindow last_;
  std::optional<CycleRange> range_;
  PortValues rtl_, golden_;
};

// What runs side by side: the RTL and the golden unit of a kind, or others instead of them.
struct RegressUnits {
  UnitKind kind = UnitKind::kSerial;
  std::optional<UnitLibrary> unit;
  std::optional<UnitLibrary> golden;

  [[nodiscard]] ArcUnit::Ports ports() const {
    return golden ? golden->declaration().ports : unit_ports(kind);
  }
};

// Prints what it has found; false if there is a difference. `wave`: null, or what to fill.
bool regress_one(const trace::Reader& trace, const RegressArguments& arguments,
                 const RegressUnits& units, RegressWave* wave) {
  const std::string path = trace.path().string();
  RegressOptions options;
  options.seed = arguments.seed;
  options.max_events = arguments.max_events;
  options.stall_probability = arguments.stall_probability;
  options.kind = units.kind;
  options.scheduler = arguments.scheduler;
  const std::unique_ptr<ArcUnit> own_unit = units.unit ? units.unit->make() : nullptr;
  const std::unique_ptr<ArcUnit> own_golden = units.golden ? units.golden->make() : nullptr;
  options.unit = own_unit.get();
  options.golden = own_golden.get();
  options.promise = units.golden ? &units.golden->declaration().promise : nullptr;
  ProgressLine line;
  if (line.enabled()) {
    const std::uint64_t total = options.max_events == 0
                                    ? trace.event_count()
                                    : std::min(options.max_events, trace.event_count());
    options.progress = [&line, &path, total](const RegressResult& result) {
      line.show(total == 0 ? 1.0 : static_cast<double>(result.events) / static_cast<double>(total),
                fmt::format("{}: {} of {} events", path, result.events, total));
    };
  }
  if (wave) {
    options.watch = [wave](Cycle cycle, const UnitInputs& inputs, const UnitOutputs& rtl,
                           const UnitOutputs& golden) { wave->add(cycle, inputs, rtl, golden); };
  }
  RegressResult result;
  try {
    result = regress_trace(trace, options);
  } catch (const UnitError& error) {
    // The cycles before are what shows why.
    line.wipe();
    if (wave && wave->has_cycles()) {
      wave->write(0);
    }
    complain(fmt::format("{}: {}", path, error.what()));
    return false;
  }
  line.wipe();
  if (wave) {
    wave->write(result.counts.cycles);
  }
  if (!result.passed) {
    complain(fmt::format("{}: {}", path, result.message));
    return false;
  }
  if (result.events == 0 && trace.event_count() > 0) {
    throw UsageError(fmt::format("{}: adds nothing that the unit adds", path));
  }
  std::cout << fmt::format(
      "{}: RTL and golden unit agree: {} CTAs, {} events, {} atomreds, {} cycles; {} lanes "
      "reduced to {} additions, {} lanes passed on in {} REDs\n",
      path, with_separators(result.ctas), with_separators(result.events),
      with_separators(result.counts.requests), with_separators(result.counts.cycles),
      with_separators(result.counts.reduced_lanes),
      with_separators(result.counts.reduced_transactions),
      with_separators(result.counts.plain_lanes),
      with_separators(result.counts.plain_transactions));
  return true;
}

int regress_apart(const RegressArguments& arguments, const Apart& apart) {
  // Negated, so that a NaN is refused.
  if (!(arguments.stall_probability >= 0 && arguments.stall_probability < 1)) {
    throw UsageError(fmt::format("--stall-probability is {}, must be at least 0 and below 1",
                                 arguments.stall_probability));
  }
  RegressUnits units;
  units.kind = parse_unit_kind(arguments.unit_kind);
  if (!arguments.unit_library.empty()) {
    units.unit.emplace(arguments.unit_library, apart.pulse());
  }
  if (!arguments.golden_library.empty()) {
    units.golden.emplace(arguments.golden_library, apart.pulse());
  }
  if (units.unit && units.unit->declaration().ports.read_lanes != units.ports().read_lanes) {
    throw UsageError(fmt::format("{} reads {} lanes a cycle, and its golden unit {}",
                                 arguments.unit_library, units.unit->declaration().ports.read_lanes,
                                 units.ports().read_lanes));
  }
  if (!arguments.scheduler.empty()) {
    make_unit(UnitModel::kRtl, units.kind, arguments.scheduler);  // refuses what it does not have
  }
  if (!arguments.wave.empty() && arguments.traces.size() > 1) {
    throw UsageError(fmt::format("--wave is of one trace, not of {}", arguments.traces.size()));
  }
  bool passed = true;
  const std::vector<trace::Reader> traces = open_traces(arguments.traces);
  std::optional<RegressWave> wave;
  if (!arguments.wave.empty()) {
    refuse_input_as_output("--wave", arguments.wave, arguments.traces, "regression");
    wave.emplace(arguments, units.ports(), apart);
  }
  for (const trace::Reader& trace : traces) {
    passed = regress_one(trace, arguments, units, wave ? &*wave : nullptr) && passed;
  }
  return passed ? kDone : kCheckFailed;
}

int run_regress(const RegressArguments& arguments) {
  if (arguments.unit_library.empty() && arguments.golden_library.empty()) {
    return regress_apart(arguments, Apart());
  }
  ApartLimits limits = arguments.limits;
  limits.unit = arguments.unit_library.empty() || arguments.golden_library.empty()
                    ? arguments.unit_library + arguments.golden_library
                    : fmt::format("{} or {}", arguments.unit_library, arguments.golden_library);
  return finish_apart(
      run_apart(limits, [&](const Apart& apart) { return regress_apart(arguments, apart); }));
}

}  // namespace

void add_regress(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<RegressArguments>();
  CLI::App* regress = app.add_subcommand(
      "regress", "Run the RTL and the golden unit side by side on traces, port by port");
  regress->add_option("TRACE", arguments->traces, "Warp atomic traces (.wft)")->required();
  regress->add_option("--seed", arguments->seed, "Of the random back-pressure")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  regress->add_option("--max-events", arguments->max_events, "Stop after N events; 0 is all")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  regress
      ->add_option("--stall-probability", arguments->stall_probability,
                   "Share of cycles in which the memory queue is full, at least 0 and below 1")
      ->type_name("P")
      ->capture_default_str();
  regress->add_option("--unit-kind", arguments->unit_kind, kUnitKindHelp)
      ->type_name(unit_kind_list("|", "|"))
      ->capture_default_str();
  regress
      ->add_option("--scheduler", arguments->scheduler,
                   "Of both units: greedy or reduce-groups [that of the kind]")
      ->type_name("NAME")
      ->check(refuse_empty);
  regress
      ->add_option("--unit-library", arguments->unit_library,
                   "Instead of the RTL: a unit of somebody else, as a shared object\n"
                   "(docs/evaluate.md)")
      ->type_name("FILE")
      ->check(refuse_empty);
  regress
      ->add_option("--golden-library", arguments->golden_library,
                   "Instead of the golden unit of that kind: another one, as a shared object")
      ->type_name("FILE")
      ->check(refuse_empty);
  add_apart_options(*regress, arguments->limits);
  CLI::Option* const wave =
      regress
          ->add_option("--wave", arguments->wave,
                       "Write the ports of both units, side by side, to this file, an FST\n"
                       "for GTKWave or Surfer in which 1 ns is a cycle. Of one trace")
          ->type_name("FILE")
          ->check(refuse_empty);
  regress
      ->add_option("--wave-cycles", arguments->wave_cycles,
                   fmt::format("Cycles of --wave, from A on before B, at most {}\n"
                               "[the last {}, up to a difference if there is one]",
                               kMostWaveCycles, kLastCycles))
      ->type_name("A:B")
      ->needs(wave);
  regress->footer(
      "Stops at the first difference in any output in any cycle and says which; exit code 1.\n\n"
      "Examples:\n  warpfold regress truck.wft --max-events 10000\n"
      "  warpfold regress truck.wft --max-events 10000 --wave truck.fst");
  regress->callback(
      [arguments, &command] { command = [arguments] { return run_regress(*arguments); }; });
}

}  // namespace warpfold::cli
