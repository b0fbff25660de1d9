// SPDX-License-Identifier: Apache-2.0
// Which additions are one event, of which type, and which array they walk.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tb/import/launch_text.hpp"

namespace warpfold::accelsim::test {
namespace {

using trace::ValueType;
using Addresses = std::vector<std::uint64_t>;

// Primitives of the lanes, at random.
std::vector<std::uint32_t> some_primitives(std::mt19937& random, bool uniform) {
  std::vector<std::uint32_t> result;
  for (int lane = 0; lane < 32; ++lane) {
    result.push_back(uniform && lane > 0 ? result.front()
                                         : static_cast<std::uint32_t>(random() % 1000));
  }
  return result;
}

Addresses walk(const std::vector<std::uint32_t>& primitives, std::uint64_t base,
               std::uint64_t stride) {
  Addresses result;
  for (const std::uint32_t primitive : primitives) {
    result.push_back(base + primitive * stride);
  }
  return result;
}

struct Array {
  std::uint64_t base, stride;
};

// As a rasteriser adds: nine floats in four arrays, with arithmetic between.
const std::vector<Array> kNine = {{kArray, 12},
                                  {kArray + 4, 12},
                                  {kArray + 8, 12},
                                  {kArray + 0x100000, 8},
                                  {kArray + 0x100004, 8},
                                  {kArray + 0x200000, 16},
                                  {kArray + 0x200004, 16},
                                  {kArray + 0x20000c, 16},
                                  {kArray + 0x300000, 4}};

TEST(Sites, AdditionsInARowAreOneEvent) {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed)
  WarpLines lines;
  std::vector<std::vector<Addresses>> expected;
  for (int pass = 0; pass < 200; ++pass) {
    const auto primitives = some_primitives(random, pass % 3 == 0);
    std::uint32_t pc = 0;
    std::vector<Addresses>& event = expected.emplace_back();
    for (const Array& array : kNine) {
      lines.push_back(plain(pc += 16, "IMAD.WIDE", "R2", {"R0", "R8"}));
      event.push_back(walk(primitives, array.base, array.stride));
      lines.push_back(red(pc += 16, event.back()));
    }
  }
  const Imported trace = imported(launch_of(lines));
  ASSERT_EQ(trace.header.sites.size(), 1U);
  const trace::Site& site = trace.header.sites[0];
  ASSERT_EQ(site.parameters.size(), kNine.size());
  for (std::size_t i = 0; i < kNine.size(); ++i) {
    EXPECT_EQ(site.parameters[i].stride_bytes, kNine[i].stride);
  }
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  const auto events = events_of(warp);
  ASSERT_EQ(events.size(), expected.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(addresses_of(trace.header, warp, events[i]), expected[i]) << i;
  }
}

// As many events as there are runs, and parameters of each site in the order of the events.
std::vector<std::size_t> parameters_of_events(const WarpLines& lines) {
  const Imported trace = imported(launch_of(lines));
  std::vector<std::size_t> result;
  for (const trace::Record& event : events_of(trace.ctas.at(0).warps.at(0))) {
    result.push_back(trace.header.sites.at(event.site).parameters.size());
  }
  return result;
}

TEST(Sites, ARunEndsWhereTheMaskChangesOrMemoryIsUsed) {
  const auto one = [](std::uint32_t pc, std::uint32_t mask = kAll) {
    return red(pc, at(kArray + std::uint64_t{pc} * 0x1000), mask);
  };
  using Lengths = std::vector<std::size_t>;
  EXPECT_EQ(parameters_of_events({one(0x10), one(0x20)}), Lengths{2});
  EXPECT_EQ(parameters_of_events({one(0x10), plain(0x18, "FMUL"), one(0x20)}), Lengths{2});
  EXPECT_EQ(parameters_of_events({one(0x10), plain(0x18, "LDS"), one(0x20)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x10), plain(0x18, "STG.E"), one(0x20)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x10), plain(0x18, "BAR.SYNC"), one(0x20)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x20), one(0x10)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x10), one(0x10)}), (Lengths{1, 1}));
}

TEST(Sites, AdditionsOfOtherMasksAreOtherEvents) {
  const Addresses half = walk({0, 1, 2, 3, 4, 5, 6, 7}, kArray + 0x1000, 4);
  const Addresses whole = at(kArray);
  const Imported trace =
      imported(launch_of({red(0x10, whole), red(0x20, half, 0xff), red(0x30, half, 0xff00)}));
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  const auto events = events_of(warp);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].mask, kAll);
  EXPECT_EQ(events[1].mask, 0xffU);
  EXPECT_EQ(events[2].mask, 0xff00U);
  EXPECT_EQ(addresses_of(trace.header, warp, events[0]).at(0), whole);
  EXPECT_EQ(addresses_of(trace.header, warp, events[1]).at(0), half);
  EXPECT_EQ(addresses_of(trace.header, warp, events[2]).at(0), half);
}

// Of one stride, as in a struct.
TEST(Sites, AdditionsOfOneStrideAreOneEvent) {
  std::mt19937 random(3);  // NOLINT(bugprone-random-generator-seed)
  const auto primitives = some_primitives(random, false);
  WarpLines lines;
  std::vector<Addresses> expected;
  for (std::uint32_t i = 0; i < 3; ++i) {
    expected.push_back(walk(primitives, kArray + std::uint64_t{4} * i, 12));
    lines.push_back(red(0x10 + 16 * i, expected.back()));
  }
  const Imported trace = imported(launch_of(lines));
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  ASSERT_EQ(events_of(warp).size(), 1U);
  EXPECT_EQ(addresses_of(trace.header, warp, events_of(warp)[0]), expected);
}

TEST(Sites, AdditionsOnNoLineAreSitesOfTheirOwn) {
  std::mt19937 random(2);  // NOLINT(bugprone-random-generator-seed)
  WarpLines lines;
  std::vector<Addresses> expected;
  for (int pass = 0; pass < 20; ++pass) {
    // The first and third go together, the second has primitives of its own.
    const auto primitives = some_primitives(random, false);
    const auto others = some_primitives(random, false);
    expected.push_back(walk(primitives, kArray, 8));
    expected.push_back(walk(others, kArray + 0x100000, 4));
    expected.push_back(walk(primitives, kArray + 0x200000, 4));
    for (std::uint32_t i = 0; i < 3; ++i) {
      lines.push_back(red(0x10 + 16 * i, expected[expected.size() - 3 + i]));
    }
  }
  const Imported trace = imported(launch_of(lines));
  ASSERT_EQ(trace.header.sites.size(), 2U);
  EXPECT_EQ(trace.header.sites[0].parameters.size(), 2U);
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  const auto events = events_of(warp);
  ASSERT_EQ(events.size(), 40U);
  for (std::size_t i = 0; i < events.size(); i += 2) {
    const auto first = addresses_of(trace.header, warp, events[i]);
    EXPECT_EQ(first, (std::vector<Addresses>{expected[i / 2 * 3], expected[i / 2 * 3 + 2]}));
    EXPECT_EQ(addresses_of(trace.header, warp, events[i + 1]).at(0), expected[i / 2 * 3 + 1]);
  }
}

// Of the same steps, but not on one line; and on lines that go against each other.
TEST(Sites, AlikeIsNotEnough) {
  const Addresses back_and_forth = {kArray, kArray + 4, kArray};
  const Addresses forth = {kArray + 0x1000, kArray + 0x1004, kArray + 0x1004};
  const Addresses against = {kArray + 0x2004, kArray + 0x2000, kArray + 0x2004};
  const auto one = [](std::uint32_t pc, const Addresses& addresses) {
    return red(pc, addresses, 0x7);
  };
  using Lengths = std::vector<std::size_t>;
  EXPECT_EQ(parameters_of_events({one(0x10, forth), one(0x20, back_and_forth)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x10, back_and_forth), one(0x20, forth)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x10, against), one(0x20, back_and_forth)}), (Lengths{1, 1}));
  EXPECT_EQ(parameters_of_events({one(0x10, forth), one(0x20, at(kArray, 3))}), (Lengths{1, 1}));
}

// Two additions of one site may not go to the same place.
TEST(Sites, AdditionsToOnePlaceAreSitesOfTheirOwn) {
  EXPECT_EQ(parameters_of_events({red(0x10, at(kArray)), red(0x20, at(kArray))}),
            (std::vector<std::size_t>{1, 1}));
}

TEST(Sites, EveryTypeOfFloatIsAnEvent) {
  struct Case {
    std::string opcode;
    ValueType type;
    std::size_t words;
  };
  const std::vector<Case> cases = {{"RED.E.ADD.F32.FTZ.RN.STRONG.GPU", ValueType::kF32, 1},
                                   {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", ValueType::kF32, 1},
                                   {"RED.E.ADD.F64.RN.STRONG.GPU", ValueType::kF64, 1},
                                   {"RED.E.ADD.F16x2.RN.STRONG.GPU", ValueType::kF16x2, 1},
                                   {"ATOMG.E.ADD.BF16x2.RN.STRONG.GPU", ValueType::kBf16x2, 1},
                                   {"ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU", ValueType::kF32, 1},
                                   {"REDG.E.ADD.F32.V2.FTZ.RN.STRONG.GPU", ValueType::kF32, 2},
                                   {"REDG.E.ADD.F32.V4.FTZ.RN.STRONG.GPU", ValueType::kF32, 4}};
  for (const Case& each : cases) {
    const Imported trace = imported(launch_of({red(0x10, at(kArray), kAll, each.opcode)}));
    ASSERT_EQ(trace.header.sites.size(), 1U) << each.opcode;
    EXPECT_EQ(trace.header.sites[0].type, each.type) << each.opcode;
    EXPECT_EQ(trace.header.sites[0].parameters.size(), each.words) << each.opcode;
    EXPECT_TRUE(trace.header.omissions.empty());
  }
}

TEST(Sites, WordsOfAVectorGoTogether) {
  WarpLines lines;
  std::vector<std::uint32_t> primitives;
  for (std::uint32_t i = 0; i < 32; ++i) {
    primitives.push_back(i * i);
  }
  lines.push_back(red(0x10, walk(primitives, kArray, 16), kAll, "REDG.E.ADD.F32.V2.RN.STRONG.GPU"));
  lines.push_back(
      red(0x20, walk(primitives, kArray + 0x10000, 4), kAll, "REDG.E.ADD.F32.RN.STRONG.GPU"));
  const Imported trace = imported(launch_of(lines));
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  const auto events = events_of(warp);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(addresses_of(trace.header, warp, events[0]),
            (std::vector<Addresses>{walk(primitives, kArray, 16), walk(primitives, kArray + 4, 16),
                                    walk(primitives, kArray + 0x10000, 4)}));
  EXPECT_NE(trace.printed.find("96 lane additions"), std::string::npos) << trace.printed;
}

TEST(Sites, OtherAtomicsAreCounted) {
  WarpLines lines = {red(0x10, at(kArray)),
                     red(0x20, at(kArray), kAll, "RED.E.ADD.STRONG.GPU"),
                     red(0x30, at(kArray), kAll, "RED.E.MAX.S32.STRONG.GPU"),
                     red(0x40, at(kArray), kAll, "ATOMG.E.CAS.STRONG.GPU"),
                     red(0x50, at(kArray), kAll, "ATOMG.E.CAS.STRONG.GPU"),
                     red(0x60, at(kSharedWindow + 64), kAll, "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU"),
                     red(0x70, at(kArray), kAll, "ATOMS.ADD"),
                     red(0x80, at(kArray), kAll, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU")};
  // A predicate is written first: what is added to comes behind what is given back.
  lines[7].sources = {"R7", "R2", "R4"};
  lines.push_back(lines[7]);
  lines[8].pc = 0x90;
  lines[8].sources = {"R255", "R2", "R4"};
  const Imported trace = imported(launch_of(lines));
  EXPECT_EQ(events_of(trace.ctas.at(0).warps.at(0)).size(), 3U);
  ASSERT_EQ(trace.header.omissions.size(), 5U);
  EXPECT_EQ(trace.header.omissions[0].what, "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU");
  EXPECT_EQ(trace.header.omissions[1].what, "ATOMG.E.CAS.STRONG.GPU");
  EXPECT_EQ(trace.header.omissions[1].count, 2U);
  EXPECT_EQ(trace.header.omissions[2].what, "ATOMS.ADD");
  EXPECT_NE(trace.printed.find("  not events: 2 of ATOMG.E.CAS.STRONG.GPU\n"), std::string::npos);
  EXPECT_TRUE(trace.header.provenance.at("returning").starts_with("1 additions"));
  EXPECT_EQ(work_of(trace).global_load, 5U);
  EXPECT_EQ(work_of(trace).shared, 1U);
}

// In shared memory, on surfaces, of tiles: whatever else there is, and where there is nothing else.
TEST(Sites, AtomicsOfOtherMemoryAreNamed) {
  const std::vector<std::string> names = {
      "ATOMS.ADD",       "ATOMS.CAST.SPIN",        "SURED.D.BA.1D.ADD",
      "SUATOM.D.1D.ADD", "UBLKRED.G.S.ADD.F32.RN", "UTMAREDG.2D.ADD"};
  WarpLines lines;
  for (const std::string& name : names) {
    lines.push_back(plain(static_cast<std::uint32_t>(16 * lines.size()), name));
  }
  const Imported trace = imported(launch_of(lines));
  EXPECT_EQ(trace.outcome.launches, 1U);
  EXPECT_EQ(trace.outcome.traces, 0U);
  EXPECT_NE(trace.printed.find("none of its REDs or ATOMs adds floats: no trace\n"),
            std::string::npos);
  for (const std::string& name : names) {
    EXPECT_NE(trace.printed.find("  not events: 1 of " + name + "\n"), std::string::npos)
        << trace.printed;
  }
}

// Two arrays 8 GiB apart, of one instruction, and two that a trace cannot name.
TEST(Sites, FarApartIsSplitOrRefused) {
  const std::uint64_t far = std::uint64_t{8} << 30U;
  const Addresses two = {kArray, kArray + far};
  const Imported trace =
      imported(launch_of({red(0x10, two, 0x3), red(0x20, {kArray + 4, kArray + 4 + far}, 0x3)}));
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  EXPECT_EQ(addresses_of(trace.header, warp, events_of(warp).at(0)).at(0), two);
  const std::string why =
      refusal(launch_of({red(0x10, {kArray, kArray + far * 4 + 4}, 0x3)}).text());
  EXPECT_TRUE(why.starts_with("kernel-1.traceg: the additions at 0x0010 lie too far apart")) << why;
}

}  // namespace
}  // namespace warpfold::accelsim::test
