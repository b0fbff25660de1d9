// SPDX-License-Identifier: Apache-2.0
// Automatic choice of ARC-SW's balancing threshold while a program runs, after ARC (ASPLOS '25),
// section 5.5.3: one iteration of the gradient kernel is run with every candidate, the fastest is
// used from then on, and this is repeated every `period` iterations (2,000 in ARC). Host only;
// header only; C++17; no CUDA needed.
//
//     warpfold::ReduceArcTuner tuner(warpfold::balancing_thresholds(), 2000);
//     for (...) {
//       forward();
//       const int threshold = tuner.run(
//           [&] { clear_gradients(); },                      // before each launch, not timed
//           [&](int threshold) { launch(threshold); },       // the gradient kernel
//           [&](auto&& work) { return milliseconds(work); });
//       optimizer_step();
//     }
//
// After run() the gradients are those of one launch: in an iteration that tries the candidates,
// those of the last one. What the functions throw passes through run(), after which the tuner must
// not be used.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace warpfold {

// All values of the threshold with an effect: 0 reduces always, 32 where all lanes are active.
inline std::vector<int> balancing_thresholds() {
  std::vector<int> thresholds;
  for (int threshold = 0; threshold <= 32; ++threshold) {
    thresholds.push_back(threshold);
  }
  return thresholds;
}

// `Choice` is what a launch is told: a threshold, or a policy with its threshold.
template <class Choice>
class ReduceArcTuner {
 public:
  // Throws std::invalid_argument where there is nothing to choose from, or no period.
  ReduceArcTuner(std::vector<Choice> candidates, std::size_t period)
      : candidates_(std::move(candidates)), period_(period) {
    if (candidates_.empty() || period_ == 0) {
      throw std::invalid_argument("ReduceArcTuner: no candidates or no period");
    }
  }

  // One iteration. `prepare()` clears the gradients; `launch(choice)` starts the gradient kernel;
  // `time(work)` runs work(), waits for its end on the GPU and returns what it took. The choice in
  // use is returned. Of equal times the first candidate's counts.
  template <class Prepare, class Launch, class Time>
  const Choice& run(Prepare&& prepare, Launch&& launch, Time&& time) {
    if (iteration_++ % period_ != 0) {
      prepare();
      launch(candidates_[best_]);
      return candidates_[best_];
    }
    best_time_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      prepare();
      const double taken = static_cast<double>(time([&] { launch(candidates_[i]); }));
      if (taken < best_time_) {
        best_time_ = taken;
        best_ = i;
      }
    }
    ++rounds_;
    return candidates_[best_];
  }

  // Of the last iteration that tried the candidates; before the first: the first candidate.
  [[nodiscard]] const Choice& best() const { return candidates_[best_]; }
  [[nodiscard]] double best_time() const { return best_time_; }
  [[nodiscard]] std::size_t rounds() const { return rounds_; }

 private:
  std::vector<Choice> candidates_;
  std::size_t period_;
  std::size_t iteration_ = 0;
  std::size_t best_ = 0;
  std::size_t rounds_ = 0;
  double best_time_ = std::numeric_limits<double>::infinity();
};

}  // namespace warpfold
