// SPDX-License-Identifier: Apache-2.0
// Binds both bodies of the SystemC module to the same signals for their inputs, and of their
// outputs what is looked at; idle after a reset, they take a request without lanes at once. C++17.
#include <iostream>

#include "model/systemc/arc_subcore.hpp"

using Unit = warpfold::systemc::arc_subcore;
template <class T>
using Signal = sc_core::sc_signal<T>;

int sc_main(int, char**) {
  sc_core::sc_clock clk("clk", 1, sc_core::SC_NS);
  Signal<bool> rst_n, req_valid, ready;
  Signal<Unit::Mask> req_mask;
  Signal<warpfold::systemc::AddressBits> req_addr;
  Signal<Unit::TagWord> req_tag;
  Signal<warpfold::systemc::ReadBits> rf_data;
  Signal<bool> req_ready[2];
  std::unique_ptr<Unit> units[2];
  for (int i = 0; i < 2; ++i) {
    warpfold::systemc::SubcoreOptions options;
    options.unit = i == 0 ? "golden" : "rtl";
    units[i] = std::make_unique<Unit>(options.unit.c_str(), options);
    Unit& unit = *units[i];
    unit.clk_i(clk), unit.rst_ni(rst_n), unit.req_valid_i(req_valid), unit.req_mask_i(req_mask);
    unit.req_addr_i(req_addr), unit.req_tag_i(req_tag), unit.req_ready_o(req_ready[i]);
    unit.lsu_room_i(ready), unit.rf_ready_i(ready), unit.rf_data_i(rf_data);
  }
  sc_core::sc_start(2, sc_core::SC_NS);
  rst_n = true;
  sc_core::sc_start(2, sc_core::SC_NS);
  req_valid = true;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::cout << "golden " << req_ready[0] << ", rtl " << req_ready[1] << '\n';
  return req_ready[0] && req_ready[1] ? 0 : 1;
}
