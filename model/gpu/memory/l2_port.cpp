// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/l2_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "model/unit/fp32.hpp"

namespace warpfold {

L2Tags::L2Tags(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes)
    : ways_(ways),
      line_bytes_(line_bytes),
      sets_(std::max<std::uint64_t>(bytes / line_bytes / ways, 1)),
      store_(sets_.divisor() * ways + kHostLine, kEmpty) {
  const auto past = std::bit_cast<std::uintptr_t>(store_.data()) / sizeof(store_[0]) % kHostLine;
  begin_ = (kHostLine - past) % kHostLine;
}

L2Tags::Access L2Tags::access(Address address) {
  const std::uint64_t line = line_bytes_.quotient(address);
  std::uint64_t* const set = &store_[begin_of_set(line)];
  if (set[0] == line) {
    return {.hit = true, .evicted = false};
  }
  // Where it is cannot be foreseen: no branches on that.
  std::uint32_t place = ways_;
  for (std::uint32_t way = 1; way < ways_; ++way) {
    place = set[way] == line ? way : place;
  }
  Access access{.hit = place != ways_, .evicted = false};
  place = std::min(place, ways_ - 1);
  access.evicted = !access.hit && set[place] != kEmpty;
  // To the front, the others one back.
  std::uint64_t before = line;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    const std::uint64_t here = set[way];
    set[way] = way <= place ? before : here;
    before = here;
  }
  return access;
}

void TransactionQueues::push(std::uint32_t queue, Transaction transaction) {
  if (free_ == kNone) {
    free_ = static_cast<Index>(store_.size());
    store_.emplace_back();
  }
  const Index place = free_;
  free_ = store_[place].next;
  store_[place].transaction = std::move(transaction);
  store_[place].next = kNone;
  Queue& q = queues_[queue];
  (q.size == 0 ? q.first : store_[q.last].next) = place;
  q.last = place;
  ++q.size;
}

void TransactionQueues::pop(std::uint32_t queue) {
  Queue& q = queues_[queue];
  const Index place = q.first;
  q.first = store_[place].next;
  --q.size;
  store_[place].next = free_;
  free_ = place;
}

namespace {
// Square roots of whole numbers from 1 on, 2^-16.
constexpr std::array<std::uint32_t, 32> kRoots = {
    65536,  92682,  113512, 131072, 146543, 160529, 173392, 185364, 196608, 207243, 217358,
    227023, 236293, 245213, 253820, 262144, 270213, 278046, 285664, 293086, 300324, 307391,
    314299, 321060, 327680, 334169, 340536, 346786, 352925, 358963, 364902, 370728};

// Machines at the far ends of their ranges need more bits than 64 on the way.
__extension__ using Wide = unsigned __int128;

// a * b / c, where that fits.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? static_cast<std::uint64_t>(Wide{a} * b / c)
                                                : product / c;
}

// Transactions of an SM that are early or late alike: over 150 turns of an SM at one address their
// number has 1.3 times the variance of as many independent ones (share/order), and each alone 0.16.
constexpr std::uint32_t kAlike = 8;

// Lines that are neighbours and share a place of their slice.
constexpr std::uint64_t kPairLines = 2;

// M0 of l2.hpp.
constexpr double kSmsAsUneven = 30;

// How much what a slice has beyond its even share counts, 1 in a whole GPU (l2.hpp).
double share_of_own(const GpuConfig& config) {
  const double sms = static_cast<double>(config.sm.count) * config.sms_each;
  return std::sqrt((kSmsAsUneven + sms) / (kSmsAsUneven * config.sms_each + sms));
}

std::uint64_t fine(double cycles, unsigned bits) {
  return static_cast<std::uint64_t>(std::llround(std::ldexp(cycles, static_cast<int>(bits))));
}
}  // namespace

L2Port::L2Port(const sc_core::sc_module_name& name, Partition& partition, const L2Context& context)
    : Block(name, partition),
      ingress(partition, context.config),
      context_(context),
      input_sms_(context.config.l2.input_sms),
      port_time_(fine(context.config.l2.port_cycles, kFineBits)),
      flit_time_(fine(context.config.l2.flit_cycles, kFineBits)),
      rop_time_(fine(context.config.l2.rop_cycles, kFineBits)),
      line_time_(fine(context.config.l2.line_cycles, kFineBits)),
      sector_time_(fine(context.config.l2.sector_cycles, kFineBits)),
      round_floor_(sector_time_ / context.config.sms_each),
      spread_(fine(context.config.l2.turn_spread * std::sqrt(3.0), kRoundBits)),
      own_share_(fine(share_of_own(context.config), kShareBits)),
      even_share_(((std::uint64_t{1} << kShareBits) - own_share_) /
                  context.config.l2.slices_per_port),
      line_bytes_(context.config.l2.line_bytes),
      dram_latency_(context.config.l2.dram_latency),
      dram_line_ticks_(
          to_ticks(context.config.l2.line_bytes * static_cast<double>(context.config.l2.ports()) /
                   context.config.l2.dram_bytes_per_cycle)),
      tags_(context.config.l2.bytes / context.config.l2.ports(), context.config.l2.ways,
            context.config.l2.line_bytes),
      queues_(context.config.sm.count),
      begun_(context.config.sm.count),
      slices_(context.config.l2.slices_per_port),
      inputs_((context.config.sm.count + input_sms_ - 1) / input_sms_) {
  for (Slice& slice : slices_) {
    slice.turns_of.resize(inputs_.size());
    slice.times_of.resize(inputs_.size());
    slice.waits_of.resize(inputs_.size() * inputs_.size());
  }
}

bool L2Port::empty() const {
  return ingress.empty() && waiting_.empty() && streams_.empty();
}

std::string L2Port::waits() const {
  if (empty()) {
    return "";
  }
  return fmt::format(
      "{} serves {} transactions, {} wait for DRAM and {} SMs for its {} flits of room", name(),
      streams_.size(), waiting_.size(), ingress.waiting(), ingress.room() / 2);
}

void L2Port::tick() {
  const Fine begin_of_cycle = now() << kFineBits;
  serve(begin_of_cycle + 1);
  while (!waiting_.empty() && waiting_.begin()->first <= now()) {
    Arrival arrival = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    if (const auto fill = filling_.find(line_bytes_.quotient(arrival.transaction.address));
        fill != filling_.end() && fill->second <= now()) {
      filling_.erase(fill);
    }
    enqueue(arrival, begin_of_cycle);
  }
  while (Arrival* arrival = ingress.arrived()) {
    accept(*arrival);
    ingress.take();
  }
  if (const Transaction* coming = ingress.coming(); coming != nullptr) {
    expect(*coming);
  }
  serve((now() + 1) << kFineBits);
  if (!streams_.empty()) {
    wake_at(end_of(next_to_end()) >> kFineBits);
  }
}

// Has the host's cache fetch what a transaction will need that comes soon.
void L2Port::expect(const Transaction& transaction) const {
  tags_.prefetch(transaction.address);
  if (transaction.event.cta) {
    __builtin_prefetch(&transaction.event.event());
  }
}

// Looks the line up; a transaction whose line is in goes on to its slice.
void L2Port::accept(Arrival& arrival) {
  const Address address = arrival.transaction.address;
  const std::uint64_t line = line_bytes_.quotient(address);
  const L2Tags::Access access = tags_.access(address);
  if (!access.hit) {
    ++stats_.misses;
    stats_.evictions += access.evicted ? 1 : 0;
    const Ticks lines = access.evicted ? 2 : 1;
    dram_free_at_ = std::max(dram_free_at_, at_cycle(now())) + lines * dram_line_ticks_;
    const Cycle ready = cycle_after(dram_free_at_) + dram_latency_;
    filling_[line] = ready;
    waiting_.emplace(ready, std::move(arrival));
    wake_at(ready);
    return;
  }
  ++stats_.hits;
  if (const auto fill = filling_.find(line); fill != filling_.end() && fill->second > now()) {
    waiting_.emplace(fill->second, std::move(arrival));
    return;
  }
  enqueue(arrival, now() << kFineBits);
}

void L2Port::enqueue(Arrival& arrival, Fine time) {
  queues_.push(arrival.sm, std::move(arrival.transaction));
  if (queues_.size(arrival.sm) == 1) {
    advance(time);
    begin(arrival.sm);
    set_round();
  }
}

// Serves the first transaction of an SM from now on.
void L2Port::begin(std::uint32_t sm) {
  const Transaction& transaction = queues_.front(sm);
  Stream stream{};
  stream.sm = sm;
  stream.input = sm / input_sms_;
  stream.slice = transaction.slice;
  const std::uint64_t line = transaction.address / kLineBytes;
  const std::uint64_t pair = line / kPairLines;
  stream.sectors =
      static_cast<std::uint8_t>(transaction.sectors << line % kPairLines * kLineSectors);
  stream.rounds = draw_rounds(sm, transaction.turns);
  stream.weight = (std::uint64_t{transaction.turns} << (kRoundBits + kShareBits)) / stream.rounds;
  stream.port = port_time(transaction);
  const Fine time = rop_time(transaction);
  stream.time = (time * stream.weight) >> kShareBits;
  if (transaction.turns > 1) {
    stream.port /= transaction.turns;
  }
  stream.port = (stream.port * stream.weight) >> kShareBits;
  const bool reread = !transaction.whole && transaction.packets > 2 * transaction.turns;
  stream.wait_beside = reread ? line_time_ : 0;
  stream.wait = std::max(sector_time_, time + stream.wait_beside) - time;
  count(stream, pair, true);
  prefetch_words(transaction);
  streams_.push_back(stream);
  pairs_.push_back(pair);
  ends_.push_back(inputs_[stream.input].served + stream.rounds);
}

// Has the host's cache fetch what a transaction will add to.
void L2Port::prefetch_words(const Transaction& transaction) const {
  if (transaction.partial) {
    return;
  }
  if (transaction.reduced || transaction.uniform) {
    __builtin_prefetch(&context_.memory[context_.addresses.element_at(transaction.address,
                                                                      transaction.parameter)]);
    return;
  }
  const trace::WarpTrace& trace = transaction.event.warp_trace();
  const trace::Record& event = transaction.event.event();
  for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    __builtin_prefetch(&context_.memory[context_.addresses.element(
        lane_primitive(trace, event, lane), transaction.parameter)]);
  }
}

// Rounds that so many turns take: as many, more or less by chance.
L2Port::Fine L2Port::draw_rounds(std::uint32_t sm, std::uint32_t turns) {
  const Fine even = std::uint64_t{turns} << kRoundBits;
  if (spread_ == 0) {
    return even;
  }
  // For some transactions in a row alike: an SM that has been quick stays so for a while.
  const std::uint64_t drawn = (std::uint64_t{sm} << 32U) + begun_[sm]++ / kAlike + 1;
  std::uint64_t mixed = drawn * 0x9e3779b97f4a7c15ULL;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
  // Turns are early or late each on its own, so that their sum varies with the root.
  const Fine most =
      (spread_ * kRoots[std::min<std::size_t>(turns, kRoots.size()) - 1]) >> kShareBits;
  return even - most + ((2 * most * (mixed >> 44U)) >> 20U);
}

// A stream that begins, or has ended, beside those that are there.
void L2Port::count(const Stream& stream, std::uint64_t pair, bool begins) {
  const auto add = [begins](auto& sum, auto part) { sum += begins ? part : ~part + 1; };
  const std::uint32_t one = begins ? 1 : ~std::uint32_t{0};  // or less
  Input& input = inputs_[stream.input];
  inputs_in_use_ += input.streams == (begins ? 0 : 1) ? one : 0;
  input.streams += one;
  add(input.port, stream.port);
  add(stream_time_, stream.time);
  add(stream_turns_, stream.weight);
  Slice& slice = slices_[stream.slice];
  slice.streams += one;
  if (slice.recorder != nullptr) {
    record_streams(slice, begins);
  }
  add(slice.turns_of[stream.input], stream.weight);
  add(slice.times_of[stream.input], stream.time);
  const std::size_t inputs = inputs_.size();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i] != pair) {
      continue;
    }
    const Stream& other = streams_[i];
    const bool together = (other.sectors & stream.sectors) != 0;
    if (together || stream.wait_beside + other.wait_beside != 0) {
      const Fine turns = (stream.weight * other.weight) >> kShareBits;
      const Fine wait = together ? stream.wait : stream.wait_beside;
      const Fine wait_other = together ? other.wait : other.wait_beside;
      const Fine behind_stream = (wait * turns) >> kShareBits;
      const Fine behind_other = (wait_other * turns) >> kShareBits;
      const Fine waiting = together ? 2 : Fine{wait != 0} + Fine{wait_other != 0};
      add(slice.waits, behind_stream + behind_other);
      add(slice.pairs, waiting * turns);
      add(slice.waits_of[other.input * inputs + stream.input], behind_other);
      add(slice.waits_of[stream.input * inputs + other.input], behind_stream);
    }
  }
}

void L2Port::record(const std::vector<SliceRecorder*>& of_slices) {
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    slices_[i].recorder = of_slices.at(i);
  }
}

// A stream has begun or ended at time_.
void L2Port::record_streams(Slice& slice, bool begins) const {
  constexpr Fine kPerTick = (Fine{1} << kFineBits) / kTicksPerCycle;
  if (begins && slice.streams == 1) {
    slice.since = time_;
  } else if (!begins && slice.streams == 0) {
    slice.recorder->add(slice.since / kPerTick, time_ / kPerTick, 0);
  }
}

void L2Port::finish(std::size_t stream, Fine time) {
  const Stream done = streams_[stream];
  const std::uint64_t pair = pairs_[stream];
  const auto take_out = [stream](auto& list) {
    list[stream] = list.back();
    list.pop_back();
  };
  take_out(streams_);
  take_out(pairs_);
  take_out(ends_);
  count(done, pair, false);
  Slice& slice = slices_[done.slice];

  Transaction& transaction = queues_.front(done.sm);
  const std::uint32_t packets = transaction.packets;
  stats_.rop_ops += packets;
  const Ticks busy_before = std::max(slice.intake, slice.additions);
  slice.intake += intake_ticks(transaction);
  slice.additions += addition_ticks(transaction);
  stats_.rop_busy += std::max(slice.intake, slice.additions) - busy_before;
  port_busy_ += port_time(transaction);
  stats_.port_busy = port_busy_ * kTicksPerCycle >> kFineBits;
  stats_.rop_busiest = std::max({stats_.rop_busiest, slice_busy(), stats_.port_busy});
  add(transaction);
  ingress.give_back(transaction.room());
  queues_.pop(done.sm);
  stats_.last_done =
      std::max<Cycle>(stats_.last_done, (time + (Fine{1} << kFineBits) - 1) >> kFineBits);
  if (queues_.size(done.sm) > 0) {
    begin(done.sm);
  }
  set_round();
}

void L2Port::serve(Fine until) {
  while (!streams_.empty()) {
    const std::size_t next = next_to_end();
    const Fine end = end_of(next);
    if (end >= until) {
      return;
    }
    time_ = end;
    pass(rounds_to_end(next));
    inputs_[streams_[next].input].served = ends_[next];
    finish(next, end);
  }
}

// Brings rounds_ up to that time, which lies before the next end.
void L2Port::advance(Fine time) {
  if (!streams_.empty()) {
    pass(scaled(time - time_, std::uint64_t{1} << kRoundBits, round_));
  }
  time_ = time;
}

void L2Port::pass(std::uint64_t rounds) {
  rounds_ += rounds;
  if (inputs_.size() > 1) {
    next_to_end_ = kUnknown;  // by rounding, of several that end at about the same time
  }
  for (Input& input : inputs_) {
    input.served += (rounds * input.rate) >> kShareBits;
  }
}

// By the limits at the top of l2.hpp.
void L2Port::set_round() {
  next_to_end_ = kUnknown;
  for (Input& input : inputs_) {
    input.rate = input.rounds_each = kEven;
  }
  const Fine even_round = round_at_rates();
  const Fine floor = floor_of_round();
  round_ = std::max(floor, even_round);
  if (inputs_in_use_ > 1 && even_round > floor) {
    share_among_inputs(even_round, floor);
  }
}

// The first limit: with few streams the quickest of them decides.
L2Port::Fine L2Port::floor_of_round() const {
  constexpr std::size_t kFew = 8;
  if (streams_.size() > kFew) {
    return round_floor_;
  }
  Fine most = 0;
  for (const Stream& stream : streams_) {
    most = std::max(most, stream.weight);
  }
  return (round_floor_ * most) >> kShareBits;
}

// As many turns of every input, those with fewest SMs first: these take no more of a round
// than what all can have done in one that lasts as long as if all SMs had even shares.
void L2Port::share_among_inputs(Fine even_round, Fine floor) {
  const Fine most = (even_round << kShareBits) / floor;
  Fine turns = streams_.size() << kShareBits;
  for (Input& input : inputs_) {
    input.has_share = input.streams == 0;
  }
  Fine highest = 0;
  for (std::uint32_t left = inputs_in_use_; left > 0; --left) {
    Input* fewest = nullptr;
    for (Input& input : inputs_) {
      if (!input.has_share && (fewest == nullptr || input.streams < fewest->streams)) {
        fewest = &input;
      }
    }
    fewest->has_share = true;
    fewest->rate = std::min(most, turns / left / fewest->streams);
    fewest->rounds_each = (kEven << kShareBits) / fewest->rate;
    turns -= fewest->rate * fewest->streams;
    highest = std::max(highest, fewest->rate);
  }
  round_ = std::max((floor * highest) >> kShareBits, round_at_rates());
}

// All limits but the first.
L2Port::Fine L2Port::round_at_rates() const {
  Fine port = 0;
  for (const Input& input : inputs_) {
    port += (input.port * input.rate) >> kShareBits;
  }
  Fine round = port;
  const Fine even_time = even_share_ * stream_time_;
  const Fine even_intake = even_share_ * ((rop_time_ * stream_turns_) >> kShareBits);
  for (const Slice& slice : slices_) {
    Fine turns = 0;
    Fine time = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      turns += (inputs_[i].rate * slice.turns_of[i]) >> kShareBits;
      time += inputs_[i].rate * slice.times_of[i];
    }
    const Fine intake = even_intake + own_share_ * ((turns * rop_time_) >> kShareBits);
    const Fine additions = even_time + own_share_ * (time >> kShareBits);
    round = std::max(
        {round, intake >> kShareBits, (additions >> kShareBits) + round_wait(slice, turns, time)});
  }
  return round;
}

// What turns on sectors that are being added to wait for in a round, of which the slice has so many
// turns (2^-16), of that many cycles (2^-32), in random order.
L2Port::Fine L2Port::round_wait(const Slice& slice, Fine turns, Fine time) const {
  if (slice.waits == 0) {
    return 0;
  }
  Fine waits = 0;
  const Fine* pairs = slice.waits_of.data();
  for (const Input& one : inputs_) {
    for (const Input& other : inputs_) {
      waits += ((one.rate * other.rate) >> kShareBits) * *pairs++;
    }
  }
  const Fine behind = waits / (turns * (slice.streams - 1) / slice.streams);
  // Of the turns, those that wait for the one before them, 2^-16; and those that wait for the one
  // before that.
  const Fine each = (slice.waits << kShareBits) / slice.pairs;
  const Fine direct = std::min(kEven, scaled(behind << kShareBits, kEven, each * turns));
  const Fine two_behind = (direct * (kEven - direct)) >> kShareBits;
  const Fine mean = time / turns;
  if (each <= mean) {
    return behind;
  }
  // One turn between has passed, and what that waited for itself.
  const Fine rest = ((each - mean) * (kEven - two_behind)) >> kShareBits;
  return behind + ((((turns * two_behind) >> kShareBits) * rest) >> kShareBits);
}

// What the slice with most to do has been busy for, by what a round takes of a slice: the longer of
// what it took to take all turns in and to do all additions, not the longer of the two of each
// turn.
Ticks L2Port::slice_busy() const {
  Ticks intake = 0, additions = 0, most_intake = 0, most_additions = 0;
  for (const Slice& slice : slices_) {
    intake += slice.intake;
    additions += slice.additions;
    most_intake = std::max(most_intake, slice.intake);
    most_additions = std::max(most_additions, slice.additions);
  }
  const Ticks busy = std::max(even_share_ * intake + own_share_ * most_intake,
                              even_share_ * additions + own_share_ * most_additions) >>
                     kShareBits;
  // Rounds of a part of a GPU are rounded down, to 2^-16 cycles.
  const bool whole = even_share_ == 0;
  const Ticks rounding = ((rounds_ >> kRoundBits) + 1) * kTicksPerCycle >> kFineBits;
  return whole ? busy : busy - std::min(busy, rounding + 1);
}

L2Port::Fine L2Port::port_time(const Transaction& transaction) const {
  return port_time_ * transaction.lone_words +
         flit_time_ * (transaction.flits - transaction.lone_words);
}

// What a turn of a transaction takes of its slice's ROP.
L2Port::Fine L2Port::rop_time(const Transaction& transaction) const {
  return line_time_ * transaction.packets / transaction.turns;
}

// What all turns take of its slice, rounded down: to be taken in, and of the ROP.
Ticks L2Port::intake_ticks(const Transaction& transaction) const {
  return rop_time_ * transaction.turns * kTicksPerCycle >> kFineBits;
}
Ticks L2Port::addition_ticks(const Transaction& transaction) const {
  return rop_time(transaction) * transaction.turns * kTicksPerCycle >> kFineBits;
}

Ticks L2Port::rop_busy_before(Cycle cycle) const {
  if (streams_.empty()) {
    return stats_.rop_busy;
  }
  // Every stream has got as far as the rounds have.
  const Fine time = cycle << kFineBits;
  const std::uint64_t rounds =
      time > time_ ? scaled(time - time_, std::uint64_t{1} << kRoundBits, round_) : 0;
  std::vector<std::pair<Ticks, Ticks>> busy_of;  // by slice: intake, additions
  for (const Slice& slice : slices_) {
    busy_of.emplace_back(slice.intake, slice.additions);
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    const Input& input = inputs_[stream.input];
    const Transaction& transaction = queues_.front(stream.sm);
    const std::uint64_t served = input.served + ((rounds * input.rate) >> kShareBits);
    const std::uint64_t rest = ends_[i] > served ? ends_[i] - served : 0;
    const auto part = [&](Ticks all) { return all - all * rest / stream.rounds; };
    busy_of[stream.slice].first += part(intake_ticks(transaction));
    busy_of[stream.slice].second += part(addition_ticks(transaction));
  }
  Ticks busy = 0;
  for (const auto& [intake, additions] : busy_of) {
    busy += std::max(intake, additions);
  }
  return busy;
}

std::size_t L2Port::next_to_end() {
  if (next_to_end_ == kUnknown) {
    next_to_end_ = find_next_to_end();
    __builtin_prefetch(&queues_.front(streams_[next_to_end_].sm));
  }
  return next_to_end_;
}

std::size_t L2Port::find_next_to_end() const {
  std::size_t next = 0;
  const auto before = [&](std::size_t i, std::uint64_t end, std::uint64_t least) {
    return end < least || (end == least && streams_[i].sm < streams_[next].sm);
  };
  if (inputs_.size() == 1) {  // all are as far from their ends as these say
    for (std::size_t i = 1; i < ends_.size(); ++i) {
      if (before(i, ends_[i], ends_[next])) {
        next = i;
      }
    }
    return next;
  }
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::uint64_t rest = rounds_to_end(i);
    if (before(i, rest, least)) {
      least = rest;
      next = i;
    }
  }
  return next;
}

std::uint64_t L2Port::rounds_to_end(std::size_t stream) const {
  const Input& input = inputs_[streams_[stream].input];
  const std::uint64_t rest = ends_[stream] > input.served ? ends_[stream] - input.served : 0;
  return (rest * input.rounds_each) >> kShareBits;
}

L2Port::Fine L2Port::end_of(std::size_t stream) const {
  const std::uint64_t rest = rounds_to_end(stream);
  constexpr std::uint64_t kRoundUp = (std::uint64_t{1} << kRoundBits) - 1;
  return time_ + static_cast<Fine>((Wide{rest} * round_ + kRoundUp) >> kRoundBits);
}

// The additions themselves, lanes in order.
void L2Port::add(Transaction& transaction) {
  if (transaction.reduced) {
    Fp32Bits& cell =
        context_.memory[context_.addresses.element_at(transaction.address, transaction.parameter)];
    cell = fp32_add(cell, transaction.data);
    ++context_.tally.sums_added;
    return;
  }
  if (transaction.partial) {
    add_partial(transaction);
    return;
  }
  const std::uint32_t p = transaction.parameter;
  EventRef& ref = transaction.event;
  const EventValues values(ref, context_.has_values);
  if (transaction.uniform) {
    Fp32Bits& cell = context_.memory[context_.addresses.element_at(transaction.address, p)];
    Fp32Bits sum = cell;
    for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
      sum = fp32_add(sum, values.of(p, static_cast<std::uint32_t>(std::countr_zero(rest))));
    }
    cell = sum;
  } else {
    const trace::WarpTrace& trace = ref.warp_trace();
    const trace::Record& event = ref.event();
    for (LaneMask rest = transaction.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      Fp32Bits& cell =
          context_.memory[context_.addresses.element(lane_primitive(trace, event, lane), p)];
      cell = fp32_add(cell, values.of(p, lane));
    }
  }
  context_.tally.lanes_added += static_cast<std::uint64_t>(lane_count(transaction.mask));
  ref = {};
}

// Sums of a line, in the order of their addresses.
void L2Port::add_partial(const Transaction& transaction) {
  const LineSums sums = context_.sums.take(transaction.data);
  const Address line = transaction.address / kLineBytes * kLineBytes;
  for (std::uint32_t rest = transaction.mask; rest != 0; rest &= rest - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(rest));
    const Address address = line + word * sizeof(Fp32Bits);
    Fp32Bits& cell = context_.memory[context_.addresses.element_at(address, 0)];
    cell = fp32_add(cell, sums[word]);
    ++context_.tally.sums_added;
  }
}

}  // namespace warpfold
