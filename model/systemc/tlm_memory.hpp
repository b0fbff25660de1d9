// SPDX-License-Identifier: Apache-2.0
// The memory behind one port of the L2, as a TLM-2.0 target that somebody binds. Loosely timed: a
// missed line is a READ, a line that it drives out a WRITE, both by b_transport() with a delay that
// the target adds to; the line is there when the read's delay is over. Payloads are whole lines.
// Their data says nothing: sums stay with the GPU.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/gpu/memory/memory_behind.hpp"
#include "model/systemc/tlm_sockets.hpp"

namespace warpfold::systemc {

class TlmMemory final : public MemoryBehind {
 public:
  // `period`: of an SM clock cycle, in which the GPU counts.
  TlmMemory(MemorySocket& socket, std::uint32_t line_bytes, const sc_core::sc_time& period);

  void write_back(Address line, Cycle now) override;
  Cycle read(Address line, Cycle now) override;

 private:
  sc_core::sc_time transport(tlm::tlm_command command, Address line);

  MemorySocket& socket_;
  const sc_core::sc_time period_;
  std::vector<unsigned char> data_;
};

}  // namespace warpfold::systemc
