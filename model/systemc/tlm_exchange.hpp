// SPDX-License-Identifier: Apache-2.0
// What of the GPU goes out by TLM-2.0 sockets, and what comes back, under the base protocol. Every
// request is a READ or WRITE of whole sectors or a whole line, with data.
//
// Approximately timed, by nb_transport in step with SystemC's time. One request of a socket is in
// its request phase at a time: the next BEGIN_REQ follows END_REQ, or what implies it. A target may
// answer each call at once or call back, complete early, and annotate any time.
//
// Loosely timed, by b_transport at sc_time_stamp() + the GPU's local time. A target may wait: each
// call has an SC_THREAD to itself, and while one waits the GPU and other calls go on. A target that
// does not is done with within two delta cycles, for all that a cycle sends.
//
// Payloads have a memory manager, this; sockets, payloads and the processes outlive a launch.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/gpu/memory/outside.hpp"
#include "model/kernel/clock_driver.hpp"
#include "model/systemc/atomic_extension.hpp"

namespace warpfold::systemc {

class TlmExchange;

// Where the GPU's memory lies in the platform: addresses are taken modulo `bytes`, a power of two.
struct AddressWindow {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  [[nodiscard]] sc_dt::uint64 at(Address address) const { return base + (address & (bytes - 1)); }
};

// One socket.
class TlmLink final : public WayOut, public tlm::tlm_bw_transport_if<> {
 public:
  TlmLink(TlmExchange& exchange, tlm::tlm_initiator_socket<>& socket, const AddressWindow& window);

  void start(const OutsideRequest& request, Asker& asker) override;
  std::uint32_t peek(Address address, std::span<std::uint8_t> data) override;
  std::uint32_t poke(Address address, std::span<const std::uint8_t> data) override;
  bool dmi(Address address, tlm::tlm_command command, tlm::tlm_dmi& region);
  // Called with the addresses in the platform that a target takes back.
  void tell_of_invalidation(std::function<void(sc_dt::uint64, sc_dt::uint64)> listener) {
    invalidated_ = std::move(listener);
  }
  // Requests that have not been answered.
  [[nodiscard]] const std::uint32_t& under_way() const { return under_way_; }

 private:
  friend class TlmExchange;
  struct Entry;

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;
  void begin_requests();
  void end_request(std::uint64_t number);
  void hear(Entry& entry, tlm::tlm_phase phase, const sc_core::sc_time& delay, bool returned);
  std::uint32_t debug(tlm::tlm_command command, Address address, std::uint8_t* data,
                      std::size_t bytes);

  TlmExchange& exchange_;
  tlm::tlm_initiator_socket<>& socket_;
  const AddressWindow window_;
  std::deque<Entry*> queue_;
  std::uint64_t request_ = 0;  // the number of that in its request phase; 0: none
  std::uint32_t under_way_ = 0;
  std::function<void(sc_dt::uint64, sc_dt::uint64)> invalidated_;
};

class TlmExchange final : public Exchange,
                          public sc_core::sc_module,
                          private tlm::tlm_mm_interface {
 public:
  SC_HAS_PROCESS(TlmExchange);
  TlmExchange(const sc_core::sc_module_name& name, Pace pace, const ClockDriver& driver);
  ~TlmExchange() override;

  TlmLink& add(tlm::tlm_initiator_socket<>& socket, const AddressWindow& window);
  [[nodiscard]] const std::vector<std::unique_ptr<TlmLink>>& links() const { return links_; }
  // Nobody asks any more: what has not gone out does not, and answers are nobody's.
  void abandon();
  // After that, notified when the last of them has come.
  [[nodiscard]] const sc_core::sc_event& drained() const { return drained_; }

  bool send(const sc_core::sc_time& local) override;
  void receive(Cycle now, const sc_core::sc_time& end) override;
  [[nodiscard]] bool busy() const override { return under_way_ > 0; }
  [[nodiscard]] bool holds() const override { return !come_.empty(); }
  [[nodiscard]] const sc_core::sc_event& came() const override { return came_; }

 private:
  friend class TlmLink;
  using Entry = TlmLink::Entry;
  struct Worker {
    sc_core::sc_event go;
  };
  struct Come {
    Entry* entry;
    sc_core::sc_time heard;  // when the target said so
    sc_core::sc_time at;
  };
  // What follows at its time of what a target has annotated.
  struct Later {
    TlmLink* link;
    Entry* entry;
    std::uint64_t number;  // of its request
    tlm::tlm_phase phase;
  };

  Entry& make(TlmLink& link);
  void free(tlm::tlm_generic_payload* payload) override;
  void answer(Entry& entry, const sc_core::sc_time& at);
  void forget(Entry& entry);
  void later(const Later& what, const sc_core::sc_time& at);
  void pump();
  void serve(Worker& worker);

  const Pace pace_;
  const ClockDriver& driver_;
  std::vector<std::unique_ptr<TlmLink>> links_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> free_;
  std::uint64_t requests_ = 0;
  std::uint64_t under_way_ = 0;
  std::deque<Come> come_;
  sc_core::sc_event came_, drained_, pumps_;
  std::multimap<sc_core::sc_time, Later> later_;
  // Loosely timed.
  std::deque<Entry*> starts_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
};

}  // namespace warpfold::systemc
