// SPDX-License-Identifier: Apache-2.0
// The interconnect: an injection port per SM and an ingress per L2 slice, joined by a crossbar of
// fixed latency. A port sends one packet per packet_cycles; a slice takes a transaction only when
// its buffer has room for all packets of it, SMs in turn, so a full slice holds up the ports whose
// head is for it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/gpu/channel.hpp"
#include "model/gpu/clock.hpp"
#include "model/gpu/config.hpp"
#include "model/gpu/ticks.hpp"
#include "model/gpu/traffic.hpp"

namespace warpfold {

class InjectionPort;

// Which slice holds an address, and which ROP of it works on the sector.
struct SliceMap {
  explicit SliceMap(const GpuConfig& config)
      : slices(config.l2.slices),
        rops(config.l2.rops_per_slice),
        interleave(config.l2.interleave_bytes) {}
  [[nodiscard]] std::uint32_t slice(Address address) const;
  [[nodiscard]] std::uint32_t rop(Address address) const;
  std::uint32_t slices, rops;
  std::uint64_t interleave;
};

// Buffer in front of one slice, with the arbiter over the SMs. Owned by its slice.
class SliceIngress : public sc_core::sc_prim_channel {
 public:
  SliceIngress(const char* name, Clock& clock, const GpuConfig& config);
  void connect(Block& slice, const std::vector<InjectionPort*>& ports);

  // Port's side: its head waits for this slice. One request per port at a time.
  void request(std::uint32_t sm);
  // Slice's side: the transaction that has arrived by this cycle, or null.
  [[nodiscard]] const Transaction* arrived() const;
  void take() { arrivals_.pop_front(); }
  // Room of packets that a ROP has finished.
  void give_back(std::uint32_t packets);
  [[nodiscard]] bool empty() const { return arrivals_.empty() && waiting_count_ == 0; }

 private:
  void update() override;
  [[nodiscard]] std::uint32_t next_waiting(std::uint32_t from) const;

  struct Arrival {
    Cycle cycle;
    Transaction transaction;
  };
  Clock& clock_;
  const std::uint32_t latency_;
  Block* slice_ = nullptr;
  std::vector<InjectionPort*> ports_;
  std::vector<std::uint32_t> requested_;  // this cycle
  std::vector<bool> waiting_;
  std::uint32_t waiting_count_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t room_;
  std::uint32_t given_back_ = 0;
  std::deque<Arrival> arrivals_;
};

// Injection port of one SM. Owned by the SM.
class InjectionPort : public Block {
 public:
  InjectionPort(const sc_core::sc_module_name& name, Clock& clock, const GpuConfig& config,
                std::uint32_t sm);
  void connect(const SliceMap& map, std::vector<SliceIngress*> slices);

  Fifo<Transaction> queue;

  // Called by a slice in the update phase: the head leaves in this cycle.
  void grant();
  [[nodiscard]] const Transaction& head() const { return queue.front(); }
  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] Ticks busy() const { return busy_; }
  [[nodiscard]] bool idle() const { return !waiting_ && queue.empty(); }

 private:
  void tick() override;

  const std::uint32_t sm_;
  const Ticks packet_ticks_;
  const SliceMap* map_ = nullptr;
  std::vector<SliceIngress*> slices_;
  bool waiting_ = false;  // for the slice of the head
  bool granted_ = false;
  Cycle granted_in_ = 0;
  Ticks free_at_ = 0;
  Ticks busy_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace warpfold
