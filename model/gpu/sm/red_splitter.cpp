// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/red_splitter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/policy/program.hpp"

namespace warpfold {

RedSplitter::RedSplitter(const SmContext& context)
    : context_(context),
      packets_(packets_of(context.config)),
      line_mask_(~Address{context.config.l1.line_bytes - 1}),
      red_min_(to_ticks(context.config.lsu.red_min)),
      red_flit_(to_ticks(context.config.lsu.red_flit)),
      red_change_(to_ticks(context.config.lsu.red_change)),
      red_word_(to_ticks(context.config.lsu.red_word)) {
  set_pieces(!context.buffer.present());  // a merge buffer takes lines
}

void RedSplitter::set_pieces(bool by_line) {
  by_line_ = by_line;
  piece_mask_ = by_line ? line_mask_ : ~Address{kSectorBytes - 1};
}

// Of a load of a word for each lane, neighbours: one for each sector of a line. Where it lies a
// trace does not say: anywhere.
void RedSplitter::split_load(const MemOp& op, std::uint32_t subcore) {
  TransactionFields fields;
  fields.load = true;
  fields.subcore = static_cast<std::uint8_t>(subcore);
  fields.address = op.address;
  count_ = 0;
  while (count_ < kLineSectors) {
    occupancy_[count_] = op.lsu_ticks / kLineSectors;
    fields.sectors = static_cast<std::uint8_t>(1U << count_);
    begin(fields);
  }
  transactions_[count_ - 1].answers = op.warp_slot;
}

void RedSplitter::begin(const TransactionFields& fields) {
  static_cast<TransactionFields&>(transactions_[count_++]) = fields;
}

// One for each line, or sector, that its lanes touch.
void RedSplitter::split(MemOp& op) {
  count_ = 0;
  wide_ = op.wide;
  if (context_.buffer.present()) {
    set_pieces(op.passes);
  }
  if (op.kind == MemOpKind::kReduced && op.event.cta) {
    split_sums(op);
  } else if (op.words > 1 && op.kind == MemOpKind::kReduced) {
    split_packet(op);
  } else if (op.words > 1) {
    split_structs(op);
  } else if (op.kind == MemOpKind::kReduced || op.uniform) {
    split_one_address(op);
  } else {
    split_lanes(op);
  }
  set_occupancies(op);
}

// Lanes on one and the same address: a flit each.
void RedSplitter::split_one_address(MemOp& op) {
  const bool reduced = op.kind == MemOpKind::kReduced;
  const auto lanes = static_cast<std::uint16_t>(reduced ? 1 : lane_count(op.mask));
  TransactionFields fields;
  fields.parameter = op.parameter;
  fields.reduced = reduced;
  fields.uniform = !reduced;
  fields.sectors = sector_bit(op.address);
  fields.turns = lanes;
  fields.packets = lanes;
  fields.lone_words = wide_ ? 0 : lanes;
  fields.flits = static_cast<std::uint16_t>(lanes * packets_.flits(1, true, !wide_));
  fields.passes = op.passes;
  fields.mask = reduced ? 1 : op.mask;
  fields.data = op.data;
  fields.address = op.address;
  begin(fields);
  transactions_[0].event = std::move(op.event);
}

void RedSplitter::split_lanes(MemOp& op) {
  TransactionFields fields;
  fields.parameter = op.parameter;
  fields.passes = op.passes;
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  std::array<Address, kLanes> addresses;
  for (LaneMask rest = op.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    addresses[lane] = context_.addresses.address(lane_primitive(trace, event, lane), op.parameter);
  }
  for (LaneMask rest = op.mask; rest != 0;) {
    const Address lead = addresses[static_cast<std::size_t>(std::countr_zero(rest))];
    fields.address = lead;
    fields.mask = 0;
    clear_words(count_);
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      if (((addresses[lane] ^ lead) & piece_mask_) == 0) {
        fields.mask |= LaneMask{1} << lane;
        turn_of_[lane] = add_word(count_, addresses[lane]);
      }
    }
    rest &= ~fields.mask;
    transactions_[count_].event = rest != 0 ? op.event.share() : std::move(op.event);
    begin(fields);
  }
  count_turns();
}

void RedSplitter::clear_words(std::size_t transaction) {
  words_[transaction].fill(0);
  added_[transaction] = 0;
  summed_[transaction] = 0;
  owner_[transaction] = kSeveral;
}

// Returns the turn in which it is added to.
std::uint8_t RedSplitter::add_word(std::size_t transaction, Address address) {
  const std::size_t word = address % kLineBytes / sizeof(Fp32Bits);
  added_[transaction] |= 1U << word;
  if (wide_) {
    added_[transaction] |= 2U << word;
    ++words_[transaction][word + 1];
  }
  return words_[transaction][word]++;
}

// What the turns over each line add to. A transaction that is a line keeps those turns that add to
// the same sectors in the same way; the next ones are another's.
void RedSplitter::count_turns() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (transactions_[i].turns == 0) {  // else counted with another of its line
      count_turns_of_line(i);
    }
  }
}

void RedSplitter::count_turns_of_line(std::size_t first) {
  // The transactions of the line.
  std::array<std::size_t, kLineSectors> mates;
  std::size_t pieces = 0;
  mates[pieces++] = first;
  for (std::size_t k = first + 1; k < count_ && !by_line_; ++k) {
    if (((transactions_[k].address ^ transactions_[first].address) & line_mask_) == 0) {
      mates[pieces++] = k;
    }
  }
  for (std::uint32_t turn = 0;; ++turn) {
    std::array<std::uint32_t, mates.size()> words;
    std::uint32_t all = 0;
    for (std::size_t m = 0; m < pieces; ++m) {
      // Of a line's first transaction, whose words those that follow it have too.
      words[m] = words_of_turn(by_line_ ? first : mates[m], turn);
      all |= words[m];
    }
    if (all == 0) {
      return;
    }
    const bool lone = std::has_single_bit(all) || (pieces == 1 && is_vector(first, all));
    bool leads = true;
    for (std::size_t m = 0; m < pieces; ++m) {
      if (words[m] != 0) {
        add_turn(mates[m], turn, words[m], lone, leads);
        leads = false;
      }
    }
  }
}

// What a lane adds to at once: as much of a sector as the vectors have that a GPU adds.
bool RedSplitter::is_vector(std::size_t transaction, std::uint32_t words) const {
  constexpr int kMostWords = 4;
  return owner_[transaction] != kSeveral && std::popcount(words) <= kMostWords &&
         std::has_single_bit(unsigned{sectors_of(words)});
}

// A turn that adds to these words, to one in all if `lone`. `leads`: the first of the turn's on the
// line. `transaction` becomes another where that one has turns of another kind.
void RedSplitter::add_turn(std::size_t& transaction, std::uint32_t turn, std::uint32_t words,
                           bool lone, bool leads) {
  const std::uint8_t sectors = sectors_of(words);
  const auto packets = static_cast<std::uint16_t>(std::popcount(unsigned{sectors}));
  const bool whole = static_cast<std::uint32_t>(std::popcount(words)) == packets * kSectorWords;
  Transaction* t = &transactions_[transaction];
  if (t->turns == 0) {
    t->sectors = sectors;
    t->whole = whole;
  } else if (by_line_ &&
             (t->sectors != sectors || t->whole != whole || (t->lone_words != 0) != lone)) {
    transaction = fork(transaction, turn);
    t = &transactions_[transaction];
    t->sectors = sectors;
    t->whole = whole;
  }
  t->whole = t->whole && whole;
  ++t->turns;
  t->packets = static_cast<std::uint16_t>(t->packets + packets);
  t->flits = static_cast<std::uint16_t>(t->flits + packets_.flits(packets, leads, lone));
  t->lone_words = static_cast<std::uint16_t>(t->lone_words + (lone ? 1 : 0));
}

// Another transaction, of the lanes that add in that turn or later. Returns which.
std::size_t RedSplitter::fork(std::size_t transaction, std::uint32_t turn) {
  Transaction& t = transactions_[transaction];
  const std::size_t forked = count_;
  begin(t);
  Transaction& next = transactions_[forked];
  next.turns = next.packets = next.flits = next.lone_words = 0;
  for (LaneMask rest = t.mask; rest != 0; rest &= rest - 1) {
    if (turn_of_[static_cast<std::size_t>(std::countr_zero(rest))] < turn) {
      next.mask &= ~(rest & (~rest + 1));
    }
  }
  t.mask &= ~next.mask;
  next.event = t.event.share();
  return forked;
}

// The words of a transaction that get an addition in that turn.
std::uint32_t RedSplitter::words_of_turn(std::size_t transaction, std::uint32_t turn) const {
  if (turn == 0) {
    return added_[transaction];
  }
  std::uint32_t words = 0;
  for (std::uint32_t rest = added_[transaction]; rest != 0; rest &= rest - 1) {
    if (words_[transaction][static_cast<std::size_t>(std::countr_zero(rest))] > turn) {
      words |= rest & (~rest + 1);
    }
  }
  return words;
}

// A flit of the RED after another, and the changes of line between lone words, red_min in all and
// more for each further word of a lane.
void RedSplitter::set_occupancies(const MemOp& op) {
  Ticks total = 0;
  std::uint32_t most = 0;  // lone words of a line so far
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint32_t words = transactions_[i].lone_words;
    // A pass beyond the first changes line once less than it has lines.
    const std::uint32_t changes = std::max(std::min(words, most), 1U) - 1;
    most = std::max(most, words);
    occupancy_[i] = red_flit_ * transactions_[i].flits + red_change_ * changes;
    total += occupancy_[i];
  }
  const Ticks least = red_min_ + (op.spread ? 0 : red_word_ * (op.words - 1U));
  occupancy_[count_ - 1] += least - std::min(least, total);
}

// A RED by one lane of each primitive, of sums formed in software.
void RedSplitter::split_sums(MemOp& op) {
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  for (LaneMask rest = op.mask; rest != 0;) {
    const auto primitive_of = [&](LaneMask lanes) {
      return lane_primitive(trace, event, static_cast<std::uint32_t>(std::countr_zero(lanes)));
    };
    const std::uint32_t primitive = primitive_of(rest);
    LaneMask group = 0;
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      group |= primitive_of(m) == primitive ? m & (~m + 1) : 0;
    }
    rest &= ~group;
    add_group(op, primitive, group);
  }
  finish_sums();
  op.event = {};  // the sums are all that travels
}

// The sums of a group of lanes, word by word.
void RedSplitter::add_group(const MemOp& op, std::uint32_t primitive, LaneMask group) {
  const EventValues event_values(op.event, context_.addresses);
  TransactionFields fields;
  lane_ = static_cast<std::uint8_t>(std::countr_zero(group));
  for (std::uint32_t w = 0; w < op.words; ++w) {
    fields.parameter = static_cast<std::uint16_t>(op.parameter + w);
    std::array<Fp32Bits, kLanes> values{};
    for (LaneMask rest = group; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      values[lane] = event_values.of(fields.parameter, lane);
    }
    add_sum(context_.addresses.address(primitive, fields.parameter),
            software_sum(values.data(), group, SumOrder::kSerial,
                         context_.addresses.type_of(fields.parameter)),
            fields);
    ++context_.tally.software_reduced;
  }
}

// What is gathered travels as sums.
void RedSplitter::finish_sums() {
  for (std::size_t i = 0; i < count_; ++i) {
    transactions_[i].partial = true;
    transactions_[i].mask = summed_[i];
    transactions_[i].data = context_.sums.put(sums_[i]);
  }
  count_turns();
}

// A sum goes into the transaction of its line; a second one of its word into another, made with
// these fields.
void RedSplitter::add_sum(Address address, Fp32Bits sum, const TransactionFields& fields) {
  const std::size_t word = address % kLineBytes / sizeof(Fp32Bits);
  std::size_t index = 0;
  while (index < count_ && (((transactions_[index].address ^ address) & piece_mask_) != 0 ||
                            (summed_[index] >> word & 1U) != 0)) {
    ++index;
  }
  if (index == count_) {
    clear_words(count_);
    begin(fields);
    transactions_[index].address = address & piece_mask_;
    owner_[index] = lane_;
  } else if (owner_[index] != lane_) {
    owner_[index] = kSeveral;
  }
  add_word(index, address);
  sums_[index][word] = sum;
  summed_[index] |= 1U << word;
}

// The sums of a struct, which a reduction unit has formed, or software in one lane.
void RedSplitter::split_packet(const MemOp& op) {
  const LineSums sums = context_.sums.take(op.data);
  TransactionFields fields;
  lane_ = op.spread ? kSeveral : 0;
  for (std::uint32_t w = 0; w < op.words; ++w) {
    fields.parameter = static_cast<std::uint16_t>(op.parameter + w);
    add_sum(op.address + w * sizeof(Fp32Bits), sums[w], fields);
  }
  finish_sums();
}

// A RED of several words for each lane.
void RedSplitter::split_structs(MemOp& op) {
  const trace::WarpTrace& trace = op.event.warp_trace();
  const trace::Record& event = op.event.event();
  const EventValues values(op.event, context_.addresses);
  TransactionFields fields;
  fields.own = true;
  fields.passes = op.passes;
  for (LaneMask rest = op.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t primitive = lane_primitive(trace, event, lane);
    lane_ = static_cast<std::uint8_t>(lane);
    for (std::uint32_t w = 0; w < op.words; ++w) {
      fields.parameter = static_cast<std::uint16_t>(op.parameter + w);
      add_sum(context_.addresses.address(primitive, fields.parameter),
              values.of(fields.parameter, lane), fields);
    }
  }
  finish_sums();
  op.event = {};  // the values are all that travels
}

}  // namespace warpfold
