// SPDX-License-Identifier: Apache-2.0
// A memory that answers by nb_transport in every way that the base protocol allows, at random: at
// once or later, complete or phase by phase, by what a call returns or by calls of its own, with
// annotated times or without.
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <systemc>
#include <tlm>

namespace warpfold::systemc {

class MoodyMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<MoodyMemory> socket{"socket"};

  MoodyMemory(const sc_core::sc_module_name& name, std::uint64_t seed)
      : sc_module(name), random_(seed), queue_(this, &MoodyMemory::on_phase) {
    socket.register_nb_transport_fw(this, &MoodyMemory::forward);
  }

  [[nodiscard]] std::uint32_t word(sc_dt::uint64 address) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < sizeof bits; ++i) {
      bits |= std::uint32_t{bytes_[address + i]} << 8 * i;
    }
    return bits;
  }
  // How often it has answered in which way.
  std::array<std::uint64_t, 5> ways{};

 private:
  using Payload = tlm::tlm_generic_payload;

  sc_core::sc_time some_time() {
    return sc_core::sc_time(static_cast<double>(random_() % 30), sc_core::SC_NS);
  }
  // What has been read stays as it is.
  void serve(Payload& payload) {
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
      std::uint8_t& byte = bytes_[payload.get_address() + i];
      if (payload.is_write()) {
        byte = payload.get_data_ptr()[i];
      } else {
        payload.get_data_ptr()[i] = byte;
      }
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      responding_ = false;
      respond();
      return tlm::TLM_COMPLETED;
    }
    // The response phase is one transaction's.
    const std::uint64_t way = random_() % (responding_ || !answers_.empty() ? 3 : 5);
    ++ways[way];
    switch (way) {
      case 0:  // END_REQ by a call, now or later
        payload.acquire();
        queue_.notify(payload, tlm::END_REQ, some_time());
        return tlm::TLM_ACCEPTED;
      case 1:  // END_REQ at once, at some time
        payload.acquire();
        phase = tlm::END_REQ;
        delay += some_time();
        queue_.notify(payload, tlm::BEGIN_RESP, delay + some_time());
        return tlm::TLM_UPDATED;
      case 2:  // BEGIN_RESP alone
        payload.acquire();
        queue_.notify(payload, tlm::BEGIN_RESP, some_time());
        return tlm::TLM_ACCEPTED;
      case 3:  // BEGIN_RESP at once
        serve(payload);
        responding_ = true;
        phase = tlm::BEGIN_RESP;
        delay += some_time();
        return tlm::TLM_UPDATED;
      default:  // all at once
        serve(payload);
        delay += some_time();
        return tlm::TLM_COMPLETED;
    }
  }

  void on_phase(Payload& payload, const tlm::tlm_phase& phase) {
    if (phase == tlm::END_REQ) {
      tlm::tlm_phase end = tlm::END_REQ;
      sc_core::sc_time delay = random_() % 2 == 0 ? some_time() : sc_core::SC_ZERO_TIME;
      queue_.notify(payload, tlm::BEGIN_RESP, delay + some_time());
      socket->nb_transport_bw(payload, end, delay);
    } else {
      answers_.push_back(&payload);
      respond();
    }
  }
  void respond() {
    while (!responding_ && !answers_.empty()) {
      Payload& payload = *answers_.front();
      answers_.pop_front();
      serve(payload);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = random_() % 2 == 0 ? some_time() : sc_core::SC_ZERO_TIME;
      // Until END_RESP, by a call or by this one. TLM_COMPLETED is not looked at, as by DRAMSys.
      responding_ = socket->nb_transport_bw(payload, phase, delay) != tlm::TLM_UPDATED ||
                    phase != tlm::END_RESP;
      payload.release();
    }
  }

  std::mt19937_64 random_;
  tlm_utils::peq_with_cb_and_phase<MoodyMemory> queue_;
  std::deque<Payload*> answers_;
  bool responding_ = false;
  std::map<sc_dt::uint64, std::uint8_t> bytes_;
};

}  // namespace warpfold::systemc
