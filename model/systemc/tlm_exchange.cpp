// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include <systemc>
// clang-format on
#include "model/systemc/tlm_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/base/check.hpp"
#include "model/gpu/memory/additions.hpp"

namespace warpfold::systemc {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

// A payload and what it stands for. Reused; given back by the last who refers to it.
struct TlmLink::Entry : tlm::tlm_generic_payload {
  AtomicExtension extension;
  std::vector<std::uint8_t> data;
  TlmLink* link = nullptr;
  Asker* asker = nullptr;  // null: nobody any more
  std::uint64_t id = 0;
  std::uint64_t number = 0;  // of all requests, this one's
  sc_time start;             // loosely timed
};

TlmLink::TlmLink(TlmExchange& exchange, tlm::tlm_initiator_socket<>& socket,
                 const AddressWindow& window)
    : exchange_(exchange), socket_(socket), window_(window) {
  socket_.bind(*this);
}

void TlmLink::start(const OutsideRequest& request, Asker& asker) {
  Entry& entry = exchange_.make(*this);
  entry.asker = &asker;
  entry.id = request.id;
  entry.data.resize(request.bytes);
  std::copy(request.data.begin(), request.data.end(), entry.data.begin());
  entry.set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  entry.set_address(window_.at(request.address));
  entry.set_data_ptr(entry.data.data());
  entry.set_data_length(request.bytes);
  entry.set_streaming_width(request.bytes);
  entry.set_byte_enable_ptr(nullptr);
  entry.set_byte_enable_length(0);
  entry.set_dmi_allowed(false);
  entry.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (request.work == nullptr) {
    entry.clear_extension(&entry.extension);
  } else {
    AtomicExtension& extension = entry.extension;
    const AdditionWork& work = *request.work;
    using Kind = AdditionWork::Kind;
    extension.operation = work.kind == Kind::kLoad   ? AtomicOperation::kLoad
                          : work.kind == Kind::kSum  ? AtomicOperation::kSum
                          : work.kind == Kind::kSums ? AtomicOperation::kSums
                                                     : AtomicOperation::kLanes;
    extension.additions.clear();
    for (const Addition& addition : request.additions) {
      extension.additions.push_back({.address = window_.at(addition.address),
                                     .value = addition.value,
                                     .halves = addition.type == WordType::kHalves});
    }
    extension.added = false;
    extension.sm = work.sm;
    extension.slice = work.slice;
    extension.mask = work.mask;
    extension.turns = work.turns;
    extension.packets = work.packets;
    extension.lone_words = work.lone_words;
    extension.flits = work.flits;
    extension.sectors = work.sectors;
    extension.whole = work.whole;
    entry.set_extension(&extension);
  }
  queue_.push_back(&entry);
  ++under_way_;
  ++exchange_.under_way_;
}

// As many as the target lets in.
void TlmLink::begin_requests() {
  while (request_ == 0 && !queue_.empty()) {
    Entry& entry = *queue_.front();
    queue_.pop_front();
    request_ = entry.number;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    switch (socket_->nb_transport_fw(entry, phase, delay)) {
      case tlm::TLM_ACCEPTED:
        break;
      case tlm::TLM_UPDATED:
        hear(entry, phase, delay, true);
        break;
      case tlm::TLM_COMPLETED:
        end_request(entry.number);
        exchange_.answer(entry, sc_time_stamp() + delay);
        break;
    }
  }
}

// If it is still in its request phase.
void TlmLink::end_request(std::uint64_t number) {
  if (request_ == number) {
    request_ = 0;
    if (!queue_.empty()) {
      exchange_.pumps_.notify(sc_core::SC_ZERO_TIME);
    }
  }
}

// A phase that the target has come to, by a call or as what a call of the GPU returned.
void TlmLink::hear(Entry& entry, tlm::tlm_phase phase, const sc_time& delay, bool returned) {
  const sc_time at = sc_time_stamp() + delay;
  if (phase > tlm::END_RESP) {
    return;  // of another protocol, and to be ignored
  }
  if (phase == tlm::END_REQ && request_ == entry.number) {
    exchange_.later({.link = this, .entry = &entry, .number = entry.number, .phase = phase}, at);
  } else if (phase == tlm::BEGIN_RESP) {
    if (request_ == entry.number) {
      exchange_.later(
          {.link = this, .entry = &entry, .number = entry.number, .phase = tlm::END_REQ}, at);
    }
    if (returned) {
      entry.acquire();  // until END_RESP
      exchange_.later(
          {.link = this, .entry = &entry, .number = entry.number, .phase = tlm::END_RESP}, at);
    }
    exchange_.answer(entry, at);
  } else {
    throw std::runtime_error(
        fmt::format("{}: phase {} of a transaction that is not in the one before it",
                    socket_.name(), phase.get_name()));
  }
}

tlm::tlm_sync_enum TlmLink::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                            tlm::tlm_phase& phase, sc_time& delay) {
  auto* const entry = dynamic_cast<Entry*>(&payload);
  if (entry == nullptr || entry->link != this) {
    throw std::runtime_error(fmt::format("{}: a transaction that is not its own", socket_.name()));
  }
  hear(*entry, phase, delay, false);
  if (phase != tlm::BEGIN_RESP) {
    return tlm::TLM_ACCEPTED;
  }
  // At once. Not TLM_COMPLETED, to which targets such as DRAMSys do not listen.
  phase = tlm::END_RESP;
  return tlm::TLM_UPDATED;
}

void TlmLink::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  if (invalidated_) {
    invalidated_(first, last);
  }
}

std::uint32_t TlmLink::debug(tlm::tlm_command command, Address address, std::uint8_t* data,
                             std::size_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(window_.at(address));
  payload.set_data_ptr(data);
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  return socket_->transport_dbg(payload);
}

std::uint32_t TlmLink::peek(Address address, std::span<std::uint8_t> data) {
  return debug(tlm::TLM_READ_COMMAND, address, data.data(), data.size());
}

std::uint32_t TlmLink::poke(Address address, std::span<const std::uint8_t> data) {
  std::vector<std::uint8_t> copy(data.begin(), data.end());
  return debug(tlm::TLM_WRITE_COMMAND, address, copy.data(), copy.size());
}

bool TlmLink::dmi(Address address, tlm::tlm_command command, tlm::tlm_dmi& region) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(window_.at(address));
  return socket_->get_direct_mem_ptr(payload, region);
}

TlmExchange::TlmExchange(const sc_core::sc_module_name& name, Pace pace, const ClockDriver& driver)
    : sc_core::sc_module(name), pace_(pace), driver_(driver) {
  SC_METHOD(pump);
  sensitive << pumps_;
  dont_initialize();
}

// The extensions of payloads lie in their entries.
TlmExchange::~TlmExchange() {
  for (const auto& entry : entries_) {
    entry->clear_extension(&entry->extension);
  }
}

TlmLink& TlmExchange::add(tlm::tlm_initiator_socket<>& socket, const AddressWindow& window) {
  links_.push_back(std::make_unique<TlmLink>(*this, socket, window));
  return *links_.back();
}

TlmLink::Entry& TlmExchange::make(TlmLink& link) {
  if (free_.empty()) {
    entries_.push_back(std::make_unique<Entry>());
    entries_.back()->set_mm(this);
    free_.push_back(entries_.back().get());
  }
  Entry& entry = *free_.back();
  free_.pop_back();
  entry.acquire();
  entry.number = ++requests_;
  entry.link = &link;
  return entry;
}

// Extensions that somebody on the way has set for its time go with it.
void TlmExchange::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  free_.push_back(static_cast<Entry*>(payload));
}

void TlmExchange::answer(Entry& entry, const sc_time& at) {
  if (entry.asker == nullptr) {
    forget(entry);
    return;
  }
  come_.push_back({.entry = &entry, .heard = sc_time_stamp(), .at = at});
  came_.notify(sc_core::SC_ZERO_TIME);
}

void TlmExchange::forget(Entry& entry) {
  --entry.link->under_way_;
  if (--under_way_ == 0) {
    drained_.notify(sc_core::SC_ZERO_TIME);
  }
  entry.release();
}

void TlmExchange::abandon() {
  for (const auto& link : links_) {
    for (Entry* entry : std::exchange(link->queue_, {})) {
      forget(*entry);
    }
  }
  for (Entry* entry : std::exchange(starts_, {})) {
    forget(*entry);
  }
  for (const Come& come : std::exchange(come_, {})) {
    forget(*come.entry);
  }
  for (const auto& entry : entries_) {
    entry->asker = nullptr;
  }
}

void TlmExchange::later(const Later& what, const sc_time& at) {
  if (at <= sc_time_stamp() && what.phase == tlm::END_REQ) {
    what.link->end_request(what.number);
    return;
  }
  later_.emplace(at, what);
  pumps_.notify(later_.begin()->first - sc_time_stamp());
}

// What has been annotated for now, and requests that may begin since others are through.
void TlmExchange::pump() {
  while (!later_.empty() && later_.begin()->first <= sc_time_stamp()) {
    const Later what = later_.begin()->second;
    later_.erase(later_.begin());
    if (what.phase == tlm::END_REQ) {
      what.link->end_request(what.number);
    } else {
      tlm::tlm_phase phase = tlm::END_RESP;
      sc_time delay = sc_core::SC_ZERO_TIME;
      what.link->socket_->nb_transport_fw(*what.entry, phase, delay);
      what.entry->release();
    }
  }
  if (pace_ == Pace::kInStep) {
    for (const auto& link : links_) {
      link->begin_requests();
    }
  }
  if (!later_.empty()) {
    pumps_.notify(later_.begin()->first - sc_time_stamp());
  }
}

bool TlmExchange::send(const sc_time& local) {
  if (under_way_ == 0) {
    return true;
  }
  if (pace_ == Pace::kInStep) {
    for (const auto& link : links_) {
      link->begin_requests();
    }
    return true;
  }
  for (const auto& link : links_) {
    for (Entry* entry : std::exchange(link->queue_, {})) {
      entry->start = sc_time_stamp() + local;
      starts_.push_back(entry);
    }
  }
  if (starts_.empty()) {
    return true;
  }
  if (idle_.empty()) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    sc_core::sc_spawn_options options;
    options.set_stack_size(1 << 18);
    sc_core::sc_spawn([this, &worker] { serve(worker); }, sc_core::sc_gen_unique_name("worker"),
                      &options);
  } else {
    idle_.back()->go.notify();
    idle_.pop_back();
  }
  return false;
}

// One call after the other, until one waits: another worker then takes the next.
void TlmExchange::serve(Worker& worker) {
  for (;;) {
    while (!starts_.empty()) {
      Entry& entry = *starts_.front();
      starts_.pop_front();
      sc_time delay = entry.start - std::min(entry.start, sc_time_stamp());
      entry.link->socket_->b_transport(entry, delay);
      answer(entry, sc_time_stamp() + delay);
    }
    idle_.push_back(&worker);
    sc_core::wait(worker.go);
  }
}

namespace {

// What is wrong with the answer, or nothing.
std::string fault_of(const tlm::tlm_generic_payload& payload, const char* socket) {
  if (payload.get_response_status() == tlm::TLM_OK_RESPONSE) {
    return "";
  }
  return fmt::format("{}: {} to a {} of {} bytes at {:#x}", socket, payload.get_response_string(),
                     payload.is_read() ? "READ" : "WRITE", payload.get_data_length(),
                     payload.get_address());
}

}  // namespace

void TlmExchange::receive(Cycle now, const sc_time& end) {
  for (std::size_t count = come_.size(); count > 0; --count) {
    const Come come = come_.front();
    come_.pop_front();
    if (pace_ == Pace::kInStep && come.heard >= end) {
      come_.push_back(come);
      continue;
    }
    Entry& entry = *come.entry;
    if (const std::string fault = fault_of(entry, entry.link->socket_.name()); !fault.empty()) {
      forget(entry);
      throw std::runtime_error(fault);
    }
    const Cycle in = std::max(driver_.cycle_at(come.at), now);
    entry.asker->answered(
        {.id = entry.id,
         .data = entry.is_read() ? std::span<const std::uint8_t>(entry.data)
                                 : std::span<const std::uint8_t>(),
         .added = entry.get_extension<AtomicExtension>() != nullptr && entry.extension.added,
         .in = in,
         .from = driver_.begin_of(in) < come.at ? in + 1 : in});
    forget(entry);
  }
}

void AtomicExtension::add_to(unsigned char* bytes, sc_dt::uint64 first) {
  for (const AtomicAddition& addition : additions) {
    warpfold::add_to(std::span(bytes + (addition.address - first), sizeof(Fp32Bits)),
                     {.address = addition.address,
                      .type = addition.halves ? WordType::kHalves : WordType::kFp32,
                      .value = addition.value});
  }
  added = true;
}

}  // namespace warpfold::systemc
