// SPDX-License-Identifier: Apache-2.0
// The parts of the memory side that have no clock, by numbers: tags, queues, the DRAM channel, the
// order of SMs, the map of addresses.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/gpu/memory/dram_channel.hpp"
#include "model/gpu/memory/l2_tags.hpp"
#include "model/gpu/memory/service_order.hpp"
#include "model/gpu/memory/transaction_queues.hpp"
#include "model/gpu/noc/slice_map.hpp"

namespace warpfold::test {
namespace {

TEST(Tags, EvictTheLeastRecentlyUsedLine) {
  L2Tags tags(2 * 128, 2, 128);  // one set of two ways
  const Address a = 0, b = 1024, c = 2048;
  EXPECT_FALSE(tags.access(a).hit);
  EXPECT_FALSE(tags.access(b).evicted);
  EXPECT_TRUE(tags.access(a).hit);
  const L2Tags::Access miss = tags.access(c);
  EXPECT_FALSE(miss.hit);
  EXPECT_TRUE(miss.evicted);  // b
  EXPECT_EQ(miss.victim, b);
  EXPECT_TRUE(tags.access(a).hit);
  EXPECT_FALSE(tags.access(b).hit);
}

TEST(Tags, AreOfLinesNotBytes) {
  L2Tags tags(4 * 128, 4, 128);
  EXPECT_FALSE(tags.access(130).hit);
  EXPECT_TRUE(tags.access(128).hit);
  EXPECT_TRUE(tags.access(255).hit);
  EXPECT_FALSE(tags.access(127).hit);
  EXPECT_FALSE(tags.access(256).hit);
}

TEST(Tags, NameTheVictimByItsFirstByte) {
  L2Tags tags(128, 1, 128);
  EXPECT_FALSE(tags.access(1000).evicted);
  const L2Tags::Access miss = tags.access(5000);
  EXPECT_TRUE(miss.evicted);
  EXPECT_EQ(miss.victim, 896U);
}

Transaction to(Address address) {
  Transaction transaction;
  transaction.address = address;
  return transaction;
}

TEST(Queues, KeepTheirOrderAndWhoseItIs) {
  TransactionQueues queues(2);
  for (std::uint32_t i = 0; i < 3; ++i) {
    queues.push(0, 10 + i, to(100 + i));
    queues.push(1, 20 + i, to(200 + i));
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(queues.size(1), 3 - i);
    EXPECT_EQ(queues.front(1).address, 200 + i);
    EXPECT_EQ(queues.sm(1), 20 + i);
    queues.pop(1);
  }
  EXPECT_EQ(queues.size(1), 0U);
  EXPECT_EQ(queues.size(0), 3U);
  EXPECT_EQ(queues.front(0).address, 100U);
}

TEST(Queues, ShareTheirStore) {
  TransactionQueues queues(8);
  for (std::uint32_t round = 0; round < 4; ++round) {
    queues.push(round, 0, to(round));
    queues.push(7 - round, 1, to(round));
    EXPECT_EQ(queues.front(round).address, round);
    queues.pop(round);
    queues.pop(7 - round);
  }
  EXPECT_EQ(queues.store_size(), 2U);
}

// Lines that take two cycles each.
GpuConfig slow_dram() {
  GpuConfig gpu = load_gpu("h200");
  gpu.l2.dram_bytes_per_cycle = gpu.l2.line_bytes * gpu.l2.ports() / 2.0;
  gpu.l2.dram_latency = 300;
  return gpu;
}

TEST(Dram, ALineTakesItsTransferAndTheLatency) {
  DramChannel dram(slow_dram());
  EXPECT_EQ(dram.read(0, 1000), 1000U + 2 + 300);
  // The next follows it without a pause, and one that comes later does not wait.
  EXPECT_EQ(dram.read(128, 1001), 1000U + 4 + 300);
  EXPECT_EQ(dram.read(256, 1004), 1004U + 2 + 300);
}

TEST(Dram, AWriteBackTakesTheChannelToo) {
  DramChannel dram(slow_dram());
  dram.write_back(0, 1000);
  EXPECT_EQ(dram.read(128, 1000), 1000U + 4 + 300);
}

std::vector<std::uint32_t> order_of(ServiceOrder& order, const std::vector<std::uint32_t>& sms) {
  for (const std::uint32_t sm : sms) {
    order.waits(sm, 1);
  }
  std::vector<std::uint32_t> let_in;
  for (std::size_t i = 0; i < sms.size(); ++i) {
    let_in.push_back(order.next());
    order.let_in(let_in.back());
  }
  return let_in;
}

using Sms = std::vector<std::uint32_t>;

std::unique_ptr<ServiceOrder> in_turn(std::uint32_t sms, std::uint32_t input_sms) {
  GpuConfig gpu = load_gpu("h200");
  gpu.sm.count = sms;
  gpu.l2.input_sms = input_sms;
  return l2_order_rules().find("in-turn").make(gpu);
}

TEST(InTurn, TheSmsOfAnInputTakeTurns) {
  const auto order = in_turn(100, 100);
  EXPECT_EQ(order_of(*order, {70, 3, 99, 64, 0, 63}), (Sms{0, 3, 63, 64, 70, 99}));
  EXPECT_EQ(order_of(*order, {5, 9}), (Sms{5, 9}));
  EXPECT_EQ(order_of(*order, {5, 10, 9}), (Sms{10, 5, 9}));  // it goes on behind 9
}

TEST(InTurn, TheInputsOfAPortTakeTurns) {
  const auto order = in_turn(8, 3);  // 0 to 2, 3 to 5, 6 and 7
  EXPECT_EQ(order_of(*order, {0, 1, 2, 3, 4, 7}), (Sms{0, 3, 7, 1, 4, 2}));
  // It goes on with the second input, and there with the last SM.
  EXPECT_EQ(order_of(*order, {0, 3, 5}), (Sms{5, 0, 3}));
}

TEST(InTurn, EverySmHasAQueue) {
  const auto order = in_turn(8, 3);
  EXPECT_EQ(order->queues(), 8U);
  EXPECT_EQ(order->queue_of(5, 1), 5U);
  EXPECT_EQ(order->queue_of(5, 0), 5U);
}

TEST(Rules, AnUnknownOneIsNamedWithThoseThatAreThere) {
  GpuConfig gpu = load_gpu("h200");
  gpu.rules.slice_map.name = "nonsense";
  try {
    static_cast<void>(make_slice_map(gpu));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "unknown rules.slice_map 'nonsense': known are hashed");
  }
}

// Every slice has its share of any few KB in a row, as seen on an H200: classes of 80 to 88 pieces
// of 256 bytes in 2 MB.
TEST(SliceMaps, SlicesHaveEvenShares) {
  constexpr Address kBase = 0x7f0000000000;
  const auto map = make_slice_map(load_gpu("h200"));
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> pieces;
  for (Address a = 0; a < (2U << 20U); a += 256) {
    const SliceMap::Place place = map->place(kBase + a);
    ++pieces[{place.port, place.slice}];
  }
  EXPECT_EQ(pieces.size(), 96U);
  for (const auto& [place, count] : pieces) {
    EXPECT_GE(count, 80);
    EXPECT_LE(count, 90);
  }
}

TEST(SliceMaps, APieceLiesInOneSliceAndTheNextInTheOtherOfItsGroup) {
  const GpuConfig gpu = load_gpu("h200");
  const auto map = make_slice_map(gpu);
  const auto slice = [&](Address address) {
    const SliceMap::Place place = map->place(address);
    return std::pair(place.port, place.slice);
  };
  for (Address piece = 0; piece < 64 * Address{gpu.l2.interleave_bytes};
       piece += gpu.l2.interleave_bytes) {
    const Address half = gpu.l2.slice_bytes;
    EXPECT_EQ(slice(piece), slice(piece + half - 1));
    EXPECT_NE(slice(piece).first, slice(piece + half).first);  // behind another port
    EXPECT_NE(slice(piece).second, slice(piece + half).second);
    EXPECT_EQ(slice(piece), slice(piece + 2 * half));
    EXPECT_EQ(slice(piece + half), slice(piece + 3 * half));
  }
}

}  // namespace
}  // namespace warpfold::test
