// SPDX-License-Identifier: Apache-2.0
// What is in front of a port of the L2: it takes a transaction only when the buffer has room for
// all flits of it, two lone words in that of one flit, in the order of a rule (service_order.hpp).
// A load takes its turn with the rest but no room. One of which the trace does not say what it
// touches is answered after the latency of a hit, and the L2 does not see it unless it lies
// outside.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/gpu/memory/service_order.hpp"
#include "model/gpu/noc/boundary.hpp"
#include "model/gpu/traffic/transaction.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// Buffer in front of one port of the L2, with the arbiter over the SMs. Owned by the port.
class SliceIngress : public Channel, public Entrance {
 public:
  SliceIngress(Partition& partition, const GpuConfig& config, ServiceOrder& order);
  // `loads`: they arrive as the rest does.
  void connect(Block& l2, const std::vector<Injector*>& ports, bool loads = false);

  void request(Partition& from, std::uint32_t sm) override;
  struct Arrival {
    Cycle cycle;
    std::uint32_t sm;
    Transaction transaction;
  };
  // L2's side: what has arrived by this cycle, or null.
  [[nodiscard]] Arrival* arrived();
  void take() { arrivals_.pop_front(); }
  // What comes next, at some time, or null.
  [[nodiscard]] const Transaction* coming() const {
    return arrivals_.empty() ? nullptr : &arrivals_.front().transaction;
  }
  // The additions of a transaction of that SM are done, for which a warp waits.
  void answer(std::uint32_t sm, const Transaction& transaction);
  // Sectors of a line that a load of that SM has asked for leave the L2. `line`: address /
  // kLineBytes.
  void send(std::uint32_t sm, std::uint64_t line, std::uint32_t sectors);
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
  void take_requests();
  void let_in(std::uint32_t sm);

  Partition& partition_;
  const std::uint32_t latency_;
  ServiceOrder& order_;
  Block* l2_ = nullptr;
  bool loads_ = false;
  std::vector<Injector*> ports_;
  std::vector<std::uint32_t> requested_;  // this cycle
  // Of each SM, what it waits with, if it does, and the room that takes.
  struct Head {
    Transaction* transaction = nullptr;
    std::uint32_t room = 0;
  };
  std::vector<Head> heads_;
  std::uint32_t waiting_count_ = 0;
  std::uint32_t room_;  // in half flits
  const std::uint32_t all_room_;
  LevelRecorder* level_ = nullptr;
  std::uint32_t given_back_ = 0;
  std::deque<Arrival> arrivals_;
};

}  // namespace warpfold
