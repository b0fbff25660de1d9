// SPDX-License-Identifier: Apache-2.0
// An approximately timed bus that knows nothing of GPUs: any number of initiators, one target. Its
// inputs take turns. A transaction holds the way there for a time, and the way back for another;
// each way holds one. By b_transport the same, with the times annotated.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <deque>
#include <map>
#include <systemc>
#include <tlm>
#include <vector>

namespace warpfold::systemc {

class Bus : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Bus);
  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<Bus>> in;
  tlm_utils::simple_initiator_socket<Bus> out{"out"};

  Bus(const sc_core::sc_module_name& name, std::size_t inputs, const sc_core::sc_time& hold)
      : sc_module(name), in("in", inputs), hold_(hold), waiting_(inputs), responding_(inputs) {
    for (std::size_t i = 0; i < inputs; ++i) {
      const int tag = static_cast<int>(i);
      in[i].register_b_transport(this, &Bus::transport, tag);
      in[i].register_nb_transport_fw(this, &Bus::forward, tag);
      in[i].register_transport_dbg(this, &Bus::debug, tag);
      in[i].register_get_direct_mem_ptr(this, &Bus::dmi, tag);
    }
    out.register_nb_transport_bw(this, &Bus::backward);
    out.register_invalidate_direct_mem_ptr(this, &Bus::invalidate);
    SC_METHOD(request);
    sensitive << requests_;
    dont_initialize();
    SC_METHOD(respond);
    sensitive << responds_;
    dont_initialize();
  }

 private:
  using Payload = tlm::tlm_generic_payload;

  void transport(int /*input*/, Payload& payload, sc_core::sc_time& delay) {
    const sc_core::sc_time time = sc_core::sc_time_stamp() + delay;
    there_free_ = std::max(there_free_, time) + hold_;
    delay = there_free_ - sc_core::sc_time_stamp();
    out->b_transport(payload, delay);
    back_free_ = std::max(back_free_, sc_core::sc_time_stamp() + delay) + hold_;
    delay = back_free_ - sc_core::sc_time_stamp();
  }

  // What comes is taken in the next delta cycle, when all that come at that time have come.
  tlm::tlm_sync_enum forward(int input, Payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    const auto index = static_cast<std::size_t>(input);
    if (phase == tlm::END_RESP) {
      responding_[index] = nullptr;
      responds_.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    from_[&payload] = index;
    waiting_[index].push_back(&payload);
    requests_.notify(std::max(delay, sc_core::SC_ZERO_TIME));
    return tlm::TLM_ACCEPTED;
  }

  // The next input's turn, if the way is free.
  void request() {
    if (requesting_ != nullptr) {
      return;
    }
    if (sc_core::sc_time_stamp() < there_free_) {
      requests_.notify(there_free_ - sc_core::sc_time_stamp());
      return;
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::size_t input = (turn_ + i) % waiting_.size();
      if (waiting_[input].empty()) {
        continue;
      }
      turn_ = input + 1;
      requesting_ = waiting_[input].front();
      waiting_[input].pop_front();
      there_free_ = sc_core::sc_time_stamp() + hold_;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = hold_;
      Payload& payload = *requesting_;
      const tlm::tlm_sync_enum status = out->nb_transport_fw(payload, phase, delay);
      if (status == tlm::TLM_COMPLETED) {
        end_request(payload);
        answer(payload, sc_core::sc_time_stamp() + delay, false);
      } else if (status == tlm::TLM_UPDATED) {
        hear(payload, phase, delay, true);
      }
      return;
    }
  }

  void end_request(Payload& payload) {
    if (requesting_ != &payload) {
      return;
    }
    requesting_ = nullptr;
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time now;
    in[from_.at(&payload)]->nb_transport_bw(payload, phase, now);
    requests_.notify(sc_core::SC_ZERO_TIME);
  }

  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    hear(payload, phase, delay, false);
    return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  }
  void hear(Payload& payload, const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
            bool returned) {
    if (phase == tlm::END_REQ) {
      end_request(payload);
    } else {
      end_request(payload);
      answer(payload, sc_core::sc_time_stamp() + delay, returned);
    }
  }
  void answer(Payload& payload, const sc_core::sc_time& at, bool returned) {
    if (returned) {
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_core::sc_time delay = at - sc_core::sc_time_stamp();
      out->nb_transport_fw(payload, phase, delay);
    }
    answers_.emplace(at, &payload);
    responds_.notify(answers_.begin()->first - sc_core::sc_time_stamp());
  }

  // The first answer that has come, if the way back and its input are free.
  void respond() {
    for (auto next = answers_.begin(); next != answers_.end(); ++next) {
      const sc_core::sc_time free = std::max(next->first, back_free_);
      if (sc_core::sc_time_stamp() < free) {
        responds_.notify(free - sc_core::sc_time_stamp());
        return;
      }
      Payload& payload = *next->second;
      const std::size_t input = from_.at(&payload);
      if (responding_[input] != nullptr) {
        continue;
      }
      answers_.erase(next);
      from_.erase(&payload);
      back_free_ = sc_core::sc_time_stamp() + hold_;
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = hold_;
      if (in[input]->nb_transport_bw(payload, phase, delay) == tlm::TLM_ACCEPTED) {
        responding_[input] = &payload;
      }
      payload.release();
      responds_.notify(hold_);
      return;
    }
  }

  unsigned debug(int /*input*/, Payload& payload) { return out->transport_dbg(payload); }
  bool dmi(int /*input*/, Payload& payload, tlm::tlm_dmi& region) {
    return out->get_direct_mem_ptr(payload, region);
  }
  void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
    for (auto& socket : in) {
      socket->invalidate_direct_mem_ptr(first, last);
    }
  }

  const sc_core::sc_time hold_;
  std::vector<std::deque<Payload*>> waiting_;  // by input
  std::vector<Payload*> responding_;           // of each input, in its response phase
  Payload* requesting_ = nullptr;              // at the target
  std::map<Payload*, std::size_t> from_;
  std::multimap<sc_core::sc_time, Payload*> answers_;
  sc_core::sc_time there_free_, back_free_;
  std::size_t turn_ = 0;
  sc_core::sc_event requests_, responds_;
};

}  // namespace warpfold::systemc
