// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/gpu_module.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "model/gpu/run/gpu.hpp"
#include "model/gpu/run/launch.hpp"
#include "model/kernel/clock.hpp"
#include "model/systemc/tlm_memory.hpp"
#include "model/systemc/tlm_port.hpp"

namespace warpfold::systemc {

GpuModule::GpuModule(const sc_core::sc_module_name& name, const SimOptions& options,
                     const trace::Reader& trace, const ReferenceSums& reference,
                     const GpuBindings& bindings)
    : sc_core::sc_module(name),
      memory("memory", bindings.memory ? options.gpu.l2.ports() : 0),
      l2("l2", bindings.l2 ? options.gpu.l2.ports() : 0),
      reference_(reference),
      period_(Clock::period_of(1.0 / options.gpu.sm.clock_ghz)),
      launch_(std::make_unique<Launch>(prepare_launch(options, trace, reference))) {
  if (bindings.memory && bindings.l2) {
    throw std::invalid_argument("an L2 that lies outside has no memory behind it to bind");
  }
  if (bindings.l2 && launch_->merge == MergePlace::kL2Port) {
    throw std::invalid_argument(fmt::format(
        "policy {} merges in the ports of the L2, which lies outside", options.policy.name()));
  }
  Outside outside;
  if (bindings.memory) {
    outside.memory = [&, this](std::uint32_t port) {
      return std::make_unique<TlmMemory>(memory[port], options.gpu.l2.line_bytes, period_);
    };
  }
  if (bindings.l2) {
    outside.l2 = [this](std::uint32_t port, const RopAdder::Context& additions,
                        const std::vector<Injector*>& injectors) {
      return std::make_unique<TlmPort>(fmt::format("port{}", port).c_str(),
                                       TlmPort::Context{.socket = l2[port],
                                                        .additions = additions,
                                                        .injectors = injectors,
                                                        .period = period_});
    };
  }
  outside.in_step = true;
  gpu_ = std::make_unique<Gpu>(options, *launch_, outside);
  tlm::tlm_global_quantum::instance().set(period_ * static_cast<double>(gpu_->quantum()));
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
}

GpuModule::~GpuModule() = default;

sc_core::sc_time GpuModule::local_time(std::uint32_t sm) {
  keeper_.set(period_ * static_cast<double>(gpu_->sms().at(sm)->ahead()));
  return keeper_.get_local_time();
}

RunResult GpuModule::result() {
  return gpu_->collect(reference_);
}

}  // namespace warpfold::systemc
