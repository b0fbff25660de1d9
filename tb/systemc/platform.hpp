// SPDX-License-Identifier: Apache-2.0
// Platforms around the GPU for tests: a checker at every socket, and memories, buses or whatever a
// case brings behind them. SystemC runs once in a process, so each platform has one of its own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/base/check.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/outcome/run_result.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "model/systemc/gpu_module.hpp"
#include "tb/systemc/bus.hpp"
#include "tb/systemc/memory.hpp"
#include "tb/systemc/protocol_checker.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::systemc {

inline std::string trace_path(const std::string& name) {
  return std::string(WARPFOLD_TRACES) + "/" + name + ".wft";
}

// What `run` returns in a process of its own, or the error that it ended with.
inline PoolOutcome outcome_of(const std::function<RunResult()>& run) {
  return run_pool({{.name = "run", .work = [&run](const auto&) { return run(); }, .prepare = {}}},
                  {.jobs = 1, .progress = {}})
      .front();
}
inline RunResult in_a_process(const std::function<RunResult()>& run) {
  const PoolOutcome outcome = outcome_of(run);
  EXPECT_TRUE(outcome.result) << outcome.error;
  return outcome.result ? *outcome.result : RunResult{};
}
// Where nothing comes back but whether it went well.
inline void run_in_a_process(const std::function<void()>& run) {
  in_a_process([&run] {
    run();
    return RunResult{};
  });
}

inline std::string text(RunResult result) {
  result.wall_seconds = 0;
  return results_to_json({result});
}

using Sockets = sc_core::sc_vector<tlm::tlm_initiator_socket<>>;

// A checker at each of these sockets.
class Checkers {
 public:
  Checkers(const char* name, Sockets& sockets, unsigned line)
      : checkers_(name, sockets.size(), [&](const char* one, std::size_t i) {
          auto* const checker = new ProtocolChecker(one, line);
          sockets[i].bind(checker->in);
          return checker;
        }) {}
  ProtocolChecker& operator[](std::size_t i) { return checkers_[i]; }
  [[nodiscard]] std::size_t size() const { return checkers_.size(); }

  // Throws where a rule was broken, or something is still under way, or nothing came by that should
  // have.
  void check(bool used = true) const {
    std::uint64_t transactions = 0;
    for (const ProtocolChecker& checker : checkers_) {
      ARC_CHECK(checker.faults().empty(), checker.faults().front());
      ARC_CHECK(checker.under_way() == 0, std::string(checker.name()) + ": not all ended");
      transactions += checker.transactions();
    }
    ARC_CHECK(!used || transactions > 0, "nothing came by");
  }

 private:
  sc_core::sc_vector<ProtocolChecker> checkers_;
};

// As fast as the GPU's own DRAM behind one of its ports.
inline MemoryTiming like_dram(const GpuModule& gpu, const GpuConfig& machine) {
  const GpuConfig::L2& l2 = machine.l2;
  const Ticks ticks = to_ticks(l2.line_bytes * double{1} * l2.ports() / l2.dram_bytes_per_cycle);
  const double cycles = static_cast<double>(ticks) / static_cast<double>(kTicksPerCycle);
  MemoryTiming timing;
  timing.take = gpu.period() * cycles;
  timing.latency = gpu.period() * static_cast<double>(l2.dram_latency);
  return timing;
}

// Whether memory holds, times over, what the trace adds up to.
template <typename Word>
void check_memory(const std::string& path, Word&& word, float times = 1) {
  const trace::Reader trace(path);
  const ReferenceSums reference = ReferenceSums::compute(trace);
  const AddressMap map(trace.header());
  std::vector<Fp32Bits> found(map.element_count(), 0);
  std::uint32_t parameter = 0;
  for (const trace::Site& site : trace.header().sites) {
    for (std::size_t p = 0; p < site.parameters.size(); ++p, ++parameter) {
      for (std::uint32_t i = 0; i < site.primitive_count; ++i) {
        const float sum = std::bit_cast<float>(word(map.address(i, parameter)));
        found[map.element(i, parameter)] = std::bit_cast<Fp32Bits>(sum / times);
      }
    }
  }
  const ReferenceSums::Comparison sums = reference.compare(found);
  ARC_CHECK(sums.match, sums.first_difference);
}

}  // namespace warpfold::systemc
