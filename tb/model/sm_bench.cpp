// SPDX-License-Identifier: Apache-2.0
#include "tb/model/sm_bench.hpp"

#include "model/kernel/clock_driver.hpp"

namespace warpfold::test {

void Wheel::tick() {
  if (inside.steps() != nullptr) {
    return;  // what lies within is clocked beside it
  }
  const bool rests = now() >= rests_from_ && now() < rests_until_;
  if (outlet_ != nullptr) {
    outlet_->set_behind(rests);
  }
  if (rests) {
    wake_at(rests_until_);
    return;
  }
  Cycle next = next_cycle();
  while (next <= now() + ahead_) {
    if (outlet_ != nullptr) {
      outlet_->begin(next);
    }
    inside.evaluate(next);
    inside.update();
    next = next_cycle();
  }
  if (next != kNever) {
    wake_at(std::max(now() + 1, next - ahead_));
  }
}

SmBench::SmBench(Clocking clocking, const SmallTrace& made_up)
    : trace(made_up),
      addresses(trace.header),
      clock(1, clocking == Clocking::kReference),
      wheel(clock.partition(0)),
      reference_(clocking == Clocking::kReference) {}

const SmContext& SmBench::context(const std::string& policy) {
  timing_ = std::make_unique<PolicyTiming>(trace.header, gpu, parse_policy(policy));
  context_ = std::make_unique<SmContext>(SmContext{.config = gpu,
                                                   .timing = *timing_,
                                                   .addresses = addresses,
                                                   .buffer = buffer,
                                                   .merge_rows = 0,
                                                   .sums = sums,
                                                   .tally = tally,
                                                   .reference = reference_,
                                                   .index = 0,
                                                   .resident_ctas = 1,
                                                   .quantum = 1});
  return *context_;
}

CtaContext& SmBench::cta(std::size_t index) {
  ctas_.push_back(store.add(trace.ctas[index]));
  ctas_.back()->sequence = index;
  return *ctas_.back();
}

void SmBench::note_growth(std::function<std::size_t()> count, Cycles& cycles) {
  growth_.emplace_back(std::move(count), &cycles);
}

void SmBench::run(Cycle until) {
  const Partition& partition = clock.partition(0);
  wheel.wake_at(until);
  clock.stop_when([&partition, until] { return partition.now() >= until; });
  clock.sample_every(1, [this](Cycle cycle) {
    for (auto& [count, cycles] : growth_) {
      cycles->resize(std::max(cycles->size(), count()), cycle - 1);
    }
  });
  run_to_rest(clock, 1.0);
}

}  // namespace warpfold::test
