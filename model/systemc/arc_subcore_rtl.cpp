// SPDX-License-Identifier: Apache-2.0
// clang-format off: the headers of Verilator need SystemC's before them.
#include <systemc>

#include "model/systemc/rtl_modules.hpp"
// clang-format on
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/systemc/arc_subcore_body.hpp"
#include "model/unit/verilated_stop.hpp"

namespace warpfold::systemc {

namespace {

// What Verilator generates takes its context from a variable of the thread, when it is made and
// when it goes. It gets one for itself, which starts no threads and leaves those of other models
// alone.
class ContextOfThread {
 public:
  explicit ContextOfThread(VerilatedContext* context) : before_(Verilated::threadContextp()) {
    Verilated::threadContextp(context);
  }
  ~ContextOfThread() { Verilated::threadContextp(before_); }
  ContextOfThread(const ContextOfThread&) = delete;
  ContextOfThread& operator=(const ContextOfThread&) = delete;

 private:
  VerilatedContext* before_;
};

// Behind the line that Verilator's runtime prints of the assertion.
void report_contract() {
  SC_REPORT_ERROR("/warpfold/unit/contract", "the RTL's assertion of the line above has failed");
}

template <class Rtl>
class RtlBody final : public SubcoreBody {
 public:
  explicit RtlBody(arc_subcore& ports) {
    on_verilated_stop(report_contract);
    context_.threads(1);
    const ContextOfThread ours(&context_);
    rtl_ = std::make_unique<Rtl>("rtl");
    bind(ports);
  }
  ~RtlBody() override {
    const ContextOfThread ours(&context_);
    rtl_->final();
    rtl_.reset();
  }

 private:
  void bind(arc_subcore& ports) {
    rtl_->clk_i(ports.clk_i);
    rtl_->rst_ni(ports.rst_ni);
    rtl_->req_valid_i(ports.req_valid_i);
    rtl_->req_ready_o(ports.req_ready_o);
    rtl_->req_mask_i(ports.req_mask_i);
    rtl_->req_addr_i(ports.req_addr_i);
    rtl_->req_tag_i(ports.req_tag_i);
    rtl_->req_words_i(ports.req_words_i);
    rtl_->lsu_valid_o(ports.lsu_valid_o);
    rtl_->lsu_room_i(ports.lsu_room_i);
    rtl_->lsu_addr_o(ports.lsu_addr_o);
    rtl_->lsu_mask_o(ports.lsu_mask_o);
    rtl_->lsu_reduced_o(ports.lsu_reduced_o);
    rtl_->lsu_data_o(ports.lsu_data_o);
    rtl_->lsu_tag_o(ports.lsu_tag_o);
    rtl_->lsu_word_o(ports.lsu_word_o);
    rtl_->lsu_last_o(ports.lsu_last_o);
    rtl_->rf_valid_o(ports.rf_valid_o);
    rtl_->rf_ready_i(ports.rf_ready_i);
    rtl_->rf_mask_o(ports.rf_mask_o);
    rtl_->rf_tag_o(ports.rf_tag_o);
    rtl_->rf_word_o(ports.rf_word_o);
    rtl_->rf_data_i(ports.rf_data_i);
    rtl_->rf_bin_i(ports.rf_bin_i);
    rtl_->busy_o(ports.busy_o);
  }

  VerilatedContext context_;
  std::unique_ptr<Rtl> rtl_;
};

// A unit of the list and its class.
struct RtlRow {
  std::string_view unit;
  std::unique_ptr<SubcoreBody> (*make)(arc_subcore& ports);
};

template <class Rtl>
std::unique_ptr<SubcoreBody> make_rtl(arc_subcore& ports) {
  return std::make_unique<RtlBody<Rtl>>(ports);
}

#define WARPFOLD_RTL_ROW(unit, model) RtlRow{unit, make_rtl<model>},
constexpr RtlRow kRtl[] = {WARPFOLD_RTL_MODULES(WARPFOLD_RTL_ROW)};
#undef WARPFOLD_RTL_ROW

}  // namespace

std::unique_ptr<SubcoreBody> make_rtl_body(arc_subcore& ports, const UnitKind& kind) {
  const std::string_view name = unit_kind_name(kind);
  const auto row = std::ranges::find(kRtl, name, &RtlRow::unit);
  if (row == std::ranges::end(kRtl)) {
    throw std::invalid_argument("no RTL of unit kind " + std::string(name) + " is built in, of " +
                                unit_kind_list(", ", " and ") + " alone; the golden unit is");
  }
  return row->make(ports);
}

}  // namespace warpfold::systemc
