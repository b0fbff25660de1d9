// SPDX-License-Identifier: Apache-2.0
// The RTL unit: the Verilated arc_subcore behind ArcUnit. Owned by one SM sub-core; tick() is one
// clock cycle of the RTL, called while the unit is busy or a request is valid. Instances share
// nothing, so that a GPU may hold hundreds of them.
#include <stdexcept>
#include <string>

#include "Varc_subcore_fused.h"
#include "Varc_subcore_serial.h"
#include "model/unit/golden_fused.hpp"
#include "model/unit/golden_unit.hpp"

namespace warpfold {

namespace {

// A context by itself would start a pool of as many threads as the host has cores, for each unit.
std::unique_ptr<VerilatedContext> single_threaded_context() {
  auto context = std::make_unique<VerilatedContext>();
  context->threads(1);
  return context;
}

// Model is what Verilator made of arc_subcore with one UnitKind.
template <class Model>
class RtlUnit final : public ArcUnit {
 public:
  RtlUnit() { reset(); }
  ~RtlUnit() override {
    // The model looks for its context through a variable of the thread, which otherwise is that of
    // the unit made last and may be gone; nor must it go on pointing to ours.
    Verilated::threadContextp(context_.get());
    rtl_->final();
    rtl_.reset();
    Verilated::threadContextp(Verilated::defaultContextp());
  }
  void reset() override;
  // A request that was not ready is held by contract, so its mask, addresses and tag are written to
  // the RTL only in the first cycle in which it is valid.
  UnitOutputs tick(const UnitInputs& inputs) override;
  [[nodiscard]] bool busy() const override { return rtl_->busy_o != 0; }

 private:
  void write_addresses(const std::array<Address, kLanes>& addresses);
  void write_bins(const std::array<std::uint8_t, kLanes>& bins);

  std::unique_ptr<VerilatedContext> context_ = single_threaded_context();
  std::unique_ptr<Model> rtl_ = std::make_unique<Model>(context_.get(), "");
  bool held_ = false;  // the RTL's request inputs hold a request that was not ready
};

// Two 48-bit lanes are three words of the port.
template <class Model>
void RtlUnit<Model>::write_addresses(const std::array<Address, kLanes>& addresses) {
  static_assert(kAddrWidth == 48 && kLanes % 2 == 0);
  for (std::size_t pair = 0; pair < kLanes / 2; ++pair) {
    const Address even = addresses[2 * pair] & kAddrMask;
    const Address odd = addresses[2 * pair + 1] & kAddrMask;
    rtl_->req_addr_i[3 * pair] = static_cast<EData>(even);
    rtl_->req_addr_i[3 * pair + 1] = static_cast<EData>(even >> 32 | odd << 16);
    rtl_->req_addr_i[3 * pair + 2] = static_cast<EData>(odd >> 16);
  }
}

// Five bits a lane.
template <class Model>
void RtlUnit<Model>::write_bins(const std::array<std::uint8_t, kLanes>& bins) {
  constexpr std::size_t kBinWidth = 5;
  constexpr std::size_t kWordWidth = 32;
  std::uint64_t bits = 0;
  std::size_t have = 0;
  std::size_t word = 0;
  for (const std::uint8_t bin : bins) {
    bits |= std::uint64_t{bin} << have;
    have += kBinWidth;
    if (have >= kWordWidth) {
      rtl_->rf_bin_i[word++] = static_cast<EData>(bits);
      bits >>= kWordWidth;
      have -= kWordWidth;
    }
  }
}

template <class Model>
void RtlUnit<Model>::reset() {
  Model& rtl = *rtl_;
  held_ = false;
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

template <class Model>
UnitOutputs RtlUnit<Model>::tick(const UnitInputs& inputs) {
  Model& rtl = *rtl_;
  rtl.req_valid_i = inputs.req_valid;
  if (inputs.req_valid && !held_) {
    rtl.req_mask_i = inputs.req_mask;
    rtl.req_tag_i = inputs.req_tag & kTagMask;
    write_addresses(inputs.req_addr);
  }
  rtl.lsu_ready_i = inputs.lsu_ready;
  rtl.rf_ready_i = inputs.rf_ready;
  if constexpr (sizeof(rtl.rf_data_i) == sizeof(Fp32Bits)) {
    rtl.rf_data_i = inputs.rf_data[0];
  } else {
    static_assert(sizeof(rtl.rf_data_i) == sizeof(inputs.rf_data));
    for (std::size_t bank = 0; bank < kBanks; ++bank) {
      rtl.rf_data_i[bank] = inputs.rf_data[bank];
    }
    write_bins(inputs.rf_bins);
  }
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
  outputs.rf_mask = rtl.rf_mask_o;
  outputs.rf_tag = rtl.rf_tag_o;
  outputs.busy = rtl.busy_o != 0;

  rtl.clk_i = 1;
  rtl.eval();
  held_ = inputs.req_valid && !outputs.req_ready;
  return outputs;
}

}  // namespace

UnitModel parse_unit_model(std::string_view name) {
  for (const UnitModel model : {UnitModel::kGolden, UnitModel::kRtl}) {
    if (name == unit_model_name(model)) {
      return model;
    }
  }
  throw std::invalid_argument("unknown unit '" + std::string(name) + "': golden or rtl");
}

std::string_view unit_model_name(UnitModel model) {
  return model == UnitModel::kGolden ? "golden" : "rtl";
}

UnitKind parse_unit_kind(std::string_view name) {
  for (const UnitKind kind : kUnitKinds) {
    if (name == unit_kind_name(kind)) {
      return kind;
    }
  }
  throw std::invalid_argument("unknown unit kind '" + std::string(name) +
                              "': serial, pipelined or fused");
}

std::string_view unit_kind_name(UnitKind kind) {
  constexpr std::array<std::string_view, kUnitKinds.size()> kNames = {"serial", "pipelined",
                                                                      "fused"};
  return kNames[static_cast<std::size_t>(kind)];
}

void answer_read(UnitInputs& inputs, UnitKind kind, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    inputs.rf_data[lane % read_lanes(kind)] = operand[lane];
  }
  if (kind == UnitKind::kFused) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      inputs.rf_bins[lane] = exponent_bin(operand[lane]);
    }
  }
}

std::unique_ptr<ArcUnit> make_unit(UnitModel model, UnitKind kind) {
  const bool golden = model == UnitModel::kGolden;
  switch (kind) {
    case UnitKind::kFused:
      if (golden) {
        return std::make_unique<GoldenUnit<GoldenFused>>();
      }
      return std::make_unique<RtlUnit<Varc_subcore_fused>>();
    case UnitKind::kPipelined:
    case UnitKind::kSerial:
      break;
  }
  if (golden) {
    return std::make_unique<GoldenUnit<GoldenSerial>>();
  }
  return std::make_unique<RtlUnit<Varc_subcore_serial>>();
}

}  // namespace warpfold
