// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/arc_subcore_golden.hpp"

namespace warpfold::systemc {

template <UnitKind kKind>
arc_subcore_golden<kKind>::arc_subcore_golden(sc_core::sc_module_name name)
    : arc_subcore<kKind>(name) {
  SC_HAS_PROCESS(arc_subcore_golden);
  SC_METHOD(evaluate);
  this->sensitive << this->clk_i.pos() << this->rst_ni << this->req_valid_i << this->req_mask_i
                  << this->req_addr_i << this->req_tag_i << this->req_words_i << this->lsu_room_i
                  << this->rf_ready_i << this->rf_data_i;
  if constexpr (kSeesExponents) {
    this->sensitive << this->rf_bin_i;
  }
}

template <UnitKind kKind>
void arc_subcore_golden<kKind>::evaluate() {
  read_ports();
  if (!this->rst_ni.read()) {
    unit_.reset();
  } else if (this->clk_i.posedge()) {
    unit_.tick(inputs_);
  }
  write_ports(unit_.settle(inputs_));
}

// Unpacking takes longer than the rest, so wide ports are read again only when they have changed.
template <UnitKind kKind>
void arc_subcore_golden<kKind>::read_ports() {
  inputs_.req_valid = this->req_valid_i.read();
  inputs_.req_mask = this->req_mask_i.read().to_uint();
  if (first_ || this->req_addr_i.event()) {
    inputs_.req_addr = unpack_addresses(this->req_addr_i.read());
  }
  inputs_.req_tag = static_cast<Tag>(this->req_tag_i.read().to_uint());
  inputs_.req_words = this->req_words_i.read().to_uint() + 1;
  inputs_.lsu_room = this->lsu_room_i.read();
  inputs_.rf_ready = this->rf_ready_i.read();
  if constexpr (read_lanes(kKind) == 1) {
    inputs_.rf_data[0] = this->rf_data_i.read().to_uint();
  } else {
    if (first_ || this->rf_data_i.event()) {
      const ReadData<kKind>& bits = this->rf_data_i.read();
      for (int bank = 0; bank < static_cast<int>(read_lanes(kKind)); ++bank) {
        inputs_.rf_data[static_cast<std::size_t>(bank)] =
            bits.range(kWordWidth * bank + kWordWidth - 1, kWordWidth * bank).to_uint();
      }
    }
  }
  if constexpr (kSeesExponents) {
    if (first_ || this->rf_bin_i.event()) {
      inputs_.rf_bins = unpack_bins(this->rf_bin_i.read());
    }
  }
  first_ = false;
}

template <UnitKind kKind>
void arc_subcore_golden<kKind>::write_ports(const UnitOutputs& outputs) {
  this->req_ready_o.write(outputs.req_ready);
  this->lsu_valid_o.write(outputs.lsu_valid);
  this->lsu_addr_o.write(outputs.lsu_addr);
  this->lsu_mask_o.write(outputs.lsu_mask);
  this->lsu_reduced_o.write(outputs.lsu_reduced);
  this->lsu_data_o.write(outputs.lsu_data);
  this->lsu_tag_o.write(outputs.lsu_tag);
  this->lsu_word_o.write(outputs.lsu_word);
  this->lsu_last_o.write(outputs.lsu_last);
  this->rf_valid_o.write(outputs.rf_valid);
  this->rf_mask_o.write(outputs.rf_mask);
  this->rf_tag_o.write(outputs.rf_tag);
  this->rf_word_o.write(outputs.rf_word);
  this->busy_o.write(outputs.busy);
}

template class arc_subcore_golden<UnitKind::kSerial>;
template class arc_subcore_golden<UnitKind::kFused>;
template class arc_subcore_golden<UnitKind::kVector>;
template class arc_subcore_golden<UnitKind::kHalves>;
template class arc_subcore_golden<UnitKind::kPaired>;

}  // namespace warpfold::systemc
