// SPDX-License-Identifier: Apache-2.0
#include "model/unit/arc_rtl.hpp"

#include <stdexcept>
#include <string>

#include "Varc_subcore.h"
#include "model/unit/arc_golden.hpp"

namespace warpfold {

namespace {

// A context by itself would start a pool of as many threads as the host has cores, for each unit.
std::unique_ptr<VerilatedContext> single_threaded_context() {
  auto context = std::make_unique<VerilatedContext>();
  context->threads(1);
  return context;
}

}  // namespace

struct RtlUnit::Impl {
  std::unique_ptr<VerilatedContext> context = single_threaded_context();
  Varc_subcore rtl{context.get(), ""};
  bool held = false;  // the RTL's request inputs hold a request that was not ready

  // Two 48-bit lanes are three words of the port.
  void write_addresses(const std::array<Address, kLanes>& addresses) {
    static_assert(kAddrWidth == 48 && kLanes % 2 == 0);
    for (std::size_t pair = 0; pair < kLanes / 2; ++pair) {
      const Address even = addresses[2 * pair] & kAddrMask;
      const Address odd = addresses[2 * pair + 1] & kAddrMask;
      rtl.req_addr_i[3 * pair] = static_cast<EData>(even);
      rtl.req_addr_i[3 * pair + 1] = static_cast<EData>(even >> 32 | odd << 16);
      rtl.req_addr_i[3 * pair + 2] = static_cast<EData>(odd >> 16);
    }
  }
};

RtlUnit::RtlUnit() : impl_(std::make_unique<Impl>()) {
  reset();
}

RtlUnit::~RtlUnit() {
  // The model looks for its context through a variable of the thread, which otherwise is that of
  // the unit made last and may be gone; nor must it go on pointing to ours.
  Verilated::threadContextp(impl_->context.get());
  impl_->rtl.final();
  impl_.reset();
  Verilated::threadContextp(Verilated::defaultContextp());
}

void RtlUnit::reset() {
  Varc_subcore& rtl = impl_->rtl;
  impl_->held = false;
  rtl.clk_i = 0;
  rtl.rst_ni = 1;
  rtl.req_valid_i = 0;
  rtl.lsu_ready_i = 0;
  rtl.rf_ready_i = 0;
  rtl.eval();
  // The reset is asynchronous: its falling edge is what the registers see.
  rtl.rst_ni = 0;
  rtl.eval();
  rtl.clk_i = 1;
  rtl.eval();
  rtl.clk_i = 0;
  rtl.rst_ni = 1;
  rtl.eval();
}

UnitOutputs RtlUnit::tick(const UnitInputs& inputs) {
  Varc_subcore& rtl = impl_->rtl;
  rtl.req_valid_i = inputs.req_valid;
  if (inputs.req_valid && !impl_->held) {
    rtl.req_mask_i = inputs.req_mask;
    rtl.req_tag_i = inputs.req_tag & kTagMask;
    impl_->write_addresses(inputs.req_addr);
  }
  rtl.lsu_ready_i = inputs.lsu_ready;
  rtl.rf_ready_i = inputs.rf_ready;
  rtl.rf_data_i = inputs.rf_data;
  rtl.clk_i = 0;
  rtl.eval();

  UnitOutputs outputs;
  outputs.req_ready = rtl.req_ready_o != 0;
  outputs.lsu_valid = rtl.lsu_valid_o != 0;
  outputs.lsu_addr = rtl.lsu_addr_o;
  outputs.lsu_mask = rtl.lsu_mask_o;
  outputs.lsu_reduced = rtl.lsu_reduced_o != 0;
  outputs.lsu_data = rtl.lsu_data_o;
  outputs.lsu_tag = rtl.lsu_tag_o;
  outputs.rf_valid = rtl.rf_valid_o != 0;
  outputs.rf_lane = rtl.rf_lane_o;
  outputs.rf_tag = rtl.rf_tag_o;
  outputs.busy = rtl.busy_o != 0;

  rtl.clk_i = 1;
  rtl.eval();
  impl_->held = inputs.req_valid && !outputs.req_ready;
  return outputs;
}

bool RtlUnit::busy() const {
  return impl_->rtl.busy_o != 0;
}

UnitKind parse_unit_kind(std::string_view name) {
  for (const UnitKind kind : {UnitKind::kGolden, UnitKind::kRtl}) {
    if (name == unit_kind_name(kind)) {
      return kind;
    }
  }
  throw std::invalid_argument("unknown unit '" + std::string(name) + "': golden or rtl");
}

std::string_view unit_kind_name(UnitKind kind) {
  return kind == UnitKind::kGolden ? "golden" : "rtl";
}

std::unique_ptr<ArcUnit> make_unit(UnitKind kind) {
  if (kind == UnitKind::kGolden) {
    return std::make_unique<GoldenUnit>();
  }
  return std::make_unique<RtlUnit>();
}

}  // namespace warpfold
