// SPDX-License-Identifier: Apache-2.0
// arc_subcore with the golden unit behind its ports. The golden unit answers once a cycle; here its
// outputs have to follow the inputs within the cycle. So they are those of a copy of the unit, made
// whenever an input changes, and the unit itself takes a step at the rising edge alone.
#pragma once

#include <systemc>

#include "model/systemc/arc_subcore.hpp"
#include "model/unit/golden_words.hpp"

namespace warpfold::systemc {

template <UnitKind kKind>
class arc_subcore_golden final : public arc_subcore<kKind> {
 public:
  explicit arc_subcore_golden(sc_core::sc_module_name name);

 private:
  static constexpr bool kSeesExponents = unit_ports(kKind).sees_exponents;

  // After every change of an input: reset, edge and outputs, in one delta cycle.
  void evaluate();
  void read_ports();
  void write_ports(const UnitOutputs& outputs);

  GoldenUnitOf<kKind> unit_{kKind};
  UnitInputs inputs_;  // what stands at the ports
  bool first_ = true;  // nothing has been read from the wide ports
};

}  // namespace warpfold::systemc
