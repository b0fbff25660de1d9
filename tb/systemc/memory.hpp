// SPDX-License-Identifier: Apache-2.0
// A memory that knows nothing of GPUs: READ and WRITE, zero at first, by b_transport and by
// nb_transport, debug transport and DMI. It takes one request after the other, a time each, and
// answers a latency later.
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>

namespace warpfold::systemc {

struct MemoryTiming {
  sc_core::sc_time take;     // from one request to the next
  sc_core::sc_time latency;  // beyond that
  bool waits = false;        // b_transport waits, and annotates nothing
  bool at_once = false;      // nb_transport completes in the first call
};

class Memory : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Memory);
  tlm_utils::simple_target_socket<Memory> socket{"socket"};

  Memory(const sc_core::sc_module_name& name, const MemoryTiming& timing, bool debug = true)
      : sc_module(name), timing_(timing), queue_(this, &Memory::on_phase) {
    socket.register_b_transport(this, &Memory::transport);
    socket.register_nb_transport_fw(this, &Memory::forward);
    if (debug) {
      socket.register_transport_dbg(this, &Memory::debug);
      socket.register_get_direct_mem_ptr(this, &Memory::dmi);
    }
  }

  std::uint64_t reads = 0, writes = 0;
  sc_dt::uint64 highest = 0;  // address that has been asked for

  [[nodiscard]] std::uint32_t word(sc_dt::uint64 address) {
    std::uint32_t bits = 0;
    copy(address, reinterpret_cast<unsigned char*>(&bits), sizeof bits, false);
    return bits;
  }

 private:
  static constexpr sc_dt::uint64 kPage = 4096;
  using Page = std::array<unsigned char, kPage>;
  using Payload = tlm::tlm_generic_payload;

  Page& page_of(sc_dt::uint64 address) {
    std::unique_ptr<Page>& page = pages_[address / kPage];
    if (!page) {
      page = std::make_unique<Page>();
    }
    return *page;
  }
  void copy(sc_dt::uint64 address, unsigned char* data, unsigned bytes, bool write) {
    for (unsigned i = 0; i < bytes; ++i) {
      unsigned char& byte = page_of(address + i)[(address + i) % kPage];
      (write ? byte : data[i]) = write ? data[i] : byte;
    }
  }
  void serve(Payload& payload) {
    (payload.is_write() ? writes : reads) += 1;
    highest = std::max(highest, payload.get_address() + payload.get_data_length() - 1);
    if (payload.get_byte_enable_ptr() != nullptr) {
      payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
      return;
    }
    copy(payload.get_address(), payload.get_data_ptr(), payload.get_data_length(),
         payload.is_write());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  // When a request that comes at that time is answered.
  sc_core::sc_time answer_of(const sc_core::sc_time& time) {
    free_at_ = std::max(free_at_, time) + timing_.take;
    return free_at_ + timing_.latency;
  }

  void transport(Payload& payload, sc_core::sc_time& delay) {
    const sc_core::sc_time answer = answer_of(sc_core::sc_time_stamp() + delay);
    delay = answer - sc_core::sc_time_stamp();
    if (timing_.waits) {
      sc_core::wait(delay);
      delay = sc_core::SC_ZERO_TIME;
    }
    serve(payload);
  }

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      responding_ = false;
      respond();
      return tlm::TLM_COMPLETED;
    }
    if (timing_.at_once) {
      transport(payload, delay);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    queue_.notify(payload, phase, delay);
    return tlm::TLM_ACCEPTED;
  }
  void on_phase(Payload& payload, const tlm::tlm_phase& phase) {
    if (phase == tlm::BEGIN_REQ) {
      const sc_core::sc_time answer = answer_of(sc_core::sc_time_stamp());
      queue_.notify(payload, tlm::END_REQ, free_at_ - sc_core::sc_time_stamp());
      queue_.notify(payload, tlm::BEGIN_RESP, answer - sc_core::sc_time_stamp());
    } else if (phase == tlm::END_REQ) {
      tlm::tlm_phase end = tlm::END_REQ;
      sc_core::sc_time now;
      socket->nb_transport_bw(payload, end, now);
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
      sc_core::sc_time now;
      responding_ = socket->nb_transport_bw(payload, phase, now) == tlm::TLM_ACCEPTED;
      payload.release();
    }
  }

  unsigned debug(Payload& payload) {
    copy(payload.get_address(), payload.get_data_ptr(), payload.get_data_length(),
         payload.is_write());
    return payload.get_data_length();
  }
  bool dmi(Payload& payload, tlm::tlm_dmi& region) {
    const sc_dt::uint64 first = payload.get_address() / kPage * kPage;
    region.set_dmi_ptr(page_of(first).data());
    region.set_start_address(first);
    region.set_end_address(first + kPage - 1);
    region.allow_read_write();
    return true;
  }

  const MemoryTiming timing_;
  sc_core::sc_time free_at_;
  tlm_utils::peq_with_cb_and_phase<Memory> queue_;
  std::deque<Payload*> answers_;
  bool responding_ = false;
  std::map<sc_dt::uint64, std::unique_ptr<Page>> pages_;
};

}  // namespace warpfold::systemc
