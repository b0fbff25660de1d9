// SPDX-License-Identifier: Apache-2.0
// One port of the L2: the slices behind it, their tags and DRAM channel, and the ROPs, which do
// additions one sector operation after another. Owned by the GPU.
//
// The turns of the SMs' transactions (transaction.hpp) come interleaved, one of each SM (a round),
// where all SMs come in by one input. What a round takes follows from four limits, each of which
// was measured alone on an H200 (config.hpp, GpuConfig::L2): the port takes a lone word per
// port_cycles and a flit of anything else per flit_cycles, p cycles for each turn of a transaction;
// a slice takes in a turn per rop_cycles; its ROP does a turn in t cycles, line_cycles for each
// sector, in the order in which they come; a turn with a sector of one before it begins no less
// than sector_cycles after that; and one on the same pair of lines, 256 bytes, as one before it
// that left out words of more than two sectors begins no less than t + line_cycles after that. With
// m SMs that have something to add, m_k of them in slice k, a round in random order takes
//
//     max(sector_cycles, sum p, max_k(m_k rop_cycles), max_k(sum t + w_k)).
//
// w_k is what turns wait: one that follows one on its sector at once waits for d, which is
// sector_cycles - t; with D_k the sum of d over the m_k (m_k - 1) ordered pairs of those that wait
// for each other that is D_k / (m_k - 1) in a round, and a share P of the turns. One that has
// another turn in between, P (1 - P) of them, waits for what is left of d after that one. Additions
// to sectors of a slice at random take so long within 3 % (share/random).
//
// Turns do not come as evenly as that: what lies between two of an SM varies (turn_spread). So a
// transaction takes some more or fewer rounds than it has turns, drawn for kAlike transactions of
// an SM at a time, and counts in each round for so many turns less or more.
//
// In an Nth of a GPU (part_of_gpu) all these take N times as long, and each SM stands for N of the
// launch. How uneven the m_k of the launch's M SMs are has two reasons: each SM is at a slice of
// its own, of which the variance beside the square of the mean is A / M, and what all of them add
// to at the time lies more in some slices, A / M0. M / N SMs show N A / M of the former and as much
// of the latter. So what m_k lacks of m / S, with S slices, or has beyond it, counts
// sqrt((M0 + M) / (N M0 + M)). M0 is 30, between what brings samples of three frames nearest to
// their launches on 132 SMs, which is less, and on 28, which is more (docs/notebook.md).
// And an SM that is alone at the port stands for N that wait for each other's sectors no more than
// others do: the first of the limits stays as it is in the whole GPU.
//
// Where a port has several inputs, these take turns, and so do the SMs of each: with m SMs on n
// inputs, each SM of the m_i on input i has r_i = m / (n m_i) turns done while m of all are done.
// That is a round, in which a stream counts r_i times and a pair of them on one sector r_i r_j
// times; no SM has more than one turn in sector_cycles done, and what it cannot take is shared by
// the other inputs.
//
// Within a round the SMs of an input advance alike until one comes or goes, so that transactions
// are events, not their turns.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/base/divider.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/memory/ingress.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// What all ports of the L2 know of the GPU. Plain data; all references outlive the ports.
struct L2Context {
  const GpuConfig& config;
  const AddressMap& addresses;
  std::span<Fp32Bits> memory;  // by element
  LineSumsPool& sums;
  Tally& tally;     // of the port's partition
  bool has_values;  // the trace keeps them
};

// Set-associative tags with least-recently-used replacement. Every line that is in holds additions,
// so every eviction writes back.
class L2Tags {
 public:
  L2Tags(std::uint64_t bytes, std::uint32_t ways, std::uint32_t line_bytes);
  struct Access {
    bool hit = false;
    bool evicted = false;
  };
  // Looks a line up and brings it in.
  Access access(Address address);
  // Has the host's cache fetch what that will look at.
  void prefetch(Address address) const {
    const std::size_t begin = begin_of_set(line_bytes_.quotient(address));
    for (std::size_t way = 0; way < ways_; way += kHostLine) {
      __builtin_prefetch(&store_[begin + way]);
    }
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static constexpr std::size_t kHostLine = 64 / sizeof(std::uint64_t);  // of the host's cache
  // Where in the store.
  [[nodiscard]] std::size_t begin_of_set(std::uint64_t line) const {
    std::uint64_t hash = line * 0xd6e8feb86659fd93ULL;
    hash ^= hash >> 32U;
    return begin_ + sets_.remainder(hash) * ways_;
  }
  std::uint32_t ways_;
  Divider line_bytes_;
  Divider sets_;
  // Lines, set by set from begin_ on, the most recently used of a set first. So that sets of as
  // many ways as usual lie in as few lines of the host's cache as they can.
  std::vector<std::uint64_t> store_;
  std::size_t begin_ = 0;
};

// First-in, first-out queues that share one store: there are many, and few hold anything at a time.
class TransactionQueues {
 public:
  explicit TransactionQueues(std::size_t queues) : queues_(queues) {}
  void push(std::uint32_t queue, Transaction transaction);
  void pop(std::uint32_t queue);
  [[nodiscard]] Transaction& front(std::uint32_t queue) {
    return store_[queues_[queue].first].transaction;
  }
  [[nodiscard]] const Transaction& front(std::uint32_t queue) const {
    return store_[queues_[queue].first].transaction;
  }
  [[nodiscard]] std::uint32_t size(std::uint32_t queue) const { return queues_[queue].size; }

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  struct Entry {
    Transaction transaction;
    Index next = kNone;  // in its queue, or free
  };
  struct Queue {
    Index first = kNone, last = kNone;
    std::uint32_t size = 0;
  };
  std::vector<Entry> store_;
  std::vector<Queue> queues_;
  Index free_ = kNone;
};

struct L2Stats {
  std::uint64_t rop_ops = 0;
  Ticks rop_busy = 0;     // over all slices of the port
  Ticks rop_busiest = 0;  // of the slice, or the port, that had most to do; no more than has passed
  Ticks port_busy = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;  // lines that a miss writes back
  Cycle last_done = 0;          // first cycle after the last addition
};

class L2Port : public Block {
 public:
  L2Port(const sc_core::sc_module_name& name, Partition& partition, const L2Context& context);

  SliceIngress ingress;
  // Marks a line as present before the kernel begins: the arrays were just cleared.
  void warm(Address address) { tags_.access(address); }
  [[nodiscard]] const L2Stats& stats() const { return stats_; }
  // rop_busy, and of what is being served what was done before a cycle that has not begun.
  [[nodiscard]] Ticks rop_busy_before(Cycle cycle) const;
  // What it has to do, and for what that waits, or nothing.
  [[nodiscard]] std::string waits() const;
  // Whether something that it has will be done at a time that is known.
  [[nodiscard]] bool waits_for_time() const { return !streams_.empty() || !waiting_.empty(); }
  [[nodiscard]] bool empty() const;
  // When each slice has something to add.
  void record(const std::vector<SliceRecorder*>& of_slices);

 private:
  // Times in 2^-16 cycles, rounds in 2^-20: whole numbers, the same on every machine.
  using Fine = std::uint64_t;
  static constexpr unsigned kFineBits = 16;
  static constexpr unsigned kRoundBits = 20;
  static constexpr unsigned kShareBits = 16;
  static constexpr Fine kEven = Fine{1} << kShareBits;

  // The transaction of one SM that is being served.
  struct Stream {
    std::uint32_t sm;
    std::uint32_t input;
    std::uint32_t slice;
    std::uint8_t sectors;  // of the pair of lines
    Fine weight;           // turns in a round, 2^-16
    Fine rounds;           // that it takes, 2^-20
    Fine port;             // what each of its turns takes of the port, times its turns in a round
    Fine time;             // and of its slice's ROP
    Fine wait;             // what a turn on one of its sectors that follows it has to wait
    Fine wait_beside;      // and one on others of the pair of lines
  };
  struct Input {
    std::uint32_t streams = 0;
    Fine port = 0;             // over the streams
    Fine rate = kEven;         // turns of each of them in a round, in 2^-16
    Fine rounds_each = kEven;  // that a turn of each takes, likewise
    std::uint64_t served = 0;  // turns of each that have passed by time_, in 2^-20
    bool has_share = false;    // in share_among_inputs
  };
  struct Slice {
    std::uint32_t streams = 0;
    Fine waits = 0;              // over the ordered pairs of streams on one sector
    Fine pairs = 0;              // their number, 2^-16
    std::vector<Fine> turns_of;  // of the streams of each input, in a round, 2^-16
    std::vector<Fine> times_of;  // theirs
    std::vector<Fine> waits_of;  // a row for each input of one, with each input of the other
    // Of the turns that it has done: what taking them in took, and adding. The two overlap.
    Ticks intake = 0;
    Ticks additions = 0;
    Ticks served = 0;
    SliceRecorder* recorder = nullptr;
    Fine since = 0;  // with streams
  };
  using Arrival = SliceIngress::Arrival;

  void tick() override;
  void expect(const Transaction& transaction) const;
  void accept(Arrival& arrival);
  void enqueue(Arrival& arrival, Fine time);
  void begin(std::uint32_t sm);
  void prefetch_words(const Transaction& transaction) const;
  [[nodiscard]] Fine draw_rounds(std::uint32_t sm, std::uint32_t turns);
  void finish(std::size_t stream, Fine time);
  // Streams that end before `until`, in the order of their ends.
  void serve(Fine until);
  void advance(Fine time);
  void set_round();
  [[nodiscard]] Fine floor_of_round() const;
  void share_among_inputs(Fine even_round, Fine floor);
  [[nodiscard]] Fine round_at_rates() const;
  [[nodiscard]] Fine round_wait(const Slice& slice, Fine turns, Fine time) const;
  [[nodiscard]] Ticks slice_busy() const;
  // Of the streams, the one that ends first; of several that of the first SM.
  [[nodiscard]] std::size_t next_to_end();
  [[nodiscard]] std::size_t find_next_to_end() const;
  [[nodiscard]] std::uint64_t rounds_to_end(std::size_t stream) const;
  [[nodiscard]] Fine end_of(std::size_t stream) const;
  void pass(std::uint64_t rounds);
  void count(const Stream& stream, std::uint64_t pair, bool begins);
  void record_streams(Slice& slice, bool begins) const;
  [[nodiscard]] Fine port_time(const Transaction& transaction) const;
  [[nodiscard]] Fine rop_time(const Transaction& transaction) const;
  [[nodiscard]] Ticks intake_ticks(const Transaction& transaction) const;
  [[nodiscard]] Ticks addition_ticks(const Transaction& transaction) const;
  void add(Transaction& transaction);
  void add_partial(const Transaction& transaction);

  const L2Context context_;
  const std::uint32_t input_sms_;
  const Fine port_time_, flit_time_, rop_time_, line_time_, sector_time_;
  const Fine round_floor_;                      // the first limit of a round, with even turns
  const Fine spread_;                           // most by which a turn is early or late, 2^-20
  const std::uint64_t own_share_, even_share_;  // how a slice's streams and all count for it
  const Divider line_bytes_;
  const std::uint32_t dram_latency_;
  const Ticks dram_line_ticks_;

  L2Tags tags_;
  TransactionQueues queues_;          // by SM, the one that is served in front
  std::vector<std::uint32_t> begun_;  // by SM, transactions
  std::vector<Stream> streams_;
  // Of each stream, apart since they are looked through often.
  std::vector<std::uint64_t> ends_;   // in turns of each stream of its input, 2^-20
  std::vector<std::uint64_t> pairs_;  // of lines, that it adds to
  static constexpr std::size_t kUnknown = ~std::size_t{0};
  std::size_t next_to_end_ = kUnknown;
  std::vector<Slice> slices_;
  std::vector<Input> inputs_;
  std::uint32_t inputs_in_use_ = 0;  // with streams
  Fine stream_time_ = 0;             // over the streams
  Fine stream_turns_ = 0;            // theirs in a round, 2^-16
  Fine port_busy_ = 0;
  Fine round_ = 0;            // what a round takes
  std::uint64_t rounds_ = 0;  // that have passed by time_
  Fine time_ = 0;
  Ticks dram_free_at_ = 0;
  std::unordered_map<std::uint64_t, Cycle> filling_;  // line -> cycle in which it is there
  std::multimap<Cycle, Arrival> waiting_;             // for their line
  L2Stats stats_;
};

}  // namespace warpfold
