// SPDX-License-Identifier: Apache-2.0
// Behind scripts/soak.sh: random cases until there were enough or time is up.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <vector>

#include "tb/soak/shrink.hpp"
#include "tb/soak/soak_case.hpp"
#include "tb/soak/soak_check.hpp"

namespace warpfold::soak {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned kTries = 400;  // of a shrinking

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t runs = 0;  // 0: until the time is up
  double hours = 0;
  unsigned jobs = 1;
  unsigned seconds = 240;  // of a processor, for a run of one case
  fs::path out = "results/soak";
  bool show_refused = false;
};

// Between the processes.
struct Counts {
  std::atomic<std::uint64_t> next{0}, passed{0}, refused{0}, failed{0}, referenced{0}, cycles{0};
  std::atomic<int> stopped{0};  // the signal
};

Counts* all_counts = nullptr;

// SIGINT or SIGTERM to any of the processes: each leaves its case, and the first tells how far
// they came.
void stop(int number) {
  all_counts->stopped = number;
}

// What it takes to do it again.
void save(const Case& small, const Outcome& outcome, std::uint64_t seed, const fs::path& out) {
  const fs::path trace = out / fmt::format("{}.wft", seed);
  small.write_trace(trace);
  std::ofstream(out / fmt::format("{}.txt", seed)) << fmt::format(
      "seed {}: {}\n{}\n{}\n", seed, outcome.text, command_of(small, trace.string(), "golden"),
      command_of(small, trace.string(), "rtl"));
}

void run_seed(const Options& options, std::uint64_t seed, Counts& counts) {
  const fs::path trace = options.out / fmt::format("at-work-{}.wft", ::getpid());
  const Case one = random_case(seed);
  const auto stopped = [&] { return counts.stopped != 0; };
  const Outcome outcome = check(one, trace, options.seconds, stopped);
  counts.cycles += outcome.cycles;
  counts.referenced += outcome.referenced ? 1 : 0;
  if (outcome.verdict == Verdict::kPassed) {
    ++counts.passed;
  } else if (outcome.verdict == Verdict::kRefused) {
    ++counts.refused;
    if (options.show_refused) {
      std::cout << fmt::format("seed {} is refused: {}\n", seed, outcome.text) << std::flush;
    }
  } else if (outcome.verdict == Verdict::kFailed) {
    ++counts.failed;
    save(one, outcome, seed, options.out);  // making it small takes long, and can be stopped
    const std::string kind = outcome.kind();
    Outcome last = outcome;
    const Case small = shrunk(
        one,
        [&](const Case& smaller) {
          const Outcome again = check(smaller, trace, options.seconds, stopped);
          const bool alike = again.verdict == Verdict::kFailed && again.kind() == kind;
          last = alike ? again : last;
          return alike;
        },
        kTries);
    save(small, last, seed, options.out);
    std::cout << fmt::format("seed {}: {}\n  {}\n", seed, last.text,
                             command_of(small, (options.out / fmt::format("{}.wft", seed)).string(),
                                        "golden"))
              << std::flush;
  }
  std::error_code ignored;
  fs::remove(trace, ignored);
}

void work(const Options& options, Counts& counts, Clock::time_point end) {
  while (counts.stopped == 0 && (options.runs != 0 || Clock::now() < end)) {
    const std::uint64_t index = counts.next++;
    if (options.runs != 0 && index >= options.runs) {
      return;
    }
    run_seed(options, options.seed + index, counts);
  }
}

int run(const Options& options) {
  fs::create_directories(options.out);
  void* shared =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::cerr << "soak: out of memory\n";
    return 2;
  }
  Counts& counts = *new (shared) Counts;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.hours * 3600));
  all_counts = &counts;
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < options.jobs; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      work(options, counts, end);
      std::cout.flush();
      ::_exit(0);
    }
    workers.push_back(pid);
  }
  bool whole = true;
  for (const pid_t pid : workers) {
    int status = 1;
    ::waitpid(pid, &status, 0);
    whole = whole && status == 0;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const std::uint64_t all = counts.passed + counts.refused + counts.failed;
  std::cout << fmt::format(
      "{} runs from seed {} in {:.0f} s: {} passed ({} of them on SystemC's clock too), {} "
      "refused, "
      "{} failed; {} cycles\n",
      all, options.seed, seconds, counts.passed.load(), counts.referenced.load(),
      counts.refused.load(), counts.failed.load(), counts.cycles.load());
  const int right = counts.failed == 0 && counts.passed > 0 && whole ? 0 : 1;
  return counts.stopped == 0 ? right : 128 + counts.stopped;
}

}  // namespace
}  // namespace warpfold::soak

int main(int argc, char** argv) {
  warpfold::soak::Options options;
  CLI::App app("Random machines and traces: every run keeps its checks, however it is run.",
               "soak");
  app.add_option("--seed", options.seed, "Of the first run; each has the next");
  app.add_option("--runs", options.runs, "So many runs");
  app.add_option("--hours", options.hours, "Or so long");
  app.add_option("--jobs", options.jobs, "Runs at once")->check(CLI::Range(1, 1024));
  app.add_option("--seconds", options.seconds, "Of a processor that one run may take")
      ->check(CLI::Range(1, 86400));
  app.add_option("--out", options.out, "Folder for failures");
  app.add_flag("--show-refused", options.show_refused, "Also say why runs are refused");
  try {
    app.parse(argc, argv);
    if ((options.runs == 0) == !(options.hours > 0)) {
      throw CLI::ValidationError("one of --runs and --hours is needed");
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    std::cerr << "soak: " << error.what() << '\n';
    return 2;
  }
  try {
    return warpfold::soak::run(options);
  } catch (const std::exception& error) {
    std::cerr << "soak: " << error.what() << '\n';
    return 2;
  }
}
