// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "model/systemc/arc_subcore_body.hpp"
#include "model/unit/golden_words.hpp"

namespace warpfold::systemc {

namespace {

template <class Unit>
class GoldenBody final : public SubcoreBody, public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(GoldenBody);
  GoldenBody(const sc_core::sc_module_name& name, arc_subcore& ports, const UnitKind& kind,
             const SchedulerRule& scheduler)
      : sc_core::sc_module(name), ports_(ports), unit_(kind, scheduler) {
    SC_METHOD(evaluate);
    sensitive << ports_.clk_i.pos() << ports_.rst_ni << ports_.req_valid_i << ports_.req_mask_i
              << ports_.req_addr_i << ports_.req_tag_i << ports_.req_words_i << ports_.lsu_room_i
              << ports_.rf_ready_i << ports_.rf_data_i << ports_.rf_bin_i;
  }

 private:
  // After every change of an input: reset, edge and outputs, in one delta cycle.
  void evaluate() {
    read_ports();
    if (!ports_.rst_ni.read()) {
      unit_.reset();
    } else if (ports_.clk_i.posedge()) {
      unit_.tick(inputs_);
    }
    write_ports(unit_.settle(inputs_));
  }
  void read_ports();
  void write_ports(const UnitOutputs& outputs);

  arc_subcore& ports_;
  Unit unit_;
  UnitInputs inputs_;  // what stands at the ports
  bool first_ = true;  // nothing has been read from the wide ports
};

// Unpacking takes longer than the rest, so wide ports are read again only when they have changed.
template <class Unit>
void GoldenBody<Unit>::read_ports() {
  inputs_.req_valid = ports_.req_valid_i.read();
  inputs_.req_mask = ports_.req_mask_i.read().to_uint();
  if (first_ || ports_.req_addr_i.event()) {
    inputs_.req_addr = unpack_addresses(ports_.req_addr_i.read());
  }
  inputs_.req_tag = static_cast<Tag>(ports_.req_tag_i.read().to_uint());
  inputs_.req_words = ports_.req_words_i.read().to_uint() + 1;
  inputs_.lsu_room = ports_.lsu_room_i.read();
  inputs_.rf_ready = ports_.rf_ready_i.read();
  if (first_ || ports_.rf_data_i.event()) {
    const ReadBits& bits = ports_.rf_data_i.read();
    for (int port = 0; port < static_cast<int>(ports_.read_lanes()); ++port) {
      inputs_.rf_data[static_cast<std::size_t>(port)] =
          bits.range(kWordWidth * port + kWordWidth - 1, kWordWidth * port).to_uint();
    }
  }
  if (first_ || ports_.rf_bin_i.event()) {
    inputs_.rf_bins = unpack_bins(ports_.rf_bin_i.read());
  }
  first_ = false;
}

template <class Unit>
void GoldenBody<Unit>::write_ports(const UnitOutputs& outputs) {
  ports_.req_ready_o.write(outputs.req_ready);
  ports_.lsu_valid_o.write(outputs.lsu_valid);
  ports_.lsu_addr_o.write(outputs.lsu_addr);
  ports_.lsu_mask_o.write(outputs.lsu_mask);
  ports_.lsu_reduced_o.write(outputs.lsu_reduced);
  ports_.lsu_data_o.write(outputs.lsu_data);
  ports_.lsu_tag_o.write(outputs.lsu_tag);
  ports_.lsu_word_o.write(outputs.lsu_word);
  ports_.lsu_last_o.write(outputs.lsu_last);
  ports_.rf_valid_o.write(outputs.rf_valid);
  ports_.rf_mask_o.write(outputs.rf_mask);
  ports_.rf_tag_o.write(outputs.rf_tag);
  ports_.rf_word_o.write(outputs.rf_word);
  ports_.busy_o.write(outputs.busy);
}

}  // namespace

std::unique_ptr<SubcoreBody> make_golden_body(arc_subcore& ports, const UnitKind& kind,
                                              std::string_view scheduler) {
  const SchedulerRule& rule =
      scheduler_rules().find(scheduler.empty() ? unit_scheduler(kind) : scheduler);
  return with_golden_unit(
      kind, [&]<class Unit>(std::type_identity<Unit>) -> std::unique_ptr<SubcoreBody> {
        return std::make_unique<GoldenBody<Unit>>("golden", ports, kind, rule);
      });
}

}  // namespace warpfold::systemc
