// SPDX-License-Identifier: Apache-2.0
// A port of an L2 that lies outside, on the GPU's side. It lets SMs in as the GPU's own does, and
// asks outside for what has crossed the crossbar:
//
//   a load       a read of its sector
//   additions    a read of the sectors from the first to the last that it adds to, which says what
//                is to be added. Where the answer says that this is done, it is done. Else the port
//                adds to what it has read and writes it back
//
// What it adds to a line while that line is read or written it adds to what it has of it, so that
// nothing gets lost, and writes a line once at a time. Room comes back, and the additions count,
// when all is answered. Owned by the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/gpu/memory/ingress.hpp"
#include "model/gpu/memory/l2_port.hpp"
#include "model/gpu/memory/outside.hpp"
#include "model/gpu/memory/rop_adder.hpp"
#include "model/gpu/memory/service_order.hpp"
#include "model/kernel/clock.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

class L2Link final : public Block, private Asker {
  const std::unique_ptr<ServiceOrder> order_;  // in front of the ingress, which has it

 public:
  struct Context {
    const GpuConfig& config;
    RopAdder::Context additions;
    const ServiceOrderRule& order;
    WayOut& out;
    Cycle way_back;  // Outside::way_back
  };
  L2Link(std::string name, Partition& partition, const Context& context);

  SliceIngress ingress;
  void connect(const std::vector<Injector*>& injectors);
  [[nodiscard]] const L2Stats& stats() const { return stats_; }
  // What it has to do, and for what that waits, or nothing.
  [[nodiscard]] std::string waits() const;
  [[nodiscard]] bool empty() const { return ingress.empty() && pending_count_ == 0; }

 private:
  struct Pending {
    SliceIngress::Arrival arrival;
    Address first = 0;       // that it reads
    std::uint32_t load = 0;  // in loads_, of a load
  };
  // A load of a warp, which comes as several requests in a row; the last names the warp.
  struct Load {
    std::uint32_t left = 0;  // not answered
    bool named = false;
    std::uint64_t asker = 0;
  };
  // What is known of a line of which something is read or written.
  struct Line {
    std::array<std::uint8_t, kLineBytes> data{};
    std::uint32_t known = 0;              // sectors of which it has the data
    std::uint32_t dirty = 0;              // that are to be written
    std::uint32_t reads = 0, writes = 0;  // under way
    bool added_outside = false;
    std::vector<std::uint32_t> waiting, written;  // pending, for the next write and for this one
  };
  // An answer that is known before its cycle.
  struct Due {
    OutsideAnswer answer;
    std::vector<std::uint8_t> data;
  };

  void tick() override;
  void answered(const OutsideAnswer& answer) override;
  void take(const OutsideAnswer& answer);
  void send(SliceIngress::Arrival& arrival);
  void begin_load(Pending& pending);
  void end_load(const Pending& pending);
  void read(const OutsideAnswer& answer);
  void add(Line& line, std::uint32_t pending, const OutsideAnswer& answer);
  void write(Address address, Line& line);
  void wrote(Address address, const OutsideAnswer& answer);
  void finish(std::uint32_t pending, Cycle from);

  WayOut& out_;
  const Cycle way_back_;
  const RopAdder::Context additions_;
  RopAdder adder_;
  std::vector<Injector*> injectors_;
  std::vector<Pending> pending_;  // by OutsideRequest::id
  std::vector<std::uint32_t> free_;
  std::size_t pending_count_ = 0;
  std::vector<Load> loads_;
  std::vector<std::uint32_t> free_loads_;
  std::vector<std::uint32_t> open_load_;  // by SM: the one whose last request has not come, or none
  std::unordered_map<Address, Line> lines_;
  std::multimap<Cycle, Due> due_;
  std::vector<Addition> list_;
  L2Stats stats_;
};

}  // namespace warpfold
