// SPDX-License-Identifier: Apache-2.0
// An ARC unit that takes the time that it is told, and notes when it is clocked.
#pragma once

#include <optional>

#include "model/unit/arc_unit.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {

// Accepts a request in its so-manyth cycle, reads all its lanes in the next one and has the sum so
// many cycles after that, then the next word's; or sends the lanes as a RED as it accepts them.
struct FakeUnitPlan {
  int accept = 1;
  int sum = 1;
  bool as_red = false;
  bool reads_twice = false;  // a fault
  std::uint32_t cycles_to_rest = 3;
};

struct FakeUnitLog {
  Cycles clocked;
  Cycles seen;  // requests, each for the first time
};

class FakeUnit : public ArcUnit {
 public:
  FakeUnit(const Domain& domain, const FakeUnitPlan& plan, FakeUnitLog& log)
      : domain_(domain), plan_(plan), log_(log) {}

  void reset() override {
    waited_ = 0;
    held_.reset();
  }
  UnitOutputs tick(const UnitInputs& inputs) override {
    log_.clocked.push_back(domain_.now());
    UnitOutputs outputs;
    if (held_) {
      work(inputs, outputs);
    }
    if (inputs.req_valid) {
      look_at(inputs, outputs);
    }
    outputs.busy = busy();
    return outputs;
  }
  [[nodiscard]] Ports ports() const override {
    return {.operands = 2, .max_words = 16, .cycles_to_rest = plan_.cycles_to_rest};
  }
  [[nodiscard]] bool busy() const override { return held_.has_value(); }

 private:
  struct Held {
    Tag tag;
    LaneMask mask;
    Address address;
    int age;  // cycles since it has been accepted, or since the last sum
    std::uint32_t words;
    std::uint32_t word = 0;
  };

  void look_at(const UnitInputs& inputs, UnitOutputs& outputs) {
    if (waited_ == 0) {
      log_.seen.push_back(domain_.now());
    }
    if (++waited_ < plan_.accept || held_ || (plan_.as_red && !inputs.lsu_room)) {
      return;
    }
    waited_ = 0;
    outputs.req_ready = true;
    if (plan_.as_red) {
      outputs.lsu_valid = true;
      outputs.lsu_last = true;
      outputs.lsu_addr = inputs.req_addr[0];
      outputs.lsu_mask = inputs.req_mask;
      outputs.lsu_tag = inputs.req_tag;
      return;
    }
    held_ = {.tag = inputs.req_tag,
             .mask = inputs.req_mask,
             .address = inputs.req_addr[0],
             .age = 0,
             .words = inputs.req_words};
  }
  void work(const UnitInputs& inputs, UnitOutputs& outputs) {
    ++held_->age;
    if (held_->age == 1 || (plan_.reads_twice && held_->age == 2)) {
      ask_for(outputs, held_->mask, held_->tag);
      outputs.rf_word = held_->word;
    } else if (held_->age > plan_.sum) {
      offer_sum(outputs, held_->address, 0x40000000 + held_->word, held_->tag);
      outputs.lsu_word = held_->word;
      outputs.lsu_last = held_->word + 1 == held_->words;
      if (!inputs.lsu_room) {
        return;
      }
      if (outputs.lsu_last) {
        held_.reset();
      } else {
        ++held_->word;
        held_->age = 0;
      }
    }
  }

  const Domain& domain_;
  const FakeUnitPlan plan_;
  FakeUnitLog& log_;
  int waited_ = 0;
  std::optional<Held> held_;
};

}  // namespace warpfold::test
