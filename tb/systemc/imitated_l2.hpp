// SPDX-License-Identifier: Apache-2.0
// A port of the L2 behind a TLM-2.0 socket that imitates the GPU's own, cycle for cycle, where
// every line is in: the order of service and the model of rounds are the library's, the rest is
// SystemC. It does the additions itself, in time alone, and answers loads as they come.
//
// The GPU has to be launched at time 0. In a cycle, tick() does what the GPU's own port does at the
// beginning, a delta cycle later, when all that comes in that cycle has come.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "model/gpu/memory/round_model.hpp"
#include "model/gpu/memory/service_order.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/systemc/atomic_extension.hpp"

namespace warpfold::systemc {

struct ImitatedL2 : sc_core::sc_module {
  SC_HAS_PROCESS(ImitatedL2);
  tlm_utils::simple_target_socket<ImitatedL2> socket{"socket"};

  ImitatedL2(const sc_core::sc_module_name& name, const GpuConfig& config,
             const sc_core::sc_time& cycle)
      : sc_module(name),
        period(cycle),
        order(l2_order_rules().find(l2_order_of(config)).make(config)),
        rounds(config),
        queues(order->queues()) {
    socket.register_nb_transport_fw(this, &ImitatedL2::forward);
    SC_METHOD(begin_cycle);
    SC_METHOD(tick);
    sensitive << begun;
    dont_initialize();
  }

  using Payload = tlm::tlm_generic_payload;
  sc_core::sc_time period;
  Cycle now = 0;
  std::unique_ptr<ServiceOrder> order;
  RoundModel rounds;
  std::vector<Payload*> come;  // in this cycle
  std::vector<std::deque<Payload*>> queues;
  sc_core::sc_event begun;

  static AtomicExtension& atomic(const Payload& payload) {
    return *payload.get_extension<AtomicExtension>();
  }

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    payload.acquire();
    come.push_back(&payload);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void answer(Payload& payload, sc_core::sc_time delay) {
    atomic(payload).added = atomic(payload).operation != AtomicOperation::kLoad;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    socket->nb_transport_bw(payload, phase, delay);
    payload.release();
  }

  void begin_cycle() {
    ++now;
    begun.notify(sc_core::SC_ZERO_TIME);
    next_trigger(period);
  }
  void tick() {
    serve((now << kFineBits) + 1);
    for (Payload* payload : std::exchange(come, {})) {
      if (atomic(*payload).operation == AtomicOperation::kLoad) {
        answer(*payload, sc_core::SC_ZERO_TIME);
        continue;
      }
      const std::uint32_t queue = order->queue_of(atomic(*payload).sm, atomic(*payload).slice);
      queues[queue].push_back(payload);
      if (queues[queue].size() == 1) {
        begin(queue, now << kFineBits);
      }
    }
    serve((now + 1) << kFineBits);
  }

  void begin(std::uint32_t queue, Fine time) {
    const Payload& payload = *queues[queue].front();
    const AtomicExtension& work = atomic(payload);
    const std::uint64_t line = payload.get_address() / kLineBytes;
    rounds.begin(queue,
                 {.sm = work.sm,
                  .slice = work.slice,
                  .pair = line / 2,
                  .sectors = static_cast<std::uint8_t>(work.sectors << line % 2 * kLineSectors),
                  .whole = work.whole,
                  .turns = static_cast<std::uint16_t>(work.turns),
                  .packets = static_cast<std::uint16_t>(work.packets),
                  .lone_words = static_cast<std::uint16_t>(work.lone_words),
                  .flits = static_cast<std::uint16_t>(work.flits)},
                 time);
  }

  void serve(Fine until) {
    while (!rounds.empty() && rounds.next_end().time < until) {
      const RoundModel::End end = rounds.next_end();
      rounds.end_next();
      Payload& payload = *queues[end.queue].front();
      queues[end.queue].pop_front();
      // Cycle 1 begins at time 0.
      const double cycles = static_cast<double>(end.time) / static_cast<double>(kFineCycle) - 1;
      const sc_core::sc_time at = period * cycles;
      answer(payload, at - std::min(at, sc_core::sc_time_stamp()));
      if (!queues[end.queue].empty()) {
        begin(end.queue, end.time);
      }
    }
  }
};

}  // namespace warpfold::systemc
