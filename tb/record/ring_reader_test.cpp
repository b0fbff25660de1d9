// SPDX-License-Identifier: Apache-2.0
// The ring is emptied while it is written, in order and whole, many times around.
#include "traces/record/inject/ring_reader.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

namespace warpfold::record::test {
namespace {

// The other side of a connection.
class Listener {
 public:
  Listener() {
    path_ = std::filesystem::temp_directory_path() / ("ring-" + std::to_string(getpid()));
    std::filesystem::remove(path_);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, path_.c_str());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    setenv(kSocketVariable, path_.c_str(), 1);
  }
  ~Listener() {
    ::close(socket_);
    std::filesystem::remove(path_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  // Takes one connection and reads all words that come until it is closed.
  void collect() {
    thread_ = std::thread([this] {
      const int peer = ::accept(socket_, nullptr, nullptr);
      MessageHead head{};
      while (read_all(peer, &head, sizeof head)) {
        EXPECT_EQ(head.kind, Message::kRecords);
        const std::size_t before = words.size();
        words.resize(before + head.bytes / sizeof(std::uint32_t));
        read_all(peer, words.data() + before, head.bytes);
      }
      ::close(peer);
    });
  }
  void join() { thread_.join(); }
  std::vector<std::uint32_t> words;

 private:
  static bool read_all(int peer, void* data, std::size_t bytes) {
    auto* at = static_cast<char*>(data);
    while (bytes > 0) {
      const ssize_t got = ::read(peer, at, bytes);
      if (got <= 0) {
        return false;
      }
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  std::filesystem::path path_;
  int socket_ = -1;
  std::thread thread_;
};

TEST(RingReader, EveryRecordComesOnceAndInOrder) {
  constexpr std::uint64_t kCapacity = 1U << 12U;
  std::vector<std::uint32_t> ring(kCapacity, 0);
  volatile unsigned long long tail = 0;
  Listener listener;
  listener.collect();
  std::vector<std::uint32_t> written;
  std::uint64_t at = 0;
  {
    Connection connection;
    ASSERT_TRUE(connection.open());
    RingReader reader(connection, ring.data(), kCapacity, &tail);
    reader.begin();
    std::mt19937 generator(7);
    const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
    for (std::uint32_t i = 1; i <= 20000; ++i) {
      const std::uint32_t lanes = random() | 1U;
      const bool adds = random() % 3 == 0;
      const std::uint32_t first = 3U | (adds ? kAddresses : 0U);
      const auto count = static_cast<std::uint32_t>(std::popcount(lanes));
      const std::uint32_t length = record_words(first, count);
      while (at + length > tail + kCapacity) {
        std::this_thread::yield();
      }
      // Payload and head in no order that a reader could rely on.
      std::vector<std::uint32_t> record(length, 0);
      record[0] = first;
      record[1] = i;
      record[2] = 1;
      record[3] = lanes;
      for (std::uint32_t k = 0; adds && k < count; ++k) {
        record[kHeadWords + 2 * k] = random();
        record[kHeadWords + 2 * k + 1] = 0x80000000U | random() >> 16U;
      }
      // An address is one store, as is each word of the head.
      const auto store = [&](std::uint32_t k) {
        std::uint32_t* place = &ring[(at + k) % kCapacity];
        std::atomic_ref(*place).store(record[k], std::memory_order_relaxed);
      };
      const auto store_address = [&](std::uint32_t k) {
        std::uint64_t word = 0;
        std::memcpy(&word, &record[k], sizeof word);
        auto* place = reinterpret_cast<std::uint64_t*>(&ring[(at + k) % kCapacity]);
        std::atomic_ref(*place).store(word, std::memory_order_relaxed);
      };
      for (std::uint32_t k = 0; k < kHeadWords; ++k) {
        store(i % 2 == 0 ? k : kHeadWords - 1 - k);
      }
      for (std::uint32_t k = kHeadWords; k < length; k += 2) {
        store_address(i % 3 == 0 ? k : length + kHeadWords - 2 - k);
      }
      written.insert(written.end(), record.begin(), record.end());
      at += length;
    }
    EXPECT_TRUE(reader.end(at, std::chrono::seconds(20)));
  }
  listener.join();
  EXPECT_GT(at, 20 * kCapacity);
  EXPECT_EQ(listener.words, written);
}

TEST(RingReader, SaysWhatIsMissingAtTheEnd) {
  std::vector<std::uint32_t> ring(256, 0);
  volatile unsigned long long tail = 0;
  Connection nobody;
  RingReader reader(nobody, ring.data(), ring.size(), &tail);
  reader.begin();
  EXPECT_FALSE(reader.end(4, std::chrono::milliseconds(50)));
}

}  // namespace
}  // namespace warpfold::record::test
