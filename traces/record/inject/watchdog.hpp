// SPDX-License-Identifier: Apache-2.0
// Tells `warpfold record` what the recorder waits for where that takes too long: the driver, the
// GPU, an answer. What goes on meanwhile, such as records that come, is progress, and is waited for
// as long as it lasts.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "traces/record/inject/connection.hpp"
#include "traces/record/inject/json_text.hpp"

namespace warpfold::record {

class Watchdog {
  struct Entry {
    std::string what;
    std::chrono::steady_clock::time_point since;
    bool told = false;
  };

 public:
  using Clock = std::chrono::steady_clock;

  // `progress`: a number that changes as long as something goes on.
  Watchdog(Connection& connection, std::chrono::milliseconds patience,
           std::function<std::uint64_t()> progress)
      : connection_(connection), patience_(patience), progress_(std::move(progress)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // While it lives the recorder waits for that.
  class Wait {
   public:
    Wait(Watchdog& watchdog, std::string what) : watchdog_(watchdog) {
      const std::lock_guard lock(watchdog.mutex_);
      entry_ = watchdog.waits_.insert(watchdog.waits_.end(),
                                      {.what = std::move(what), .since = Clock::now()});
    }
    ~Wait() {
      const std::lock_guard lock(watchdog_.mutex_);
      watchdog_.waits_.erase(entry_);
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    Watchdog& watchdog_;
    std::list<Entry>::iterator entry_;
  };

 private:
  void run() {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = 0;
    auto moved = Clock::now();
    while (!wake_.wait_for(lock, patience_ / 8, [this] { return stopped_; })) {
      const auto now = Clock::now();
      if (const std::uint64_t progress = progress_(); progress != seen) {
        seen = progress;
        moved = now;
      }
      for (Entry& entry : waits_) {
        const auto waited = now - std::max(entry.since, moved);
        if (!entry.told && waited > patience_) {
          entry.told = true;
          const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
          connection_.send(
              Message::kStuck,
              JsonText::object().text("what", entry.what).number("seconds", seconds).dump());
        }
      }
    }
  }

  Connection& connection_;
  const std::chrono::milliseconds patience_;
  const std::function<std::uint64_t()> progress_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Entry> waits_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace warpfold::record
