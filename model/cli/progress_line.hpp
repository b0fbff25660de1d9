// SPDX-License-Identifier: Apache-2.0
// How far a long command is, on the terminal.
#pragma once

#include <chrono>
#include <string>

namespace warpfold::cli {

// A line on stderr that is overwritten as work goes on and wiped at the end. Not there at all where
// stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { wipe(); }

  [[nodiscard]] bool enabled() const { return enabled_; }
  // `done` is the share of the work that is done, 0 to 1; `text` says what is being worked on. Also
  // shows the time that is left if the rest goes as fast as what is done.
  void show(double done, const std::string& text);
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_at_ = Clock::time_point::min();
  std::string shown_;
};

// "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace warpfold::cli
