// SPDX-License-Identifier: Apache-2.0
// What a RED or a load comes to, by numbers: transactions, flits, and what each takes of the pipe.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "model/gpu/sm/red_splitter.hpp"
#include "tb/model/sm_bench.hpp"

namespace warpfold::test {
namespace {

constexpr Ticks kMin = 535;    // 2.09 cycles
constexpr Ticks kFlit = 261;   // 1.02
constexpr Ticks kChange = 31;  // 0.12
constexpr Ticks kWord = 259;   // 1.01

struct Part {
  std::uint8_t sectors;
  std::uint16_t turns, packets, flits, lone_words;
  Ticks occupancy;
  bool operator==(const Part&) const = default;
};
void PrintTo(const Part& part, std::ostream* out) {
  *out << "{sectors " << unsigned{part.sectors} << ", " << part.turns << " turns, " << part.packets
       << " packets, " << part.flits << " flits, " << part.lone_words << " lone, " << part.occupancy
       << " ticks}";
}
using Parts = std::vector<Part>;

// The primitives of a RED, a lane each: `distinct` ones, so many floats apart.
std::vector<std::uint32_t> floats(std::uint32_t lanes, std::uint32_t step, std::uint32_t distinct) {
  std::vector<std::uint32_t> primitives;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    primitives.push_back(lane % distinct * step);
  }
  return primitives;
}

SmallTrace one_event(std::vector<std::uint32_t> primitives) {
  SmallTrace trace(1, 1, 1, 4096, 4);
  const LaneMask mask = primitives.size() == kLanes ? ~0U : (LaneMask{1} << primitives.size()) - 1;
  primitives.resize(kLanes);
  trace.event(0, 0, mask, primitives);
  return trace;
}

enum class Sums : std::uint8_t { kNone, kSoftware };

// Of one event whose lanes add to these floats.
class SplitBench : public SmBench {
 public:
  explicit SplitBench(std::vector<std::uint32_t> primitives, bool buffered = false,
                      const std::string& packets = "")
      : SmBench(Clocking::kGated, one_event(std::move(primitives))) {
    gpu.rules.packets.name = packets;
    if (buffered) {
      buffer = {.bytes = 1024, .ways = 1, .line_bytes = 32, .queue_depth = 4};
    }
    splitter = std::make_unique<RedSplitter>(context());
    whole = &cta();
  }
  Parts split(Sums sums_of = Sums::kNone) {
    MemOp op;
    op.kind = sums_of == Sums::kSoftware ? MemOpKind::kReduced : MemOpKind::kRed;
    op.mask = whole->trace.warps[0].records[0].mask;
    op.event = {.cta = CtaHold::of(*whole)};
    splitter->split(op);
    EXPECT_FALSE(op.event.cta);
    return parts();
  }
  Parts parts() {
    Parts all;
    for (std::size_t i = 0; i < splitter->count(); ++i) {
      const Transaction& t = splitter->at(i);
      all.push_back({.sectors = t.sectors,
                     .turns = t.turns,
                     .packets = t.packets,
                     .flits = t.flits,
                     .lone_words = t.lone_words,
                     .occupancy = splitter->occupancy(i)});
    }
    return all;
  }
  std::unique_ptr<RedSplitter> splitter;
  CtaContext* whole = nullptr;
};

struct SplitCase {
  const char* name;
  std::vector<std::uint32_t> primitives;
  Parts parts;
  bool buffered = false;
  Sums sums = Sums::kNone;
  const char* packets = "";
};
void PrintTo(const SplitCase& one, std::ostream* out) {
  *out << one.name;
}

class Split : public testing::TestWithParam<SplitCase> {};

TEST_P(Split, ComesToTheseTransactions) {
  SplitBench bench(GetParam().primitives, GetParam().buffered, GetParam().packets);
  EXPECT_EQ(bench.split(GetParam().sums), GetParam().parts);
}

Parts repeated(std::size_t times, const Part& part) {
  return {times, part};
}
// The last one holds the pipe for what is left of the least that a RED takes.
const Part kLoneWord{1, 1, 1, 1, 1, kFlit};

INSTANTIATE_TEST_SUITE_P(
    RedSplitter, Split,
    testing::Values(
        SplitCase{"one_lane", {0}, {{1, 1, 1, 1, 1, kMin}}},
        SplitCase{"one_word", floats(32, 0, 1), {{1, 32, 32, 32, 32, 32 * kFlit}}},
        SplitCase{"another_line", {0, 0, 0, 32}, {{1, 3, 3, 3, 3, 3 * kFlit}, kLoneWord}},
        SplitCase{"lines", floats(32, 32, 32), repeated(32, kLoneWord)},
        // A head and the sectors of the line, in each pass.
        SplitCase{"two_words", floats(2, 1, 2), {{1, 1, 1, 2, 0, kMin}}},
        SplitCase{"a_line", floats(32, 1, 32), {{0xf, 1, 4, 5, 0, 5 * kFlit}}},
        SplitCase{"two_sectors_16_times", floats(32, 8, 2), {{3, 16, 32, 48, 0, 48 * kFlit}}},
        SplitCase{"eight_lines_of_sectors", floats(32, 8, 32),
                  repeated(8, {0xf, 1, 4, 5, 0, 5 * kFlit})},
        // Turns of another kind are a transaction of their own.
        SplitCase{"two_words_then_one_twice",
                  {7, 7, 7, 6},
                  {{1, 1, 1, 2, 0, 2 * kFlit}, {1, 2, 2, 2, 2, 2 * kFlit}}},
        SplitCase{"three_sectors_two_one",
                  {0, 0, 0, 8, 8, 16},
                  {{7, 1, 3, 4, 0, 4 * kFlit}, {3, 1, 2, 3, 0, 3 * kFlit}, kLoneWord}},
        // Passes over two lines: in all but the first of the second line a change.
        SplitCase{"two_lines_twice",
                  {0, 0, 32, 32},
                  {{1, 2, 2, 2, 2, 2 * kFlit}, {1, 2, 2, 2, 2, 2 * kFlit + kChange}}},
        SplitCase{"sums_of_two_sectors",
                  floats(32, 1, 16),
                  {{3, 1, 2, 3, 0, 3 * kFlit}},
                  false,
                  Sums::kSoftware},
        SplitCase{"one_sum", floats(32, 0, 1), {{1, 1, 1, 1, 1, kMin}}, false, Sums::kSoftware},
        // By sector, for a buffer: the first has the head.
        SplitCase{"a_line_by_sector",
                  floats(32, 1, 32),
                  {{1, 1, 1, 2, 0, 2 * kFlit},
                   {2, 1, 1, 1, 0, kFlit},
                   {4, 1, 1, 1, 0, kFlit},
                   {8, 1, 1, 1, 0, kFlit}},
                  true},
        // Without heads: a lane on each of 4 sectors 4 flits, 16 lanes on each of 2 words 16, and
        // lanes on one word as many as ever.
        SplitCase{"a_line_without_head",
                  floats(32, 1, 32),
                  {{0xf, 1, 4, 4, 0, 4 * kFlit}},
                  false,
                  Sums::kNone,
                  "flit-a-sector"},
        SplitCase{"two_words_16_times_without_heads",
                  floats(32, 1, 2),
                  {{1, 16, 16, 16, 0, 16 * kFlit}},
                  false,
                  Sums::kNone,
                  "flit-a-sector"},
        SplitCase{"one_word_without_heads",
                  floats(32, 0, 1),
                  {{1, 32, 32, 32, 32, 32 * kFlit}},
                  false,
                  Sums::kNone,
                  "flit-a-sector"},
        SplitCase{"by_sector_without_heads",
                  floats(16, 1, 16),
                  {{1, 1, 1, 1, 0, kFlit}, {2, 1, 1, 1, 0, kMin - kFlit}},
                  true,
                  Sums::kNone,
                  "flit-a-sector"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(RedSplitter, LanesGoWithTheTurnsInWhichTheyAdd) {
  SplitBench bench({7, 7, 7, 6});
  bench.split();
  EXPECT_EQ(bench.splitter->at(0).mask, 0b1001U);
  EXPECT_EQ(bench.splitter->at(1).mask, 0b0110U);
  EXPECT_FALSE(bench.splitter->at(0).whole);
  EXPECT_TRUE(bench.splitter->at(0).event.cta);
  EXPECT_TRUE(bench.splitter->at(1).event.cta);
}

TEST(RedSplitter, ALineIsWholeWhereNoWordIsLeftOut) {
  SplitBench bench(floats(32, 1, 32));
  bench.split();
  EXPECT_TRUE(bench.splitter->at(0).whole);
}

TEST(RedSplitter, SumsAreFormedByPrimitive) {
  SplitBench bench({3, 5, 3, 5, 3});
  bench.split(Sums::kSoftware);
  const Transaction& sent = bench.splitter->at(0);
  EXPECT_TRUE(sent.partial);
  EXPECT_EQ(sent.mask, 0b101000U);
  const LineSums sums = bench.sums.take(sent.data);
  const std::uint64_t seed = synthetic_seed({});
  const auto value = [&](std::uint32_t lane) {
    return std::bit_cast<float>(synthetic_value(seed, 0, lane));
  };
  EXPECT_EQ(std::bit_cast<float>(sums[3]), value(0) + value(2) + value(4));
  EXPECT_EQ(std::bit_cast<float>(sums[5]), value(1) + value(3));
  EXPECT_EQ(bench.tally.software_reduced, 2U);
}

TEST(RedSplitter, ALoadIsTheSectorsOfALineOfWhichTheLastAnswers) {
  SplitBench bench({0});
  MemOp op;
  op.kind = MemOpKind::kLoad;
  op.warp_slot = 6;
  op.lsu_ticks = to_ticks(8);
  op.address = 0x1280;
  bench.splitter->split_load(op, 2);
  ASSERT_EQ(bench.splitter->count(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(bench.splitter->at(i).load);
    EXPECT_EQ(bench.splitter->at(i).address, 0x1280U);
    EXPECT_EQ(bench.splitter->at(i).subcore, 2U);
    EXPECT_EQ(bench.splitter->at(i).answers, i < 3 ? Transaction::kNoAnswer : 6U);
    EXPECT_EQ(bench.splitter->occupancy(i), at_cycle(2));
  }
}

// Nine words a primitive, 64 bytes apart, or only 36.
SmallTrace structs(std::uint32_t stride, const std::vector<std::uint32_t>& primitives) {
  SmallTrace trace(1, 1, 9, 256, stride);
  std::vector<std::uint32_t> of_lanes = primitives;
  of_lanes.resize(kLanes);
  trace.event(0, 0, (LaneMask{1} << primitives.size()) - 1, of_lanes);
  return trace;
}

class StructBench : public SmBench {
 public:
  StructBench(std::uint32_t stride, const std::vector<std::uint32_t>& primitives)
      : SmBench(Clocking::kGated, structs(stride, primitives)), splitter(context()) {}

  // The sum of each word, and by how many transactions it comes.
  std::map<Address, std::vector<Fp32Bits>> added() {
    std::map<Address, std::vector<Fp32Bits>> words;
    for (std::size_t i = 0; i < splitter.count(); ++i) {
      const Transaction& t = splitter.at(i);
      EXPECT_TRUE(t.partial);
      EXPECT_FALSE(t.event.cta);
      const LineSums of_line = sums.take(t.data);
      for (std::uint32_t w = 0; w < kLineWords; ++w) {
        if ((t.mask >> w & 1U) != 0) {
          words[t.address / kLineBytes * kLineBytes + w * sizeof(Fp32Bits)].push_back(of_line[w]);
        }
      }
    }
    return words;
  }
  RedSplitter splitter;
};

TEST(Structs, OfAReductionUnitAreOneTransactionOfTheirSectors) {
  StructBench bench(64, {0});
  MemOp op;
  op.kind = MemOpKind::kReduced;
  op.words = 9;
  op.spread = true;
  op.mask = 1;
  op.address = bench.addresses.address(3, 0);
  LineSums sums{};
  for (std::uint32_t w = 0; w < 9; ++w) {
    sums[w] = 0x3f800000 + w;
  }
  op.data = bench.sums.put(sums);
  bench.splitter.split(op);
  ASSERT_EQ(bench.splitter.count(), 1U);
  const Transaction& t = bench.splitter.at(0);
  EXPECT_EQ(t.turns, 1U);
  EXPECT_EQ(t.packets, 2U);
  EXPECT_EQ(t.flits, 3U);
  EXPECT_EQ(bench.splitter.occupancy(0), 3 * kFlit);
  EXPECT_FALSE(t.own);
  const auto words = bench.added();
  EXPECT_EQ(words.size(), 9U);
  for (std::uint32_t w = 0; w < 9; ++w) {
    EXPECT_EQ(words.at(op.address + 4 * w), std::vector<Fp32Bits>{0x3f800000 + w});
  }
  EXPECT_TRUE(bench.sums.empty());
}

TEST(Structs, InTwoLinesAreTwoTransactions) {
  StructBench bench(36, {0});
  MemOp op;
  op.kind = MemOpKind::kReduced;
  op.words = 9;
  op.mask = 1;
  op.address = bench.addresses.address(3, 0);  // from byte 108 on
  op.data = bench.sums.put(LineSums{});
  bench.splitter.split(op);
  ASSERT_EQ(bench.splitter.count(), 2U);
  EXPECT_EQ(lane_count(bench.splitter.at(0).mask), 5);
  EXPECT_EQ(lane_count(bench.splitter.at(1).mask), 4);
  EXPECT_EQ(bench.added().size(), 9U);
}

TEST(Structs, OfLanesAreAddedLaneByLane) {
  // Lanes 0 and 2 have the same, lane 1 the next one in the same line.
  StructBench bench(64, {4, 5, 4});
  MemOp op;
  op.kind = MemOpKind::kRed;
  op.words = 9;
  op.mask = 7;
  CtaContext& cta = bench.cta();
  op.event = {.cta = CtaHold::of(cta)};
  bench.splitter.split(op);
  EXPECT_FALSE(op.event.cta);
  // Two lanes cannot add to one word at once.
  ASSERT_EQ(bench.splitter.count(), 2U);
  EXPECT_EQ(bench.splitter.at(0).packets, 4U);
  EXPECT_EQ(bench.splitter.at(1).packets, 2U);
  EXPECT_TRUE(bench.splitter.at(0).own);
  const EventRef ref{.cta = CtaHold::of(cta)};
  const EventValues values(ref, bench.addresses);
  const auto words = bench.added();
  ASSERT_EQ(words.size(), 18U);
  for (std::uint32_t w = 0; w < 9; ++w) {
    EXPECT_EQ(words.at(bench.addresses.address(4, w)),
              (std::vector<Fp32Bits>{values.of(w, 0), values.of(w, 2)}));
    EXPECT_EQ(words.at(bench.addresses.address(5, w)), std::vector<Fp32Bits>{values.of(w, 1)});
  }
}

// So many words of each lane: flits, lone ones of them, of each transaction, and ticks of the pipe.
struct Vectors {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> flits;
  Ticks ticks;
  bool operator==(const Vectors&) const = default;
};
Vectors vectors(StructBench& bench, MemOp& op) {
  bench.splitter.split(op);
  Vectors found{{}, 0};
  for (std::size_t i = 0; i < bench.splitter.count(); ++i) {
    const Transaction& t = bench.splitter.at(i);
    found.flits.emplace_back(t.flits, t.lone_words);
    found.ticks += bench.splitter.occupancy(i);
    bench.sums.take(t.data);
  }
  return found;
}
Vectors of_lanes(std::uint8_t words, const std::vector<std::uint32_t>& primitives) {
  StructBench bench(64, primitives);
  MemOp op;
  op.words = words;
  op.mask = (LaneMask{1} << primitives.size()) - 1;
  op.event = {.cta = CtaHold::of(bench.cta())};
  return vectors(bench, op);
}

TEST(Structs, FourWordsOfALaneAreAFlit) {
  using V = Vectors;
  EXPECT_EQ(of_lanes(4, {0}), (V{{{1, 1}}, kMin + 3 * kWord}));
  EXPECT_EQ(of_lanes(2, {0}), (V{{{1, 1}}, kMin + kWord}));
  // Of two lines, of one address, of one line.
  EXPECT_EQ(of_lanes(4, {0, 2}), (V{{{1, 1}, {1, 1}}, kMin + 3 * kWord}));
  EXPECT_EQ(of_lanes(4, {4, 4}), (V{{{1, 1}, {1, 1}}, kMin + 3 * kWord}));
  EXPECT_EQ(of_lanes(4, {0, 1}), (V{{{3, 0}}, kMin + 3 * kWord}));
  // More lanes than that.
  EXPECT_EQ(of_lanes(2, {0, 2, 4, 6, 8, 10}).ticks, 6 * kFlit);
  // No vector has so many.
  EXPECT_EQ(of_lanes(5, {0}), (V{{{2, 0}}, kMin + 4 * kWord}));
  EXPECT_EQ(of_lanes(9, {0}), (V{{{3, 0}}, kMin + 8 * kWord}));
}

TEST(Structs, FourSumsOfALaneAreAFlitThoseOfFourLanesTwo) {
  StructBench bench(64, {0});
  MemOp op;
  op.kind = MemOpKind::kReduced;
  op.words = 4;
  op.mask = 1;
  op.address = bench.addresses.address(3, 0);
  op.data = bench.sums.put(LineSums{});
  EXPECT_EQ(vectors(bench, op), (Vectors{{{1, 1}}, kMin + 3 * kWord}));
  op.spread = true;
  op.data = bench.sums.put(LineSums{});
  EXPECT_EQ(vectors(bench, op), (Vectors{{{2, 0}}, kMin}));
}

// The worst there is: no two lanes in one line, each in two.
TEST(Structs, OfAllLanesInTwoLinesEach) {
  std::vector<std::uint32_t> primitives;
  for (std::uint32_t lane = 0; lane < 31; ++lane) {
    primitives.push_back(3 + 8 * lane);  // 288 bytes on: not all straddle, but many
  }
  StructBench bench(36, primitives);
  MemOp op;
  op.words = 9;
  op.mask = 0x7fffffff;
  op.event = {.cta = CtaHold::of(bench.cta())};
  bench.splitter.split(op);
  EXPECT_GT(bench.splitter.count(), kLanes);
  EXPECT_EQ(bench.added().size(), 31U * 9);
}

}  // namespace
}  // namespace warpfold::test
