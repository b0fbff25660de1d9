// SPDX-License-Identifier: Apache-2.0
// The Verilated arc_subcore behind ArcUnit, for any class that Verilator made of it or of
// arc_subcore_stepped. Owned by one SM sub-core; tick() is one clock cycle of the RTL, called while
// the unit is busy or a request is valid. Instances share nothing, so that a GPU may hold hundreds
// of them. Included by rtl_unit.cpp and by tests that Verilate arc_subcore themselves, since it
// takes the Verilator headers.
#pragma once

#include <verilated.h>

#include <memory>
#include <utility>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/rtl_coverage.hpp"

namespace warpfold {

// A context by itself would start a pool of as many threads as the host has cores, for each unit.
inline std::unique_ptr<VerilatedContext> single_threaded_context() {
  auto context = std::make_unique<VerilatedContext>();
  context->threads(1);
  return context;
}

// Model is what Verilator made of one UnitKind. A test may change it through model() between
// cycles, or give a context with other settings.
template <class Model>
class RtlUnit final : public ArcUnit {
 public:
  // `ports`: those of the golden unit of that kind.
  explicit RtlUnit(const Ports& ports,
                   std::unique_ptr<VerilatedContext> context = single_threaded_context())
      : ports_(ports), context_(std::move(context)) {
    reset();
  }
  ~RtlUnit() override {
    // The model looks for its context through a variable of the thread, which otherwise is that of
    // the unit made last and may be gone; nor must it go on pointing to ours.
    Verilated::threadContextp(context_.get());
    rtl_->final();
    collect_coverage(*context_, *rtl_);
    rtl_.reset();
    Verilated::threadContextp(Verilated::defaultContextp());
  }
  void reset() override;
  // A request that was not ready is held by contract, so its mask, addresses, tag and words go to
  // the RTL only in the first cycle in which it is valid.
  UnitOutputs tick(const UnitInputs& inputs) override;
  [[nodiscard]] Ports ports() const override { return ports_; }
  [[nodiscard]] bool busy() const override {
    end_cycle();
    return rtl_->busy_o != 0;
  }
  Model& model() {
    end_cycle();
    return *rtl_;
  }

 private:
  // arc_subcore_stepped: the clock edge that ends the cycle of the last tick() is taken when
  // somebody asks what is held after it, otherwise by the next tick(), in the evaluation that
  // settles the outputs of that one.
  static constexpr bool kStepped = requires(Model & model) { model.step_i; };
  void end_cycle() const;
  void settle(bool new_request);
  void write_addresses(const std::array<Address, kLanes>& addresses);
  void write_bins(const std::array<std::uint8_t, kLanes>& bins);

  const Ports ports_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> rtl_ = std::make_unique<Model>(context_.get(), "");
  bool held_ = false;  // the RTL's request inputs hold a request that was not ready
  mutable bool edge_due_ = false;
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
  edge_due_ = false;
  if constexpr (kStepped) {
    rtl.step_i = 0;
  }
  rtl.clk_i = 0;
  rtl.rst_ni = 1;
  rtl.req_valid_i = 0;
  rtl.lsu_room_i = 0;
  rtl.rf_ready_i = 0;
  rtl.eval();
  // The reset is asynchronous: its falling edge is what the registers see.
  rtl.rst_ni = 0;
  rtl.eval();
  rtl.clk_i = 1;
  if constexpr (kStepped) {
    rtl.step_i = 1;
  }
  rtl.eval();
  rtl.clk_i = 0;
  rtl.rst_ni = 1;
  rtl.eval();
}

template <class Model>
void RtlUnit<Model>::end_cycle() const {
  if (edge_due_) {
    edge_due_ = false;
    rtl_->clk_i = 0;
    rtl_->eval();
    rtl_->clk_i = 1;
    rtl_->eval();
  }
}

// Brings the RTL to the outputs of a cycle with the inputs that have been written.
template <class Model>
void RtlUnit<Model>::settle(bool new_request) {
  if constexpr (kStepped) {
    rtl_->req_new_i = new_request;
    rtl_->step_i = 0;
    rtl_->clk_i = 0;
    rtl_->eval();
    rtl_->step_i = 1;
    rtl_->clk_i = edge_due_;
    rtl_->eval();
  } else {
    rtl_->clk_i = 0;
    rtl_->eval();
  }
  edge_due_ = true;
}

template <class Model>
UnitOutputs RtlUnit<Model>::tick(const UnitInputs& inputs) {
  Model& rtl = *rtl_;
  const bool new_request = inputs.req_valid && !held_;
  rtl.req_valid_i = inputs.req_valid;
  if (new_request) {
    rtl.req_mask_i = inputs.req_mask;
    rtl.req_tag_i = inputs.req_tag & kTagMask;
    rtl.req_words_i = (inputs.req_words - 1) % kMaxWords;
    write_addresses(inputs.req_addr);
  }
  rtl.lsu_room_i = inputs.lsu_room;
  rtl.rf_ready_i = inputs.rf_ready;
  if constexpr (sizeof(rtl.rf_data_i) == sizeof(Fp32Bits)) {
    rtl.rf_data_i = inputs.rf_data[0];
  } else if constexpr (sizeof(rtl.rf_data_i) == 2 * sizeof(Fp32Bits)) {
    rtl.rf_data_i = std::uint64_t{inputs.rf_data[1]} << 32 | inputs.rf_data[0];
  } else {
    for (std::size_t bank = 0; bank < sizeof(rtl.rf_data_i) / sizeof(Fp32Bits); ++bank) {
      rtl.rf_data_i[bank] = inputs.rf_data[bank];
    }
  }
  if (ports_.sees_exponents) {
    write_bins(inputs.rf_bins);
  }
  settle(new_request);

  UnitOutputs outputs;
  outputs.req_ready = rtl.req_ready_o != 0;
  outputs.lsu_valid = rtl.lsu_valid_o != 0;
  outputs.lsu_addr = rtl.lsu_addr_o;
  outputs.lsu_mask = rtl.lsu_mask_o;
  outputs.lsu_reduced = rtl.lsu_reduced_o != 0;
  outputs.lsu_data = rtl.lsu_data_o;
  outputs.lsu_tag = rtl.lsu_tag_o;
  outputs.lsu_word = rtl.lsu_word_o;
  outputs.lsu_last = rtl.lsu_last_o != 0;
  outputs.rf_valid = rtl.rf_valid_o != 0;
  outputs.rf_mask = rtl.rf_mask_o;
  outputs.rf_tag = rtl.rf_tag_o;
  outputs.rf_word = rtl.rf_word_o;
  outputs.busy = rtl.busy_o != 0;

  held_ = inputs.req_valid && !outputs.req_ready;
  if constexpr (!kStepped) {
    end_cycle();  // the inputs of the next cycle go straight to the RTL
  }
  return outputs;
}

}  // namespace warpfold
