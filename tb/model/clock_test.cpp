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
#include "model/kernel/clock_driver.hpp"
#include "model/results/process_pool.hpp"

namespace warpfold {
namespace {

struct Ring {
  std::size_t threads = 1;
  std::uint64_t stations = 7;
  std::uint64_t hops = 5000;
  std::uint64_t fails_at = ~std::uint64_t{0};
  bool reference = false;
  Cycle first = 1;  // that anything happens
  Cycle rest = 0;   // that a station keeps the token

  [[nodiscard]] Cycle last() const { return first + hops * (1 + rest); }
};

// Hands a token on, until it has been handed on so often.
class Station : public Block {
 public:
  Station(std::string name, Partition& partition, const Ring& ring)
      : Block(std::move(name), partition), partition_(partition), ring_(ring) {
    tokens.bind(*this);
  }
  void begin(Station& next, bool holds_it) {
    next_ = &next;
    if (holds_it) {
      keep(0, ring_.first);
    }
  }
  [[nodiscard]] Cycle last() const { return last_; }

  Mailbox<std::uint64_t> tokens;  // how often it has been handed on

 private:
  void tick() override {
    tokens.take([this](std::uint64_t hops) { keep(hops, now() + ring_.rest); });
    mail_taken();
    if (pass_at_ == now()) {
      pass(kept_);
    }
  }
  void keep(std::uint64_t hops, Cycle until) {
    kept_ = hops;
    pass_at_ = until;
    if (until > now()) {
      wake_at(until);
    }
  }
  void pass(std::uint64_t hops) {
    last_ = now();
    ARC_CHECK(hops != ring_.fails_at, fmt::format("the token broke in cycle {}", now()));
    if (hops < ring_.hops) {
      partition_.tell(next_->partition_, *next_, hops + 1,
                      [](Station& next, std::uint64_t done) { next.tokens.post(done); });
    }
  }

  Partition& partition_;
  const Ring& ring_;
  Station* next_ = nullptr;
  std::uint64_t kept_ = 0;
  Cycle pass_at_ = kNever;
  Cycle last_ = 0;
};

// Cycle in which the token came to rest; in `events` the samples that were taken on the way.
RunResult run(const Ring& ring) {
  Clock clock(ring.threads, ring.reference);
  std::vector<std::unique_ptr<Station>> stations;
  for (std::uint64_t i = 0; i < ring.stations; ++i) {
    stations.push_back(std::make_unique<Station>(fmt::format("station{}", i),
                                                 clock.partition(i % clock.partitions()), ring));
  }
  for (std::uint64_t i = 0; i < ring.stations; ++i) {
    stations[i]->begin(*stations[(i + 1) % ring.stations], i == 0);
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
                       [&](const auto& station) { return station->last() == ring.last(); });
  });
  run_to_rest(clock, 1.0);
  for (const auto& station : stations) {
    result.cycles = std::max<std::uint64_t>(result.cycles, station->last());
  }
  ARC_CHECK(
      ring.reference || sc_core::sc_time_stamp() ==
                            sc_core::sc_time(static_cast<double>(result.cycles), sc_core::SC_NS),
      "SystemC's time is another than the cycles'");
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

TEST(Clock, CyclesInWhichNobodyHasAnythingToDoPassAllTheSame) {
  for (const std::size_t threads : {1U, 2U, 3U, 7U}) {
    const PoolOutcome outcome =
        outcome_of({.threads = threads, .hops = 50, .first = 99, .rest = 99});
    ASSERT_TRUE(outcome.result) << outcome.error;
    EXPECT_EQ(outcome.result->cycles, 5099U) << threads;
    EXPECT_EQ(outcome.result->events, 50U) << threads;
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
