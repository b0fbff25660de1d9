// SPDX-License-Identifier: Apache-2.0
// What every unit bench needs: a seed, and a Verilated module with or without a clock. A failed RTL
// assertion ends the process, which fails the test.
#pragma once

#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "model/unit/rtl_coverage.hpp"

namespace warpfold::bench {

// Seed of a random test: WARPFOLD_SEED, or a fixed default. Printed, so that a failure can be
// rerun.
inline std::uint64_t seed() {
  const char* text = std::getenv("WARPFOLD_SEED");
  const std::uint64_t value = text != nullptr ? std::strtoull(text, nullptr, 0) : 20250330U;
  std::printf("WARPFOLD_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

using Rng = std::mt19937_64;

// True with a probability of percent in 100.
inline bool chance(Rng& rng, unsigned percent) {
  return rng() % 100 < percent;
}

// A combinational module: set inputs of `top`, settle(), read outputs.
template <typename Top>
class Dut {
 public:
  Dut() {
    context_->randReset(2);
    context_->randSeed(1);
    top_ = std::make_unique<Top>(context_.get(), "top");
  }
  ~Dut() {
    top_->final();
    collect_coverage(*context_, *top_);
  }
  Dut(const Dut&) = delete;
  Dut& operator=(const Dut&) = delete;

  Top* operator->() { return top_.get(); }
  void settle() { top_->eval(); }

 private:
  // Order matters: the module refers to its context until it is gone.
  std::unique_ptr<VerilatedContext> context_ = std::make_unique<VerilatedContext>();
  std::unique_ptr<Top> top_;
};

// A module with clk_i and rst_ni. Inputs set after an edge belong to the new cycle; settle() shows
// the outputs of that cycle; edge() ends it.
template <typename Top>
class ClockedDut : public Dut<Top> {
 public:
  // Inputs must have been set to an idle state.
  void reset() {
    auto& top = *this;
    top->clk_i = 0;
    top->rst_ni = 1;
    this->settle();
    top->rst_ni = 0;
    this->settle();
    edge();
    top->rst_ni = 1;
    this->settle();
    cycle_ = 0;
  }
  void edge() {
    auto& top = *this;
    top->clk_i = 1;
    this->settle();
    top->clk_i = 0;
    this->settle();
    ++cycle_;
  }
  std::uint64_t cycle() const { return cycle_; }

 private:
  std::uint64_t cycle_ = 0;
};

}  // namespace warpfold::bench
