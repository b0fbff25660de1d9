// SPDX-License-Identifier: Apache-2.0
// Addresses become arrays, strides and primitives; the address of each lane comes back from them.
#include "traces/record/host/sites.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tb/record/ring_words.hpp"

namespace warpfold::record::test {
namespace {

constexpr LaunchShape kOneWarp{.ctas = 1, .warps_per_cta = 1, .every = 1};

// Events of one run of instructions 0, 1, ...: for each event, for each instruction the addresses.
struct Launch {
  KernelCode code;
  RingWords words;
  std::size_t instructions;

  explicit Launch(std::size_t count) : code(straight_code(count + 2)), instructions(count) {
    for (std::size_t at = 0; at < count; ++at) {
      make_red(code, at);
    }
    words.enter();
  }
  void event(std::uint32_t lanes, const std::vector<std::vector<std::uint64_t>>& addresses) {
    for (std::size_t at = 0; at < instructions; ++at) {
      words.red(static_cast<std::uint32_t>(at), lanes, addresses[at]);
    }
  }
  Sites find() {
    words.exit(static_cast<std::uint32_t>(instructions + 1));
    LaunchTracker tracker(code, kOneWarp);
    tracker.add(words.words());
    tracker.finish();
    std::vector<LogRecord> events;
    for (const LogRecord& record : tracker.warp(0, 0)) {
      if (record.kind == LogRecord::Kind::kEvent) {
        events.push_back(record);
      }
    }
    return find_sites(code, tracker, events);
  }
};

TEST(Sites, OneInstructionHasTheStrideThatItsAddressesShare) {
  Launch launch(1);
  launch.event(0x7U, {{0x1000, 0x1018, 0x1030}});
  launch.event(kAll, {{0x1048}});
  const Sites sites = launch.find();
  ASSERT_EQ(sites.sites.size(), 1U);
  EXPECT_EQ(sites.sites[0].parameters[0].base, 0x1000U);
  EXPECT_EQ(sites.sites[0].parameters[0].stride_bytes, 0x18U);
  EXPECT_EQ(sites.sites[0].primitive_count, 4U);
  EXPECT_EQ(sites.runs[0][0].primitive(0x1048), 3U);
}

TEST(Sites, InstructionsInAStraightLineAreParametersOfOneSite) {
  // Nine gradients of a Gaussian in four arrays.
  Launch launch(9);
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t g = random() % 1000;
    std::vector<std::vector<std::uint64_t>> addresses;
    for (const std::uint64_t c : {0U, 1U, 2U}) {
      addresses.push_back({0x100000 + 12 * g + 4 * c});
    }
    for (const std::uint64_t c : {0U, 1U}) {
      addresses.push_back({0x200000 + 8 * g + 4 * c});
    }
    for (const std::uint64_t c : {0U, 1U, 3U}) {
      addresses.push_back({0x300000 + 16 * g + 4 * c});
    }
    addresses.push_back({0x400000 + 4 * g});
    launch.event(0xff00ffU, addresses);
  }
  const Sites sites = launch.find();
  ASSERT_EQ(sites.sites.size(), 1U);
  const trace::Site& site = sites.sites[0];
  ASSERT_EQ(site.parameters.size(), 9U);
  EXPECT_EQ(site.parameters[0].stride_bytes / site.parameters[8].stride_bytes, 3U);
  EXPECT_EQ(site.parameters[5].base - site.parameters[6].base, std::uint64_t{0} - 4);
}

TEST(Sites, InstructionsThatAreNotAreSitesOfTheirOwn) {
  Launch launch(2);
  launch.event(0x3U, {{0x1000, 0x1004}, {0x2000, 0x2004}});
  launch.event(0x3U, {{0x1008, 0x1010}, {0x2004, 0x2020}});
  const Sites sites = launch.find();
  ASSERT_EQ(sites.sites.size(), 2U);
  ASSERT_EQ(sites.runs[0].size(), 2U);
  EXPECT_EQ(sites.runs[0][1].instructions, (std::vector<std::size_t>{1}));
}

TEST(Sites, AConstantAddressDoesNotGoWithOneThatMoves) {
  Launch launch(2);
  launch.event(kAll, {{0x1000}, {0x2000}});
  launch.event(kAll, {{0x1000}, {0x2008}});
  EXPECT_EQ(launch.find().sites.size(), 2U);
}

TEST(Sites, ParametersThatWouldShareAnAddressAreApart) {
  // Neighbours: x[i] and x[i + 1].
  Launch launch(2);
  for (const std::uint64_t i : {0U, 1U, 5U}) {
    launch.event(kAll, {{0x1000 + 4 * i}, {0x1004 + 4 * i}});
  }
  EXPECT_EQ(launch.find().sites.size(), 2U);
}

TEST(Sites, AVectorIsAParameterForEachWord) {
  Launch launch(1);
  make_red(launch.code, 0, trace::ValueType::kF32, 4);
  launch.event(0x3U, {{0x1000, 0x1040}});
  const Sites sites = launch.find();
  ASSERT_EQ(sites.sites[0].parameters.size(), 4U);
  EXPECT_EQ(sites.sites[0].words, 4U);
  EXPECT_EQ(sites.sites[0].parameters[3].base, 0x100cU);
  EXPECT_EQ(sites.sites[0].parameters[3].stride_bytes, 0x40U);
}

// Nine gradients of a struct of twelve floats: the narrower instruction comes last, or is a site of
// its own.
TEST(Sites, VectorsOfOneWidthGoTogetherWithANarrowerOneAtTheEnd) {
  for (const bool last : {true, false}) {
    Launch launch(3);
    const std::vector<std::uint64_t> offsets =
        last ? std::vector<std::uint64_t>{0, 16, 32} : std::vector<std::uint64_t>{32, 0, 16};
    for (std::size_t at = 0; at < 3; ++at) {
      make_red(launch.code, at, trace::ValueType::kF32, offsets[at] == 32 ? 1 : 4);
    }
    for (const std::uint64_t i : {0U, 3U, 5U}) {
      launch.event(kAll, {{0x1000 + 48 * i + offsets[0]},
                          {0x1000 + 48 * i + offsets[1]},
                          {0x1000 + 48 * i + offsets[2]}});
    }
    const Sites sites = launch.find();
    ASSERT_EQ(sites.sites.size(), last ? 1U : 2U);
    EXPECT_EQ(sites.sites.back().words, 4U);
    EXPECT_EQ(sites.sites.back().parameters.size(), last ? 9U : 8U);
    EXPECT_EQ(sites.sites.front().words, last ? 4U : 1U);
  }
}

TEST(Sites, OfARowEachElementIsAPrimitive) {
  KernelCode code = straight_code(8);
  make_row(code, 2, trace::ValueType::kF64);
  RingWords words;
  words.enter().row(2, 1U, 0x1040, 20).row(2, 1U, 0x1000, 20).exit(5);
  LaunchTracker tracker(code, kOneWarp);
  tracker.add(words.words());
  tracker.finish();
  std::vector<LogRecord> events;
  for (const LogRecord& record : tracker.warp(0, 0)) {
    if (record.kind == LogRecord::Kind::kEvent) {
      events.push_back(record);
    }
  }
  const Sites sites = find_sites(code, tracker, events);
  ASSERT_EQ(sites.sites.size(), 1U);
  EXPECT_EQ(sites.sites[0].kind, trace::SiteKind::kBulk);
  EXPECT_EQ(sites.sites[0].parameters.at(0).base, 0x1000U);
  EXPECT_EQ(sites.sites[0].parameters.at(0).stride_bytes, 8U);
  EXPECT_EQ(sites.sites[0].primitive_count, (0x40U + 320U) / 8U);
}

TEST(Sites, DoublesAreEightBytesApart) {
  Launch launch(1);
  make_red(launch.code, 0, trace::ValueType::kF64);
  launch.event(kAll, {{0x1000}});
  const Sites sites = launch.find();
  EXPECT_EQ(sites.sites[0].parameters[0].stride_bytes, 8U);
  EXPECT_EQ(sites.sites[0].type, trace::ValueType::kF64);
}

}  // namespace
}  // namespace warpfold::record::test
