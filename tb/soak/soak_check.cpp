// SPDX-License-Identifier: Apache-2.0
#include "tb/soak/soak_check.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::soak {

namespace {

// Cycles of SMs: what SystemC's clock does in about a second.
constexpr std::uint64_t kMostReferenceCycles = 1'000'000;
constexpr rlim_t kMostBytes = rlim_t{4} << 30U;
constexpr int kPollMilliseconds = 100;
// Of processor time that a case may take it gets this much on a busy machine.
constexpr unsigned kWallOfProcessorTime = 20;

struct Way {
  const char* name;
  UnitModel unit = UnitModel::kGolden;
  bool reference = false;
  std::size_t threads = 1;
  std::uint64_t timeline = 0;
};
constexpr std::array<Way, 5> kWays = {{{.name = "golden"},
                                       {.name = "rtl", .unit = UnitModel::kRtl},
                                       {.name = "two threads", .threads = 2},
                                       {.name = "rtl, four threads, timeline",
                                        .unit = UnitModel::kRtl,
                                        .threads = 4,
                                        .timeline = 100},
                                       {.name = "SystemC's clock", .reference = true}}};

std::string failed_check(const RunResult& result, bool dropped) {
  if (!result.failure.empty()) {
    return result.failure_label + ": " + result.failure;
  }
  if (!result.conserved || !result.sums_match || result.sum_check.empty()) {
    return "a check is false without a failure";
  }
  if (!dropped && result.sum_check == "none") {
    return "sums were not compared";
  }
  return "";
}

class Ways {
 public:
  Ways(const Case& one, const std::filesystem::path& trace)
      : case_(one),
        gpu_(load_gpu(one.gpu, one.overrides)),
        trace_(trace),
        sums_(ReferenceSums::compute(trace_)) {}

  Outcome run() {
    Outcome outcome;
    std::optional<std::string> first;
    for (const Way& way : kWays) {
      if (way.reference && outcome.cycles * gpu_.sm.count > kMostReferenceCycles) {
        continue;
      }
      outcome.referenced = outcome.referenced || way.reference;
      const PoolOutcome done = run_pool({task(way)}, {.jobs = 1, .progress = {}}).at(0);
      if (!done.result) {
        return {.verdict = Verdict::kFailed, .text = fmt::format("{}: {}", way.name, done.error)};
      }
      RunResult result = *done.result;
      const std::string wrong = failed_check(result, case_.policy == "none");
      if (!wrong.empty()) {
        return {.verdict = Verdict::kFailed, .text = fmt::format("{}: {}", way.name, wrong)};
      }
      outcome.cycles = result.cycles;
      result.unit.clear();
      result.wall_seconds = 0;
      const std::string text = results_to_json({result});
      if (!first) {
        first = text;
      } else if (*first != text) {
        return {.verdict = Verdict::kFailed, .text = difference(way, *first, text)};
      }
    }
    return outcome;
  }

 private:
  [[nodiscard]] PoolTask task(const Way& way) const {
    SimOptions options;
    options.gpu = gpu_;
    options.policy = parse_policy(case_.policy);
    options.unit.model = way.unit;
    options.unit.kind = case_.kind;
    options.unit.divider = case_.unit_divider;
    options.reference = way.reference;
    options.threads = way.threads;
    options.timeline_interval = way.timeline;
    return {.name = way.name,
            .work =
                [this, options](const auto&) {
                  try {
                    return simulate(options, trace_, sums_);
                  } catch (const SimulationError& error) {
                    throw BadInputError(error.what());
                  }
                },
            .prepare = {}};
  }

  static std::string difference(const Way& way, const std::string& first, const std::string& text) {
    const auto one = nlohmann::json::parse(first).flatten();
    const auto other = nlohmann::json::parse(text).flatten();
    for (const auto& [key, value] : one.items()) {
      if (!other.contains(key) || other[key] != value) {
        return fmt::format("{} differs in {}: {} for {}", way.name, key,
                           other.contains(key) ? other[key].dump() : "nothing", value.dump());
      }
    }
    return fmt::format("{} has more", way.name);
  }

  const Case& case_;
  GpuConfig gpu_;
  trace::Reader trace_;
  ReferenceSums sums_;
};

Outcome outcome_of(const Case& one, const std::filesystem::path& trace) {
  try {
    one.write_trace(trace);
  } catch (const std::exception& error) {
    return {.verdict = Verdict::kFailed, .text = fmt::format("no trace: {}", error.what())};
  }
  try {
    return Ways(one, trace).run();
  } catch (const BadInputError& error) {
    return {.verdict = Verdict::kRefused, .text = error.what()};
  } catch (const SimulationError& error) {
    return {.verdict = Verdict::kRefused, .text = error.what()};
  } catch (const std::exception& error) {
    return {.verdict = Verdict::kFailed, .text = error.what()};
  }
}

[[noreturn]] void child(const Case& one, const std::filesystem::path& trace, int out,
                        unsigned seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit memory{.rlim_cur = kMostBytes, .rlim_max = kMostBytes};
  ::setrlimit(RLIMIT_AS, &memory);
  const rlimit processor{.rlim_cur = seconds, .rlim_max = seconds + 1};
  ::setrlimit(RLIMIT_CPU, &processor);
  ::alarm(kWallOfProcessorTime * seconds);
  const Outcome outcome = outcome_of(one, trace);
  const std::string text =
      fmt::format("{} {} {} {}", static_cast<int>(outcome.verdict), outcome.cycles,
                  outcome.referenced ? 1 : 0, outcome.text.substr(0, 3000));
  const bool written = ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(written ? 0 : 1);
}

// What comes out of a pipe until its other end is closed; nothing if it is to stop before that.
std::optional<std::string> all_of(int pipe, const std::function<bool()>& stopped) {
  std::string text;
  std::array<char, 4096> piece{};
  while (!stopped()) {
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPollMilliseconds) <= 0) {
      continue;
    }
    const ssize_t got = ::read(pipe, piece.data(), piece.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return text;
    }
    text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  return std::nullopt;
}

}  // namespace

std::string Outcome::kind() const {
  std::string kind;
  for (const char c : text.substr(0, 200)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      kind.push_back(c);
    }
  }
  return kind;
}

Outcome check(const Case& one, const std::filesystem::path& trace, unsigned seconds,
              const std::function<bool()>& stopped) {
  if (stopped()) {
    return {.verdict = Verdict::kStopped, .text = ""};
  }
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw std::runtime_error("no pipe");
  }
  const pid_t pid = ::fork();
  if (pid < 0) {
    throw std::runtime_error("no process");
  }
  if (pid == 0) {
    ::close(ends[0]);
    child(one, trace, ends[1], seconds);
  }
  ::close(ends[1]);
  const std::optional<std::string> text = all_of(ends[0], stopped);
  if (!text) {
    ::kill(pid, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!text) {
    return {.verdict = Verdict::kStopped, .text = ""};
  }
  if (WIFSIGNALED(status)) {
    return {.verdict = Verdict::kFailed,
            .text = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU
                        ? "takes too long"
                        : fmt::format("died: {}", ::strsignal(WTERMSIG(status)))};
  }
  Outcome outcome;
  int verdict = 0;
  int referenced = 0;
  int at = 0;
  unsigned long long cycles = 0;
  if (std::sscanf(text->c_str(), "%d %llu %d %n", &verdict, &cycles, &referenced, &at) < 3) {
    return {.verdict = Verdict::kFailed, .text = "died without a word"};
  }
  outcome.verdict = static_cast<Verdict>(verdict);
  outcome.cycles = cycles;
  outcome.referenced = referenced != 0;
  outcome.text = text->substr(static_cast<std::size_t>(at));
  return outcome;
}

}  // namespace warpfold::soak
