// SPDX-License-Identifier: Apache-2.0
// The GPU's SystemC module between its sockets: with memory bound that imitates the GPU's own it
// gives what simulate() gives, to the last counter, and so with an L2; a memory that knows nothing
// of GPUs holds the sums at the end, whichever of them it lies behind, in both coding styles.
#include "model/systemc/gpu_module.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "model/gpu/sm/red_wait.hpp"
#include "tb/systemc/imitated_l2.hpp"
#include "tb/systemc/platform.hpp"

namespace warpfold::systemc {
namespace {

using sc_core::sc_time;
constexpr auto kLoose = CodingStyle::kLooselyTimed;
constexpr auto kInStep = CodingStyle::kApproximatelyTimed;

struct Case {
  const char* trace;
  const char* policy;
  const char* red_wait = "";
  const char* machine = "rtx3060";
  unsigned l2_bytes = 0;  // of its L2, if not as many as the machine says
};

void PrintTo(const Case& of, std::ostream* out) {
  *out << of.trace << " " << of.policy << " " << of.red_wait << " " << of.machine << " "
       << of.l2_bytes;
}

std::string name_of(const testing::TestParamInfo<Case>& of) {
  std::string name = testing::PrintToString(of.param);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

GpuOptions options_of(const Case& of, CodingStyle style) {
  GpuOptions options;
  options.machine = of.machine;
  if (of.l2_bytes != 0) {
    options.overrides.push_back("l2.bytes=" + std::to_string(of.l2_bytes));
  }
  if (*of.red_wait != '\0') {
    options.overrides.push_back(std::string("rules.red_wait=") + of.red_wait);
  }
  options.style = style;
  return options;
}

RunResult simulated(const Case& of) {
  const GpuOptions options = options_of(of, kLoose);
  SimOptions simulation;
  simulation.gpu = load_gpu(options.machine, options.overrides);
  simulation.policy = parse_policy(of.policy);
  simulation.unit.model = UnitModel::kGolden;
  const trace::Reader trace(trace_path(of.trace));
  const ReferenceSums reference = ReferenceSums::compute(trace);
  return in_a_process([&] { return simulate(simulation, trace, reference); });
}

void set_quantum(double microseconds = 1) {
  tlm::tlm_global_quantum::instance().set(sc_time(microseconds, sc_core::SC_US));
}

struct Nanoseconds {
  double take, latency;
  bool waits = false, at_once = false;
  double quantum = 1;  // in microseconds
};

// The GPU with such memory behind its L2, or as its L2; without times with the GPU's own.
RunResult with_memory(const Case& of, CodingStyle style, bool as_l2,
                      const std::optional<Nanoseconds>& times) {
  return in_a_process([&] {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    set_quantum(times ? times->quantum : 1);
    GpuOptions options = options_of(of, style);
    (as_l2 ? options.l2 : options.memory) = true;
    GpuModule gpu("gpu", options);
    const GpuConfig machine = load_gpu(options.machine, options.overrides);
    Sockets& sockets = as_l2 ? gpu.l2 : gpu.memory;
    Checkers checkers("checker", sockets, machine.l2.line_bytes);
    sc_core::sc_vector<Memory> memories(
        "memory", sockets.size(), [&](const char* name, std::size_t i) {
          MemoryTiming timing = like_dram(gpu, machine);
          if (times) {
            timing = {.take = sc_time(times->take, sc_core::SC_NS),
                      .latency = sc_time(times->latency, sc_core::SC_NS),
                      .waits = times->waits,
                      .at_once = times->at_once};
          }
          auto* const memory = new Memory(name, timing);
          checkers[i].out.bind(memory->socket);
          return memory;
        });
    gpu.launch(trace_path(of.trace), of.policy);
    sc_core::sc_start();
    checkers.check();
    // Each memory holds the lines of its port, and zeros for all others.
    check_memory(trace_path(of.trace), [&](Address address) {
      std::uint32_t word = 0;
      for (Memory& memory : memories) {
        word |= memory.word(address);
      }
      return word;
    });
    return gpu.run_result();
  });
}

class GpuModules : public testing::TestWithParam<Case> {};

TEST_P(GpuModules, GiveWhatTheSimulatorGives) {
  const RunResult own = simulated(GetParam());
  EXPECT_EQ(own.failure, "");
  for (const CodingStyle style : {kLoose, kInStep}) {
    const RunResult unbound = in_a_process([&] {
      set_quantum();
      GpuModule gpu("gpu", options_of(GetParam(), style));
      gpu.launch(trace_path(GetParam().trace), GetParam().policy);
      sc_core::sc_start();
      return gpu.run_result();
    });
    EXPECT_EQ(text(own), text(unbound));
  }
  EXPECT_EQ(text(own), text(with_memory(GetParam(), kLoose, false, {})));
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuModules,
                         testing::Values(Case{"truck-values", "baseline"},
                                         Case{"truck-values", "arc-hw", "own-reds"},
                                         Case{"truck-values", "phi"}),
                         name_of);

// The two styles may differ by what is at the edge of a cycle.
void expect_close(std::uint64_t a, std::uint64_t b) {
  EXPECT_LE(a > b ? a - b : b - a, std::max(a, b) / 100) << a << " and " << b;
}

// Of which lines are driven out.
constexpr unsigned kSmallL2 = 98304;

class Memories : public testing::TestWithParam<Case> {};

TEST_P(Memories, HoldTheSumsBehindTheL2AndInPlaceOfIt) {
  const Case& of = GetParam();
  for (const bool as_l2 : {false, true}) {
    const auto run = [&](CodingStyle style, const Nanoseconds& times) {
      const RunResult result = with_memory(of, style, as_l2, times);
      EXPECT_EQ(result.failure, "");
      return result.cycles;
    };
    const std::uint64_t loose = run(kLoose, {.take = 2, .latency = 40});
    const std::uint64_t in_step = run(kInStep, {.take = 2, .latency = 40});
    expect_close(loose, in_step);
    expect_close(loose, run(kLoose, {.take = 2, .latency = 40, .waits = true, .quantum = 0}));
    // Answers of a target that waits are seen at the end of a quantum.
    run(kLoose, {.take = 2, .latency = 40, .waits = true});
    expect_close(loose, run(kInStep, {.take = 2, .latency = 40, .at_once = true}));
    const std::uint64_t slower = run(kInStep, {.take = 2, .latency = 400});
    EXPECT_GE(slower, in_step);
    EXPECT_TRUE(!as_l2 || slower > in_step);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gpu, Memories,
    testing::Values(Case{"lego-ballot-values", "baseline", "", "rtx3060", kSmallL2},
                    Case{"lego-ballot-values", "arc-hw", "own-reds", "rtx3060", kSmallL2},
                    Case{"lego-ballot-values", "lab", "", "rtx3060", kSmallL2}),
    name_of);

// Of all numbers those that do not come from the L2's own books.
std::string seen_by_sms(RunResult result) {
  std::erase_if(result.activity, [](const auto& one) { return one.first.starts_with("l2_"); });
  std::erase_if(result.utilization, [](const auto& one) { return one.first == "rop"; });
  std::erase_if(result.bounds, [](const auto& one) { return one.first == "rop"; });
  std::erase_if(result.even_bounds, [](const auto& one) { return one.first == "rop"; });
  return text(result);
}

class ImitatedL2s : public testing::TestWithParam<Case> {};

// With every line in the L2, which the imitation takes for granted.
TEST_P(ImitatedL2s, GiveTheNumbersOfTheGpusOwn) {
  const Case& of = GetParam();
  const RunResult own = simulated(of);
  const RunResult bound = in_a_process([&] {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    GpuOptions options = options_of(of, kInStep);
    const GpuConfig machine = load_gpu(options.machine, options.overrides);
    options.l2 = true;
    options.way_back = static_cast<unsigned>(answer_cycles(machine));
    GpuModule gpu("gpu", options);
    Checkers checkers("checker", gpu.l2, kLineBytes);
    sc_core::sc_vector<ImitatedL2> ports("l2", gpu.l2.size(), [&](const char* name, std::size_t i) {
      auto* const port = new ImitatedL2(name, machine, gpu.period());
      checkers[i].out.bind(port->socket);
      return port;
    });
    gpu.launch(trace_path(of.trace), of.policy);
    while (!gpu.finished()) {
      sc_core::sc_start(100, sc_core::SC_US);
    }
    checkers.check();
    return gpu.run_result();
  });
  EXPECT_EQ(own.failure, "");
  EXPECT_EQ(seen_by_sms(own), seen_by_sms(bound));
}

INSTANTIATE_TEST_SUITE_P(Gpu, ImitatedL2s,
                         testing::Values(Case{"lego-ballot-values", "baseline"},
                                         Case{"lego-ballot-values", "arc-hw"},
                                         Case{"lego-ballot-values", "arc-hw", "own-reds"},
                                         Case{"lego-ballot-values", "lab"},
                                         Case{"truck-values", "baseline", "", "h100"}),
                         name_of);

}  // namespace
}  // namespace warpfold::systemc
