// SPDX-License-Identifier: Apache-2.0
// Somebody's own L2, or memory, behind the GPU:  own_l2 TRACE GPU POLICY own|memory|l2 VCD
// own: nothing is bound. memory: DRAM behind each port of the L2, as fast as the GPU's own, loosely
// timed. l2: an L2 whose ports add one transaction after another, a sector every four cycles, and
// answer loads after 60 cycles, approximately timed.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <map>

#include "model/machine/config.hpp"
#include "model/systemc/atomic_extension.hpp"
#include "model/systemc/gpu_module.hpp"

using namespace warpfold::systemc;
using namespace sc_core;

// Lines of 128 bytes, zero at first.
struct Lines : std::map<sc_dt::uint64, std::array<unsigned char, 128>> {
  void access(tlm::tlm_generic_payload& payload) {
    const sc_dt::uint64 address = payload.get_address();
    auto* const bytes = &(*this)[address / 128][address % 128];
    auto* const data = payload.get_data_ptr();
    payload.is_write() ? std::memcpy(bytes, data, payload.get_data_length())
                       : std::memcpy(data, bytes, payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

struct Dram : sc_module {
  tlm_utils::simple_target_socket<Dram> socket{"socket"};
  sc_time transfer, latency, free_at;
  Lines lines;
  Dram(const sc_module_name& name, const sc_time& cycle, const warpfold::GpuConfig::L2& l2)
      : sc_module(name), latency(cycle * l2.dram_latency) {
    transfer =
        cycle / 256 * std::round(256. * l2.line_bytes * l2.ports() / l2.dram_bytes_per_cycle);
    socket.register_b_transport(this, &Dram::transport);
  }
  void transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    free_at = std::max(free_at, sc_time_stamp() + delay) + transfer;
    delay = free_at + latency - sc_time_stamp();
    lines.access(payload);
  }
};

struct OwnL2 : sc_module {
  tlm_utils::simple_target_socket<OwnL2> socket{"socket"};
  tlm_utils::peq_with_cb_and_phase<OwnL2> answers{this, &OwnL2::answer};
  unsigned held = 0;  // transactions
  sc_time period, free_at;
  Lines lines;
  OwnL2(const sc_module_name& name, const sc_time& cycle) : sc_module(name), period(cycle) {
    socket.register_nb_transport_fw(this, &OwnL2::forward);
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time&) {
    auto* const atomic = payload.get_extension<AtomicExtension>();
    sc_time answer = sc_time_stamp() + period * 60;
    if (atomic != nullptr && atomic->operation != AtomicOperation::kLoad) {
      free_at = std::max(free_at, sc_time_stamp()) + period * 4 * atomic->packets;
      answer = free_at;
    }
    payload.acquire();
    ++held;
    answers.notify(payload, tlm::BEGIN_RESP, answer - sc_time_stamp());
    phase = tlm::END_REQ;  // there is always room
    return tlm::TLM_UPDATED;
  }
  void answer(tlm::tlm_generic_payload& payload, const tlm::tlm_phase&) {
    lines.access(payload);
    if (auto* const atomic = payload.get_extension<AtomicExtension>(); atomic != nullptr) {
      const sc_dt::uint64 line = payload.get_address() / 128;
      atomic->add_to(lines[line].data(), line * 128);
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_time now;
    socket->nb_transport_bw(payload, phase, now);
    --held;
    payload.release();
  }
};

int sc_main(int argc, char** argv) try {
  if (argc != 6) {
    return std::cerr << "usage: own_l2 TRACE GPU POLICY own|memory|l2 VCD\n", 2;
  }
  const std::string bound = argv[4];
  sc_set_time_resolution(1, SC_FS);
  GpuOptions options;
  options.machine = argv[2];
  options.memory = bound == "memory";
  options.l2 = bound == "l2";
  options.style = options.l2 ? CodingStyle::kApproximatelyTimed : CodingStyle::kLooselyTimed;
  GpuModule gpu("gpu", options);
  tlm::tlm_global_quantum::instance().set(sc_time(1, SC_US));
  sc_trace_file* waves = sc_create_vcd_trace_file(argv[5]);
  sc_trace(waves, gpu, "gpu");
  const warpfold::GpuConfig machine = warpfold::load_gpu(argv[2]);
  sc_vector<Dram> drams("dram", gpu.memory.size(), [&](const char* name, std::size_t i) {
    auto* const dram = new Dram(name, gpu.period(), machine.l2);
    gpu.memory[i].bind(dram->socket);
    return dram;
  });
  sc_vector<OwnL2> ports("port", gpu.l2.size(), [&](const char* name, std::size_t i) {
    auto* const port = new OwnL2(name, gpu.period());
    gpu.l2[i].bind(port->socket);
    sc_trace(waves, port->held, std::string(name) + ".held");
    return port;
  });
  gpu.launch(argv[1], argv[3]);
  sc_start();
  sc_close_vcd_trace_file(waves);
  const GpuResult& result = gpu.result();
  std::cout << result.policy << " on " << result.machine << ": " << result.cycles << " cycles\n";
  return result.sums_match ? 0 : 1;
} catch (const std::exception& error) {
  return std::cerr << "own_l2: " << error.what() << '\n', 1;
}
