// SPDX-License-Identifier: Apache-2.0
// arc_subcore with the RTL behind its ports: each is bound to that of the module that Verilator
// made of arc_subcore.sv (verilator --sc --pins-sc-uint). The assertions of the RTL are on: a
// testbench that breaks the contract of the ports ends the program with a line that names the
// promise.
#pragma once

#include <memory>
#include <systemc>

#include "model/systemc/arc_subcore.hpp"

namespace warpfold::systemc {

template <UnitKind kKind>
class arc_subcore_rtl final : public arc_subcore<kKind> {
 public:
  explicit arc_subcore_rtl(sc_core::sc_module_name name);
  ~arc_subcore_rtl() override;

 private:
  // Keeps the headers of Verilator to one source file.
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace warpfold::systemc
