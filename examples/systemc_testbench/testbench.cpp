// SPDX-License-Identifier: Apache-2.0
// A testbench around the ARC unit, RTL or golden: eight requests, each of all lanes at one address,
// meet a memory queue that has room in one cycle of 16. Prints what enters the queue.
//   subcore_testbench rtl|golden NAME      NAME.vcd gets the waves of all ports
#include <cstring>
#include <iostream>

#include "model/systemc/arc_subcore.hpp"

namespace arc = warpfold::systemc;
using Unit = arc::arc_subcore;

float value_of(unsigned bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
unsigned bits_of(float value) {
  unsigned bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct Testbench : sc_core::sc_module {
  sc_core::sc_clock clk{"clk", 1, sc_core::SC_NS};
  sc_core::sc_signal<bool> rst_n, req_valid, req_ready, lsu_valid, lsu_room, lsu_reduced, rf_valid,
      rf_ready, busy;
  sc_core::sc_signal<Unit::Mask> req_mask, lsu_mask, rf_mask;
  sc_core::sc_signal<Unit::TagWord> req_tag, lsu_tag, rf_tag;
  sc_core::sc_signal<Unit::AddressWord> lsu_addr;
  sc_core::sc_signal<Unit::Word> lsu_data;
  sc_core::sc_signal<arc::AddressBits> req_addr;
  sc_core::sc_signal<arc::ReadBits> rf_data;
  sc_core::sc_signal<arc::BinBits> rf_bin;
  Unit unit;
  unsigned cycle = 0, sent = 0;

  Testbench(sc_core::sc_module_name name, const std::string& body)
      : sc_module(name), unit("arc_subcore", {.unit = body, .unit_kind = "fused"}) {
    unit.clk_i(clk), unit.rst_ni(rst_n), unit.busy_o(busy);
    unit.req_valid_i(req_valid), unit.req_ready_o(req_ready), unit.req_mask_i(req_mask);
    unit.req_addr_i(req_addr), unit.req_tag_i(req_tag), unit.lsu_valid_o(lsu_valid);
    unit.lsu_room_i(lsu_room), unit.lsu_addr_o(lsu_addr), unit.lsu_mask_o(lsu_mask);
    unit.lsu_reduced_o(lsu_reduced), unit.lsu_data_o(lsu_data), unit.lsu_tag_o(lsu_tag);
    unit.rf_valid_o(rf_valid), unit.rf_ready_i(rf_ready), unit.rf_mask_o(rf_mask);
    unit.rf_tag_o(rf_tag), unit.rf_data_i(rf_data), unit.rf_bin_i(rf_bin);
    SC_HAS_PROCESS(Testbench);
    SC_METHOD(edge);
    sensitive << clk.posedge_event();
  }

  void edge() {  // what the cycle before it brought, and the inputs of the cycle that begins
    if (lsu_valid && lsu_room) {
      std::cout << "cycle " << cycle << ": tag " << lsu_tag << ", address "
                << lsu_addr.read().to_string(sc_dt::SC_HEX) << ", lanes "
                << lsu_mask.read().to_string(sc_dt::SC_HEX) << ", reduced " << lsu_reduced
                << ", data " << value_of(lsu_data.read().to_uint()) << '\n';
    }
    if (rf_valid && rf_ready) {  // all lanes of request n hold the value n + 0.5
      const float value = static_cast<float>(rf_tag.read().to_uint()) + 0.5F;
      const auto operand = arc::all_lanes(bits_of(value));
      rf_data = arc::read_data(unit.read_lanes(), rf_mask.read().to_uint(), operand);
      rf_bin = arc::read_bins(operand);
    }
    sent += req_valid && req_ready ? 1U : 0U;
    req_addr = arc::pack_addresses(arc::all_lanes<warpfold::Address>(0x1000 + 4 * sent));
    req_mask = 0xffffffffU;
    req_tag = sent;
    req_valid = ++cycle > 3 && sent < 8;
    rst_n = cycle > 1;
    rf_ready = true;
    lsu_room = cycle % 16 == 4;
    if (sent == 8 && !busy) {
      sc_core::sc_stop();
    }
  }
};

int sc_main(int argc, char** argv) try {
  Testbench testbench("testbench", argc == 3 ? argv[1] : "");
  sc_core::sc_trace_file* waves = sc_core::sc_create_vcd_trace_file(argv[2]);
  sc_trace(waves, testbench.unit, "arc_subcore");
  sc_core::sc_start();
  sc_core::sc_close_vcd_trace_file(waves);
  return 0;
} catch (const std::exception& error) {
  return std::cerr << "subcore_testbench: " << error.what() << '\n', 2;
}
