// SPDX-License-Identifier: Apache-2.0
// The ingress of an L2 port and the port itself, each between neighbours that are made up. Each
// case runs in a process of its own, since SystemC can run once in one.
#include "model/gpu/memory/l2_port.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/base/check.hpp"
#include "model/gpu/memory/dram_channel.hpp"
#include "model/gpu/memory/ingress.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/clock_driver.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint32_t kTurns = 32;
constexpr Address kBase = 0x7f0000000000;

GpuConfig small_gpu(std::uint32_t sms) {
  GpuConfig gpu = load_gpu("h200");
  gpu.sm.count = sms;
  gpu.l2.turn_spread = 0;
  return gpu;
}

// 32 lone words on one address, as one sum of so much.
Transaction lone_words(Address address, std::uint8_t slice = 0, float sum = 1) {
  Transaction transaction;
  transaction.reduced = true;
  transaction.data = std::bit_cast<Fp32Bits>(sum);
  transaction.address = address;
  transaction.slice = slice;
  transaction.sectors = sector_bit(address);
  transaction.turns = transaction.packets = transaction.lone_words = transaction.flits = kTurns;
  return transaction;
}

Transaction load() {
  Transaction transaction;
  transaction.load = true;
  return transaction;
}

// An SM that has transactions to send, the first from a cycle on and each of the others in the
// cycle after the one before it was let in.
class FakeSm : public Block, public Injector {
 public:
  FakeSm(Partition& partition, std::uint32_t index)
      : Block(fmt::format("sm{}", index), partition), partition_(partition), index_(index) {}
  void send(Entrance& entrance, Cycle from, std::vector<Transaction> transactions) {
    entrance_ = &entrance;
    transactions_ = std::move(transactions);
    wake_at(from);
    from_ = from;
  }
  // The cycles at whose ends its transactions were let in.
  [[nodiscard]] const std::vector<Cycle>& granted() const { return granted_; }

  // The cycles in which it was told that additions are done for which a warp waits, and of which.
  std::vector<std::pair<Cycle, std::uint64_t>> answered;
  void added(std::uint64_t warp) override { answered.emplace_back(now(), warp); }

  [[nodiscard]] Transaction& head() override { return transactions_[granted_.size()]; }
  void grant() override {
    granted_.push_back(now());
    waiting_ = false;
    wake_next();
  }
  [[nodiscard]] Partition& partition() const override { return partition_; }

 private:
  void tick() override {
    if (!waiting_ && now() >= from_ && granted_.size() < transactions_.size()) {
      waiting_ = true;
      entrance_->request(partition_, index_);
    }
  }

  Partition& partition_;
  const std::uint32_t index_;
  Entrance* entrance_ = nullptr;
  Cycle from_ = 0;
  bool waiting_ = false;
  std::vector<Transaction> transactions_;
  std::vector<Cycle> granted_;
};

// A port behind an ingress: takes what has arrived when it has, and gives room back when it is
// told.
class FakePort : public Block {
 public:
  FakePort(Partition& partition, const GpuConfig& gpu, ServiceOrder& order)
      : Block("port", partition), ingress(partition, gpu, order) {}
  void give_back(Cycle cycle, std::uint32_t room) {
    room_.emplace_back(cycle, room);
    wake_at(cycle);
  }

  SliceIngress ingress;
  std::vector<std::pair<Cycle, std::uint32_t>> arrived;  // when, and of which SM

 private:
  void tick() override {
    while (SliceIngress::Arrival* arrival = ingress.arrived()) {
      arrived.emplace_back(now(), arrival->sm);
      ingress.take();
    }
    for (const auto& [cycle, room] : room_) {
      if (cycle == now()) {
        ingress.give_back(room);
      }
    }
  }
  std::vector<std::pair<Cycle, std::uint32_t>> room_;
};

// A clock, SMs, and whatever they send to. Partitions: SMs in the first, the port in the last.
struct Bench {
  explicit Bench(std::uint32_t count, std::size_t partitions = 1)
      : gpu(small_gpu(count)), clock(partitions) {
    for (std::uint32_t i = 0; i < count; ++i) {
      sms.push_back(std::make_unique<FakeSm>(clock.partition(0), i));
    }
  }
  [[nodiscard]] std::vector<Injector*> injectors() const {
    std::vector<Injector*> all;
    for (const auto& sm : sms) {
      all.push_back(sm.get());
    }
    return all;
  }
  void run() { run_to_rest(clock, 1.0); }
  Partition& port_partition() { return clock.partition(clock.partitions() - 1); }

  GpuConfig gpu;
  Clock clock;
  std::vector<std::unique_ptr<FakeSm>> sms;
};

struct IngressBench : Bench {
  explicit IngressBench(std::uint32_t count, std::uint32_t input_sms, std::size_t partitions = 1)
      : Bench(count, partitions) {
    gpu.l2.input_sms = input_sms;
    gpu.l2.ingress_flits = kTurns / 2;  // room for one RED of lone words
    order = l2_order_rules().find("in-turn").make(gpu);
    port = std::make_unique<FakePort>(port_partition(), gpu, *order);
    port->ingress.connect(*port, injectors());
  }
  // Each SM sends a RED in cycle 10, and room for one comes back in each of these cycles: the cycle
  // in which each was let in.
  std::vector<Cycle> run_reds(const std::vector<Cycle>& room_in) {
    for (const auto& sm : sms) {
      std::vector<Transaction> one;
      one.push_back(lone_words(kBase));
      sm->send(port->ingress, 10, std::move(one));
    }
    for (const Cycle cycle : room_in) {
      port->give_back(cycle, kTurns);
    }
    run();
    std::vector<Cycle> cycles;
    for (const auto& sm : sms) {
      cycles.push_back(sm->granted().empty() ? 0 : sm->granted().front());
    }
    return cycles;
  }

  std::unique_ptr<ServiceOrder> order;
  std::unique_ptr<FakePort> port;
};

class Ingress : public testing::TestWithParam<std::size_t> {};

TEST_P(Ingress, LetsInAsSoonAsThereIsRoom) {
  IngressBench bench(3, 36, GetParam());
  EXPECT_EQ(bench.run_reds({50, 90}), (std::vector<Cycle>{10, 50, 90}));
  const Cycle way = bench.gpu.noc.latency;
  using Arrivals = std::vector<std::pair<Cycle, std::uint32_t>>;
  EXPECT_EQ(bench.port->arrived, (Arrivals{{10 + way, 0}, {50 + way, 1}, {90 + way, 2}}));
  EXPECT_TRUE(bench.port->ingress.empty());
  EXPECT_EQ(bench.port->ingress.room(), 0U);
}

TEST_P(Ingress, InputsTakeTurns) {
  IngressBench bench(4, 3, GetParam());
  EXPECT_EQ(bench.run_reds({50, 60, 70}), (std::vector<Cycle>{10, 60, 70, 50}));
}

INSTANTIATE_TEST_SUITE_P(Partitions, Ingress, testing::Values(1, 2));

TEST(SliceIngress, WhatDoesNotFitStopsAllBehindIt) {
  IngressBench bench(3, 36);
  std::vector<Transaction> whole, half;
  whole.push_back(lone_words(kBase));
  half.push_back(lone_words(kBase));
  half.back().turns = half.back().packets = half.back().lone_words = half.back().flits = 16;
  std::vector<Transaction> loads;
  loads.push_back(load());
  bench.sms[0]->send(bench.port->ingress, 10, std::move(half));
  bench.sms[1]->send(bench.port->ingress, 11, std::move(whole));
  bench.sms[2]->send(bench.port->ingress, 12, std::move(loads));
  bench.port->give_back(50, 15);  // half a flit too little
  bench.port->give_back(60, 1);
  bench.run();
  EXPECT_EQ(bench.sms[0]->granted(), std::vector<Cycle>{10});
  EXPECT_EQ(bench.sms[1]->granted(), std::vector<Cycle>{60});
  EXPECT_EQ(bench.sms[2]->granted(), std::vector<Cycle>{60});
}

TEST(SliceIngress, ALoadTakesNoRoomAndIsGone) {
  IngressBench bench(2, 36);
  std::vector<Transaction> reds, loads;
  reds.push_back(lone_words(kBase));
  loads.push_back(load());
  loads.push_back(load());
  bench.sms[0]->send(bench.port->ingress, 10, std::move(reds));
  bench.sms[1]->send(bench.port->ingress, 11, std::move(loads));
  bench.run();
  EXPECT_EQ(bench.sms[1]->granted(), (std::vector<Cycle>{11, 12}));
  EXPECT_EQ(bench.port->arrived.size(), 1U);
}

// Lets in SMs that do not wait.
class WrongOrder : public ServiceOrder {
  void waits(std::uint32_t /*sm*/, Cycle /*since*/) override {}
  [[nodiscard]] std::uint32_t next() const override { return 1; }
  void let_in(std::uint32_t /*sm*/) override {}
  [[nodiscard]] std::uint32_t queues() const override { return 1; }
  [[nodiscard]] std::uint32_t queue_of(std::uint32_t /*sm*/, std::uint32_t /*s*/) const override {
    return 0;
  }
};

TEST(SliceIngress, NoticesAnOrderThatIsWrong) {
  Bench bench(2);
  WrongOrder order;
  FakePort port(bench.port_partition(), bench.gpu, order);
  port.ingress.connect(port, bench.injectors());
  std::vector<Transaction> reds;
  reds.push_back(lone_words(kBase));
  bench.sms[0]->send(port.ingress, 10, std::move(reds));
  EXPECT_THROW(bench.run(), CheckError);
}

// Notes down what is asked of it; a line takes so long.
class FakeMemory : public MemoryBehind {
 public:
  explicit FakeMemory(Cycle latency) : latency_(latency) {}
  void write_back(Address line, Cycle now) override { log_.push_back({'w', line, now}); }
  Cycle read(Address line, Cycle now) override {
    log_.push_back({'r', line, now});
    return now + latency_;
  }
  struct Call {
    char what;
    Address line;
    Cycle now;
    bool operator==(const Call&) const = default;
  };
  [[nodiscard]] const std::vector<Call>& log() const { return log_; }

 private:
  const Cycle latency_;
  std::vector<Call> log_;
};

trace::Header header() {
  trace::Header header;
  header.sites.push_back({.name = "site",
                          .primitive_count = 1U << 16U,
                          .parameters = {{.name = "sum", .base = kBase, .stride_bytes = 4}},
                          .taken_path = ""});
  header.values = trace::ValueMode::kOperands;
  return header;
}

// A queue for each slice.
class BySlice : public ServiceOrder {
 public:
  void waits(std::uint32_t sm, Cycle /*since*/) override { waiting_.push_back(sm); }
  [[nodiscard]] std::uint32_t next() const override { return *std::ranges::min_element(waiting_); }
  void let_in(std::uint32_t sm) override { std::erase(waiting_, sm); }
  [[nodiscard]] std::uint32_t queues() const override { return 2; }
  [[nodiscard]] std::uint32_t queue_of(std::uint32_t /*sm*/, std::uint32_t s) const override {
    return s;
  }

 private:
  std::vector<std::uint32_t> waiting_;
};

const ServiceOrderRule kBySlice{.name = "by-slice",
                                .source = "this test",
                                .description = "One transaction of a slice after another.",
                                .make = [](const GpuConfig&) -> std::unique_ptr<ServiceOrder> {
                                  return std::make_unique<BySlice>();
                                }};

constexpr Cycle kMiss = 50;

struct PortBench : Bench {
  explicit PortBench(std::uint32_t count, Cycle miss = kMiss) : Bench(count), behind(miss) {}
  void build(const ServiceOrderRule& order = l2_order_rules().find("in-turn")) {
    port = std::make_unique<L2Port>(
        "port", clock.partition(0),
        L2Context{
            .config = gpu,
            .additions = {.addresses = addresses, .memory = memory, .sums = sums, .tally = tally},
            .order = order,
            .behind = behind,
            .map = *map,
            .merge_rows = merge_rows});
    port->ingress.connect(*port, injectors());
  }
  void send(std::uint32_t sm, Cycle from, Transaction transaction) {
    std::vector<Transaction> one;
    one.push_back(std::move(transaction));
    sms[sm]->send(port->ingress, from, std::move(one));
  }
  // The first cycle before which the float at kBase + offset has been added to.
  void watch(Address offset, Cycle& first) {
    sms[0]->wake_at(1000);  // the clock goes on for as long
    clock.sample_every(1, [this, offset, &first](Cycle cycle) {
      if (memory[offset / 4] != 0 && first == 0) {
        first = cycle;
      }
    });
  }
  // What is sent in cycle 10 arrives then.
  [[nodiscard]] Cycle arrival() const { return 10 + gpu.noc.latency; }

  AddressMap addresses{header()};
  std::vector<Fp32Bits> memory = std::vector<Fp32Bits>(1U << 16U);
  LineSumsPool sums;
  Tally tally;
  FakeMemory behind;
  std::unique_ptr<SliceMap> map = make_slice_map(gpu);
  std::uint32_t merge_rows = 0;
  std::unique_ptr<L2Port> port;
};

TEST(L2Port, AddsWhenTheLastTurnIsDone) {
  PortBench bench(1);
  bench.build();
  bench.port->warm(kBase);
  bench.send(0, 10, lone_words(kBase, 0, 3));
  Cycle added = 0;
  bench.watch(0, added);
  bench.run();
  // 32 x 3.49 = 111.7: in the 112th cycle from its arrival on, so that it shows before the 113th.
  EXPECT_EQ(added, bench.arrival() + 112);
  EXPECT_EQ(bench.port->stats().last_done, bench.arrival() + 112);
  EXPECT_EQ(bench.memory[0], std::bit_cast<Fp32Bits>(3.0F));
  EXPECT_EQ(bench.port->stats().hits, 1U);
  EXPECT_EQ(bench.port->stats().rop_ops, 32U);
  EXPECT_TRUE(bench.port->empty());
  EXPECT_TRUE(bench.behind.log().empty());
}

TEST(L2Port, TellsAnSmOfAdditionsForWhichAWarpWaits) {
  PortBench bench(2);
  bench.build();
  bench.port->warm(kBase);
  Transaction waited_for = lone_words(kBase);
  waited_for.subcore = 2;
  waited_for.answers = 5;
  bench.send(0, 10, std::move(waited_for));
  bench.send(1, 400, lone_words(kBase));
  bench.run();
  // 32 x 3.49 = 111.7: they are done in the 111th cycle after that of their arrival.
  using Answers = std::vector<std::pair<Cycle, std::uint64_t>>;
  EXPECT_EQ(bench.sms[0]->answered, (Answers{{bench.arrival() + 111, 0x205}}));
  EXPECT_TRUE(bench.sms[1]->answered.empty());
}

// A sum of each of two SMs to one word.
TEST(L2Port, MergesWhatArrivesAndAnswersOnceItHasBeenAccepted) {
  PortBench bench(2);
  bench.merge_rows = 8;
  bench.build();
  bench.port->warm(kBase);
  Transaction waited_for = lone_words(kBase, 0, 3);
  waited_for.mask = 1;
  waited_for.answers = 5;
  bench.send(0, 10, std::move(waited_for));
  Transaction other = lone_words(kBase, 0, 4);
  other.mask = 1;
  bench.send(1, 200, std::move(other));
  bench.sms[0]->wake_at(500);
  bool looked = false;
  bench.clock.sample_every(500, [&bench, &looked](Cycle) {
    looked = true;
    EXPECT_EQ(bench.port->stats().rop_ops, 0U);  // it keeps its sums
    EXPECT_EQ(bench.port->ingress.taken(), 0U);  // and has given back the room
    EXPECT_FALSE(bench.port->empty());
  });
  bench.run();
  using Answers = std::vector<std::pair<Cycle, std::uint64_t>>;
  EXPECT_EQ(bench.sms[0]->answered, (Answers{{bench.arrival(), 5}}));
  EXPECT_TRUE(looked);
  EXPECT_EQ(bench.port->stats().packets, 2U * kTurns);
  EXPECT_EQ(bench.memory[0], 0U);
}

TEST(L2Port, AMissWaitsForItsLineAndWhoeverWantsIt) {
  PortBench bench(2);
  bench.build();
  bench.send(0, 10, lone_words(kBase + 640));
  bench.send(1, 30, lone_words(kBase + 704));
  Cycle added = 0;
  bench.watch(704, added);
  bench.run();
  EXPECT_EQ(bench.behind.log(),
            (std::vector<FakeMemory::Call>{{'r', kBase + 640, bench.arrival()}}));
  // Two sectors of a slice at the same time, from when the line is there.
  EXPECT_EQ(bench.port->stats().last_done, bench.arrival() + kMiss + 112);
  EXPECT_EQ(added, bench.arrival() + kMiss + 112);
  EXPECT_EQ(bench.port->stats().misses, 1U);
  EXPECT_EQ(bench.port->stats().hits, 1U);
}

TEST(L2Port, WritesTheEvictedLineBackBeforeItReads) {
  PortBench bench(2);
  bench.gpu.l2.ways = 1;
  bench.gpu.l2.bytes = std::uint64_t{bench.gpu.l2.line_bytes} * bench.gpu.l2.ports();
  bench.build();
  bench.send(0, 10, lone_words(kBase + 256));
  bench.send(1, 40, lone_words(kBase + 1024 + 4));
  bench.run();
  const Cycle second = bench.arrival() + 30;
  EXPECT_EQ(bench.behind.log(), (std::vector<FakeMemory::Call>{{'r', kBase + 256, bench.arrival()},
                                                               {'w', kBase + 256, second},
                                                               {'r', kBase + 1024, second}}));
  EXPECT_EQ(bench.port->stats().evictions, 1U);
}

TEST(L2Port, GivesRoomBackWhenTheAdditionsAreDone) {
  PortBench bench(2);
  bench.gpu.l2.ingress_flits = kTurns / 2;
  bench.build();
  bench.port->warm(kBase);
  bench.send(0, 10, lone_words(kBase));
  bench.send(1, 11, lone_words(kBase));
  bench.run();
  // In the cycle in which the last turn ends, and so does not show before the next.
  EXPECT_EQ(bench.sms[1]->granted(), std::vector<Cycle>{bench.arrival() + 111});
}

// Two REDs of two SMs on different sectors of a slice, and one of a third on the other slice.
Cycle cycles_of_three(const ServiceOrderRule& order) {
  PortBench bench(3);
  bench.build(order);
  bench.port->warm(kBase);
  bench.port->warm(kBase + 128);
  bench.send(0, 10, lone_words(kBase));
  bench.send(1, 10, lone_words(kBase + 32));
  bench.send(2, 10, lone_words(kBase + 128, 1));
  bench.run();
  EXPECT_EQ(bench.memory[0], std::bit_cast<Fp32Bits>(1.0F));
  EXPECT_EQ(bench.memory[8], std::bit_cast<Fp32Bits>(1.0F));
  EXPECT_EQ(bench.memory[32], std::bit_cast<Fp32Bits>(1.0F));
  return bench.port->stats().last_done - bench.arrival();
}

TEST(L2Port, SmsWithQueuesOfTheirOwnAreServedTogether) {
  EXPECT_EQ(cycles_of_three(l2_order_rules().find("in-turn")), 112U);
}

TEST(L2Port, WhatSharesAQueueIsServedOneAfterTheOther) {
  EXPECT_EQ(cycles_of_three(kBySlice), 224U);  // 64 x 3.49 = 223.4
}

TEST(L2Port, NoticesMemoryThatIsEarly) {
  PortBench bench(1, 0);
  bench.build();
  bench.send(0, 10, lone_words(kBase));
  EXPECT_THROW(bench.run(), CheckError);
}

TEST(L2Port, SaysForWhatItWaits) {
  PortBench bench(1);
  bench.build();
  EXPECT_EQ(bench.port->waits(), "");
  bench.send(0, 10, lone_words(kBase));
  std::string waits;
  const Cycle when = bench.arrival() + 1;
  bench.clock.sample_every(
      when, [&](Cycle cycle) { waits = cycle == when ? bench.port->waits() : waits; });
  bench.run();
  EXPECT_EQ(waits,
            "port serves 0 transactions, 1 wait for DRAM and 0 SMs for its 752 flits of room");
}

}  // namespace
}  // namespace warpfold::test
