// SPDX-License-Identifier: Apache-2.0
// The warpfold command. Exit codes: 0 done, 1 a check failed, 2 bad usage or bad input. Everything
// that is wrong with what the user gave is one line on stderr.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "model/gpu/config.hpp"
#include "model/policy/policy.hpp"
#include "model/results/json.hpp"
#include "model/results/output_file.hpp"
#include "model/results/runner.hpp"
#include "model/results/table.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"
#include "traces/format/commands.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {
namespace {

constexpr int kDone = 0;
constexpr int kCheckFailed = 1;
constexpr int kBadInput = 2;

// Usage that CLI11 cannot see is wrong: one clear line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One line on stderr, whatever the text.
void complain(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::cerr << "warpfold: " << text << '\n';
}

// A line on the terminal that is overwritten as work goes on, and wiped at the end. Not there at
// all where stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine() : enabled_(::isatty(STDERR_FILENO) != 0) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { wipe(); }

  [[nodiscard]] bool enabled() const { return enabled_; }
  void show(std::string text) {
    if (!enabled_) {
      return;
    }
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    text.resize(std::min<std::size_t>(text.size(), known ? size.ws_col - 1U : 79U));
    if (text != shown_) {
      std::cerr << "\r\x1b[K" << text << std::flush;
      shown_ = std::move(text);
    }
  }
  void wipe() {
    if (!shown_.empty()) {
      std::cerr << "\r\x1b[K" << std::flush;
      shown_.clear();
    }
  }

 private:
  bool enabled_;
  std::string shown_;
};

// Opens every trace, and so checks its structure, before any of them is worked on.
std::vector<trace::Reader> open_traces(const std::vector<std::string>& paths) {
  std::vector<trace::Reader> readers;
  for (const std::string& path : paths) {
    readers.emplace_back(path);
    for (std::size_t i = 0; i + 1 < readers.size(); ++i) {
      if (std::filesystem::equivalent(paths[i], path)) {
        throw UsageError(paths[i] == path
                             ? fmt::format("{}: given twice", path)
                             : fmt::format("{}: the same trace as {}", path, paths[i]));
      }
    }
  }
  return readers;
}

// CLI11 reads "-1" as a large unsigned number.
std::string refuse_negative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("is {}, must be 0 or more", text) : "";
}

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "is empty" : "";
}

// --- sim -----------------------------------------------------------------------------------------

constexpr const char* kUnitKindNames = "serial|pipelined|fused";
constexpr const char* kUnitKindHelp =
    "Kind of the reduction unit: one lane a cycle, one a cycle at the\n"
    "GPU's clock, or four a cycle (rtl/README.md)";

struct SimArguments {
  std::vector<std::string> traces;
  std::string gpus = "rtx4090";
  std::string policies = "all";
  std::string unit = "rtl";
  std::string unit_kind = "serial";
  Overrides overrides;
  std::string json;
  std::string energy;
  std::string timeline;
  std::uint64_t timeline_interval = 10000;
  std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  std::size_t threads = 0;
  bool clock_all = false;
  bool bounds = false;
  bool whole_gpu = false;
};

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    items.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return items;
}

// The results would replace what they were made from.
void refuse_input_as_output(const std::string& option, const std::string& output,
                            const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;  // a built-in GPU is no file
    if (std::filesystem::equivalent(input, output, error)) {
      throw UsageError(fmt::format("{} {}: is an input of this simulation", option, output));
    }
  }
}

int run_sim(const SimArguments& arguments) {
  SimulationPlan plan;
  plan.policies = parse_policies(arguments.policies);
  // What only "all" asks for is left out where a trace cannot run it.
  plan.optional = plan.policies;
  for (const std::string& name : split_list(arguments.policies)) {
    if (name != "all") {
      std::erase(plan.optional, parse_policy(name));
    }
  }
  plan.unit = parse_unit_model(arguments.unit);
  plan.unit_kind = parse_unit_kind(arguments.unit_kind);
  plan.clock_all = arguments.clock_all;
  plan.whole_gpu = arguments.whole_gpu;
  plan.jobs = arguments.jobs;
  plan.threads = arguments.threads;
  const std::vector<std::string> gpu_list = split_list(arguments.gpus);
  for (const std::string& name : gpu_list) {
    GpuConfig gpu = load_gpu(name, arguments.overrides);
    for (const GpuConfig& other : plan.gpus) {
      if (other.name == gpu.name) {
        throw UsageError(fmt::format("{}: another GPU is named '{}' too", name, gpu.name));
      }
    }
    plan.gpus.push_back(std::move(gpu));
  }
  plan.traces = open_traces(arguments.traces);
  const bool json_to_stdout = arguments.json == "-";
  struct Output {
    std::string option;
    std::string path;
    std::string (*text)(const std::vector<RunResult>&);
    std::optional<OutputFile> file;
  };
  std::vector<Output> outputs;
  const auto add_output = [&](const char* option, const std::string& path, auto text) {
    if (path.empty()) {
      return;
    }
    refuse_input_as_output(option, path, arguments.traces);
    refuse_input_as_output(option, path, gpu_list);
    for (const Output& other : outputs) {
      if (other.path == path) {
        throw UsageError(fmt::format("{} {}: is the file of {}", option, path, other.option));
      }
    }
    outputs.push_back({option, path, text, std::nullopt});
    if (!json_to_stdout || path != arguments.json) {
      outputs.back().file.emplace(path);
    }
  };
  add_output("--json", arguments.json, results_to_json);
  add_output("--energy", arguments.energy, energies_to_json);
  add_output("--timeline", arguments.timeline, timelines_to_json);
  plan.timeline_interval = arguments.timeline.empty() ? 0 : arguments.timeline_interval;

  ProgressLine line;
  if (line.enabled()) {
    plan.progress = [&line](const PoolProgress& progress) {
      line.show(fmt::format("{:3.0f} %  {} of {} runs done, running: {}", progress.done * 100,
                            progress.finished, progress.tasks, progress.running));
    };
  }
  const SimulationReport report = run_simulations(plan);
  line.wipe();

  for (const std::string& note : report.left_out) {
    complain(note);
  }
  for (const std::string& failure : report.failures) {
    complain(failure);
  }
  // A file of results is complete or absent.
  for (const Output& output : outputs) {
    if (report.missing != 0) {
      complain(fmt::format("{}: not written: {} of {} runs gave no result", output.path,
                           report.missing, report.missing + report.runs.size()));
    } else if (output.file) {
      output.file->write(output.text(report.runs));
    }
  }
  if (!json_to_stdout) {
    std::cout << results_table(report.runs, arguments.bounds);
  } else if (report.missing == 0) {
    std::cout << results_to_json(report.runs);
  }
  return report.failures.empty() ? kDone : kCheckFailed;
}

void add_sim(CLI::App& app, std::function<int()>& command) {
  // A script gives its defaults first and what its user wants behind them.
  constexpr auto kTakeLast = CLI::MultiOptionPolicy::TakeLast;
  auto arguments = std::make_shared<SimArguments>();
  CLI::App* sim = app.add_subcommand("sim", "Simulate traces on a GPU, one run for each policy");
  sim->add_option("TRACE", arguments->traces, "Warp atomic traces (.wft)")->required();
  sim->add_option("--gpu", arguments->gpus,
                  "GPUs, comma-separated: built-in names ('warpfold gpus'), or files\n"
                  "that end in .toml")
      ->type_name("LIST")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--policy", arguments->policies,
                  "Policies, comma-separated ('warpfold policies'), or all")
      ->type_name("LIST|all")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--unit", arguments->unit,
                  "Reduction unit: rtl (Verilated SystemVerilog) or golden (C++ model,\n"
                  "faster); both give the same results")
      ->type_name("rtl|golden")
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--unit-kind", arguments->unit_kind, kUnitKindHelp)
      ->type_name(kUnitKindNames)
      ->multi_option_policy(kTakeLast)
      ->capture_default_str();
  sim->add_option("--set", arguments->overrides,
                  "Another value for a parameter of every GPU, named as in its file:\n"
                  "lab.bytes=65536. May be given many times")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  sim->add_option("--json", arguments->json,
                  "Also write the results to this file; - is stdout, instead of\n"
                  "the table")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  sim->add_option("--energy", arguments->energy,
                  "Write to this file what the energy of each run is made of")
      ->type_name("FILE")
      ->multi_option_policy(kTakeLast)
      ->check(refuse_empty);
  CLI::Option* const timeline =
      sim->add_option("--timeline", arguments->timeline,
                      "Write to this file how busy the units of each kind were over time")
          ->type_name("FILE")
          ->multi_option_policy(kTakeLast)
          ->check(refuse_empty);
  sim->add_option("--timeline-interval", arguments->timeline_interval,
                  "Cycles between two samples of --timeline")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str()
      ->needs(timeline);
  sim->add_option("--jobs", arguments->jobs, "Simulations at once; the results do not depend on it")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sim->add_option("--threads", arguments->threads,
                  "Host threads of each simulation; the results do not depend on it\n"
                  "[--jobs shared out where there are fewer simulations, up to 8]")
      ->type_name("N")
      ->multi_option_policy(kTakeLast)
      ->check(CLI::Range(1, 1024));
  sim->add_flag("--bounds", arguments->bounds,
                "Also show how many cycles each kind of unit needs at least");
  sim->add_flag("--whole-gpu", arguments->whole_gpu,
                "Simulate all of a GPU for a trace of one CTA in N, too, not an Nth of it");
  sim->add_flag("--clock-all", arguments->clock_all,
                "Clock every block in every cycle: slow, same results; a check of the simulator");
  sim->footer(
      "Each run ends with a check of every sum. The table goes to stdout. Of an option that is\n"
      "given twice the last counts.\n\n"
      "Example: what ARC-HW gains over plain atomics on an RTX 4090\n"
      "  warpfold sim truck.wft --gpu rtx4090 --policy baseline,arc-hw --json truck.json\n\n"
      "Exit code: 0 done, 1 a check failed, 2 bad usage or bad input.");
  sim->callback([arguments, &command] { command = [arguments] { return run_sim(*arguments); }; });
}

// --- trace ---------------------------------------------------------------------------------------

using Paths = std::vector<std::filesystem::path>;

void add_trace_info(CLI::App& trace_app, std::function<int()>& command) {
  struct Arguments {
    Paths paths;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* info = trace_app.add_subcommand("info", "What traces are of and what they contain");
  info->add_option("TRACE", arguments->paths, "Traces")->required();
  info->add_flag("--json", arguments->json, "As JSON");
  info->footer("Example:\n  warpfold trace info truck.wft");
  info->callback([arguments, &command] {
    command = [arguments] {
      return trace::trace_info(arguments->paths, arguments->json, std::cout);
    };
  });
}

void add_trace_verify(CLI::App& trace_app, std::function<int()>& command) {
  auto paths = std::make_shared<Paths>();
  CLI::App* verify = trace_app.add_subcommand(
      "verify", "Check every record of traces, or all traces that a manifest lists");
  verify->add_option("PATH", *paths, "Traces, or manifests (.json)")->required();
  verify->footer(
      "Exit code: 0 all are sound; 1 one is damaged, is not as its manifest says, or lies "
      "unlisted\n"
      "beside it; 2 a path cannot be opened or is no trace and no manifest.\n\nExample:\n  "
      "warpfold trace verify "
      "traces/data/MANIFEST.json");
  verify->callback(
      [paths, &command] { command = [paths] { return trace::trace_verify(*paths, std::cout); }; });
}

struct CtaRange {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
};

void add_cta_options(CLI::App& app, CtaRange& range) {
  app.add_option("--first-cta", range.first, "First CTA, by its linear block index")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  app.add_option("--last-cta", range.last, "Last CTA, itself included [the last of the trace]")
      ->type_name("N")
      ->check(refuse_negative);
}

void check_cta_range(const CtaRange& range) {
  if (range.last < range.first) {
    throw UsageError(
        fmt::format("--last-cta {} comes before --first-cta {}", range.last, range.first));
  }
}

void add_trace_dump(CLI::App& trace_app, std::function<int()>& command) {
  struct Arguments {
    std::filesystem::path path;
    CtaRange ctas;
    std::optional<std::uint32_t> warp;
    bool values = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* dump = trace_app.add_subcommand("dump", "Print the records of a trace as text");
  dump->add_option("TRACE", arguments->path, "Trace")->required();
  add_cta_options(*dump, arguments->ctas);
  dump->add_option("--warp", arguments->warp, "Only this warp of each CTA [all]")->type_name("N");
  dump->add_flag("--values", arguments->values, "Also the floats of each event");
  dump->footer(
      "Example: the first warp of the first ten CTAs\n"
      "  warpfold trace dump truck.wft --last-cta 9 --warp 0");
  dump->callback([arguments, &command] {
    command = [arguments] {
      check_cta_range(arguments->ctas);
      return trace::trace_dump(arguments->path,
                               {.first_cta = arguments->ctas.first,
                                .last_cta = arguments->ctas.last,
                                .warp = arguments->warp,
                                .values = arguments->values},
                               std::cout);
    };
  });
}

// The signal that asks for an end. What was begun is then removed, and the signal does its work.
volatile std::sig_atomic_t stop_signal = 0;

// A second one ends the process at once. One that is ignored, as under nohup, stays so.
void stop_on(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) {
    return;
  }
  action = {};
  action.sa_handler = [](int number) { stop_signal = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}

// Has `write` make the trace `out` of the trace `in`; a signal ends it with nothing left behind.
template <typename Write>
int write_trace(const std::filesystem::path& in, const std::filesystem::path& out, Write write) {
  std::error_code error;
  if (std::filesystem::equivalent(in, out, error)) {
    throw UsageError(fmt::format("{}: is the trace to read", out.string()));
  }
  // A rename would put the trace in place of the device.
  if (std::filesystem::exists(out, error) && !std::filesystem::is_regular_file(out, error)) {
    throw UsageError(fmt::format("{}: is no regular file", out.string()));
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    stop_on(signal);
  }
  try {
    return write();
  } catch (const trace::TraceError&) {
    if (stop_signal != 0) {
      std::raise(stop_signal);  // ends the process: the first one has put the default back
    }
    throw;
  }
}

void add_trace_slice(CLI::App& trace_app, std::function<int()>& command) {
  struct Arguments {
    std::filesystem::path in;
    std::filesystem::path out;
    CtaRange ctas;
    std::uint64_t every = 1;
    bool drop_values = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* slice = trace_app.add_subcommand("slice", "Write some CTAs of a trace to another");
  slice->add_option("TRACE", arguments->in, "Trace to read")->required();
  slice->add_option("OUT", arguments->out, "Trace to write")->required();
  add_cta_options(*slice, arguments->ctas);
  slice->add_option("--every", arguments->every, "Keep one CTA of every N in the range")
      ->type_name("N")
      ->check(refuse_negative)
      ->capture_default_str();
  slice->add_flag("--drop-values", arguments->drop_values, "Leave the floats of the events out");
  slice->footer(
      "Example: every 16th CTA, for a quick run\n"
      "  warpfold trace slice truck.wft truck-16th.wft --every 16");
  slice->callback([arguments, &command] {
    command = [arguments] {
      check_cta_range(arguments->ctas);
      if (arguments->every == 0) {
        throw UsageError("--every is 0, must be at least 1");
      }
      return write_trace(arguments->in, arguments->out, [&] {
        return trace::trace_slice(arguments->in, arguments->out,
                                  {.first_cta = arguments->ctas.first,
                                   .last_cta = arguments->ctas.last,
                                   .every = arguments->every,
                                   .drop_values = arguments->drop_values,
                                   .stop = [] { return stop_signal != 0; }},
                                  std::cout);
      });
    };
  });
}

void add_trace_sample(CLI::App& trace_app, std::function<int()>& command) {
  struct Arguments {
    std::filesystem::path in;
    std::filesystem::path out;
    std::uint32_t every = 4;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* sample = trace_app.add_subcommand(
      "sample", "Write CTAs that stand for the whole launch on a part of a GPU");
  sample
      ->add_option("TRACE", arguments->in,
                   "Trace to read, of a whole launch or, for an odd N, a sample of one")
      ->required();
  sample->add_option("OUT", arguments->out, "Trace to write")->required();
  sample->add_option("--every", arguments->every, "Keep the middle one of every N CTAs in a row")
      ->type_name("N")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  sample->footer(
      "`warpfold sim` runs the sample on an Nth of a GPU, in about the cycles of the whole.\n\n"
      "Example: a quarter of a frame\n"
      "  warpfold trace sample truck.wft truck-4th.wft --every 4");
  sample->callback([arguments, &command] {
    command = [arguments] {
      return write_trace(arguments->in, arguments->out, [&] {
        return trace::trace_sample(
            arguments->in, arguments->out, arguments->every, [] { return stop_signal != 0; },
            std::cout);
      });
    };
  });
}

// A subcommand that writes a trace with what a file has in place of a part of its header.
struct HeaderChange {
  const char* name;
  const char* description;
  const char* trace;   // what is read
  const char* option;  // that names the file
  const char* file;    // what it has
  const char* example;
  int (*write)(const std::filesystem::path& in, const std::filesystem::path& file,
               const std::filesystem::path& out_path, const std::function<bool()>& stop,
               std::ostream& out);
};

constexpr HeaderChange kRecost = {
    "recost",
    "Write a trace with other instruction costs",
    "Trace to read; also one of an older format version",
    "--costs",
    "Costs of the kernels, from traces/capture/sass_cost.py",
    "Example: a change of the kernels that changes what they issue, not what they add\n"
    "  warpfold trace recost truck.wft changed.wft --costs costs.json",
    trace::trace_recost,
};

constexpr HeaderChange kRetime = {
    "retime",
    "Write a trace with other kernel times",
    "Trace to read",
    "--times",
    "Times of the kernels, from `time` of the program that captured the trace",
    "Example: times of more launches\n"
    "  warpfold trace retime truck.wft timed.wft --times truck-times.json",
    trace::trace_retime,
};

void add_header_change(const HeaderChange& change, CLI::App& trace_app,
                       std::function<int()>& command) {
  struct Arguments {
    std::filesystem::path in;
    std::filesystem::path out;
    std::filesystem::path file;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* subcommand = trace_app.add_subcommand(change.name, change.description);
  subcommand->add_option("TRACE", arguments->in, change.trace)->required();
  subcommand->add_option("OUT", arguments->out, "Trace to write")->required();
  subcommand->add_option(change.option, arguments->file, change.file)
      ->required()
      ->type_name("FILE");
  subcommand->footer(change.example);
  subcommand->callback([arguments, &command, write = change.write] {
    command = [arguments, write] {
      return write_trace(arguments->in, arguments->out, [&] {
        return write(
            arguments->in, arguments->file, arguments->out, [] { return stop_signal != 0; },
            std::cout);
      });
    };
  });
}

void add_trace(CLI::App& app, std::function<int()>& command) {
  CLI::App* trace_app = app.add_subcommand("trace", "Look at, check, print, cut and change traces");
  trace_app->require_subcommand(0, 1);
  add_trace_info(*trace_app, command);
  add_trace_verify(*trace_app, command);
  add_trace_dump(*trace_app, command);
  add_trace_slice(*trace_app, command);
  add_trace_sample(*trace_app, command);
  add_header_change(kRecost, *trace_app, command);
  add_header_change(kRetime, *trace_app, command);
  trace_app->footer("Example:\n  warpfold trace info truck.wft");
}

// --- regress -------------------------------------------------------------------------------------

struct RegressArguments {
  std::vector<std::string> traces;
  std::uint64_t seed = 1;
  std::uint64_t max_events = 0;
  double stall_probability = 0.5;
  std::string unit_kind = "serial";
};

int run_regress(const RegressArguments& arguments) {
  // Negated, so that a NaN is refused.
  if (!(arguments.stall_probability >= 0 && arguments.stall_probability < 1)) {
    throw UsageError(fmt::format("--stall-probability is {}, must be at least 0 and below 1",
                                 arguments.stall_probability));
  }
  const UnitKind kind = parse_unit_kind(arguments.unit_kind);
  bool passed = true;
  for (const trace::Reader& trace : open_traces(arguments.traces)) {
    const std::string path = trace.path().string();
    RegressOptions options;
    options.seed = arguments.seed;
    options.max_events = arguments.max_events;
    options.stall_probability = arguments.stall_probability;
    options.kind = kind;
    ProgressLine line;
    if (line.enabled()) {
      const std::uint64_t total = options.max_events == 0
                                      ? trace.event_count()
                                      : std::min(options.max_events, trace.event_count());
      options.progress = [&line, &path, total](const RegressResult& result) {
        line.show(fmt::format("{}: {} of {} events", path, result.events, total));
      };
    }
    const RegressResult result = regress_trace(trace, options);
    line.wipe();
    if (!result.passed) {
      complain(fmt::format("{}: {}", path, result.message));
      passed = false;
      continue;
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
  }
  return passed ? kDone : kCheckFailed;
}

void add_regress(CLI::App& app, std::function<int()>& command) {
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
      ->type_name(kUnitKindNames)
      ->capture_default_str();
  regress->footer(
      "Stops at the first difference in any output in any cycle and says which; exit code 1.\n\n"
      "Example:\n  warpfold regress truck.wft --max-events 10000");
  regress->callback(
      [arguments, &command] { command = [arguments] { return run_regress(*arguments); }; });
}

// --- gpus, policies ------------------------------------------------------------------------------

int list_gpus() {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : gpu_names()) {
    const GpuConfig gpu = load_gpu(name);
    rows.push_back({gpu.name, gpu.sass_arch, fmt::format("{} x {}", gpu.sm.count, gpu.sm.subcores),
                    fmt::format("{:.2f}", gpu.sm.clock_ghz), std::to_string(gpu.sm.max_warps),
                    std::to_string(gpu.l2.slices), std::to_string(gpu.l2.bytes >> 20U)});
  }
  std::cout << align_columns(
      {"gpu", "code", "SMs x sub-cores", "SM clock GHz", "warps per SM", "L2 slices", "L2 MiB"},
      rows);
  return kDone;
}

int list_policies() {
  constexpr std::size_t kTextColumns = 70;
  for (const PolicyInfo& info : policy_infos()) {
    std::string text = info.description;
    std::string first = info.pattern;
    std::string source = info.source;
    while (!text.empty()) {
      std::size_t end = text.size();
      if (end > kTextColumns) {
        end = text.rfind(' ', kTextColumns);
        end = end == std::string::npos ? text.size() : end;
      }
      std::cout << fmt::format("{:<10}  {:<27}  {}\n", first, source, text.substr(0, end));
      text.erase(0, std::min(text.size(), end + 1));
      first.clear();
      source.clear();
    }
  }
  std::vector<std::string> names;
  for (const Policy& policy : default_policies()) {
    names.push_back(policy.name());
  }
  std::cout << fmt::format("\nX is the balancing threshold, 0 to 32 active lanes. all: {}\n",
                           fmt::join(names, ","));
  return kDone;
}

void add_lists(CLI::App& app, std::function<int()>& command) {
  CLI::App* gpus = app.add_subcommand("gpus", "List the built-in GPUs");
  gpus->footer(
      "A GPU of your own is a .toml file with the same keys (model/gpus/*.toml).\n\nExample:\n"
      "  warpfold sim truck.wft --gpu my-gpu.toml");
  gpus->callback([&command] { command = list_gpus; });
  CLI::App* policies = app.add_subcommand("policies", "List what can become of an atomic");
  policies->footer(
      "Example: the butterfly reduction at three thresholds\n"
      "  warpfold sim truck.wft --policy baseline,sw-b:8,sw-b:16,sw-b:24");
  policies->callback([&command] { command = list_policies; });
}

// --- main ----------------------------------------------------------------------------------------

// The subcommand that was being parsed, for a hint at the right help: "warpfold trace dump".
std::string parsed_command(const CLI::App& app) {
  std::string name = app.get_name();
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) {
    current = current->get_subcommands().front();
    name += " " + current->get_name();
  }
  return name;
}

int run(int argc, char** argv) {
  CLI::App app("Trace-driven cycle simulation of warp-level atomic reduction on GPUs (ARC).",
               "warpfold");
  app.set_version_flag("--version", std::string("warpfold ") + WARPFOLD_VERSION);
  // What else stands there is then reported as unexpected, not as a missing command.
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Example: simulate a trace under every policy on an RTX 4090\n"
      "  warpfold sim truck.wft\n\n"
      "'warpfold COMMAND --help' says more. Exit code: 0 done, 1 a check failed, 2 bad usage or "
      "bad "
      "input.");
  std::function<int()> command;
  add_sim(app, command);
  add_trace(app, command);
  add_regress(app, command);
  add_lists(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      return app.exit(error);  // --help, --version
    }
    complain(fmt::format("{} (see '{} --help')", error.what(), parsed_command(app)));
    return kBadInput;
  }
  if (!command) {
    complain(fmt::format("a command is required (see '{} --help')", parsed_command(app)));
    return kBadInput;
  }
  const int code = command();
  if (!std::cout.flush()) {
    complain("cannot write to standard output");
    return kBadInput;
  }
  return code;
}

}  // namespace
}  // namespace warpfold

int main(int argc, char** argv) {
  // A file-size limit is an error of write(), as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return warpfold::run(argc, argv);
  } catch (const std::bad_alloc&) {
    warpfold::complain("out of memory");
  } catch (const std::exception& error) {
    warpfold::complain(error.what());
  }
  return warpfold::kBadInput;
}
