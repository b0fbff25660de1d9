// SPDX-License-Identifier: Apache-2.0
// A port of the L2 behind a TLM-2.0 socket that imitates the GPU's own, cycle for cycle, where
// every line is in: the order of service and the model of rounds are the library's, the rest is
// SystemC.
//
// A cycle has two steps, as the GPU's own has: tick() at its beginning, and update() two delta
// cycles later, when all SMs have asked, what the buffer lets in.
#pragma once

#include <tlm_utils/simple_target_socket.h>

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
        latency(config.noc.latency),
        order(l2_order_rules().find(l2_order_of(config)).make(config)),
        rounds(config),
        heads(config.sm.count),
        queues(order->queues()),
        room(2 * config.l2.ingress_flits) {
    socket.register_nb_transport_fw(this, &ImitatedL2::forward);
    SC_METHOD(tick);
    SC_METHOD(relay);
    sensitive << ticked;
    dont_initialize();
    SC_METHOD(update);
    sensitive << settled;
    dont_initialize();
  }

  using Payload = tlm::tlm_generic_payload;
  sc_core::sc_time period;
  Cycle latency, now = 0;
  std::unique_ptr<ServiceOrder> order;
  RoundModel rounds;
  std::vector<Payload*> heads;  // by SM, what waits in front
  std::vector<Payload*> asked;  // in this cycle
  std::size_t waiting = 0;
  std::deque<std::pair<Cycle, Payload*>> coming;
  std::vector<std::deque<Payload*>> queues;
  std::uint32_t room;  // in half flits
  sc_core::sc_event ticked, settled;

  static const AtomicExtension& atomic(const Payload& payload) {
    return *payload.get_extension<AtomicExtension>();
  }
  static std::uint32_t room_of(const Payload& payload) {
    return payload.is_read() ? 0 : 2 * atomic(payload).flits - atomic(payload).lone_words;
  }

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
    payload.acquire();
    asked.push_back(&payload);
    settled.notify(sc_core::SC_ZERO_TIME);
    return tlm::TLM_ACCEPTED;
  }
  void answer(Payload& payload, tlm::tlm_phase phase, sc_core::sc_time delay) {
    socket->nb_transport_bw(payload, phase, delay);
  }

  void tick() {
    ++now;
    serve((now << kFineBits) + 1);
    while (!coming.empty() && coming.front().first <= now) {
      Payload& payload = *coming.front().second;
      coming.pop_front();
      const std::uint32_t queue = order->queue_of(atomic(payload).sm, atomic(payload).slice);
      queues[queue].push_back(&payload);
      if (queues[queue].size() == 1) {
        begin(queue, now << kFineBits);
      }
    }
    serve((now + 1) << kFineBits);
    ticked.notify(sc_core::SC_ZERO_TIME);
    next_trigger(period);
  }
  void relay() { settled.notify(sc_core::SC_ZERO_TIME); }

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
      room += room_of(payload);
      // Cycle 1 begins at time 0.
      const double cycles = static_cast<double>(end.time) / static_cast<double>(kFineCycle) - 1;
      const sc_core::sc_time at = period * cycles;
      answer(payload, tlm::BEGIN_RESP, at - std::min(at, sc_core::sc_time_stamp()));
      payload.release();
      if (!queues[end.queue].empty()) {
        begin(end.queue, end.time);
      }
    }
  }

  void update() {
    for (Payload* payload : std::exchange(asked, {})) {
      heads[atomic(*payload).sm] = payload;
      order->waits(atomic(*payload).sm, now);
      ++waiting;
    }
    while (waiting > 0) {
      const std::uint32_t sm = order->next();
      Payload& payload = *heads[sm];
      if (room_of(payload) > room) {
        return;
      }
      room -= room_of(payload);
      order->let_in(sm);
      --waiting;
      answer(payload, tlm::END_REQ, sc_core::SC_ZERO_TIME);
      if (payload.is_read()) {
        payload.release();
      } else {
        coming.emplace_back(now + latency, &payload);
      }
    }
  }
};

}  // namespace warpfold::systemc
