// SPDX-License-Identifier: Apache-2.0
// What is behind the ports of an arc_subcore: a module in it, "golden" or "rtl". The ports outlive
// it.
#pragma once

#include <memory>
#include <string_view>

#include "model/systemc/arc_subcore.hpp"
#include "model/unit/unit_kind.hpp"

namespace warpfold::systemc {

class SubcoreBody {
 public:
  SubcoreBody() = default;
  virtual ~SubcoreBody() = default;
  SubcoreBody(const SubcoreBody&) = delete;
  SubcoreBody& operator=(const SubcoreBody&) = delete;
};

// The golden unit answers once a cycle; here its outputs have to follow the inputs within the
// cycle. So they are those of a copy of the unit, made whenever an input changes, and the unit
// itself takes a step at the rising edge alone. `scheduler`: as of make_unit(). Throws
// std::invalid_argument with one line for one that is unknown.
std::unique_ptr<SubcoreBody> make_golden_body(arc_subcore& ports, const UnitKind& kind,
                                              std::string_view scheduler);

// What Verilator made of arc_subcore_widest, with its assertions on and the scheduler that the kind
// has by default. Throws std::invalid_argument with one line for a kind without RTL.
std::unique_ptr<SubcoreBody> make_rtl_body(arc_subcore& ports, const UnitKind& kind);

}  // namespace warpfold::systemc
