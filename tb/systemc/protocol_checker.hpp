// SPDX-License-Identifier: Apache-2.0
// Sits between an initiator socket and a target socket, passes everything on, and notes what breaks
// a rule that the GPU relies on or keeps. Of the base protocol of TLM-2.0:
//
//   attributes   READ or WRITE, data and length, no byte enables, streaming width no less than the
//                length, no DMI hint, no response yet; a memory manager and a reference
//                (nb_transport)
//   constant     command, address, pointers, lengths and the data of a WRITE stay as they were; the
//                payload is not used for another transaction meanwhile
//   phases       BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP in this order, each where it belongs;
//                BEGIN_RESP may imply END_REQ, and TLM_COMPLETED all that is left
//   exclusion    one transaction in its request phase, one in its response phase
//   annotation   times of one transaction do not decrease
//   processes    b_transport from a thread; no transaction by both transports at a time
//   response     set when the response begins
//
// And of the GPU: whole sectors of 32 bytes, in one line of 128 or of the L2's size.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

namespace warpfold::systemc {

class ProtocolChecker : public sc_core::sc_module,
                        private tlm::tlm_fw_transport_if<>,
                        private tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_target_socket<> in{"in"};
  tlm::tlm_initiator_socket<> out{"out"};

  // `line`: bytes within which a transaction lies; 0: it may be any.
  explicit ProtocolChecker(const sc_core::sc_module_name& name, unsigned line = 0)
      : sc_module(name), line_(line) {
    in.bind(*this);
    out.bind(*this);
  }

  // What was wrong, in the order in which it came about.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  // That have not come to their end.
  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }

 private:
  using Payload = tlm::tlm_generic_payload;
  struct Known {
    tlm::tlm_command command;
    sc_dt::uint64 address;
    unsigned char* data;
    unsigned length;
    unsigned streaming;
    std::vector<unsigned char> written;
    tlm::tlm_phase phase;
    sc_core::sc_time time;
    bool blocking;
  };

  void fault(const Payload& payload, const std::string& what) {
    faults_.push_back(std::string(name()) + " at " + sc_core::sc_time_stamp().to_string() + ": " +
                      (payload.is_write() ? "WRITE " : "READ ") +
                      std::to_string(payload.get_address()) + ": " + what);
  }

  Known* begin(Payload& payload, bool blocking, const sc_core::sc_time& delay) {
    ++transactions_;
    const auto wants = [&](bool holds, const char* what) {
      if (!holds) {
        fault(payload, what);
      }
    };
    const unsigned bytes = payload.get_data_length();
    wants(payload.is_read() || payload.is_write(), "neither a READ nor a WRITE");
    wants(payload.get_data_ptr() != nullptr && bytes > 0, "no data");
    wants(payload.get_streaming_width() >= bytes, "a streaming width under its length");
    wants(payload.get_byte_enable_ptr() == nullptr, "byte enables");
    wants(!payload.is_dmi_allowed(), "a DMI hint before its response");
    wants(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE,
          "a response before its request");
    wants(blocking || payload.has_mm(), "no memory manager");
    wants(!payload.has_mm() || payload.get_ref_count() > 0, "no reference");
    if (line_ != 0) {
      wants(payload.get_address() % 32 == 0 && bytes % 32 == 0, "no whole sectors");
      wants(payload.get_address() % line_ + bytes <= line_, "reaches beyond a line");
    }
    const auto [place, is_new] = under_way_.try_emplace(&payload);
    wants(is_new, "begins while it is under way");
    Known& known = place->second;
    known = {payload.get_command(),
             payload.get_address(),
             payload.get_data_ptr(),
             bytes,
             payload.get_streaming_width(),
             {},
             tlm::BEGIN_REQ,
             sc_core::sc_time_stamp() + delay,
             blocking};
    if (payload.is_write() && payload.get_data_ptr() != nullptr) {
      known.written.assign(payload.get_data_ptr(), payload.get_data_ptr() + bytes);
    }
    return &known;
  }

  // One that has begun; null if it has not.
  Known* look(const Payload& payload, const sc_core::sc_time& delay) {
    const auto found = under_way_.find(&payload);
    if (found == under_way_.end()) {
      fault(payload, "goes on without having begun");
      return nullptr;
    }
    Known& known = found->second;
    if (payload.get_command() != known.command || payload.get_address() != known.address ||
        payload.get_data_ptr() != known.data || payload.get_data_length() != known.length ||
        payload.get_streaming_width() != known.streaming ||
        payload.get_byte_enable_ptr() != nullptr) {
      fault(payload, "its attributes have changed");
    } else if (!known.written.empty() &&
               std::memcmp(known.written.data(), known.data, known.length) != 0) {
      fault(payload, "the data that it writes have changed");
    }
    const sc_core::sc_time time = sc_core::sc_time_stamp() + delay;
    if (time < known.time) {
      fault(payload, "an annotated time before the last one");
    }
    known.time = time;
    return &known;
  }

  void respond(const Payload& payload) {
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
      fault(payload, "no response");
    }
  }

  void end(const Payload& payload) {
    request_ = request_ == &payload ? nullptr : request_;
    response_ = response_ == &payload ? nullptr : response_;
    under_way_.erase(&payload);
  }

  // The target has come to a phase, by a call or by what a call returned.
  void target(Payload& payload, const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
    Known* const known = look(payload, delay);
    if (known == nullptr || phase > tlm::END_RESP) {
      return;
    }
    if (phase == tlm::END_REQ && known->phase == tlm::BEGIN_REQ) {
      request_ = nullptr;
    } else if (phase == tlm::BEGIN_RESP && known->phase < tlm::BEGIN_RESP) {
      request_ = request_ == &payload ? nullptr : request_;
      if (response_ != nullptr) {
        fault(payload, "BEGIN_RESP while another is in its response phase");
      }
      response_ = &payload;
      respond(payload);
    } else {
      fault(payload, std::string(phase.get_name()) + " behind " + known->phase.get_name());
    }
    known->phase = phase;
  }

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      begin(payload, false, delay);
      if (request_ != nullptr) {
        fault(payload, "BEGIN_REQ while another is in its request phase");
      }
      request_ = &payload;
    } else if (phase == tlm::END_RESP) {
      if (Known* const known = look(payload, delay);
          known != nullptr && known->phase != tlm::BEGIN_RESP) {
        fault(payload, std::string("END_RESP behind ") + known->phase.get_name());
      }
      end(payload);
      return out->nb_transport_fw(payload, phase, delay);
    } else if (phase <= tlm::END_RESP) {
      fault(payload, std::string(phase.get_name()) + " from an initiator");
    }
    const tlm::tlm_sync_enum status = out->nb_transport_fw(payload, phase, delay);
    if (status == tlm::TLM_UPDATED) {
      target(payload, phase, delay);
    } else if (status == tlm::TLM_COMPLETED) {
      look(payload, delay);
      respond(payload);
      end(payload);
    }
    return status;
  }

  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    target(payload, phase, delay);
    const tlm::tlm_sync_enum status = in->nb_transport_bw(payload, phase, delay);
    if (status == tlm::TLM_COMPLETED) {
      look(payload, delay);
      end(payload);
    } else if (status == tlm::TLM_UPDATED) {
      if (phase != tlm::END_RESP) {
        fault(payload, std::string("an initiator returns ") + phase.get_name());
      }
      end(payload);
    }
    return status;
  }

  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    if (sc_core::sc_get_current_process_handle().proc_kind() != sc_core::SC_THREAD_PROC_) {
      fault(payload, "b_transport from what may not wait");
    }
    begin(payload, true, delay);
    out->b_transport(payload, delay);
    look(payload, delay);
    respond(payload);
    end(payload);
  }

  unsigned transport_dbg(Payload& payload) override { return out->transport_dbg(payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& region) override {
    return out->get_direct_mem_ptr(payload, region);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    in->invalidate_direct_mem_ptr(first, last);
  }

  const unsigned line_;
  std::map<const Payload*, Known> under_way_;
  const Payload* request_ = nullptr;
  const Payload* response_ = nullptr;
  std::uint64_t transactions_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace warpfold::systemc
