// SPDX-License-Identifier: Apache-2.0
#include "model/unit/scoreboard.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "model/unit/group_pays.hpp"
#include "model/unit/sum_check.hpp"

namespace warpfold {
namespace {

// Cycles with room in the memory queue and a register file that grants, in none of which anything
// is handed over: then the unit stands still. A sum of 32 lanes takes some dozens.
constexpr std::uint64_t kFairCycles = 2000;

std::string hex(std::uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

// "lanes 0, 5"
std::string lanes_text(LaneMask lanes) {
  std::string text = lane_count(lanes) == 1 ? "lane " : "lanes ";
  for (const LaneMask all = lanes; lanes != 0; lanes &= lanes - 1) {
    text += (lanes == all ? "" : ", ") + std::to_string(std::countr_zero(lanes));
  }
  return text;
}

// "tag 0x3", with the word where there are several.
std::string place_text(const AtomredRequest& request, Tag tag, std::uint32_t word) {
  return (request.words() > 1 ? "word " + std::to_string(word) + " of tag " : "tag ") + hex(tag);
}

LaneMask lanes_at(const AtomredRequest& request, LaneMask among, Address address) {
  LaneMask lanes = 0;
  for (; among != 0; among &= among - 1) {
    const int lane = std::countr_zero(among);
    if ((request.addresses[static_cast<std::size_t>(lane)] & kAddrMask) == address) {
      lanes |= LaneMask{1} << lane;
    }
  }
  return lanes;
}

bool same_transaction(const UnitOutputs& a, const UnitOutputs& b) {
  return a.lsu_addr == b.lsu_addr && a.lsu_mask == b.lsu_mask && a.lsu_reduced == b.lsu_reduced &&
         a.lsu_data == b.lsu_data && a.lsu_tag == b.lsu_tag && a.lsu_word == b.lsu_word &&
         a.lsu_last == b.lsu_last;
}

}  // namespace

Scoreboard::Scoreboard(ArcUnit& unit, const UnitDeclaration& declaration, Watch watch)
    : unit_(unit),
      declaration_(declaration),
      watch_(std::move(watch)),
      by_tag_(kTagMask + 1U, kNone),
      refused_(std::max(declaration.promise.read_turn, 1U)) {
  unit_.reset();
}

Tag Scoreboard::free_tag(std::uint64_t from) const {
  while (by_tag_[from & kTagMask] != kNone) {
    ++from;
  }
  return static_cast<Tag>(from & kTagMask);
}

bool Scoreboard::offer(const AtomredRequest& request, Tag tag) {
  const auto free = std::find_if(slots_.begin(), slots_.end(),
                                 [](const Slot& slot) { return slot.left == 0 && !slot.held; });
  if (free == slots_.end()) {
    return fail("operands", "the unit holds lanes of more than 63 requests");
  }
  if (by_tag_[tag] != kNone) {
    return fail("lane once", "lanes of an earlier request with tag " + hex(tag) + " have not left");
  }
  if (request.words() > declaration_.ports.max_words) {
    return fail("operands", "a request of " + std::to_string(request.words()) +
                                " words, and the unit declares words = " +
                                std::to_string(declaration_.ports.max_words));
  }
  Slot& slot = *free;
  slot = {.request = request, .tag = tag, .held = true, .left = request.mask};
  std::fill_n(slot.remaining.begin(), request.words(), request.mask);
  std::fill_n(slot.unread.begin(), request.words(), request.mask);
  held_ = static_cast<std::uint16_t>(free - slots_.begin());
  by_tag_[slot.tag] = held_;
  inputs_.req_valid = true;
  inputs_.req_mask = request.mask;
  inputs_.req_addr = request.addresses;
  inputs_.req_tag = slot.tag;
  inputs_.req_words = request.words();
  ++counts_.requests;
  counts_.lanes += static_cast<std::uint64_t>(lane_count(request.mask));
  return true;
}

bool Scoreboard::cycle(const Grants& grants) {
  inputs_.lsu_room = grants.room;
  inputs_.rf_ready = grants.ready;
  const bool may_rest = held_ == kNone && !unit_.busy();
  const UnitOutputs out = may_rest && !grants.clocked ? UnitOutputs{} : unit_.tick(inputs_);
  if (watch_) {
    watch_(counts_.cycles, inputs_, out);
  }
  const bool sends = out.lsu_valid && grants.room;
  const bool reads = out.rf_valid && grants.ready;
  const bool accepts = held_ != kNone && out.req_ready;
  if (may_rest && (out.lsu_valid || out.rf_valid)) {
    return fail("busy", "busy_o and req_valid_i are low, and a port shows something");
  }
  const bool right = check_busy(out) && check_quiet(out) && check_held(out) &&
                     check_turn(out, grants.ready) && (!reads || check_read(out)) &&
                     (!sends || (out.lsu_reduced ? check_sum(out) : check_red(out))) &&
                     (!accepts || accept());
  if (!right) {
    return false;
  }
  last_ = out;
  last_room_ = grants.room;
  if (!check_progress(grants, sends || reads || accepts)) {
    return false;
  }
  if (held_ == kNone && lanes_left_ != 0 && !unit_.busy()) {
    const auto& slot = *std::find_if(slots_.begin(), slots_.end(),
                                     [](const Slot& each) { return each.left != 0; });
    return fail("lane once", lanes_text(slot.left) + " of the request with tag " + hex(slot.tag) +
                                 " never left: the unit is idle");
  }
  ++counts_.cycles;
  return true;
}

// Payloads without their valid.
bool Scoreboard::check_quiet(const UnitOutputs& out) {
  if (!declaration_.promise.zero_payload) {
    return true;
  }
  if (!out.lsu_valid && !same_transaction(out, UnitOutputs{})) {
    return fail("payload", "lsu_valid_o is low, and the payload of the port is not zero");
  }
  if (!out.rf_valid && (out.rf_mask != 0 || out.rf_tag != 0 || out.rf_word != 0)) {
    return fail("payload", "rf_valid_o is low, and the payload of the port is not zero");
  }
  return true;
}

bool Scoreboard::check_held(const UnitOutputs& out) {
  if (!last_.lsu_valid || last_room_) {
    return true;
  }
  if (!out.lsu_valid) {
    return fail("hold", "lsu_valid_o fell before the memory queue had room");
  }
  if (!same_transaction(out, last_)) {
    return fail("hold", "the payload at the lsu port changed while it waited");
  }
  return true;
}

bool Scoreboard::check_turn(const UnitOutputs& out, bool ready) {
  if (declaration_.promise.read_turn == 0) {
    return true;
  }
  Refused& before = refused_[counts_.cycles % refused_.size()];
  if (before.mask != 0 && !out.rf_valid) {
    return fail("read", "a read that was refused did not come again after " +
                            std::to_string(refused_.size()) + " cycles (read_turn)");
  }
  if (before.mask != 0 &&
      (out.rf_mask != before.mask || out.rf_tag != before.tag || out.rf_word != before.word)) {
    const auto what = [](LaneMask mask, Tag tag, std::uint32_t word) {
      return "rf_mask_o " + hex(mask) + ", rf_tag_o " + hex(tag) +
             (word != 0 ? ", rf_word_o " + std::to_string(word) : "");
    };
    return fail("read", "where a read that was refused should come again, with " +
                            what(before.mask, before.tag, before.word) + ", there is one with " +
                            what(out.rf_mask, out.rf_tag, out.rf_word));
  }
  before = out.rf_valid && !ready ? Refused{out.rf_mask, out.rf_tag, out.rf_word} : Refused{};
  return true;
}

bool Scoreboard::check_read(const UnitOutputs& out) {
  Slot* const slot = slot_of(out.rf_tag);
  if (slot == nullptr) {
    return fail("read", "rf_tag_o " + hex(out.rf_tag) + " is the tag of no request in the unit");
  }
  if (out.rf_mask == 0) {
    return fail("read", "rf_mask_o is empty");
  }
  if (out.rf_word >= slot->request.words()) {
    return fail("read", "rf_word_o is " + std::to_string(out.rf_word) + ", of a request of " +
                            std::to_string(slot->request.words()) + " words");
  }
  std::uint32_t ports = 0;
  for (LaneMask rest = out.rf_mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t port =
        1U << static_cast<std::uint32_t>(std::countr_zero(rest)) % declaration_.ports.read_lanes;
    if ((ports & port) != 0) {
      return fail("read", "rf_mask_o " + hex(out.rf_mask) + " has two lanes of one bank");
    }
    ports |= port;
  }
  if (std::cmp_greater(lane_count(out.rf_mask), declaration_.promise.most_lanes)) {
    return fail("read", "rf_mask_o " + hex(out.rf_mask) + " has more lanes than read_lanes");
  }
  LaneMask& unread = slot->unread[out.rf_word];
  if ((out.rf_mask & ~unread) != 0) {
    return fail("lane once", lanes_text(out.rf_mask & ~unread) + " of " +
                                 place_text(slot->request, slot->tag, out.rf_word) +
                                 " is read twice, is not active, or has left");
  }
  unread &= ~out.rf_mask;
  answer_read(inputs_, declaration_.ports, out.rf_mask, slot->request.operand(out.rf_word));
  return true;
}

// A sum of a request with several words has its place in a packet: word by word, with no other sum
// between.
bool Scoreboard::check_place(const UnitOutputs& out, const Slot& slot) {
  const std::uint32_t words = slot.request.words();
  if (packet_.open && (slot.tag != packet_.tag || (out.lsu_addr & kAddrMask) != packet_.address ||
                       out.lsu_word != packet_.word)) {
    return fail("packet", "a sum of word " + std::to_string(out.lsu_word) + " of tag " +
                              hex(slot.tag) + ", where word " + std::to_string(packet_.word) +
                              " of tag " + hex(packet_.tag) + " at " + hex(packet_.address) +
                              " is next");
  }
  if (!packet_.open && out.lsu_word != 0) {
    return fail("packet", "the first sum of a packet of tag " + hex(slot.tag) + " is of word " +
                              std::to_string(out.lsu_word) + ", not 0");
  }
  if (out.lsu_last != (out.lsu_word + 1 == words)) {
    return fail("packet", std::string("lsu_last_o is ") + (out.lsu_last ? "high" : "low") +
                              " with word " + std::to_string(out.lsu_word) + " of " +
                              std::to_string(words));
  }
  return true;
}

// A sum is of all lanes of its address that have been read and have not left.
bool Scoreboard::check_sum(const UnitOutputs& out) {
  Slot* const slot = slot_of(out.lsu_tag);
  if (slot == nullptr) {
    return fail("lane once",
                "a sum: lsu_tag_o " + hex(out.lsu_tag) + " is the tag of no request in the unit");
  }
  if (!check_place(out, *slot)) {
    return false;
  }
  const std::uint32_t word = out.lsu_word;
  const LaneMask lanes = lanes_at(slot->request, slot->remaining[word] & ~slot->unread[word],
                                  out.lsu_addr & kAddrMask);
  if (lanes == 0) {
    return fail("lane once", "a sum for " + hex(out.lsu_addr) + ", tag " + hex(slot->tag) +
                                 ", of which no lane has been read and has not left");
  }
  if (out.lsu_mask != 1) {
    return fail("payload", "lsu_mask_o is " + hex(out.lsu_mask) + " with a sum, not 1");
  }
  if (packet_.open && lanes != packet_.lanes) {
    return fail("lane once", "the sum of " + place_text(slot->request, slot->tag, word) +
                                 " is of " + lanes_text(lanes) + ", that of word 0 of " +
                                 lanes_text(packet_.lanes));
  }
  const std::string error =
      sum_error(declaration_.promise, lanes, slot->request.operand(word), out.lsu_data);
  if (!error.empty()) {
    return fail("sum", "the sum of " + lanes_text(lanes) + " of " +
                           place_text(slot->request, slot->tag, word) + " is " +
                           word_text(declaration_.promise.adds, out.lsu_data) + ", should be " +
                           error);
  }
  ++counts_.sums;
  counts_.summed_lanes += static_cast<std::uint64_t>(lane_count(lanes));
  packet_ = {.open = !out.lsu_last,
             .tag = slot->tag,
             .address = out.lsu_addr & kAddrMask,
             .lanes = lanes,
             .word = word + 1};
  leave(*slot, word, lanes);
  return true;
}

// A plain RED takes all words of its lanes.
bool Scoreboard::check_red(const UnitOutputs& out) {
  Slot* const slot = slot_of(out.lsu_tag);
  if (slot == nullptr) {
    return fail("lane once",
                "a RED: lsu_tag_o " + hex(out.lsu_tag) + " is the tag of no request in the unit");
  }
  if (out.lsu_mask == 0) {
    return fail("payload", "lsu_mask_o is empty with a plain RED");
  }
  const std::uint32_t words = slot->request.words();
  for (std::uint32_t word = 0; word < words; ++word) {
    if (const LaneMask wrong = out.lsu_mask & ~slot->unread[word]; wrong != 0) {
      return fail("lane once", lanes_text(wrong) + " of " +
                                   place_text(slot->request, slot->tag, word) +
                                   " in a plain RED has left, has been read, or is not active");
    }
  }
  if (!check_red_payload(out, *slot)) {
    return false;
  }
  ++counts_.reds;
  for (std::uint32_t word = 0; word < words; ++word) {
    slot->unread[word] &= ~out.lsu_mask;
    leave(*slot, word, out.lsu_mask);
  }
  return true;
}

bool Scoreboard::check_red_payload(const UnitOutputs& out, Slot& slot) {
  const Address first =
      slot.request.addresses[static_cast<std::size_t>(std::countr_zero(out.lsu_mask))] & kAddrMask;
  const bool one = lanes_at(slot.request, out.lsu_mask, first) == out.lsu_mask;
  // What does not pay leaves with all that is left of its request, which may have one address then,
  // or be one lane.
  const bool rest = !one || (out.lsu_addr == 0 && first != 0 &&
                             !group_pays(slot.request.addresses, slot.request.mask, out.lsu_mask));
  if (out.lsu_addr != (rest ? 0 : first)) {
    return fail("payload", "lsu_addr_o is " + hex(out.lsu_addr) + " with a plain RED of " +
                               (one ? "lanes of " + hex(first) : "several addresses, not 0"));
  }
  if (slot.rest_left) {
    return fail("payload", "a plain RED of " + place_text(slot.request, slot.tag, 0) +
                               " behind one whose lsu_addr_o is 0, which takes all that is left");
  }
  slot.rest_left = rest;
  if (out.lsu_data != 0) {
    return fail("payload", "lsu_data_o is not 0 with a plain RED");
  }
  if (out.lsu_word != 0 || !out.lsu_last) {
    return fail("payload", "lsu_word_o is " + std::to_string(out.lsu_word) + " and lsu_last_o " +
                               (out.lsu_last ? "high" : "low") +
                               " with a plain RED, which is of all words: 0 and high");
  }
  return true;
}

bool Scoreboard::check_busy(const UnitOutputs& out) {
  if (lanes_left_ != 0 && !out.busy) {
    return fail("busy", "busy_o is low while lanes of an accepted request are in the unit");
  }
  return true;
}

bool Scoreboard::check_progress(const Grants& grants, bool handed_over) {
  if (handed_over || (held_ == kNone && lanes_left_ == 0 && !unit_.busy())) {
    fair_cycles_ = 0;
    return true;
  }
  if (grants.room && grants.ready && ++fair_cycles_ > kFairCycles) {
    return held_ == kNone && lanes_left_ == 0
               ? fail("busy", "busy_o stays high although every lane has left")
               : fail("deadlock", "nothing is handed over in " + std::to_string(kFairCycles) +
                                      " cycles in which the memory queue has room and reads are "
                                      "granted");
  }
  return true;
}

bool Scoreboard::accept() {
  Slot& slot = slots_[held_];
  slot.held = false;
  held_ = kNone;
  inputs_.req_valid = false;
  for (std::uint32_t word = 0; word < slot.request.words(); ++word) {
    lanes_left_ += static_cast<std::uint64_t>(lane_count(slot.remaining[word]));
  }
  if (slot.left == 0) {
    by_tag_[slot.tag] = kNone;
  }
  // One place is for the request in front of the unit.
  if (operands() >= declaration_.ports.operands) {
    return fail("operands", "the unit holds " + std::to_string(operands()) +
                                " operands with lanes to read, and declares operands = " +
                                std::to_string(declaration_.ports.operands) +
                                ", one of them for the request in front of it");
  }
  return true;
}

void Scoreboard::leave(Slot& slot, std::uint32_t word, LaneMask lanes) {
  slot.remaining[word] &= ~lanes;
  slot.left = 0;
  for (std::uint32_t each = 0; each < slot.request.words(); ++each) {
    slot.left |= slot.remaining[each];
  }
  if (slot.held) {
    return;
  }
  lanes_left_ -= static_cast<std::uint64_t>(lane_count(lanes));
  if (slot.left == 0) {
    by_tag_[slot.tag] = kNone;
  }
}

// Accepted requests with lanes that are still to be read or sent.
std::uint32_t Scoreboard::operands() const {
  std::uint32_t count = 0;
  for (const Slot& slot : slots_) {
    LaneMask wanted = 0;
    for (std::uint32_t word = 0; slot.left != 0 && word < slot.request.words(); ++word) {
      wanted |= slot.remaining[word] & slot.unread[word];
    }
    count += !slot.held && wanted != 0 ? 1U : 0U;
  }
  return count;
}

Scoreboard::Slot* Scoreboard::slot_of(Tag tag) {
  const std::uint16_t index = tag <= kTagMask ? by_tag_[tag] : kNone;
  return index == kNone ? nullptr : &slots_[index];
}

bool Scoreboard::fail(std::string_view rule, std::string_view message) {
  rule_ = rule;
  message_ = message;
  return false;
}

}  // namespace warpfold
