// SPDX-License-Identifier: Apache-2.0
// A platform: a host that launches a trace twice by the GPU's registers, the GPU, and one memory
// behind all ports of its L2. The second launch adds to what the first has left in memory.
//   gpu_platform TRACE MACHINE lt|at NAME      loosely or approximately timed; waves in NAME.vcd
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

#include "model/systemc/gpu_module.hpp"

using namespace sc_core;
using namespace warpfold::systemc;

// Knows nothing of GPUs: a request every 20 ns by any of its sockets, answered after 200 ns.
struct Memory : sc_module {
  sc_vector<tlm_utils::simple_target_socket_tagged<Memory>> sockets;
  std::map<sc_dt::uint64, std::array<unsigned char, 128>> lines;
  sc_time free_at;
  unsigned requests = 0;
  Memory(const sc_module_name& name, std::size_t count)
      : sc_module(name), sockets("socket", count) {
    for (auto& socket : sockets) {
      socket.register_b_transport(this, &Memory::transport, 0);
      socket.register_nb_transport_fw(this, &Memory::forward, 0);
      socket.register_transport_dbg(this, &Memory::debug, 0);
    }
  }
  void transport(int, tlm::tlm_generic_payload& payload, sc_time& delay) {
    free_at = std::max(free_at, sc_time_stamp() + delay) + sc_time(20, SC_NS);
    delay = free_at + sc_time(200, SC_NS) - sc_time_stamp();
    ++requests;
    debug(0, payload);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm::tlm_sync_enum forward(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                             sc_time& delay) {
    transport(0, payload, delay);  // all phases at once, at that time
    return tlm::TLM_COMPLETED;
  }
  unsigned debug(int, tlm::tlm_generic_payload& payload) {
    auto* const bytes = &lines[payload.get_address() / 128][payload.get_address() % 128];
    auto* const data = payload.get_data_ptr();
    payload.is_write() ? std::memcpy(bytes, data, payload.get_data_length())
                       : std::memcpy(data, bytes, payload.get_data_length());
    return payload.get_data_length();
  }
};

struct Host : sc_module {
  SC_HAS_PROCESS(Host);
  tlm_utils::simple_initiator_socket<Host> socket{"socket"};
  sc_in<bool> done{"done"};  // of the GPU
  std::string trace;
  Host(const sc_module_name& name, std::string path) : sc_module(name), trace(std::move(path)) {
    SC_THREAD(run);
  }
  void access(tlm::tlm_command command, sc_dt::uint64 address, void* data, std::size_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    sc_assert(payload.is_response_ok());
  }
  std::uint64_t access(tlm::tlm_command command, GpuRegister which, std::uint64_t value = 0) {
    access(command, static_cast<sc_dt::uint64>(which), &value, sizeof value);
    return value;
  }
  void run() {
    access(tlm::TLM_WRITE_COMMAND, kGpuText, trace.data(), trace.size() + 1);
    access(tlm::TLM_WRITE_COMMAND, GpuRegister::kTrace, kGpuText);
    access(tlm::TLM_WRITE_COMMAND, GpuRegister::kPolicy, kGpuText + 1024);
    for (std::string policy : {"baseline", "arc-hw"}) {
      wait(10, SC_US);
      access(tlm::TLM_WRITE_COMMAND, kGpuText + 1024, policy.data(), policy.size() + 1);
      access(tlm::TLM_WRITE_COMMAND, GpuRegister::kControl, 1);
      wait(done->posedge_event());
      std::cout << sc_time_stamp() << ": " << policy << ", status "
                << access(tlm::TLM_READ_COMMAND, GpuRegister::kStatus) << ", "
                << access(tlm::TLM_READ_COMMAND, GpuRegister::kCycles) << " cycles\n";
    }
  }
};

int sc_main(int argc, char** argv) try {
  if (argc != 5) {
    return std::cerr << "usage: gpu_platform TRACE MACHINE lt|at NAME\n", 2;
  }
  GpuOptions options;
  options.machine = argv[2];
  options.overrides = {"l2.ways=4", "l2.bytes=12288"};  // so that lines are missed
  options.memory = true;
  options.style =
      argv[3] == std::string("at") ? CodingStyle::kApproximatelyTimed : CodingStyle::kLooselyTimed;
  tlm::tlm_global_quantum::instance().set(sc_time(1, SC_US));
  GpuModule gpu("gpu", options);
  Memory memory("memory", gpu.memory.size());
  Host host("host", argv[1]);
  gpu.memory.bind(memory.sockets);
  host.socket.bind(gpu.host);
  host.done(gpu.done);
  sc_trace_file* waves = sc_create_vcd_trace_file(argv[4]);
  sc_trace(waves, gpu, "gpu");
  sc_trace(waves, memory.requests, "memory.requests");
  sc_start();
  sc_close_vcd_trace_file(waves);
  return gpu.result().sums_match ? 0 : 1;
} catch (const std::exception& error) {
  return std::cerr << "gpu_platform: " << error.what() << '\n', 1;
}
