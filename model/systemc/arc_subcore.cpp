// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/arc_subcore.hpp"

#include <stdexcept>

#include "model/systemc/arc_subcore_body.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold::systemc {

namespace {

constexpr const char* kOptionsReport = "/warpfold/unit/options";

std::unique_ptr<SubcoreBody> make_body(arc_subcore& ports, const UnitKind& kind,
                                       const SubcoreOptions& options) {
  if (parse_unit_model(options.unit) == UnitModel::kGolden) {
    return make_golden_body(ports, kind, options.scheduler);
  }
  if (!options.scheduler.empty() && options.scheduler != unit_scheduler(kind)) {
    throw std::invalid_argument("scheduler '" + options.scheduler + "': the RTL of kind " +
                                options.unit_kind + " has " + std::string(unit_scheduler(kind)) +
                                " here; the golden unit has the others");
  }
  return make_rtl_body(ports, kind);
}

}  // namespace

struct arc_subcore::Spare {
  // A signal of its own for a port that nobody has bound.
  template <class T>
  void take(sc_core::sc_out<T>& port, sc_core::sc_signal<T>& signal) {
    if (port.bind_count() == 0) {
      port.bind(signal);
    }
  }
  template <class T>
  void take(sc_core::sc_in<T>& port, sc_core::sc_signal<T>& signal) {
    if (port.bind_count() == 0) {
      port.bind(signal);
    }
  }

  sc_core::sc_signal<bool> req_ready, lsu_valid, lsu_reduced, lsu_last, rf_valid, busy;
  sc_core::sc_signal<Mask> lsu_mask, rf_mask;
  sc_core::sc_signal<AddressWord> lsu_addr;
  sc_core::sc_signal<Word> lsu_data;
  sc_core::sc_signal<TagWord> lsu_tag, rf_tag;
  sc_core::sc_signal<WordNumber> lsu_word, rf_word, req_words;
  sc_core::sc_signal<BinBits> rf_bin;
};

arc_subcore::arc_subcore(const sc_core::sc_module_name& name, const SubcoreOptions& options)
    : sc_core::sc_module(name) {
  try {
    const UnitKind kind = parse_unit_kind(options.unit_kind);
    const ArcUnit::Ports ports = unit_ports(kind);
    read_lanes_ = ports.read_lanes;
    max_words_ = ports.max_words;
    sees_exponents_ = ports.sees_exponents;
    body_ = make_body(*this, kind, options);
  } catch (const std::invalid_argument& error) {
    SC_REPORT_ERROR(kOptionsReport, (std::string(this->name()) + ": " + error.what()).c_str());
    throw;
  }
}

arc_subcore::~arc_subcore() = default;

void arc_subcore::before_end_of_elaboration() {
  spare_ = std::make_unique<Spare>();
  spare_->take(req_ready_o, spare_->req_ready);
  spare_->take(lsu_valid_o, spare_->lsu_valid);
  spare_->take(lsu_addr_o, spare_->lsu_addr);
  spare_->take(lsu_mask_o, spare_->lsu_mask);
  spare_->take(lsu_reduced_o, spare_->lsu_reduced);
  spare_->take(lsu_data_o, spare_->lsu_data);
  spare_->take(lsu_tag_o, spare_->lsu_tag);
  spare_->take(lsu_word_o, spare_->lsu_word);
  spare_->take(lsu_last_o, spare_->lsu_last);
  spare_->take(rf_valid_o, spare_->rf_valid);
  spare_->take(rf_mask_o, spare_->rf_mask);
  spare_->take(rf_tag_o, spare_->rf_tag);
  spare_->take(rf_word_o, spare_->rf_word);
  spare_->take(busy_o, spare_->busy);
  if (!sees_exponents_) {
    spare_->take(rf_bin_i, spare_->rf_bin);
  }
  if (max_words_ == 1) {
    spare_->take(req_words_i, spare_->req_words);
  }
}

void sc_trace(sc_core::sc_trace_file* file, const arc_subcore& unit, const std::string& prefix) {
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

}  // namespace warpfold::systemc
