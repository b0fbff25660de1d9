// SPDX-License-Identifier: Apache-2.0
#include "model/cli/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <utility>

namespace warpfold::cli {
namespace {

// Before that much is done, or that many seconds have passed, what is left would be a guess.
constexpr double kLeastShare = 0.01;
constexpr double kLeastSeconds = 1.0;
// A line that changes more often cannot be read.
constexpr std::chrono::milliseconds kBetweenLines{100};

std::size_t columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 79U;
}

}  // namespace

std::string duration_text(double seconds) {
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  const long whole = std::lround(std::clamp(seconds, 0.0, 1e9));
  if (whole < kMinute) {
    return fmt::format("{} s", whole);
  }
  if (whole < kHour) {
    return fmt::format("{} min {} s", whole / kMinute, whole % kMinute);
  }
  return fmt::format("{} h {} min", whole / kHour, whole % kHour / kMinute);
}

ProgressLine::ProgressLine() : enabled_(::isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(double done, const std::string& text) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || (!shown_.empty() && now < shown_at_ + kBetweenLines)) {
    return;
  }
  shown_at_ = now;
  done = std::clamp(done, 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::string left;
  if (done >= kLeastShare && seconds >= kLeastSeconds) {
    left = fmt::format("{} left, ", duration_text(seconds * (1 - done) / done));
  }
  std::string line = fmt::format("{:3.0f} %  {}{}", done * 100, left, text);
  line.resize(std::min(line.size(), columns()));
  if (line != shown_) {
    std::cerr << "\r\x1b[K" << line << std::flush;
    shown_ = std::move(line);
  }
}

void ProgressLine::wipe() {
  if (!shown_.empty()) {
    std::cerr << "\r\x1b[K" << std::flush;
    shown_.clear();
  }
}

}  // namespace warpfold::cli
