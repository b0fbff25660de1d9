// SPDX-License-Identifier: Apache-2.0
// The interconnect: an injection port per SM and an ingress per port of the L2, joined by a
// crossbar of fixed latency. An SM sends one flit per flit_cycles; the L2 takes a transaction
// only when the port's buffer has room for all flits of it, two lone words in that of one flit,
// inputs of the port in turn and the SMs of an input in turn, so a full port holds up the SMs whose
// head is for it. A load takes its turn with the rest, an entry of the injection port for each
// sector of a line, but no room in the L2, which answers it after the latency of a hit.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "model/kernel/channel.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"
#include "model/base/divider.hpp"
#include "model/kernel/recorder.hpp"
#include "model/base/ticks.hpp"
#include "model/gpu/traffic/traffic.hpp"

namespace warpfold {

class InjectionPort;
class Sm;

// Which slice holds an address. Pieces of interleave_bytes go to groups of slices, each group once
// in as many pieces in a row as there are groups, in an order that changes from one such run to the
// next; within a piece the slices of the group take turns of slice_bytes. Measured on an H200 as
// which addresses slow each other down: scripts and figures in traces/capture/microbench. A port
// serves slices of different groups.
class SliceMap {
 public:
  struct Place {
    std::uint32_t port;
    std::uint32_t slice;  // among those of the port
  };
  explicit SliceMap(const GpuConfig& config);
  [[nodiscard]] Place place(Address address) const;

 private:
  Divider ports_;
  Divider slices_per_port_;
  Divider interleave_;
  Divider slice_bytes_;
  std::vector<std::uint32_t> steps_;  // coprime to the number of ports
  Divider step_count_;
  std::uint64_t apart_;  // what the slices of a group lie apart, in ports
};

// Buffer in front of one port of the L2, with the arbiter over the SMs. Owned by the port.
class SliceIngress : public Channel {
 public:
  SliceIngress(Partition& partition, const GpuConfig& config);
  void connect(Block& l2, const std::vector<InjectionPort*>& ports);

  // SM's side, from its own partition: its head waits for this port. One request per SM at a time.
  void request(Partition& from, std::uint32_t sm);
  struct Arrival {
    Cycle cycle;
    std::uint32_t sm;
    Transaction transaction;
  };
  // L2's side: what has arrived by this cycle, or null.
  [[nodiscard]] const Arrival* arrived() const;
  void take() { arrivals_.pop_front(); }
  // What comes next, at some time, or null.
  [[nodiscard]] const Transaction* coming() const {
    return arrivals_.empty() ? nullptr : &arrivals_.front().transaction;
  }
  // Room of what has been served (Transaction::room).
  void give_back(std::uint32_t room);
  [[nodiscard]] std::uint32_t waiting() const { return waiting_count_; }
  [[nodiscard]] std::uint32_t room() const { return room_; }
  [[nodiscard]] bool empty() const { return arrivals_.empty() && waiting_count_ == 0; }
  // Room that is taken, of which a flit needs kRoomOfFlit.
  static constexpr std::uint32_t kRoomOfFlit = 2;
  [[nodiscard]] std::uint32_t taken() const { return all_room_ - room_; }
  void record(LevelRecorder* level) { level_ = level; }

 private:
  void update() override;
  [[nodiscard]] std::uint32_t next_waiting() const;
  [[nodiscard]] std::uint32_t first_waiting(std::uint32_t from, std::uint32_t end) const;

  Partition& partition_;
  const std::uint32_t latency_;
  const std::uint32_t input_sms_;
  Block* l2_ = nullptr;
  std::vector<InjectionPort*> ports_;
  std::vector<std::uint32_t> requested_;  // this cycle
  std::vector<std::uint64_t> waiting_;    // a bit for each SM
  // Of each SM that is waiting, what it waits with, and the room that takes.
  struct Head {
    const Transaction* transaction = nullptr;
    std::uint32_t room = 0;
  };
  std::vector<Head> heads_;
  std::uint32_t waiting_count_ = 0;
  std::vector<std::uint32_t> turns_;  // of each input, the SM from which it goes on
  std::uint32_t input_ = 0;           // whose turn it is
  std::uint32_t room_;                // in half flits
  const std::uint32_t all_room_;
  LevelRecorder* level_ = nullptr;
  std::uint32_t given_back_ = 0;
  std::deque<Arrival> arrivals_;
};

// Bounded queue in front of an SM's injection port. Its two sides may be in different cycles, the
// SM ahead of the port or behind it; what they see is what they would if they kept step: the port
// an entry in the cycle after that in which it was put in, the SM the room of one that the port
// takes likewise.
class Outlet {
 public:
  Outlet(Sm& sm, std::size_t depth);
  void bind(Block& writer, Block& port) {
    writer_ = &writer;
    port_ = &port;
  }

  // SM's side, in its own cycle. What the port takes meanwhile is not known where the SM is ahead.
  [[nodiscard]] bool can_push() const { return size_ < depth_; }
  void push(const Transaction& transaction);
  // Wakes the writer in the cycle in which room can be used.
  void want_room() { writer_waits_ = true; }
  // Whether it holds a quarter of what it can at the start of the cycle.
  [[nodiscard]] bool quarter_full() const;
  // Whether the port may find a load in it that is to be answered.
  [[nodiscard]] bool has_loads() const { return loads_ > 0; }
  // In the SM's next cycle, in which one entry may be put in, the answers to these do not depend on
  // what the port takes; or that of can_push() does not.
  [[nodiscard]] bool settled() const { return 4 * size_ < depth_; }
  [[nodiscard]] bool has_room() const { return size_ + 1 < depth_; }
  // The first cycle in which the writer is to be woken for room that is known of, or kNever.
  [[nodiscard]] Cycle room_from() const {
    return writer_waits_ && size_ > left_ ? taken_[taken_first_] + 1 : kNever;
  }
  // The SM's next cycle is that one.
  void begin(Cycle cycle);
  // The SM stays behind until the port has little left.
  void set_behind(bool behind) { behind_ = behind; }
  [[nodiscard]] bool has_plenty() const { return left_ > plenty_; }

  // Port's side.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] const Transaction& front() const { return ring_[head_].transaction; }
  // The front one goes to that slice of the L2's port.
  void send_to(std::uint8_t slice) { ring_[head_].transaction.slice = slice; }
  void pop();
  // Wakes the port in the first cycle in which there is an entry.
  void want_entries();
  [[nodiscard]] bool idle() const { return left_ == 0; }
  [[nodiscard]] std::size_t waiting() const { return left_; }
  void record(LevelRecorder* level) { level_ = level; }

 private:
  // One line of a processor's cache.
  struct alignas(64) Entry {
    Transaction transaction;
    Cycle pushed = 0;
  };
  [[nodiscard]] std::size_t after(std::size_t place, std::size_t by) const {
    const std::size_t index = place + by;
    return index < depth_ ? index : index - depth_;
  }

  Sm& sm_;
  const std::size_t depth_;
  std::vector<Entry> ring_;
  std::size_t head_ = 0;
  std::size_t left_ = 0;      // entries that the port has not taken
  std::size_t loads_ = 0;     // of those that answer a warp
  std::size_t size_ = 0;      // and those of which the SM does not know yet that it has,
  std::vector<Cycle> taken_;  // in these cycles
  std::size_t taken_first_ = 0;
  Cycle last_push_ = kNever;
  std::size_t pushed_ = 0;  // in that cycle
  bool writer_waits_ = false;
  bool port_waits_ = true;
  bool behind_ = false;
  const std::size_t plenty_;
  Block* writer_ = nullptr;
  Block* port_ = nullptr;
  LevelRecorder* level_ = nullptr;
};

// Injection port of one SM. Owned by the SM.
class InjectionPort : public Block {
 public:
  InjectionPort(const sc_core::sc_module_name& name, Partition& partition, const GpuConfig& config,
                std::uint32_t index, Sm& sm);
  void connect(const SliceMap& map, std::vector<SliceIngress*> ingresses);
  [[nodiscard]] Partition& partition() const { return partition_; }

  Outlet queue;

  // The L2 lets the head in, as this cycle ends.
  void grant();
  void lose_grants(std::uint64_t grants) { lose_grants_ = grants; }
  // What waits for a port of the L2, until that has let it in.
  [[nodiscard]] const Transaction& head() const { return *head_; }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] std::uint64_t flits() const { return flits_; }
  [[nodiscard]] std::uint64_t lone_words() const { return lone_words_; }
  // Of loads, one for each sector.
  [[nodiscard]] std::uint64_t load_flits() const { return load_flits_; }
  [[nodiscard]] Ticks busy() const { return busy_; }
  [[nodiscard]] Ticks busy_until() const { return free_at_; }
  // Of that, what lies before a cycle that has not begun.
  [[nodiscard]] Ticks busy_before(Cycle cycle) const { return done_before(cycle, busy_, free_at_); }
  // What it has to do, and for what that waits, or nothing.
  [[nodiscard]] std::string waits() const;
  [[nodiscard]] bool idle() const { return !waiting_ && queue.idle(); }
  void record(SliceRecorder* slices) { slices_ = slices; }

 private:
  void tick() override;

  Partition& partition_;
  const std::uint32_t index_;
  Sm& sm_;
  const Ticks flit_ticks_;
  const Cycle load_latency_;
  const SliceMap* map_ = nullptr;
  std::vector<SliceIngress*> ingresses_;
  bool waiting_ = false;               // for the L2 port of the head
  const Transaction* head_ = nullptr;  // in the queue, where it stays until it is popped
  bool granted_ = false;
  std::uint64_t lose_grants_ = 0;
  Cycle granted_in_ = 0;
  Ticks free_at_ = 0;
  Ticks busy_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t flits_ = 0;
  std::uint64_t lone_words_ = 0;
  std::uint64_t load_flits_ = 0;
  SliceRecorder* slices_ = nullptr;
  Cycle waiting_since_ = 0;
};

}  // namespace warpfold
