// SPDX-License-Identifier: Apache-2.0
// One run of the soak: a random machine within its ranges, a random small trace, a policy and a
// kind of unit. The same for a seed on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/machine/config.hpp"
#include "model/unit/arc_unit.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::soak {

struct Case {
  std::string gpu;      // a built-in machine
  Overrides overrides;  // of it
  std::string policy;
  UnitKind kind = UnitKind::kSerial;
  std::uint32_t unit_divider = 1;
  trace::Header header;
  std::vector<trace::CtaTrace> ctas;

  [[nodiscard]] std::uint64_t events() const;
  void write_trace(const std::filesystem::path& path) const;
};

Case random_case(std::uint64_t seed);

// The warpfold command that does it again, with the trace under that name.
std::string command_of(const Case& one, const std::string& trace, const std::string& unit);

}  // namespace warpfold::soak
