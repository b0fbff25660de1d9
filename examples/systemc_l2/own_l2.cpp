// SPDX-License-Identifier: Apache-2.0
// Somebody's own L2, or memory, behind the GPU:  own_l2 TRACE GPU POLICY own|memory|l2 VCD
// own: nothing is bound. memory: DRAM behind each port of the L2, as fast as the GPU's own. l2: an
// L2 whose ports serve one transaction after another, a sector every four cycles.
#include <tlm_utils/simple_target_socket.h>

#include <cmath>
#include <deque>
#include <iostream>

#include "model/gpu/run/reference_sums.hpp"
#include "model/systemc/atomic_extension.hpp"
#include "model/systemc/gpu_module.hpp"

using namespace warpfold;
using namespace sc_core;

struct Dram : sc_module {
  tlm_utils::simple_target_socket<Dram> socket{"socket"};
  sc_time transfer, latency, free_at;
  Dram(const sc_module_name& name, const sc_time& cycle, const GpuConfig::L2& l2)
      : sc_module(name), latency(cycle * l2.dram_latency) {
    transfer =
        cycle / 256 * std::round(256. * l2.line_bytes * l2.ports() / l2.dram_bytes_per_cycle);
    socket.register_b_transport(this, &Dram::transport);
  }
  void transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    free_at = std::max(free_at, sc_time_stamp() + delay) + transfer;
    delay = payload.is_read() ? free_at + latency - sc_time_stamp() : delay;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

// Lets in up to kRoom transactions and serves them in the order in which they came.
struct OwnL2 : sc_module {
  SC_HAS_PROCESS(OwnL2);
  static constexpr std::size_t kRoom = 16;
  tlm_utils::simple_target_socket<OwnL2> socket{"socket"};
  sc_signal<unsigned> held{"held"};
  sc_time period, now;
  std::deque<tlm::tlm_generic_payload*> waiting, inside;
  sc_event come, served;
  OwnL2(const sc_module_name& name, const sc_time& cycle) : sc_module(name), period(cycle) {
    socket.register_nb_transport_fw(this, &OwnL2::forward);
    SC_METHOD(let_in);
    sensitive << come;
    SC_METHOD(done);
    sensitive << served;
    dont_initialize();
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_time&) {
    payload.acquire();
    waiting.push_back(&payload);
    come.notify(SC_ZERO_TIME);
    return tlm::TLM_ACCEPTED;
  }
  void answer(tlm::tlm_generic_payload& p, tlm::tlm_phase phase) {
    socket->nb_transport_bw(p, phase, now);
  }
  void let_in() {
    while (!waiting.empty() && inside.size() < kRoom) {
      tlm::tlm_generic_payload* payload = waiting.front();
      waiting.pop_front();
      answer(*payload, tlm::END_REQ);
      if (payload->is_read()) {
        payload->release();  // the GPU knows when a load is answered
      } else {
        inside.push_back(payload);
        inside.size() == 1 ? serve() : void();
      }
    }
    held.write(static_cast<unsigned>(inside.size()));
  }
  void serve() {
    served.notify(period * 4 * inside.front()->get_extension<systemc::AtomicExtension>()->packets);
  }
  void done() {
    answer(*inside.front(), tlm::BEGIN_RESP);
    inside.front()->release();
    inside.pop_front();
    inside.empty() ? void() : serve();
    come.notify(SC_ZERO_TIME);
  }
};

int sc_main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: own_l2 TRACE GPU POLICY own|memory|l2 VCD\n";
    return 2;
  }
  sc_set_time_resolution(1, SC_FS);
  const trace::Reader trace(argv[1]);
  SimOptions options;
  options.gpu = load_gpu(argv[2]);
  options.policy = parse_policy(argv[3]);
  options.unit = UnitModel::kGolden;
  const ReferenceSums reference = ReferenceSums::compute(trace);
  systemc::GpuModule gpu(
      "gpu", options, trace, reference,
      {.memory = argv[4] == std::string("memory"), .l2 = argv[4] == std::string("l2")});
  sc_trace_file* waves = sc_create_vcd_trace_file(argv[5]);
  sc_vector<Dram> drams("dram", gpu.memory.size(), [&](const char* name, std::size_t i) {
    auto* const dram = new Dram(name, gpu.period(), options.gpu.l2);
    gpu.memory[i].bind(dram->socket);
    return dram;
  });
  sc_vector<OwnL2> ports("port", gpu.l2.size(), [&](const char* name, std::size_t i) {
    auto* const port = new OwnL2(name, gpu.period());
    gpu.l2[i].bind(port->socket);
    sc_trace(waves, port->held, port->held.name());
    return port;
  });
  sc_start();
  sc_close_vcd_trace_file(waves);
  const RunResult result = gpu.result();
  std::cout << result.policy << " on " << result.gpu << ": " << result.cycles << " cycles, "
            << (result.failure.empty() ? "all sums right" : result.failure) << "\n";
  return result.failure.empty() ? 0 : 1;
}
