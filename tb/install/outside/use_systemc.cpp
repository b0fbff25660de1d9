// SPDX-License-Identifier: Apache-2.0
// Binds both bodies of the SystemC module to the same signals for their inputs; idle after a reset,
// they take a request without lanes at once.
#include <iostream>

#include "model/systemc/arc_subcore.hpp"

using Unit = warpfold::systemc::arc_subcore<warpfold::UnitKind::kSerial>;
template <class T>
using Signal = sc_core::sc_signal<T>;

struct Outputs {
  Signal<bool> req_ready, lsu_valid, lsu_reduced, lsu_last, rf_valid, busy;
  Signal<Unit::Mask> lsu_mask, rf_mask;
  Signal<Unit::AddressWord> lsu_addr;
  Signal<Unit::Word> lsu_data;
  Signal<Unit::TagWord> lsu_tag, rf_tag;
  Signal<Unit::WordNumber> lsu_word, rf_word;
};

int sc_main(int, char**) {
  sc_core::sc_clock clk("clk", 1, sc_core::SC_NS);
  Signal<bool> rst_n, req_valid, ready;
  Signal<Unit::Mask> req_mask;
  Signal<warpfold::systemc::AddressBits> req_addr;
  Signal<Unit::TagWord> req_tag;
  Signal<Unit::WordNumber> req_words;
  Signal<Unit::Word> rf_data;
  Signal<warpfold::systemc::BinBits> rf_bin;
  Outputs outputs[2];
  std::unique_ptr<Unit> units[2];
  for (int i = 0; i < 2; ++i) {
    const auto model = i == 0 ? warpfold::UnitModel::kGolden : warpfold::UnitModel::kRtl;
    units[i] = warpfold::systemc::make_arc_subcore<warpfold::UnitKind::kSerial>(
        i == 0 ? "golden" : "rtl", model);
    Unit& unit = *units[i];
    unit.clk_i(clk), unit.rst_ni(rst_n), unit.busy_o(outputs[i].busy);
    unit.req_valid_i(req_valid), unit.req_ready_o(outputs[i].req_ready);
    unit.req_mask_i(req_mask), unit.req_addr_i(req_addr), unit.req_tag_i(req_tag);
    unit.lsu_valid_o(outputs[i].lsu_valid), unit.lsu_room_i(ready);
    unit.lsu_addr_o(outputs[i].lsu_addr), unit.lsu_mask_o(outputs[i].lsu_mask);
    unit.lsu_reduced_o(outputs[i].lsu_reduced), unit.lsu_data_o(outputs[i].lsu_data);
    unit.lsu_tag_o(outputs[i].lsu_tag), unit.rf_valid_o(outputs[i].rf_valid);
    unit.rf_ready_i(ready), unit.rf_mask_o(outputs[i].rf_mask), unit.rf_tag_o(outputs[i].rf_tag);
    unit.rf_data_i(rf_data), unit.rf_bin_i(rf_bin), unit.req_words_i(req_words);
    unit.lsu_word_o(outputs[i].lsu_word), unit.lsu_last_o(outputs[i].lsu_last);
    unit.rf_word_o(outputs[i].rf_word);
  }
  sc_core::sc_start(2, sc_core::SC_NS);
  rst_n = true;
  sc_core::sc_start(2, sc_core::SC_NS);
  req_valid = true;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::cout << "golden " << outputs[0].req_ready << ", rtl " << outputs[1].req_ready << '\n';
  return outputs[0].req_ready && outputs[1].req_ready ? 0 : 1;
}
