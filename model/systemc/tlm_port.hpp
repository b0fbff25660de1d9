// SPDX-License-Identifier: Apache-2.0
// A port of an L2 that lies outside, on the SMs' side: each transaction that waits for the port is
// a generic payload with an AtomicExtension, by nb_transport in the four phases of the base
// protocol.
//
//   BEGIN_REQ   it waits in front of the port, the only one of its SM; those of one cycle come in
//               the order of SMs, in the second delta cycle of that time
//   END_REQ     the target lets it in: the SM goes on with its next in the following cycle. The
//               model of a load is over with that; the GPU knows when its answer comes
//   BEGIN_RESP  its additions are done, of any SM in any order; the GPU does them now
//   END_RESP    at once
//
// The target may answer at once or call back, with any delay. Owned by the GPU; one partition.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/gpu/memory/outside.hpp"
#include "model/systemc/atomic_extension.hpp"
#include "model/systemc/tlm_sockets.hpp"

namespace warpfold::systemc {

class TlmPort final : public OutsidePort, public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  SC_HAS_PROCESS(TlmPort);
  struct Context {
    L2Socket& socket;
    RopAdder::Context additions;
    std::vector<Injector*> injectors;  // by SM
    sc_core::sc_time period;           // of an SM clock cycle
  };
  TlmPort(const sc_core::sc_module_name& name, const Context& context);
  ~TlmPort() override;

  void request(Partition& from, std::uint32_t sm) override;
  [[nodiscard]] const L2Stats& stats() const override { return stats_; }
  [[nodiscard]] bool empty() const override { return under_way_ == 0; }

 private:
  // A payload and what it stands for. Reused; freed by the last who refers to it.
  struct Entry : tlm::tlm_generic_payload {
    AtomicExtension extension;
    Transaction transaction;
    bool let_in = false;
    bool done = false;
  };
  void free(tlm::tlm_generic_payload* payload) override;

  void send();
  void send(std::uint32_t sm);
  void describe(Entry& entry, std::uint32_t sm);
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void hear(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase);
  void take_answers();
  void let_in(Entry& entry);
  void complete(Entry& entry);

  Context context_;
  RopAdder adder_;
  sc_core::sc_event asked_;
  std::vector<std::uint32_t> asking_;  // SMs, in this cycle
  struct Answer {
    Entry* entry;
    bool done;  // else let in
  };
  tlm_utils::peq_with_cb_and_phase<TlmPort> answers_;
  std::vector<Answer> answered_;  // at this time
  sc_core::sc_event heard_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> free_;
  std::uint64_t under_way_ = 0;
  L2Stats stats_;
};

}  // namespace warpfold::systemc
