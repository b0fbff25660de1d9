// SPDX-License-Identifier: Apache-2.0
#include "tb/systemc/bench.hpp"

#include <algorithm>
#include <sstream>

#include "model/unit/request_shapes.hpp"

namespace warpfold::systemc {

namespace {

constexpr std::uint64_t kHangCycles = 100'000;

void pause() {
  sc_core::wait(1, sc_core::SC_NS);
}

template <class T>
bool same(std::ostream& text, const char* port, const sc_core::sc_signal<T>& rtl,
          const sc_core::sc_signal<T>& golden) {
  if (rtl.read() == golden.read()) {
    return true;
  }
  text << port << ": rtl " << std::hex << std::showbase << rtl.read() << ", golden "
       << golden.read();
  return false;
}

}  // namespace

Bench::Bench(const sc_core::sc_module_name& name, const UnitKind& kind, const BenchOptions& options)
    : sc_core::sc_module(name),
      kind_(kind),
      options_(options),
      random_(options.seed),
      lsu_(SplitMix64::mix(options.seed + 1), 0.7),
      rf_(SplitMix64::mix(options.seed + 2), 0.25),
      rtl_("rtl", {.unit = "rtl", .unit_kind = std::string(unit_kind_name(kind))}),
      golden_("golden", {.unit = "golden", .unit_kind = std::string(unit_kind_name(kind))}) {
  bind(rtl_, of_rtl_, lsu_room_);
  bind(golden_, of_golden_, lsu_room_golden_);
  SC_HAS_PROCESS(Bench);
  SC_THREAD(run);
  SC_METHOD(grant);
  sensitive << may_grant_ << of_rtl_.rf_valid;
  SC_METHOD(watch);
  for (Outputs* of : {&of_rtl_, &of_golden_}) {
    sensitive << of->req_ready << of->lsu_valid << of->lsu_reduced << of->rf_valid << of->busy
              << of->lsu_mask << of->rf_mask << of->lsu_addr << of->lsu_data << of->lsu_tag
              << of->rf_tag << of->lsu_word << of->lsu_last << of->rf_word;
  }
}

void Bench::bind(arc_subcore& unit, Outputs& outputs, Signal<bool>& lsu_room) {
  unit.clk_i(clk_);
  unit.rst_ni(rst_n_);
  unit.req_valid_i(req_valid_);
  unit.req_ready_o(outputs.req_ready);
  unit.req_mask_i(req_mask_);
  unit.req_addr_i(req_addr_);
  unit.req_tag_i(req_tag_);
  unit.req_words_i(req_words_);
  unit.lsu_valid_o(outputs.lsu_valid);
  unit.lsu_room_i(lsu_room);
  unit.lsu_addr_o(outputs.lsu_addr);
  unit.lsu_mask_o(outputs.lsu_mask);
  unit.lsu_reduced_o(outputs.lsu_reduced);
  unit.lsu_data_o(outputs.lsu_data);
  unit.lsu_tag_o(outputs.lsu_tag);
  unit.lsu_word_o(outputs.lsu_word);
  unit.lsu_last_o(outputs.lsu_last);
  unit.rf_valid_o(outputs.rf_valid);
  unit.rf_ready_i(rf_ready_);
  unit.rf_mask_o(outputs.rf_mask);
  unit.rf_tag_o(outputs.rf_tag);
  unit.rf_word_o(outputs.rf_word);
  unit.rf_data_i(rf_data_);
  unit.rf_bin_i(rf_bin_);
  unit.busy_o(outputs.busy);
}

void Bench::run() {
  if (!reset_unit()) {
    return;
  }
  while (counts_.cycles < options_.cycles) {
    // A reset comes while there is work, at most once in some hundred cycles.
    const bool reset = of_rtl_.busy.read() && random_.below(400) == 0;
    if (reset ? !reset_unit() : !cycle(true)) {
      return;
    }
  }
  drain();
}

void Bench::grant() {
  rf_ready_.write(may_grant_.read() && of_rtl_.rf_valid.read());
}

void Bench::watch() {
  settled("in a delta cycle");
}

bool Bench::cycle(bool may_request) {
  // Half of the time the inputs change with the edge, as those of a clocked process do.
  if (random_.below(2) == 0) {
    pause();
    if (!settled("after the edge")) {
      return false;
    }
  }
  if (random_.below(4) == 0) {
    draw_noise();
    pause();
    if (!settled("with inputs that do not stay")) {
      return false;
    }
  }
  draw_inputs(may_request);
  pause();
  if (!settled("before the edge") || !take_outputs()) {
    return false;
  }
  clk_.write(false);
  pause();
  if (!settled("after the falling edge")) {
    return false;
  }
  clk_.write(true);
  sc_core::wait(clk_.posedge_event());
  ++counts_.cycles;
  return true;
}

bool Bench::drain() {
  const std::uint64_t until = counts_.cycles + kHangCycles;
  do {
    if (counts_.cycles == until) {
      return fail("hangs");
    }
    if (!cycle(false)) {
      return false;
    }
    pause();
  } while (held_ || of_rtl_.busy.read());
  const bool lost =
      std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return is_in_use(slot); });
  return !lost || fail("idle, but lanes have not left");
}

// Falls away from an edge and empties the unit at once; edges while it is low do nothing.
bool Bench::reset_unit() {
  pause();
  counts_.resets += of_rtl_.busy.read() ? 1U : 0U;
  req_valid_.write(false);
  rst_n_.write(false);
  pause();
  if (!settled("in reset")) {
    return false;
  }
  if (of_rtl_.busy.read() || of_rtl_.lsu_valid.read() || of_rtl_.rf_valid.read()) {
    return fail("the reset does not empty the unit");
  }
  for (auto edges = random_.below(3); edges > 0; --edges) {
    clk_.write(!clk_.read());
    pause();
    if (!settled("at an edge in reset")) {
      return false;
    }
  }
  clk_.write(false);
  pause();
  rst_n_.write(true);
  pause();
  held_ = false;
  slots_ = {};
  return settled("after the reset");
}

bool Bench::settled(const char* when) {
  if (!message_.empty()) {
    return false;
  }
  ++counts_.comparisons;
  std::ostringstream text;
  const bool equal = same(text, "busy_o", of_rtl_.busy, of_golden_.busy) &&
                     same(text, "rf_valid_o", of_rtl_.rf_valid, of_golden_.rf_valid) &&
                     same(text, "rf_mask_o", of_rtl_.rf_mask, of_golden_.rf_mask) &&
                     same(text, "rf_tag_o", of_rtl_.rf_tag, of_golden_.rf_tag) &&
                     same(text, "rf_word_o", of_rtl_.rf_word, of_golden_.rf_word) &&
                     same(text, "lsu_valid_o", of_rtl_.lsu_valid, of_golden_.lsu_valid) &&
                     same(text, "lsu_reduced_o", of_rtl_.lsu_reduced, of_golden_.lsu_reduced) &&
                     same(text, "lsu_addr_o", of_rtl_.lsu_addr, of_golden_.lsu_addr) &&
                     same(text, "lsu_mask_o", of_rtl_.lsu_mask, of_golden_.lsu_mask) &&
                     same(text, "lsu_tag_o", of_rtl_.lsu_tag, of_golden_.lsu_tag) &&
                     same(text, "lsu_word_o", of_rtl_.lsu_word, of_golden_.lsu_word) &&
                     same(text, "lsu_last_o", of_rtl_.lsu_last, of_golden_.lsu_last) &&
                     same(text, "lsu_data_o", of_rtl_.lsu_data, of_golden_.lsu_data) &&
                     same(text, "req_ready_o", of_rtl_.req_ready, of_golden_.req_ready);
  return equal || fail(text.str() + " " + when);
}

void Bench::draw_inputs(bool may_request) {
  const bool room = lsu_.next_ready();
  lsu_room_.write(room);
  const bool mislead =
      options_.mislead_from.has_value() && counts_.cycles >= *options_.mislead_from;
  lsu_room_golden_.write(mislead ? random_.below(2) == 0 : room);
  may_grant_.write(rf_.next_ready());
  rf_data_.write(answer_);
  rf_bin_.write(answer_bins_);
  if (held_ && has_come(options_.break_promise_from)) {
    req_tag_.write(~req_tag_.read());
  }
  if (!held_ && may_request && random_.below(4) != 0) {
    draw_request();
  }
  req_valid_.write(held_);
}

void Bench::draw_request() {
  // The slots in turn, so that all bits of a tag move in units that hold few requests, too.
  do {
    ++tags_;
  } while (is_in_use(slots_[tags_ % kSlots]));
  Slot& slot = slots_[tags_ % kSlots];
  slot.request = with_words(random_request(random_, Shape::kAny), kind_, random_);
  const AtomredRequest& request = slot.request;
  std::fill_n(slot.left.begin(), request.words(), request.mask);
  req_mask_.write(request.mask);
  req_addr_.write(pack_addresses(request.addresses));
  req_tag_.write((SplitMix64::mix(options_.seed + tags_) * kSlots + tags_ % kSlots) & kTagMask);
  req_words_.write(request.words() - 1);
  held_ = true;
}

// Inputs as they may be on the way to what they are before the edge.
void Bench::draw_noise() {
  const bool room = random_.below(2) == 0;
  lsu_room_.write(room);
  lsu_room_golden_.write(room);
  may_grant_.write(random_.below(2) == 0);
  const Operand values = random_values(random_, Operands::kAny);
  rf_data_.write(read_data(rtl_.read_lanes(), 0xffffffffU, values));
  rf_bin_.write(read_bins(values));
  if (!held_) {
    const AtomredRequest request = random_request(random_, Shape::kAny);
    req_mask_.write(request.mask);
    req_addr_.write(pack_addresses(request.addresses));
    req_tag_.write(random_.next() & kTagMask);
    req_words_.write(random_.below(kMaxWords));
    req_valid_.write(random_.below(2) == 0);
  }
}

// What happens at the rising edge that comes.
bool Bench::take_outputs() {
  if (of_rtl_.lsu_valid.read() && lsu_room_.read()) {
    if (of_rtl_.lsu_reduced.read()) {
      ++counts_.sums;
    } else {
      const LaneMask lanes = of_rtl_.lsu_mask.read().to_uint();
      counts_.plain_lanes += static_cast<std::uint64_t>(lane_count(lanes));
      Slot& slot = slot_of(of_rtl_.lsu_tag);
      for (std::uint32_t word = 0; word < slot.request.words(); ++word) {
        if (!take_lanes(slot, word, lanes)) {
          return false;
        }
      }
    }
  }
  if (of_rtl_.rf_valid.read() && rf_ready_.read()) {
    Slot& slot = slot_of(of_rtl_.rf_tag);
    const std::uint32_t word = of_rtl_.rf_word.read().to_uint();
    const LaneMask lanes = of_rtl_.rf_mask.read().to_uint();
    if (!take_lanes(slot, word, lanes)) {
      return false;
    }
    const Operand& operand = slot.request.operand(word);
    answer_ = read_data(rtl_.read_lanes(), lanes, operand);
    answer_bins_ = read_bins(operand);
  }
  if (req_valid_.read() && of_rtl_.req_ready.read()) {
    held_ = false;
    ++counts_.requests;
  }
  return true;
}

// Each word of a lane is read or leaves as it is, once.
bool Bench::take_lanes(Slot& slot, std::uint32_t word, LaneMask lanes) {
  LaneMask& left = slot.left.at(word);
  if ((lanes & ~left) != 0) {
    return fail("lanes leave twice");
  }
  left &= ~lanes;
  return true;
}

bool Bench::fail(const std::string& what) {
  message_ = "cycle " + std::to_string(counts_.cycles) + ": " + what;
  return false;
}

}  // namespace warpfold::systemc
