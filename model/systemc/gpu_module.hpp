// SPDX-License-Identifier: Apache-2.0
// The GPU as a SystemC module with TLM-2.0 sockets, for a platform to bind its memory, or its L2.
// It runs one launch of a trace under one policy from time 0 on. Owned by whoever elaborates it;
// one in a process, since the GPU runs once.
//
// Time: an SM clock cycle is period(), the machine's to SystemC's resolution; from 1 fs on parts of
// 1/256 of a cycle, in which the GPU counts, are exact: sc_set_time_resolution(1, SC_FS). What lies
// at the sockets is in step with sc_time_stamp(). SMs are temporally decoupled: each may be ahead,
// by the global quantum at most, which the module sets; local_time() says how far, so that
// sc_time_stamp() + local_time(sm) is where that SM is.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>

#include "model/gpu/run/simulate.hpp"
#include "model/outcome/run_result.hpp"
#include "model/systemc/tlm_sockets.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {
class Gpu;
struct Launch;
}  // namespace warpfold

namespace warpfold::systemc {

// What lies outside, to be bound. What does not is the GPU's own, as in `warpfold sim`.
struct GpuBindings {
  bool memory = false;  // behind each port of the L2: sockets `memory`
  bool l2 = false;      // the L2 itself: sockets `l2`; then there is no memory behind it to bind
};

class GpuModule : public sc_core::sc_module {
 public:
  // One for each port of the L2; none where it is not to be bound.
  sc_core::sc_vector<MemorySocket> memory;
  sc_core::sc_vector<L2Socket> l2;

  // `trace` and `reference` outlive it. Throws SimulationError where the machine or the policy
  // cannot run the trace.
  GpuModule(const sc_core::sc_module_name& name, const SimOptions& options,
            const trace::Reader& trace, const ReferenceSums& reference,
            const GpuBindings& bindings);
  ~GpuModule() override;

  [[nodiscard]] const sc_core::sc_time& period() const { return period_; }
  // How far that SM is ahead of sc_time_stamp().
  [[nodiscard]] sc_core::sc_time local_time(std::uint32_t sm);
  // After sc_start(), which ends when the launch has: what it measured, and its checks. Throws what
  // a block has thrown.
  [[nodiscard]] RunResult result();

 private:
  const ReferenceSums& reference_;
  const sc_core::sc_time period_;
  const std::unique_ptr<Launch> launch_;
  std::unique_ptr<Gpu> gpu_;
  tlm_utils::tlm_quantumkeeper keeper_;
};

}  // namespace warpfold::systemc
