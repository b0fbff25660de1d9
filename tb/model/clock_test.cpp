// SPDX-License-Identifier: Apache-2.0
// The clock by itself: a token that goes round a ring of blocks in all partitions. Each case runs
// in a process of its own, since SystemC can run once in one.
#include "model/kernel/clock.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/base/check.hpp"
#include "model/kernel/channel.hpp"
#include "model/results/process_pool.hpp"

// The SystemC library asks for this entry, which a program that has its own main() never reaches.
int sc_main(int, char**) {
  return 0;
}

namespace warpfold {
namespace {

// Hands a token on in the cycle in which it comes, until it has been handed on so often.
class Station : public Block {
 public:
  Station(const sc_core::sc_module_name& name, Partition& partition, std::uint64_t fails_at)
      : Block(name, partition), partition_(partition), fails_at_(fails_at) {
    tokens.bind(*this);
  }
  void begin(Station& next, std::uint64_t hops, bool holds_it) {
    next_ = &next;
    hops_ = hops;
    if (holds_it) {
      wake_at(1);
      starts_ = true;
    }
  }
  [[nodiscard]] Cycle last() const { return last_; }

  Mailbox<std::uint64_t> tokens;  // how often it has been handed on

 private:
  void tick() override {
    if (starts_) {
      starts_ = false;
      pass(0);
    }
    tokens.take([this](std::uint64_t hops) { pass(hops); });
    mail_taken();
  }
  void pass(std::uint64_t hops) {
    last_ = now();
    ARC_CHECK(hops != fails_at_, fmt::format("the token broke in cycle {}", now()));
    if (hops < hops_) {
      partition_.tell(next_->partition_, *next_, hops + 1,
                      [](Station& next, std::uint64_t done) { next.tokens.post(done); });
    }
  }

  Partition& partition_;
  const std::uint64_t fails_at_;
  Station* next_ = nullptr;
  std::uint64_t hops_ = 0;
  bool starts_ = false;
  Cycle last_ = 0;
};

struct Ring {
  std::size_t threads = 1;
  std::uint64_t stations = 7;
  std::uint64_t hops = 5000;
  std::uint64_t fails_at = ~std::uint64_t{0};
  bool reference = false;
};

// Cycle in which the token came to rest; in `events` the samples that were taken on the way.
RunResult run(const Ring& ring) {
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  Clock clock("clock", 1.0, ring.threads, ring.reference);
  std::vector<std::unique_ptr<Station>> stations;
  for (std::uint64_t i = 0; i < ring.stations; ++i) {
    stations.push_back(std::make_unique<Station>(fmt::format("station{}", i).c_str(),
                                                 clock.partition(i % clock.partitions()),
                                                 ring.fails_at));
  }
  for (std::uint64_t i = 0; i < ring.stations; ++i) {
    stations[i]->begin(*stations[(i + 1) % ring.stations], ring.hops, i == 0);
  }
  RunResult result;
  clock.sample_every(100, [&](Cycle cycle) {
    // Stands still while samples are taken: the token was passed on in the cycle before.
    Cycle last = 0;
    for (const auto& station : stations) {
      last = std::max(last, station->last());
    }
    result.events += last + 1 == cycle ? 1U : 0U;
  });
  clock.stop_when([&] {
    return std::any_of(stations.begin(), stations.end(),
                       [&](const auto& station) { return station->last() > ring.hops; });
  });
  sc_core::sc_start();
  clock.rethrow_failure();
  for (const auto& station : stations) {
    result.cycles = std::max<std::uint64_t>(result.cycles, station->last());
  }
  return result;
}

PoolOutcome outcome_of(const Ring& ring) {
  return run_pool(
             {{.name = "ring", .work = [ring](const auto&) { return run(ring); }, .prepare = {}}},
             {.jobs = 1, .progress = {}})
      .front();
}

TEST(Clock, AHopTakesOneCycleWithinAPartitionAndAcross) {
  for (const std::size_t threads : {1U, 2U, 3U, 7U}) {
    for (const bool reference : {false, true}) {
      const PoolOutcome outcome =
          outcome_of({.threads = reference ? 1 : threads, .reference = reference});
      ASSERT_TRUE(outcome.result) << outcome.error;
      EXPECT_EQ(outcome.result->cycles, 5001U) << threads;
      EXPECT_EQ(outcome.result->events, 50U) << threads;
    }
  }
}

TEST(Clock, AFailureInAnyPartitionEndsTheRun) {
  for (const std::size_t threads : {1U, 3U, 0U}) {         // 0: the reference
    for (const std::uint64_t hops : {300U, 301U, 302U}) {  // in each of the partitions
      const PoolOutcome outcome = outcome_of({.threads = std::max<std::size_t>(threads, 1),
                                              .fails_at = hops,
                                              .reference = threads == 0});
      EXPECT_FALSE(outcome.result);
      EXPECT_NE(outcome.error.find(fmt::format("the token broke in cycle {}", hops + 1)),
                std::string::npos)
          << outcome.error;
    }
  }
}

}  // namespace
}  // namespace warpfold
