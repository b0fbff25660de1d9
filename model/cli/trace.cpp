// SPDX-License-Identifier: Apache-2.0
// warpfold trace: what can be done with traces alone.
#include "traces/format/trace.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "model/cli/command.hpp"
#include "model/cli/progress_line.hpp"
#include "model/cli/trace_work.hpp"
#include "traces/format/commands.hpp"

namespace warpfold::cli {
namespace {

using Paths = std::vector<std::filesystem::path>;

void add_trace_info(CLI::App& trace_app, Command& command) {
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
      ProgressLine line;
      BehindLine behind(line);
      std::ostream out(&behind);
      return trace::trace_info(arguments->paths, arguments->json, out,
                               progress_on(line, "reading"));
    };
  });
}

void add_trace_verify(CLI::App& trace_app, Command& command) {
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
  verify->callback([paths, &command] {
    command = [paths] {
      ProgressLine line;
      BehindLine behind(line);
      std::ostream out(&behind);
      return trace::trace_verify(*paths, out, progress_on(line, "verifying"));
    };
  });
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

void add_trace_dump(CLI::App& trace_app, Command& command) {
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
  dump->add_flag("--values", arguments->values, "Also the operands of each event");
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

// Has `write` make the trace `out` of the trace `in`, and of the file `other` if that is not empty;
// a signal ends it with nothing left behind. It takes a step and a stream to print to.
template <typename Write>
int write_trace(const std::filesystem::path& in, const std::filesystem::path& out, Write write,
                const std::filesystem::path& other = {}) {
  std::error_code error;
  if (std::filesystem::equivalent(in, out, error)) {
    throw UsageError(fmt::format("{}: is the trace to read", out.string()));
  }
  if (std::filesystem::equivalent(other, out, error)) {
    throw UsageError(fmt::format("{}: is a file to read", out.string()));
  }
  // A rename would put the trace in place of the device.
  if (std::filesystem::exists(out, error) && !std::filesystem::is_regular_file(out, error)) {
    throw UsageError(fmt::format("{}: is no regular file", out.string()));
  }
  return run_stoppable("writing " + out.string(), write);
}

void add_trace_slice(CLI::App& trace_app, Command& command) {
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
  slice->add_flag("--drop-values", arguments->drop_values, "Leave the operands of the events out");
  slice->footer(
      "Example: every 16th CTA, for a quick run\n"
      "  warpfold trace slice truck.wft truck-16th.wft --every 16");
  slice->callback([arguments, &command] {
    command = [arguments] {
      check_cta_range(arguments->ctas);
      if (arguments->every == 0) {
        throw UsageError("--every is 0, must be at least 1");
      }
      return write_trace(arguments->in, arguments->out, [&](const auto& step, std::ostream& out) {
        return trace::trace_slice(arguments->in, arguments->out,
                                  {.first_cta = arguments->ctas.first,
                                   .last_cta = arguments->ctas.last,
                                   .every = arguments->every,
                                   .drop_values = arguments->drop_values,
                                   .step = step},
                                  out);
      });
    };
  });
}

void add_trace_sample(CLI::App& trace_app, Command& command) {
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
      return write_trace(arguments->in, arguments->out, [&](const auto& step, std::ostream& out) {
        return trace::trace_sample(arguments->in, arguments->out, arguments->every, step, out);
      });
    };
  });
}

void add_trace_upgrade(CLI::App& trace_app, Command& command) {
  struct Arguments {
    std::filesystem::path in;
    std::filesystem::path out;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* upgrade =
      trace_app.add_subcommand("upgrade", "Write a trace of format version 3 in the present one");
  upgrade->add_option("OLD", arguments->in, "Trace to read, of version 3")->required();
  upgrade->add_option("NEW", arguments->out, "Trace to write")->required();
  upgrade->footer("Example:\n  warpfold trace upgrade old.wft new.wft");
  upgrade->callback([arguments, &command] {
    command = [arguments] {
      return write_trace(arguments->in, arguments->out, [&](const auto& step, std::ostream& out) {
        return trace::trace_upgrade(arguments->in, arguments->out, step, out);
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
               const std::filesystem::path& out_path, const trace::Step& step, std::ostream& out);
};

constexpr HeaderChange kRecost = {
    "recost",
    "Write a trace with other instruction costs",
    "Trace to read",
    "--costs",
    "Costs of the kernels, from python3 python kernel-costs",
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

void add_header_change(const HeaderChange& change, CLI::App& trace_app, Command& command) {
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
      return write_trace(
          arguments->in, arguments->out,
          [&](const auto& step, std::ostream& out) {
            return write(arguments->in, arguments->file, arguments->out, step, out);
          },
          arguments->file);
    };
  });
}

}  // namespace

void add_trace(CLI::App& app, Command& command) {
  CLI::App* trace_app = app.add_subcommand("trace", "Look at, check, print, cut and change traces");
  trace_app->require_subcommand(0, 1);
  add_trace_info(*trace_app, command);
  add_trace_verify(*trace_app, command);
  add_trace_dump(*trace_app, command);
  add_trace_slice(*trace_app, command);
  add_trace_sample(*trace_app, command);
  add_header_change(kRecost, *trace_app, command);
  add_header_change(kRetime, *trace_app, command);
  add_trace_import(*trace_app, command);
  add_trace_upgrade(*trace_app, command);
  trace_app->footer("Example:\n  warpfold trace info truck.wft");
}

}  // namespace warpfold::cli
