// SPDX-License-Identifier: Apache-2.0
// Where a kernel's parameters lie for hardware that adds to structs.
#include "model/policy/struct_layout.hpp"

#include <gtest/gtest.h>

#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

// Nine parameters in arrays of their own, as the published 3DGS rasterizer has them.
trace::Header arrays_apart() {
  SmallTrace trace(1, 1, 9, 100, 4);
  for (std::uint32_t p = 0; p < 9; ++p) {
    trace.header.sites[0].parameters[p].base = SmallTrace::kBase + p * 0x1000;
  }
  return trace.header;
}

TEST(StructLayout, OfHardwareThatAddsWordsOneByOneIsThatOfTheTrace) {
  const trace::Header header = arrays_apart();
  for (const StructLayout& layout : {StructLayout(), StructLayout(header, 1)}) {
    EXPECT_FALSE(layout.has(0));
    EXPECT_FALSE(layout.moved(0));
    EXPECT_EQ(layout.sites(header)[0].parameters[8].base, SmallTrace::kBase + 0x8000);
  }
}

TEST(StructLayout, PutsArraysIntoStructsBehindThem) {
  const trace::Header header = arrays_apart();
  const StructLayout layout(header, 16);
  EXPECT_TRUE(layout.has(0));
  EXPECT_TRUE(layout.moved(0));
  const trace::Site site = layout.sites(header)[0];
  const std::uint64_t base = site.parameters[0].base;
  EXPECT_GE(base, SmallTrace::kBase + 0x8000 + 100 * 4);
  EXPECT_EQ(base % 128, 0U);
  for (std::uint32_t p = 0; p < 9; ++p) {
    EXPECT_EQ(site.parameters[p].base, base + 4 * p);
    EXPECT_EQ(site.parameters[p].stride_bytes, 64U);  // 36, so that none lies in two lines
  }
}

TEST(StructLayout, LeavesStructsWhereTheyAre) {
  const SmallTrace trace(1, 1, 9, 100, 48);
  const StructLayout layout(trace.header, 16);
  EXPECT_TRUE(layout.has(0));
  EXPECT_FALSE(layout.moved(0));
  EXPECT_EQ(layout.sites(trace.header)[0].parameters[8].base, SmallTrace::kBase + 32);
  EXPECT_EQ(layout.sites(trace.header)[0].parameters[8].stride_bytes, 48U);
}

TEST(StructLayout, OfCodeOfItsOwnHasTheStructsOfTheTraceAlone) {
  const StructLayout apart(arrays_apart(), 4, true);
  EXPECT_FALSE(apart.has(0));
  EXPECT_FALSE(apart.moved(0));
  const SmallTrace trace(1, 1, 9, 100, 48);
  EXPECT_TRUE(StructLayout(trace.header, 4, true).has(0));
}

TEST(StructLayout, HasNoneOfOtherTypesOrOfOneWord) {
  trace::Header header = arrays_apart();
  header.sites[0].type = trace::ValueType::kF16x2;
  EXPECT_FALSE(StructLayout(header, 16).has(0));
  const SmallTrace lone(1, 1, 1, 100, 4);
  EXPECT_FALSE(StructLayout(lone.header, 16).has(0));
}

TEST(StructLayout, MovesNoArrayThatAnotherSiteAddsTo) {
  trace::Header header = arrays_apart();
  header.sites.push_back(header.sites[0]);
  header.sites[1].parameters.resize(1);
  const StructLayout layout(header, 16);
  EXPECT_FALSE(layout.has(0));
  EXPECT_EQ(layout.sites(header)[0].parameters[1].base, SmallTrace::kBase + 0x1000);
}

TEST(StructLayout, OfTwoSitesLieApart) {
  trace::Header header = arrays_apart();
  header.sites.push_back(header.sites[0]);
  for (trace::Parameter& parameter : header.sites[1].parameters) {
    parameter.base += 0x100000;
  }
  const auto sites = StructLayout(header, 16).sites(header);
  EXPECT_GE(sites[1].parameters[0].base, sites[0].parameters[0].base + 100 * 64);
}

TEST(StructLayout, ChargesOneAddressForAllWords) {
  const trace::InstructionCost cost = StructLayout::address_cost();
  EXPECT_EQ(cost.issue_slots(), 2U);
}

}  // namespace
}  // namespace warpfold::test
