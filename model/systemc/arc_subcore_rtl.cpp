// SPDX-License-Identifier: Apache-2.0
// clang-format off: the headers of Verilator need SystemC's before them.
#include <memory>
#include <systemc>
#include <type_traits>

#include "Varc_subcore_sc_fused.h"
#include "Varc_subcore_sc_halves.h"
#include "Varc_subcore_sc_paired.h"
#include "Varc_subcore_sc_serial.h"
#include "Varc_subcore_sc_vector.h"
// clang-format on
#include "model/systemc/arc_subcore_rtl.hpp"

namespace warpfold::systemc {

namespace {

template <UnitKind kKind>
struct VerilatedOf;
template <>
struct VerilatedOf<UnitKind::kSerial> : std::type_identity<Varc_subcore_sc_serial> {};
template <>
struct VerilatedOf<UnitKind::kFused> : std::type_identity<Varc_subcore_sc_fused> {};
template <>
struct VerilatedOf<UnitKind::kVector> : std::type_identity<Varc_subcore_sc_vector> {};
template <>
struct VerilatedOf<UnitKind::kHalves> : std::type_identity<Varc_subcore_sc_halves> {};
template <>
struct VerilatedOf<UnitKind::kPaired> : std::type_identity<Varc_subcore_sc_paired> {};

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

}  // namespace

template <UnitKind kKind>
struct arc_subcore_rtl<kKind>::Body {
  using Rtl = typename VerilatedOf<kKind>::type;

  Body() {
    context.threads(1);
    const ContextOfThread ours(&context);
    rtl = std::make_unique<Rtl>("rtl");
  }
  ~Body() {
    const ContextOfThread ours(&context);
    rtl->final();
    rtl.reset();
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  VerilatedContext context;
  std::unique_ptr<Rtl> rtl;
};

template <UnitKind kKind>
arc_subcore_rtl<kKind>::arc_subcore_rtl(sc_core::sc_module_name name)
    : arc_subcore<kKind>(name), body_(std::make_unique<Body>()) {
  auto& rtl = *body_->rtl;
  rtl.clk_i(this->clk_i);
  rtl.rst_ni(this->rst_ni);
  rtl.req_valid_i(this->req_valid_i);
  rtl.req_ready_o(this->req_ready_o);
  rtl.req_mask_i(this->req_mask_i);
  rtl.req_addr_i(this->req_addr_i);
  rtl.req_tag_i(this->req_tag_i);
  rtl.req_words_i(this->req_words_i);
  rtl.lsu_valid_o(this->lsu_valid_o);
  rtl.lsu_room_i(this->lsu_room_i);
  rtl.lsu_addr_o(this->lsu_addr_o);
  rtl.lsu_mask_o(this->lsu_mask_o);
  rtl.lsu_reduced_o(this->lsu_reduced_o);
  rtl.lsu_data_o(this->lsu_data_o);
  rtl.lsu_tag_o(this->lsu_tag_o);
  rtl.lsu_word_o(this->lsu_word_o);
  rtl.lsu_last_o(this->lsu_last_o);
  rtl.rf_valid_o(this->rf_valid_o);
  rtl.rf_ready_i(this->rf_ready_i);
  rtl.rf_mask_o(this->rf_mask_o);
  rtl.rf_tag_o(this->rf_tag_o);
  rtl.rf_word_o(this->rf_word_o);
  rtl.rf_data_i(this->rf_data_i);
  rtl.rf_bin_i(this->rf_bin_i);
  rtl.busy_o(this->busy_o);
}

template <UnitKind kKind>
arc_subcore_rtl<kKind>::~arc_subcore_rtl() = default;

template class arc_subcore_rtl<UnitKind::kSerial>;
template class arc_subcore_rtl<UnitKind::kFused>;
template class arc_subcore_rtl<UnitKind::kVector>;
template class arc_subcore_rtl<UnitKind::kHalves>;
template class arc_subcore_rtl<UnitKind::kPaired>;

}  // namespace warpfold::systemc
