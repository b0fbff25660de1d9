// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/tlm_memory.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace warpfold::systemc {

TlmMemory::TlmMemory(MemorySocket& socket, std::uint32_t line_bytes, const sc_core::sc_time& period)
    : socket_(socket), period_(period), data_(line_bytes) {}

sc_core::sc_time TlmMemory::transport(tlm::tlm_command command, Address line) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(line);
  payload.set_data_ptr(data_.data());
  payload.set_data_length(static_cast<unsigned>(data_.size()));
  payload.set_streaming_width(static_cast<unsigned>(data_.size()));
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket_->b_transport(payload, delay);
  if (payload.is_response_error()) {
    throw std::runtime_error("the memory behind " + std::string(socket_.name()) + " answers with " +
                             payload.get_response_string());
  }
  return delay;
}

void TlmMemory::write_back(Address line, Cycle /*now*/) {
  transport(tlm::TLM_WRITE_COMMAND, line);
}

// The first cycle that begins at or after that time, which is to come.
Cycle TlmMemory::read(Address line, Cycle now) {
  const sc_core::sc_time delay = transport(tlm::TLM_READ_COMMAND, line);
  const auto cycles = static_cast<Cycle>(std::ceil(delay / period_ - 1e-6));
  return now + std::max<Cycle>(cycles, 1);
}

}  // namespace warpfold::systemc
