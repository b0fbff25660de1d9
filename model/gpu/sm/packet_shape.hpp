// SPDX-License-Identifier: Apache-2.0
// A rule of the GPU: how many flits the additions of a RED take on the crossbar. The machine file
// names one, rules.packets; `warpfold rules` lists them. Each is one file in packets/ and one line
// in model/rules.cmake.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/base/rule_list.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

struct PacketsRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  // Of a turn of a transaction (gpu/traffic/transaction.hpp) that adds to so many sectors of its
  // line, or of the part of it on a sector of its own; `first`: no other of this turn of the RED on
  // the line leaves before. `lone`: it adds to one word in all.
  std::uint32_t (*flits)(std::uint32_t sectors, bool first, bool lone);
};

const RuleList<PacketsRule>& packets_rules();

// The machine's.
inline const PacketsRule& packets_of(const GpuConfig& config) {
  return packets_rules().find(config.rules.packets.or_else("head-and-sectors"));
}

}  // namespace warpfold
