// SPDX-License-Identifier: Apache-2.0
// Empties a launch's ring while the kernel runs, in a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
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
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  // Call once. `words`: what the device has given out; what is not there then never will be.
  // Returns false if some of it is missing.
  bool finish(std::uint64_t words) {
    end_.store(words);
    thread_.join();
    return read_ == words;
  }

 private:
  static constexpr std::size_t kBatchWords = std::size_t{1} << 18U;
  static constexpr std::size_t kMostRecordWords = kHeadWords + 64;
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};
  static constexpr int kPatience = 1'000'000;  // looks at the end of a ring that has an end

  void run() {
    int idle = 0;
    while (read_ != end_.load()) {
      if (take_record()) {
        idle = 0;
        if (batch_.size() >= kBatchWords) {
          flush();
        }
        continue;
      }
      flush();
      if (++idle > 64) {
        std::this_thread::yield();
      }
      if (end_.load() != kOpen && idle > kPatience) {
        break;
      }
    }
    flush();
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
    const std::uint32_t length =
        record_words(first, static_cast<std::uint32_t>(__builtin_popcount(lanes)));
    const std::uint32_t addresses = payload(first, lanes);
    for (std::uint32_t i = 0; i < addresses; ++i) {
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

  static std::uint32_t payload(std::uint32_t first, std::uint32_t lanes) {
    if ((first & kAddresses) == 0) {
      return 0;
    }
    return (first & kUniform) != 0 ? 1 : static_cast<std::uint32_t>(__builtin_popcount(lanes));
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
  }

  Connection& connection_;
  volatile std::uint32_t* words_;
  const std::uint64_t capacity_;
  volatile unsigned long long* tail_;
  std::vector<std::uint32_t> batch_;
  std::uint64_t read_ = 0;
  std::atomic<std::uint64_t> end_{kOpen};
  std::thread thread_;
};

}  // namespace warpfold::record
