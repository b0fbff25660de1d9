// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/tlm_port.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/check.hpp"

namespace warpfold::systemc {

TlmPort::TlmPort(const sc_core::sc_module_name& name, const Context& context)
    : sc_core::sc_module(name),
      context_(context),
      adder_(context.additions),
      answers_(this, &TlmPort::hear) {
  context_.socket.register_nb_transport_bw(this, &TlmPort::backward);
  SC_METHOD(send);
  sensitive << asked_;
  dont_initialize();
  SC_METHOD(take_answers);
  sensitive << heard_;
  dont_initialize();
}

// The payloads lie in their entries with their extensions.
TlmPort::~TlmPort() {
  for (const auto& entry : entries_) {
    entry->clear_extension(&entry->extension);
  }
}

void TlmPort::free(tlm::tlm_generic_payload* payload) {
  free_.push_back(static_cast<Entry*>(payload));
}

void TlmPort::request(Partition& /*from*/, std::uint32_t sm) {
  asking_.push_back(sm);
  ++under_way_;
  asked_.notify(sc_core::SC_ZERO_TIME);
}

// All SMs that have asked in this cycle, in their order.
void TlmPort::send() {
  std::sort(asking_.begin(), asking_.end());
  for (const std::uint32_t sm : std::exchange(asking_, {})) {
    send(sm);
  }
}

void TlmPort::send(std::uint32_t sm) {
  if (free_.empty()) {
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->set_mm(this);
    entries_.back()->set_extension(&entries_.back()->extension);
    free_.push_back(entries_.back().get());
  }
  Entry& entry = *free_.back();
  free_.pop_back();
  entry.acquire();
  describe(entry, sm);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum status = context_.socket->nb_transport_fw(entry, phase, delay);
  ARC_CHECK(status != tlm::TLM_COMPLETED, "an L2 completes a transaction in phases");
  if (status == tlm::TLM_UPDATED) {
    answers_.notify(entry, phase, delay);
  }
}

void TlmPort::describe(Entry& entry, std::uint32_t sm) {
  const Transaction& head = context_.injectors[sm]->head();
  entry.let_in = entry.done = false;
  AtomicExtension& extension = entry.extension;
  extension.operation = head.load      ? AtomicOperation::kLoad
                        : head.reduced ? AtomicOperation::kAddSum
                        : head.partial ? AtomicOperation::kAddSums
                                       : AtomicOperation::kAddLanes;
  extension.sm = sm;
  extension.slice = head.slice;
  extension.mask = head.mask;
  extension.lanes = head.load ? 0 : static_cast<std::uint32_t>(lane_count(head.mask));
  extension.turns = head.turns;
  extension.packets = head.packets;
  extension.lone_words = head.lone_words;
  extension.sectors = head.sectors;
  extension.whole = head.whole;
  extension.flits = head.load ? 1 : head.flits;
  entry.set_command(head.load ? tlm::TLM_READ_COMMAND : tlm::TLM_IGNORE_COMMAND);
  entry.set_address(head.address);
  entry.set_data_ptr(nullptr);
  entry.set_data_length(0);
  entry.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

tlm::tlm_sync_enum TlmPort::backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
  answers_.notify(payload, phase, delay);
  if (phase == tlm::BEGIN_RESP) {
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

// What the target has answered, at its time: taken in the next delta cycle, when the GPU's clock
// has had its edge, if there is one at that time.
void TlmPort::hear(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
  ARC_CHECK(phase == tlm::END_REQ || phase == tlm::BEGIN_RESP, "a phase that no L2 answers with");
  answered_.push_back({.entry = static_cast<Entry*>(&payload), .done = phase == tlm::BEGIN_RESP});
  heard_.notify(sc_core::SC_ZERO_TIME);
}

void TlmPort::take_answers() {
  for (const Answer& answer : std::exchange(answered_, {})) {
    if (!answer.done || !answer.entry->let_in) {  // BEGIN_RESP implies END_REQ
      let_in(*answer.entry);
    }
    if (answer.done) {
      complete(*answer.entry);
    }
  }
}

void TlmPort::let_in(Entry& entry) {
  ARC_CHECK(!entry.let_in, "an L2 let a transaction in twice");
  entry.let_in = true;
  Injector& injector = *context_.injectors[entry.extension.sm];
  entry.transaction = std::move(injector.head());
  injector.grant();
  if (entry.transaction.load) {
    --under_way_;
    entry.release();
  }
}

void TlmPort::complete(Entry& entry) {
  ARC_CHECK(!entry.done && !entry.transaction.load, "an L2 did a transaction twice, or a load");
  entry.done = true;
  stats_.packets += entry.transaction.packets;
  stats_.rop_ops += entry.transaction.packets;
  adder_.add(entry.transaction);
  if (entry.transaction.answers != Transaction::kNoAnswer) {
    context_.injectors[entry.extension.sm]->added(asker_of(entry.transaction));
  }
  // The first cycle that begins then or later, as the clock of the GPU counts: cycle 1 begins at 0.
  const double cycles = sc_core::sc_time_stamp() / context_.period;
  stats_.last_done = std::max(stats_.last_done, static_cast<Cycle>(std::ceil(cycles - 1e-6)) + 1);
  --under_way_;
  entry.release();
}

}  // namespace warpfold::systemc
