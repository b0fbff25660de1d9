// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/run/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/check.hpp"

namespace warpfold {

std::string Watchdog::who_waits() const {
  std::string text;
  std::vector<std::string> told;  // kinds of block
  const auto tell = [&](const std::string& kind, const std::string& what) {
    if (!what.empty() && std::find(told.begin(), told.end(), kind) == told.end()) {
      text += fmt::format("{} {}", told.empty() ? ":" : ";", what);
      told.push_back(kind);
    }
  };
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores()) {
      tell("subcore", subcore->waits());
    }
    tell("lsu", sm->lsu().waits());
    if (sm->buffer() != nullptr) {
      tell("buffer", sm->buffer()->waits());
    }
    tell("port", sm->port().waits());
  }
  for (const auto& port : ports_) {
    tell("l2", port->waits());
  }
  for (const auto& link : links_) {
    tell("l2", link->waits());
  }
  return text;
}

void Watchdog::look(Cycle cycle) {
  std::uint64_t done = dispatcher_.completed();
  bool time_is_known = false;
  for (const auto& sm : sms_) {
    for (const auto& subcore : sm->subcores()) {
      done += subcore->issued_before(cycle) + subcore->arc_port().stats().read_cycles;
      time_is_known = time_is_known || subcore->waits_for_time();
    }
    done += sm->pipe().busy() + sm->port().packets() + sm->port().load_flits();
    if (const SumBuffer* buffer = sm->buffer(); buffer != nullptr) {
      done += buffer->stats().adder_busy + buffer->stats().flushed;
    }
  }
  for (const auto& port : ports_) {
    done += port->stats().rop_ops;
    if (const BufferStats* buffer = port->buffer_stats(); buffer != nullptr) {
      done += buffer->adder_busy + buffer->flushed;
    }
    time_is_known = time_is_known || port->waits_for_time();
  }
  for (const auto& link : links_) {
    // What lies outside may take its time.
    time_is_known = time_is_known || !link->empty();
  }
  if (done == seen_ && !time_is_known) {
    throw CheckError(fmt::format("nothing has advanced for {} cycles before cycle {}{}", kInterval,
                                 cycle, who_waits()));
  }
  seen_ = done;
}

}  // namespace warpfold
