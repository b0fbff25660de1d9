// SPDX-License-Identifier: Apache-2.0
// Empties a context's ring while kernels run, in a thread of its own. It looks at the ring only
// while somebody uses it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "traces/record/inject/connection.hpp"
#include "traces/record/protocol.hpp"

namespace warpfold::record {

class RingReader {
 public:
  // `words`: `capacity` words that the device writes, all 0. `tail`: where the device reads how far
  // it has been read. Both live as long as the reader.
  RingReader(Connection& connection, volatile std::uint32_t* words, std::uint64_t capacity,
             volatile unsigned long long* tail)
      : connection_(connection), words_(words), capacity_(capacity), tail_(tail) {
    batch_.reserve(kBatchWords + kMostRecordWords);
    thread_ = std::thread([this] { run(); });
  }
  ~RingReader() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  // A launch begins that writes into the ring.
  void begin() {
    {
      const std::lock_guard lock(mutex_);
      ++users_;
    }
    wake_.notify_all();
  }
  // It has ended. `words`: what the device has given out by then. Comes back when all that is on
  // its way to `warpfold record`; false if some of it stays away for `patience`.
  bool end(std::uint64_t words, std::chrono::milliseconds patience) {
    bool whole = true;
    auto waited_until = std::chrono::steady_clock::now() + patience;
    for (std::uint64_t seen = sent_; whole && sent_ < words; std::this_thread::yield()) {
      const auto now = std::chrono::steady_clock::now();
      if (sent_ != seen) {
        seen = sent_;
        waited_until = now + patience;
      }
      whole = now < waited_until;
    }
    const std::lock_guard lock(mutex_);
    --users_;
    return whole;
  }
  // Words that were read so far.
  [[nodiscard]] std::uint64_t read() const { return sent_; }

 private:
  static constexpr std::size_t kBatchWords = std::size_t{1} << 18U;
  static constexpr std::size_t kMostRecordWords = kHeadWords + 64;

  void run() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopped_ || users_ > 0; });
        if (stopped_) {
          return;
        }
      }
      for (int idle = 0; idle < kLooks;) {
        if (take_record()) {
          idle = 0;
          if (batch_.size() >= kBatchWords) {
            flush();
          }
          continue;
        }
        flush();
        if (++idle > kLooks / 16) {
          std::this_thread::yield();
        }
      }
    }
  }

  // False if the next record is not whole yet.
  bool take_record() {
    const std::uint64_t mask = capacity_ - 1;
    volatile std::uint32_t* head = words_ + (read_ & mask);
    const std::uint32_t first = head[0];
    const std::uint32_t lanes = head[3];
    if (first == 0 || head[1] == 0 || head[2] == 0 || lanes == 0) {
      return false;
    }
    const auto count = static_cast<std::uint32_t>(__builtin_popcount(lanes));
    const std::uint32_t length = record_words(first, count);
    const std::uint32_t payload = plain_payload(first, count);
    for (std::uint32_t i = 0; i < payload; ++i) {
      const volatile std::uint32_t* high = words_ + ((read_ + kHeadWords + 2 * i + 1) & mask);
      if ((*high & static_cast<std::uint32_t>(kAddressTag >> 32U)) == 0) {
        return false;
      }
    }
    for (std::uint32_t i = 0; i < length; ++i) {
      volatile std::uint32_t& word = words_[(read_ + i) & mask];
      batch_.push_back(std::uint32_t{word});
      word = 0;
    }
    read_ += length;
    return true;
  }

  // Sends what was read, and gives its room back.
  void flush() {
    if (batch_.empty()) {
      return;
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *tail_ = read_;
    connection_.send(Message::kRecords, batch_.data(), batch_.size() * sizeof(std::uint32_t));
    batch_.clear();
    sent_ = read_;
  }

  static constexpr int kLooks = 1024;  // at a ring without a record, before users are counted again

  Connection& connection_;
  volatile std::uint32_t* words_;
  const std::uint64_t capacity_;
  volatile unsigned long long* tail_;
  std::vector<std::uint32_t> batch_;
  std::uint64_t read_ = 0;  // the thread's own
  std::atomic<std::uint64_t> sent_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  int users_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace warpfold::record
