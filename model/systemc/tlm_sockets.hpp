// SPDX-License-Identifier: Apache-2.0
// The sockets of the GPU's module, and TLM's utilities.
#pragma once

// clang-format off: the last need the first ones in front of them.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <systemc>
#include <tlm>
// clang-format on

namespace warpfold::systemc {

// Where a port of the L2 meets the memory behind it: loosely timed, no backward calls.
class MemorySocket : public tlm_utils::simple_initiator_socket<MemorySocket> {
 public:
  using simple_initiator_socket::simple_initiator_socket;
};

class TlmPort;
// Where SMs meet a port of an L2 that lies outside: approximately timed, base protocol.
using L2Socket = tlm_utils::simple_initiator_socket<TlmPort>;

}  // namespace warpfold::systemc
