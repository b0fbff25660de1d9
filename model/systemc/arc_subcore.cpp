// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/arc_subcore.hpp"

#include "model/systemc/arc_subcore_golden.hpp"
#include "model/systemc/arc_subcore_rtl.hpp"

namespace warpfold::systemc {

template <UnitKind kKind>
std::unique_ptr<arc_subcore<kKind>> make_arc_subcore(const char* name, UnitModel model) {
  if (model == UnitModel::kGolden) {
    return std::make_unique<arc_subcore_golden<kKind>>(name);
  }
  return std::make_unique<arc_subcore_rtl<kKind>>(name);
}

template <UnitKind kKind>
void sc_trace(sc_core::sc_trace_file* file, const arc_subcore<kKind>& unit,
              const std::string& prefix) {
  const auto trace = [&](const auto& port, const char* name) {
    sc_core::sc_trace(file, port, prefix + "." + name);
  };
  trace(unit.clk_i, "clk_i");
  trace(unit.rst_ni, "rst_ni");
  trace(unit.req_valid_i, "req_valid_i");
  trace(unit.req_ready_o, "req_ready_o");
  trace(unit.req_mask_i, "req_mask_i");
  trace(unit.req_addr_i, "req_addr_i");
  trace(unit.req_tag_i, "req_tag_i");
  trace(unit.req_words_i, "req_words_i");
  trace(unit.lsu_valid_o, "lsu_valid_o");
  trace(unit.lsu_room_i, "lsu_room_i");
  trace(unit.lsu_addr_o, "lsu_addr_o");
  trace(unit.lsu_mask_o, "lsu_mask_o");
  trace(unit.lsu_reduced_o, "lsu_reduced_o");
  trace(unit.lsu_data_o, "lsu_data_o");
  trace(unit.lsu_tag_o, "lsu_tag_o");
  trace(unit.lsu_word_o, "lsu_word_o");
  trace(unit.lsu_last_o, "lsu_last_o");
  trace(unit.rf_valid_o, "rf_valid_o");
  trace(unit.rf_ready_i, "rf_ready_i");
  trace(unit.rf_mask_o, "rf_mask_o");
  trace(unit.rf_tag_o, "rf_tag_o");
  trace(unit.rf_word_o, "rf_word_o");
  trace(unit.rf_data_i, "rf_data_i");
  trace(unit.rf_bin_i, "rf_bin_i");
  trace(unit.busy_o, "busy_o");
}

template std::unique_ptr<arc_subcore<UnitKind::kSerial>> make_arc_subcore(const char*, UnitModel);
template std::unique_ptr<arc_subcore<UnitKind::kFused>> make_arc_subcore(const char*, UnitModel);
template std::unique_ptr<arc_subcore<UnitKind::kVector>> make_arc_subcore(const char*, UnitModel);
template std::unique_ptr<arc_subcore<UnitKind::kHalves>> make_arc_subcore(const char*, UnitModel);
template std::unique_ptr<arc_subcore<UnitKind::kPaired>> make_arc_subcore(const char*, UnitModel);
template void sc_trace(sc_core::sc_trace_file*, const arc_subcore<UnitKind::kSerial>&,
                       const std::string&);
template void sc_trace(sc_core::sc_trace_file*, const arc_subcore<UnitKind::kFused>&,
                       const std::string&);
template void sc_trace(sc_core::sc_trace_file*, const arc_subcore<UnitKind::kVector>&,
                       const std::string&);
template void sc_trace(sc_core::sc_trace_file*, const arc_subcore<UnitKind::kHalves>&,
                       const std::string&);
template void sc_trace(sc_core::sc_trace_file*, const arc_subcore<UnitKind::kPaired>&,
                       const std::string&);

}  // namespace warpfold::systemc
