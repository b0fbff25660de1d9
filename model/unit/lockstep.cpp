// SPDX-License-Identifier: Apache-2.0
#include "model/unit/lockstep.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "model/unit/fp32.hpp"
#include "model/unit/group_pays.hpp"
#include "model/unit/sum_check.hpp"
#include "model/unit/trace_requests.hpp"

namespace warpfold {

namespace {

// A run in which nothing is handed over for so long hangs: no phase of back-pressure lasts longer.
constexpr std::uint64_t kHangCycles = 1'000'000;

// The outputs in data-path order, which is the order in which a difference is looked for.
struct OutputPort {
  const char* name;
  std::uint64_t (*value)(const UnitOutputs&);
};

constexpr OutputPort kOutputPorts[] = {
    {"busy_o", [](const UnitOutputs& o) { return std::uint64_t{o.busy}; }},
    {"rf_valid_o", [](const UnitOutputs& o) { return std::uint64_t{o.rf_valid}; }},
    {"rf_mask_o", [](const UnitOutputs& o) { return std::uint64_t{o.rf_mask}; }},
    {"rf_tag_o", [](const UnitOutputs& o) { return std::uint64_t{o.rf_tag}; }},
    {"rf_word_o", [](const UnitOutputs& o) { return std::uint64_t{o.rf_word}; }},
    {"lsu_valid_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_valid}; }},
    {"lsu_reduced_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_reduced}; }},
    {"lsu_addr_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_addr}; }},
    {"lsu_mask_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_mask}; }},
    {"lsu_tag_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_tag}; }},
    {"lsu_word_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_word}; }},
    {"lsu_last_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_last}; }},
    {"lsu_data_o", [](const UnitOutputs& o) { return std::uint64_t{o.lsu_data}; }},
    {"req_ready_o", [](const UnitOutputs& o) { return std::uint64_t{o.req_ready}; }},
};

double checked_probability(double probability) {
  if (!(probability >= 0 && probability < 1)) {
    throw std::invalid_argument("a stall probability must be at least 0 and below 1");
  }
  return probability;
}

// Each lane through a port of its own.
bool fits_one_read(std::uint32_t read_lanes, LaneMask lanes) {
  std::uint32_t ports = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t port =
        1U << static_cast<std::uint32_t>(std::countr_zero(lanes)) % read_lanes;
    if ((ports & port) != 0) {
      return false;
    }
    ports |= port;
  }
  return true;
}

// Lanes of `among` whose address is `address`.
LaneMask lanes_with_address(const AtomredRequest& request, LaneMask among, Address address) {
  LaneMask lanes = 0;
  for (; among != 0; among &= among - 1) {
    const int lane = std::countr_zero(among);
    if ((request.addresses[static_cast<std::size_t>(lane)] & kAddrMask) == address) {
      lanes |= LaneMask{1} << lane;
    }
  }
  return lanes;
}

// Whether a group of these lanes pays, even if no other lane of the request had left.
bool any_pays(const AtomredRequest& request, LaneMask lanes) {
  for (LaneMask left = lanes; left != 0;) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const LaneMask group = lanes_with_address(request, lanes, request.addresses[lane] & kAddrMask);
    if (group_pays(request.addresses, request.mask, group)) {
      return true;
    }
    left &= ~group;
  }
  return false;
}

}  // namespace

BackPressure::BackPressure(std::uint64_t seed, double stall_probability)
    : random_(seed), stall_probability_(checked_probability(stall_probability)) {}

bool BackPressure::next_ready() {
  if (left_ == 0) {
    // The mean over the kinds of phases is stall_probability_, whatever their lengths.
    if ((random_.next() >> 63) != 0) {
      phase_stall_ = stall_probability_;
    } else {
      phase_stall_ = random_.chance(stall_probability_) ? 1 : 0;
    }
    left_ = 1 + random_.below(64);
    if (random_.below(16) == 0) {
      left_ *= 8;
    }
  }
  --left_;
  return !random_.chance(phase_stall_);
}

Lockstep::Lockstep(ArcUnit& unit, ArcUnit& golden, const LockstepOptions& options)
    : unit_(unit),
      golden_(golden),
      unit_ports_(golden.ports()),
      promise_(options.promise),
      kind_(options.kind),
      gap_probability_(options.gap_probability),
      gate_idle_(options.gate_idle),
      watch_(options.watch),
      first_tag_(SplitMix64::mix(options.seed + 3)),
      random_(SplitMix64::mix(options.seed)),
      lsu_(SplitMix64::mix(options.seed + 1), options.lsu_stall_probability),
      rf_(SplitMix64::mix(options.seed + 2), options.rf_stall_probability) {
  unit_.reset();
  golden_.reset();
}

bool Lockstep::send(const AtomredRequest& request) {
  if (!message_.empty()) {
    return false;
  }
  if (request.words() > unit_.ports().max_words) {
    return fail("a request of more words than the unit takes");
  }
  if (random_.chance(gap_probability_)) {
    for (auto gap = 1 + random_.below(random_.below(16) == 0 ? 64 : 8); gap > 0; --gap) {
      if (!cycle()) {
        return false;
      }
    }
  }

  // The slots in turn, so that all bits of a tag move in units that hold few requests, too.
  for (std::size_t i = 0; i < kSlots && held_ == nullptr; ++i) {
    Slot& slot = slots_[(counts_.requests + i) % kSlots];
    if (slot.remaining == 0) {
      held_ = &slot;
    }
  }
  if (held_ == nullptr) {
    return fail("more requests in the unit than it can hold");
  }
  const auto index = static_cast<std::size_t>(held_ - slots_.data());
  held_->request = request;
  held_->tag = static_cast<Tag>(((first_tag_ + counts_.requests) * kSlots + index) & kTagMask);
  held_->remaining = request.mask;
  held_->unread.fill(0);
  std::fill_n(held_->unread.begin(), request.words(), request.mask);
  held_->held = true;
  inputs_.req_valid = true;
  inputs_.req_mask = request.mask;
  inputs_.req_addr = request.addresses;
  inputs_.req_tag = held_->tag;
  inputs_.req_words = request.words();
  ++counts_.requests;
  while (held_ != nullptr) {
    if (!cycle()) {
      return false;
    }
  }
  return true;
}

bool Lockstep::drain() {
  if (!message_.empty()) {
    return false;
  }
  while (unit_.busy() || golden_.busy()) {
    if (!cycle()) {
      return false;
    }
  }
  for (const Slot& slot : slots_) {
    if (slot.remaining != 0) {
      return fail("idle although lanes have not left", slot.remaining, "expected", 0);
    }
  }
  return true;
}

bool Lockstep::cycle() {
  inputs_.lsu_room = lsu_.next_ready();
  inputs_.rf_ready = rf_.next_ready();

  UnitOutputs unit_outputs;
  UnitOutputs golden_outputs;
  bool clock_unit = true;
  bool clock_golden = true;
  if (gate_idle_ && !inputs_.req_valid && !golden_.busy()) {
    // Idle outputs are all zero, which is what the untouched outputs say.
    const std::uint64_t draw = random_.next();
    clock_unit = (draw >> 63) != 0;
    clock_golden = (draw >> 62 & 1) != 0;
  }
  if (clock_unit) {
    unit_outputs = unit_.tick(inputs_);
  }
  if (clock_golden) {
    golden_outputs = golden_.tick(inputs_);
  }

  if (watch_) {
    watch_(counts_.cycles, inputs_, unit_outputs, golden_outputs);
  }
  if (unit_outputs != golden_outputs) {
    for (const OutputPort& port : kOutputPorts) {
      if (port.value(unit_outputs) != port.value(golden_outputs)) {
        return fail(port.name, port.value(unit_outputs), "golden", port.value(golden_outputs));
      }
    }
  }
  if (!check_functionally(unit_outputs)) {
    return false;
  }
  if (unit_.busy() != golden_.busy()) {
    return fail("busy_o after the edge", unit_.busy() ? 1 : 0, "golden", golden_.busy() ? 1 : 0);
  }
  ++counts_.cycles;
  return true;
}

bool Lockstep::check_functionally(const UnitOutputs& outputs) {
  ++quiet_cycles_;
  if (outputs.rf_valid && inputs_.rf_ready) {
    if (!check_read(outputs)) {
      return false;
    }
    quiet_cycles_ = 0;
  }
  if (outputs.lsu_valid && inputs_.lsu_room) {
    if (!check_transaction(outputs)) {
      return false;
    }
    quiet_cycles_ = 0;
  }
  if (held_ != nullptr && outputs.req_ready) {
    held_->held = false;
    held_ = nullptr;
    inputs_.req_valid = false;
    quiet_cycles_ = 0;
  }
  if (quiet_cycles_ > kHangCycles) {
    return fail("hangs: nothing was handed over in a million cycles");
  }
  return true;
}

bool Lockstep::check_read(const UnitOutputs& outputs) {
  Slot* slot = slot_of(outputs.rf_tag);
  if (slot == nullptr) {
    return fail("rf_tag_o is the tag of no request in the unit");
  }
  if (outputs.rf_word >= slot->request.words()) {
    return fail("rf_word_o", outputs.rf_word, "words of the request", slot->request.words());
  }
  LaneMask& unread = slot->unread[outputs.rf_word];
  const LaneMask lanes = outputs.rf_mask;
  if (lanes == 0 || !fits_one_read(unit_ports_.read_lanes, lanes) ||
      (lanes & ~(slot->remaining & unread)) != 0) {
    return fail("rf_mask_o has lanes that are not to be read", lanes, "lanes left",
                slot->remaining & unread);
  }
  unread &= ~lanes;
  // The register file answers in the next cycle and holds the values until the next grant.
  answer_read(inputs_, unit_ports_, lanes, slot->request.operand(outputs.rf_word));
  return true;
}

bool Lockstep::check_transaction(const UnitOutputs& outputs) {
  Slot* slot = slot_of(outputs.lsu_tag);
  if (slot == nullptr) {
    return fail("lsu_tag_o is the tag of no request in the unit");
  }
  return outputs.lsu_reduced ? check_sum(outputs, *slot) : check_red(outputs, *slot);
}

// The sums of a packet come in the order of their words, with no other one between them.
bool Lockstep::check_place(const UnitOutputs& outputs, Slot& slot) {
  if (packet_.slot == nullptr) {
    packet_ = {.slot = &slot, .address = outputs.lsu_addr, .next_word = 0};
  }
  if (packet_.slot != &slot || packet_.address != outputs.lsu_addr) {
    return fail("a sum of another transaction before the last word of one");
  }
  if (outputs.lsu_word != packet_.next_word) {
    return fail("lsu_word_o", outputs.lsu_word, "next word", packet_.next_word);
  }
  ++packet_.next_word;
  const bool last = packet_.next_word == slot.request.words();
  if (outputs.lsu_last != last) {
    return fail("lsu_last_o", outputs.lsu_last ? 1 : 0, "last word of the request", last ? 1 : 0);
  }
  if (last) {
    packet_ = {};
  }
  return true;
}

bool Lockstep::check_sum(const UnitOutputs& outputs, Slot& slot) {
  const LaneMask lanes = lanes_with_address(slot.request, slot.remaining, outputs.lsu_addr);
  // A reduction carries all lanes with its address.
  if (lanes == 0) {
    return fail("lsu_addr_o is the address of no lane that is to leave");
  }
  if (!check_place(outputs, slot)) {
    return false;
  }
  if (kind_.max_words > 1 && lane_count(lanes) == 1) {
    return fail("the sum of a lane that is alone on its address");
  }
  if (!check_value(outputs.lsu_data, lanes, slot.request.operand(outputs.lsu_word))) {
    return false;
  }
  if (outputs.lsu_mask != 1) {
    return fail("lsu_mask_o", outputs.lsu_mask, "one addition", 1);
  }
  ++counts_.reduced_transactions;
  counts_.reduced_lanes += static_cast<std::uint64_t>(lane_count(lanes));
  if (outputs.lsu_last) {
    slot.remaining &= ~lanes;
  }
  return true;
}

bool Lockstep::check_value(Fp32Bits value, LaneMask lanes,
                           const std::array<Fp32Bits, kLanes>& values) {
  if (promise_ != nullptr) {
    const std::string error = sum_error(*promise_, lanes, values, value);
    return error.empty() || fail("lsu_data_o: the sum should be " + error);
  }
  // The kinds that are built in, to the bit.
  const Fp32Bits sum = sum_reference(kind_, lanes, values);
  return value == sum || fail("lsu_data_o", value, "reference sum", sum);
}

bool Lockstep::check_red(const UnitOutputs& outputs, Slot& slot) {
  // A RED carries lanes of the request that is held, of one address or, as the last of them, of
  // several, and of each all: none that the unit reads or has still to read.
  if (&slot != held_) {
    return fail("a plain RED of a request that is not held");
  }
  const LaneMask may_go = slot.remaining & slot.untouched();
  if (outputs.lsu_mask == 0 || (outputs.lsu_mask & ~may_go) != 0) {
    return fail("lsu_mask_o has lanes that are not to leave", outputs.lsu_mask, "lanes left",
                may_go);
  }
  const Address lead =
      slot.request.addresses[static_cast<std::size_t>(std::countr_zero(outputs.lsu_mask))] &
      kAddrMask;
  const bool one = lanes_with_address(slot.request, outputs.lsu_mask, lead) == outputs.lsu_mask;
  // What does not pay leaves with all that is left, which may have one address then, or be one
  // lane.
  const bool all_left =
      outputs.req_ready && !group_pays(slot.request.addresses, slot.request.mask, outputs.lsu_mask);
  if (outputs.lsu_addr != (one ? lead : 0) && !(all_left && outputs.lsu_addr == 0)) {
    return fail("lsu_addr_o", outputs.lsu_addr, one ? "address of the lanes" : "of several",
                one ? lead : 0);
  }
  if (!one && !outputs.req_ready) {
    return fail("a plain RED of several addresses that is not the last of its request");
  }
  for (LaneMask rest = outputs.lsu_mask; rest != 0; rest &= rest - 1) {
    const Address address =
        slot.request.addresses[static_cast<std::size_t>(std::countr_zero(rest))] & kAddrMask;
    if ((lanes_with_address(slot.request, may_go, address) & ~outputs.lsu_mask) != 0) {
      return fail("lsu_mask_o leaves out lanes of an address that it has", outputs.lsu_mask,
                  "lanes left", may_go);
    }
  }
  const LaneMask lanes = outputs.lsu_mask;
  if (outputs.lsu_data != 0) {
    return fail("lsu_data_o", outputs.lsu_data, "plain RED", 0);
  }
  if (outputs.lsu_word != 0 || !outputs.lsu_last) {
    return fail("a plain RED that is not of all words");
  }
  if (kind_.max_words > 1 && any_pays(slot.request, lanes)) {
    return fail("a plain RED of a group that pays", lanes, "lanes left", may_go);
  }
  ++counts_.plain_transactions;
  counts_.plain_lanes += static_cast<std::uint64_t>(lane_count(lanes)) * slot.request.words();
  slot.remaining &= ~lanes;
  return true;
}

LaneMask Lockstep::Slot::untouched() const {
  LaneMask lanes = ~LaneMask{0};
  for (std::uint32_t word = 0; word < request.words(); ++word) {
    lanes &= unread[word];
  }
  return lanes;
}

Lockstep::Slot* Lockstep::slot_of(Tag tag) {
  Slot& slot = slots_[tag % kSlots];
  const bool in_unit = slot.held || slot.remaining != 0;
  return in_unit && slot.tag == tag ? &slot : nullptr;
}

bool Lockstep::fail(std::string_view what) {
  message_ = "cycle " + std::to_string(counts_.cycles) + ": " + std::string(what);
  return false;
}

bool Lockstep::fail(std::string_view port, std::uint64_t unit_value, std::string_view other,
                    std::uint64_t other_value) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "%.*s: unit 0x%llx, %.*s 0x%llx",
                static_cast<int>(port.size()), port.data(),
                static_cast<unsigned long long>(unit_value), static_cast<int>(other.size()),
                other.data(), static_cast<unsigned long long>(other_value));
  return fail(text.data());
}

Fp32Bits synthetic_value(std::uint64_t cta, std::uint32_t warp, std::uint64_t event,
                         std::uint32_t parameter, std::uint32_t lane) {
  std::uint64_t hash = SplitMix64::mix(cta + 1);
  hash = SplitMix64::mix(hash ^ (std::uint64_t{warp} << 32 | parameter));
  hash = SplitMix64::mix(hash ^ event);
  const std::uint64_t kind = hash >> 61;
  hash = SplitMix64::mix(hash + lane + 1);

  const auto bits = static_cast<Fp32Bits>(hash);
  const auto choice = static_cast<std::uint32_t>(hash >> 32);
  const Fp32Bits sign = bits & kFp32Sign;
  const Fp32Bits fraction = bits & 0x007fffffU;
  if (kind == 0) {
    // Any pattern, infinities and NaNs a little more often than chance has them.
    return choice % 64 == 0 ? bits | kFp32Infinity : bits;
  }
  if (kind == 1) {
    // Zeros, subnormals, and normal numbers near enough to them to cancel into them.
    switch (choice % 4) {
      case 0:
        return sign;
      case 1:
        return sign | fraction;
      default:
        return sign | (1 + choice / 4 % 4) << 23 | fraction;
    }
  }
  if (kind == 2) {
    // Few enough values that sums often cancel to zero.
    return sign | (127 - 1 + choice % 3) << 23;
  }
  if (choice % 32 == 0) {
    return sign;
  }
  return sign | (127 - 12 + choice / 32 % 17) << 23 | fraction;
}

Fp32Bits halves_after(Fp32Bits lower, Fp32Bits upper) {
  const auto half = [](Fp32Bits value) {
    const std::uint32_t exponent = value >> 23 & 0xffU;
    const std::uint32_t narrow = exponent < 16     ? exponent
                                 : exponent >= 240 ? exponent - 224
                                                   : std::clamp(exponent, 113U, 142U) - 112;
    const std::uint32_t fraction = value >> 13 & 0x3ffU;
    return static_cast<HalfBits>((value >> 16 & kHalfSign) | narrow << 10 | fraction);
  };
  return word_of_halves(half(lower), half(upper));
}

RegressResult regress_trace(const trace::Reader& reader, const RegressOptions& options) {
  const std::unique_ptr<ArcUnit> rtl =
      options.unit == nullptr ? make_unit(UnitModel::kRtl, options.kind, options.scheduler)
                              : nullptr;
  const std::unique_ptr<ArcUnit> model =
      options.golden == nullptr ? make_unit(UnitModel::kGolden, options.kind, options.scheduler)
                                : nullptr;
  const ArcUnit& judged = options.unit == nullptr ? *rtl : *options.unit;
  Lockstep lockstep(options.unit == nullptr ? *rtl : *options.unit,
                    options.golden == nullptr ? *model : *options.golden,
                    {.kind = options.kind,
                     .promise = options.promise,
                     .seed = options.seed,
                     .lsu_stall_probability = options.stall_probability,
                     .rf_stall_probability = options.stall_probability / 2,
                     .watch = options.watch});
  RegressResult result;
  RequestVisitor visitor;
  visitor.request = [&](const AtomredRequest& request, const RequestPlace& place) {
    if (lockstep.send(request)) {
      return true;
    }
    result.message = lockstep.message() + " (cta " + std::to_string(place.cta) + ", warp " +
                     std::to_string(place.warp) + ", event " + std::to_string(place.event) +
                     ", parameter " + std::to_string(place.parameter) + ")";
    return false;
  };
  visitor.event_done = [&] { ++result.events; };
  visitor.cta_done = [&] {
    ++result.ctas;
    result.counts = lockstep.counts();
    if (options.progress) {
      options.progress(result);
    }
  };
  const UnitPromise& promise =
      options.promise != nullptr ? *options.promise : unit_promise(options.kind);
  visit_requests(
      reader,
      {.events = options.max_events, .words = judged.ports().max_words, .type = promise.adds},
      visitor);
  if (result.message.empty() && !lockstep.drain()) {
    result.message = lockstep.message() + " (after the last event)";
  }
  result.passed = result.message.empty();
  result.counts = lockstep.counts();
  return result;
}

}  // namespace warpfold
