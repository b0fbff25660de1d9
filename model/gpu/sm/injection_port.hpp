// SPDX-License-Identifier: Apache-2.0
// The injection port of an SM, through which its transactions go to the crossbar. Owned by the SM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/ticks.hpp"
#include "model/gpu/noc/boundary.hpp"
#include "model/gpu/noc/slice_map.hpp"
#include "model/gpu/sm/outlet.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/recorder.hpp"
#include "model/machine/config.hpp"

namespace warpfold {

// Whom an injection port tells what has left: its SM.
class PortOwner {
 public:
  virtual ~PortOwner() = default;
  // The last transaction of a RED of that CTA has left the SM.
  virtual void red_left(CtaContext& cta) = 0;
  // What a warp's load has asked the L2 for, by asker_of(), is there in that cycle, which is to
  // come.
  virtual void answer_load(std::uint64_t asker, Cycle due) = 0;
  // The answer to a transaction of a RED, by asker_of(), is there in that cycle, which is to come.
  virtual void answer_red(std::uint64_t /*asker*/, Cycle /*due*/) {}
  // Sectors of a line are there in that cycle, which is to come.
  virtual void fill(std::uint64_t /*line*/, std::uint32_t /*sectors*/, Cycle /*due*/) {}
};

enum class PortWork : std::uint8_t { kSends, kLoad, kWaits };

// Sends one flit per flit_cycles. A load takes an entry of the queue for each sector of a line.
class InjectionPort : public Block, public Injector {
 public:
  // `index`: the SM's. `way_back`: the L2 lies outside, and says when loads are
  // answered (Outside::way_back).
  InjectionPort(std::string name, Partition& partition, const GpuConfig& config,
                std::uint32_t index, Outlet& queue, PortOwner& owner,
                std::optional<Cycle> way_back = {});
  void connect(const SliceMap& map, std::vector<Entrance*> entrances);
  [[nodiscard]] Partition& partition() const override { return partition_; }

  void grant() override;
  void added(std::uint64_t warp) override { owner_.answer_red(warp, now() + answer_cycles_); }
  void sent(std::uint64_t line, std::uint32_t sectors) override;
  void loaded(std::uint64_t warp, Cycle due) override {
    --loads_out_;
    owner_.answer_load(warp, due);
  }
  // Loads that answer a warp and that an L2 outside has not answered.
  [[nodiscard]] std::uint64_t loads_out() const { return loads_out_; }
  void lose_grants(std::uint64_t grants) { lose_grants_ = grants; }
  [[nodiscard]] Transaction& head() override { return *head_; }
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
  [[nodiscard]] bool idle() const { return !waiting_ && queue_.idle(); }
  void record(SliceRecorder* slices) { slices_ = slices; }

 private:
  void tick() override;
  void take_sent();

  Partition& partition_;
  const std::uint32_t index_;
  Outlet& queue_;
  PortOwner& owner_;
  const Ticks flit_ticks_;
  const bool outside_;
  const Cycle load_latency_;
  const Cycle answer_cycles_;
  const Ticks return_ticks_;  // of a sector on its way back
  Ticks return_free_at_ = 0;
  // What has left the L2, in no certain order of the ports of one cycle.
  struct Sent {
    Cycle cycle = 0;
    std::uint64_t line = 0;
    std::uint32_t sectors = 0;
  };
  std::vector<Sent> sent_;
  const SliceMap* map_ = nullptr;
  std::vector<Entrance*> entrances_;
  bool waiting_ = false;         // for the L2 port of the head
  Transaction* head_ = nullptr;  // in the queue, where it stays until it is popped
  bool granted_ = false;
  std::uint64_t lose_grants_ = 0;
  Cycle granted_in_ = 0;
  Ticks free_at_ = 0;
  Ticks busy_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t flits_ = 0;
  std::uint64_t lone_words_ = 0;
  std::uint64_t load_flits_ = 0;
  std::uint64_t loads_out_ = 0;
  SliceRecorder* slices_ = nullptr;
  Cycle waiting_since_ = 0;
};

}  // namespace warpfold
