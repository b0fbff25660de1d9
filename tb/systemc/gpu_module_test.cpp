// SPDX-License-Identifier: Apache-2.0
// The GPU's SystemC module: with memory bound that imitates the GPU's own it gives what simulate()
// gives, to the last counter; an L2 that is bound gets every transaction once, whatever the mode;
// local time says where SMs are. Each run is in a process of its own, since SystemC runs once in
// one.
#include "model/systemc/gpu_module.hpp"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "model/base/check.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "model/systemc/atomic_extension.hpp"
#include "tb/systemc/imitated_l2.hpp"

namespace warpfold::systemc {
namespace {

using sc_core::sc_time;

// A line's transfer after the other, then the latency.
struct Dram : sc_core::sc_module {
  tlm_utils::simple_target_socket<Dram> socket{"socket"};
  sc_time transfer, latency, free_at;
  Dram(const sc_core::sc_module_name& name, const sc_time& line, const sc_time& wait)
      : sc_module(name), transfer(line), latency(wait) {
    socket.register_b_transport(this, &Dram::transport);
  }
  void transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    free_at = std::max(free_at, sc_core::sc_time_stamp()) + transfer;
    if (payload.is_read()) {
      delay = free_at + latency - sc_core::sc_time_stamp();
    }
    payload.set_response_status(payload.get_address() % payload.get_data_length() == 0
                                    ? tlm::TLM_OK_RESPONSE
                                    : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

// Lets one transaction in at a time, `enter` cycles after it has asked, and does it `serve` cycles
// after that; says both in one call if that is 0.
struct SlowL2 : sc_core::sc_module {
  SC_HAS_PROCESS(SlowL2);
  tlm_utils::simple_target_socket<SlowL2> socket{"socket"};
  sc_time enter, serve;
  std::deque<tlm::tlm_generic_payload*> waiting;
  sc_core::sc_event next;
  std::uint64_t packets = 0;
  SlowL2(const sc_core::sc_module_name& name, const sc_time& in, const sc_time& out)
      : sc_module(name), enter(in), serve(out) {
    socket.register_nb_transport_fw(this, &SlowL2::forward);
    SC_METHOD(begin);
    sensitive << next;
    dont_initialize();
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    payload.acquire();
    waiting.push_back(&payload);
    if (waiting.size() == 1) {
      next.notify(enter);
    }
    return tlm::TLM_ACCEPTED;
  }
  void begin() {
    tlm::tlm_generic_payload* payload = waiting.front();
    waiting.pop_front();
    packets += payload->get_extension<AtomicExtension>()->packets;
    sc_time now;
    tlm::tlm_phase phase = tlm::END_REQ;
    if (payload->is_read() || serve != sc_core::SC_ZERO_TIME) {
      socket->nb_transport_bw(*payload, phase, now);
    }
    if (!payload->is_read()) {
      phase = tlm::BEGIN_RESP;
      sc_time later = serve;
      EXPECT_EQ(socket->nb_transport_bw(*payload, phase, later), tlm::TLM_COMPLETED);
    }
    payload->release();
    if (!waiting.empty()) {
      next.notify(enter);
    }
  }
};

struct Case {
  const char* trace;
  const char* policy;
  const char* red_wait = "";
};

void PrintTo(const Case& of, std::ostream* out) {
  *out << of.trace << " " << of.policy << " " << of.red_wait;
}

SimOptions options_of(const Case& of) {
  SimOptions options;
  options.gpu = load_gpu("rtx3060");
  options.policy = parse_policy(of.policy);
  options.gpu.rules.red_wait.name = of.red_wait;
  options.unit = UnitModel::kGolden;
  return options;
}

RunResult in_a_process(const std::function<RunResult()>& run) {
  const PoolOutcome outcome =
      run_pool({{.name = "run", .work = [&run](const auto&) { return run(); }, .prepare = {}}},
               {.jobs = 1, .progress = {}})
          .front();
  EXPECT_TRUE(outcome.result) << outcome.error;
  return outcome.result ? *outcome.result : RunResult{};
}

std::string text(RunResult result) {
  result.wall_seconds = 0;
  return results_to_json({result});
}

class GpuModules : public testing::TestWithParam<Case> {
 protected:
  trace::Reader trace_{std::string(WARPFOLD_TRACES) + "/" + GetParam().trace + ".wft"};
  ReferenceSums reference_ = ReferenceSums::compute(trace_);
};

TEST_P(GpuModules, GiveWhatTheSimulatorGives) {
  const SimOptions options = options_of(GetParam());
  const RunResult own = in_a_process([&] { return simulate(options, trace_, reference_); });
  const RunResult unbound = in_a_process([&] {
    GpuModule gpu("gpu", options, trace_, reference_, {});
    sc_core::sc_start();
    return gpu.result();
  });
  EXPECT_EQ(text(own), text(unbound));
  const RunResult bound = in_a_process([&] {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    GpuModule gpu("gpu", options, trace_, reference_, {.memory = true});
    const GpuConfig::L2& l2 = options.gpu.l2;
    const Ticks ticks = to_ticks(l2.line_bytes * double{1} * l2.ports() / l2.dram_bytes_per_cycle);
    const double cycles = static_cast<double>(ticks) / kTicksPerCycle;
    sc_core::sc_vector<Dram> drams("dram", gpu.memory.size(), [&](const char* name, std::size_t) {
      return new Dram(name, gpu.period() * cycles, gpu.period() * l2.dram_latency);
    });
    for (std::size_t i = 0; i < drams.size(); ++i) {
      gpu.memory[i].bind(drams[i].socket);
    }
    sc_core::sc_start();
    return gpu.result();
  });
  EXPECT_EQ(own.failure, "");
  EXPECT_EQ(text(own), text(bound));
}

RunResult with_l2(const SimOptions& options, const trace::Reader& trace,
                  const ReferenceSums& reference, double enter, double serve) {
  return in_a_process([&] {
    GpuModule gpu("gpu", options, trace, reference, {.l2 = true});
    sc_core::sc_vector<SlowL2> ports("l2", gpu.l2.size(), [&](const char* name, std::size_t) {
      return new SlowL2(name, gpu.period() * enter, gpu.period() * serve);
    });
    for (std::size_t i = 0; i < ports.size(); ++i) {
      gpu.l2[i].bind(ports[i].socket);
    }
    sc_core::sc_start();
    RunResult result = gpu.result();
    std::uint64_t packets = 0;
    for (const SlowL2& port : ports) {
      packets += port.packets;
    }
    ARC_CHECK(packets == result.rop_ops, "the L2 saw other sector operations than were sent");
    return result;
  });
}

TEST_P(GpuModules, PassEveryTransactionToAnL2Outside) {
  SimOptions options = options_of(GetParam());
  const RunResult gated = with_l2(options, trace_, reference_, 2, 30);
  EXPECT_EQ(gated.failure, "");
  const RunResult at_once = with_l2(options, trace_, reference_, 2, 0);
  EXPECT_EQ(at_once.failure, "");
  EXPECT_LE(at_once.cycles, gated.cycles);
  EXPECT_GT(with_l2(options, trace_, reference_, 40, 30).cycles, gated.cycles);
  options.reference = true;
  EXPECT_EQ(text(gated), text(with_l2(options, trace_, reference_, 2, 30)));
}

// Of all numbers those that do not come from the L2's own books.
std::string seen_by_sms(RunResult result) {
  std::erase_if(result.activity, [](const auto& one) { return one.first.starts_with("l2_"); });
  std::erase_if(result.utilization, [](const auto& one) { return one.first == "rop"; });
  std::erase_if(result.bounds, [](const auto& one) { return one.first == "rop"; });
  std::erase_if(result.even_bounds, [](const auto& one) { return one.first == "rop"; });
  return text(result);
}

// With every line in the L2, which the imitation takes for granted.
TEST(GpuModule, AnL2OutsideThatImitatesTheGpusOwnGivesItsNumbers) {
  for (const Case& of :
       {Case{"lego-ballot-values", "baseline"}, Case{"lego-ballot-values", "arc-hw"},
        Case{"lego-ballot-values", "lab"}, Case{"web-stanford", "baseline"}}) {
    const trace::Reader trace(std::string(WARPFOLD_TRACES) + "/" + of.trace + ".wft");
    const ReferenceSums reference = ReferenceSums::compute(trace);
    const SimOptions options = options_of(of);
    const RunResult own = in_a_process([&] { return simulate(options, trace, reference); });
    const RunResult bound = in_a_process([&] {
      sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
      GpuModule gpu("gpu", options, trace, reference, {.l2 = true});
      sc_core::sc_vector<ImitatedL2> ports(
          "l2", gpu.l2.size(), [&](const char* name, std::size_t i) {
            auto* const port = new ImitatedL2(name, options.gpu, gpu.period());
            gpu.l2[i].bind(port->socket);
            return port;
          });
      sc_core::sc_start();
      return gpu.result();
    });
    EXPECT_EQ(own.failure, "");
    EXPECT_EQ(seen_by_sms(own), seen_by_sms(bound)) << of.trace << " " << of.policy;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuModules,
                         testing::Values(Case{"truck-values", "baseline"},
                                         Case{"truck-values", "arc-hw"},
                                         Case{"truck-values", "phi"}, Case{"bob", "sw-b:16"},
                                         Case{"truck-values", "baseline", "own-reds"},
                                         Case{"truck-values", "arc-hw", "own-reds"}),
                         [](const auto& of) {
                           std::string name = std::string(of.param.trace) + "_" + of.param.policy +
                                              (*of.param.red_wait == '\0' ? "" : "_") +
                                              of.param.red_wait;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(GpuModule, AnL2OutsideHasNoPortsToMergeIn) {
  const trace::Reader trace(std::string(WARPFOLD_TRACES) + "/truck-values.wft");
  const ReferenceSums reference = ReferenceSums::compute(trace);
  try {
    GpuModule gpu("gpu", options_of({"truck-values", "arc-merge-l2"}), trace, reference,
                  {.l2 = true});
    ADD_FAILURE() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "policy arc-merge-l2 merges in the ports of the L2, which lies outside");
  }
}

TEST(GpuModule, LocalTimeSaysWhereAnSmIs) {
  const trace::Reader trace(std::string(WARPFOLD_TRACES) + "/truck-values.wft");
  const ReferenceSums reference = ReferenceSums::compute(trace);
  const RunResult result = in_a_process([&] {
    SimOptions options = options_of({"truck-values", "arc-hw"});
    GpuModule* module = nullptr;
    std::uint64_t shown = 0;
    std::uint64_t ahead = 0;
    const PortProbe probe{
        .window = {.begin = 1, .end = 200000},
        .show = [&](Cycle cycle, const UnitInputs&, const UnitOutputs&) {
          const sc_time local = module->local_time(0);
          const double cycles = (sc_core::sc_time_stamp() + local) / module->period();
          ARC_CHECK(std::llround(cycles) + 1 == static_cast<long long>(cycle), "another time");
          ++shown;
          ahead += local > sc_core::SC_ZERO_TIME ? 1U : 0U;
        }};
    options.probe = &probe;
    GpuModule gpu("gpu", options, trace, reference, {});
    module = &gpu;
    sc_core::sc_start();
    ARC_CHECK(shown > 1000 && ahead > 100, "the SM was never ahead");
    return gpu.result();
  });
  EXPECT_EQ(result.failure, "");
}

}  // namespace
}  // namespace warpfold::systemc
