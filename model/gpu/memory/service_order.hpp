// SPDX-License-Identifier: Apache-2.0
// A rule of the GPU: the order in which a port of the L2 serves SMs. The machine file names one,
// rules.l2_order; `warpfold rules` lists them. Each is one file in l2_order/ and one line in
// model/rules.cmake.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/base/rule_list.hpp"
#include "model/machine/config.hpp"
#include "model/types.hpp"

namespace warpfold {

// Of one port, which asks it twice: whom of the SMs that wait in front of it it lets in next, and
// behind whom a transaction that has arrived is served.
class ServiceOrder {
 public:
  ServiceOrder() = default;
  ServiceOrder(const ServiceOrder&) = delete;
  ServiceOrder& operator=(const ServiceOrder&) = delete;
  virtual ~ServiceOrder() = default;

  // The head of that SM waits for the port, from that cycle on. SMs of one cycle come in no order
  // that is defined: a rule must not depend on it.
  virtual void waits(std::uint32_t sm, Cycle since) = 0;
  // One of those that wait, of which there are some: the one to be let in next. Nobody else is
  // until there is room for it.
  [[nodiscard]] virtual std::uint32_t next() const = 0;
  // That one is let in, and waits no longer.
  virtual void let_in(std::uint32_t sm) = 0;

  // Transactions of one queue are served one after the other, in the order of their arrival; those
  // at the heads of different queues at the same time, a turn of each (round_model.hpp).
  [[nodiscard]] virtual std::uint32_t queues() const = 0;
  // Where a transaction of that SM for that slice of the port queues up.
  [[nodiscard]] virtual std::uint32_t queue_of(std::uint32_t sm, std::uint32_t slice) const = 0;
};

struct ServiceOrderRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  // For one port.
  std::unique_ptr<ServiceOrder> (*make)(const GpuConfig& config);
};

const RuleList<ServiceOrderRule>& l2_order_rules();

// The machine's.
inline std::string l2_order_of(const GpuConfig& config) {
  return config.rules.l2_order.or_else("in-turn");
}

}  // namespace warpfold
