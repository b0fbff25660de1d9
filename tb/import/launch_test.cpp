// SPDX-License-Identifier: Apache-2.0
// Launches: every version of the tracer, every form of addresses, events and work; and what is
// refused, with file and line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tb/import/launch_text.hpp"
#include "traces/format/header.hpp"

namespace warpfold::accelsim::test {
namespace {

using trace::RecordKind;
using trace::ResultClass;
using Addresses = std::vector<std::uint64_t>;

Addresses row(std::uint64_t first, std::int64_t stride, std::size_t lanes) {
  Addresses result;
  for (std::size_t i = 0; i < lanes; ++i) {
    result.push_back(first + i * static_cast<std::uint64_t>(stride));
  }
  return result;
}

WarpLines mixed_lines() {
  WarpLines lines = {plain(0x00, "S2R", "R0"), plain(0x10, "IMAD.WIDE", "R2", {"R0", "R255"}),
                     plain(0x20, "LDG.E", "R4", {"R2"}), plain(0x30, "FMUL", "R4", {"R4", "R4"})};
  lines[2].addresses = row(kArray + 0x10000, 4, 32);
  lines[2].form = Form::kStride;
  lines.push_back(red(0x40, at(kArray)));
  lines.push_back(plain(0x50, "BAR.SYNC.DEFER_BLOCKING"));
  lines.push_back(red(0x60, row(kArray, 8, 3), 0x00000015));
  lines.push_back(plain(0x70, "EXIT"));
  return lines;
}

TEST(Launch, EveryVersionOfTheTracerGivesOneTrace) {
  Launch launch = launch_of(mixed_lines());
  const Imported newest = imported(launch);
  ASSERT_EQ(newest.ctas.size(), 1U);
  for (const int version : {3, 4, 5, 6}) {
    for (const bool numbers : {false, true}) {
      for (const bool immediate : {false, true}) {
        launch.values = launch.clusters = numbers != immediate;
        launch.version = version;
        launch.line_numbers = numbers;
        launch.immediate = immediate;
        const Imported other = imported(launch);
        EXPECT_EQ(other.ctas, newest.ctas) << version << numbers << immediate;
        EXPECT_EQ(other.header.paths, newest.header.paths);
        EXPECT_EQ(other.header.provenance.at("tracer"),
                  fmt::format("Accel-Sim tracer version {}", version));
      }
    }
  }
}

// Each load and store is a record of its own, with its sectors, and what needs a load waits for it;
// without the option nothing changes.
TEST(Launch, MemoryInstructionsAreToldApart) {
  WarpLines lines = {plain(0x00, "S2R", "R0"),
                     plain(0x10, "IMAD.WIDE", "R2", {"R0", "R255"}),
                     plain(0x20, "LDG.E.128.CONSTANT", "R4", {"R2"}),
                     plain(0x30, "LDG.E", "R8", {"R2"}),
                     plain(0x40, "LDG.E", "R9", {"R2"}),
                     plain(0x50, "FADD", "R1", {"R0", "R0"}),
                     plain(0x60, "FMUL", "R10", {"R7", "R1"}),
                     plain(0x70, "STG.E.STRONG.GPU", "", {"R2", "R8"}),
                     red(0x80, at(kArray)),
                     plain(0x90, "LDG.E", "R12", {"R2"}),
                     plain(0xa0, "LD.E.U8", "R13", {"R2"}),
                     plain(0xb0, "FADD", "R9", {"R0", "R0"}),
                     plain(0xc0, "EXIT")};
  lines[2].addresses = row(kArray + 0x10000, 16, 32);
  lines[3].addresses = row(kArray + 0x20010, 4, 32);
  lines[4].addresses = Addresses{kArray + 0x30040, kArray + 0x30000, kArray + 0x3005c};
  lines[4].mask = 0x111;
  lines[7].addresses = row(kArray + 0x40000, -128, 32);
  lines[9].mask = 0;
  lines[10].addresses = at(kSharedWindow + 64);
  Launch launch = launch_of(lines);
  launch.version = 4;

  const Imported whole = imported(launch.text(), "kernel-1.traceg", true);
  const std::vector<trace::MemorySite>& memory = whole.header.memory;
  ASSERT_EQ(memory.size(), 4U);
  EXPECT_EQ(memory[0].name, "0: 0x0020 LDG.E.128.CONSTANT");
  EXPECT_EQ(memory[0].bytes, 16U);
  EXPECT_EQ(memory[0].cache, trace::CacheUse::kReadOnly);
  EXPECT_EQ(memory[2].cache, trace::CacheUse::kAll);
  EXPECT_EQ(memory[3].kind, trace::AccessKind::kStore);
  EXPECT_EQ(memory[3].cache, trace::CacheUse::kL2);

  const trace::WarpTrace& warp = whole.ctas.at(0).warps.at(0);
  std::vector<std::pair<RecordKind, int>> order;
  std::vector<Addresses> touched;
  for (const trace::Record& record : warp.records) {
    order.emplace_back(record.kind, record.kind == RecordKind::kWork ? -1 : record.site);
    if (record.kind == RecordKind::kAccess) {
      touched.emplace_back();
      for (std::size_t i = 0; i < record.count; ++i) {
        touched.back().push_back(warp.sectors.at(record.values + i) * 32);
      }
    }
  }
  using enum RecordKind;
  const std::vector<std::pair<RecordKind, int>> expected = {
      {kWork, -1}, {kAccess, 0}, {kAccess, 1}, {kAccess, 2}, {kWork, -1}, {kWait, 0}, {kWork, -1},
      {kWait, 1},  {kAccess, 3}, {kEvent, 0},  {kWork, -1},  {kWait, 2},  {kWork, -1}};
  EXPECT_EQ(order, expected);
  ASSERT_EQ(touched.size(), 4U);
  EXPECT_EQ(touched[0], row(kArray + 0x10000, 32, 16));
  EXPECT_EQ(touched[1], row(kArray + 0x20000, 32, 5));
  EXPECT_EQ(touched[2], (Addresses{kArray + 0x30040, kArray + 0x30000}));
  EXPECT_EQ(touched[3], row(kArray + 0x40000, -128, 32));
  // They issue a slot each, beside the work; a RED takes none either way.
  const Imported without = imported(launch);
  EXPECT_TRUE(without.header.memory.empty());
  EXPECT_EQ(work_of(without).issue_slots(), work_of(whole).issue_slots() + 4);
  EXPECT_EQ(work_of(without).global_load, work_of(whole).global_load + 4);
}

// Of version 6: uniform registers and predicates, tiles, products of several warps, marks, and
// immediate numbers of every kind.
TEST(Launch, LinesOfVersionSixAreRead) {
  WarpLines lines = {plain(0x00, "S2UR", "UR4"),
                     plain(0x10, "IMAD", "R10", {"R10", "UR4", "R3"}),
                     plain(0x20, "UMOV", "UR4", {"UR63"}),
                     plain(0x30, "ISETP.GE.AND", "P0", {"R5", "UP3"}),
                     plain(0x40, "UTMALDG.2D", "", {"UR8", "UR4"}),
                     plain(0x50, "UTMALDG.2D.MULTICAST", "", {"UR8", "UR4"}),
                     plain(0x60, "UBLKRED.G.S.ADD.F32.RN", "", {"UR8", "UR4"}),
                     plain(0x70, "HGMMA.64x128x16.F32", "R24", {"UR4", "R24"}),
                     plain(0x80, "BAR.ARV"),
                     plain(0x90, "REPLAY_START"),
                     plain(0xa0, "REPLAY_END"),
                     red(0xb0, at(kArray), kAll, "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU"),
                     red(0xc0, row(kArray, 8, 2), 0x00000011)};
  lines[4].behind = "4 0x30000 0 4096 0 3 2 0x7f2ab4b00000 7f2ab4b00800 0 0 NoVal ";
  lines[5].behind = "4 0x30000 1 0x3 4096 128 4 0x7f2ab4b00000 3 2048 -1024 0 0 NoVal ";
  lines[6].behind = "4 0x0 0 0 0 4 0x0 0 0 18446744073709551615 NoVal ";
  lines[7].behind = "1 0 0 0 NoVal ";
  lines[8].behind = "0 3 128 Val ";
  lines[11].sources = {"R2", "UR6", "R4"};
  lines[12].form = Form::kSteps;
  Launch launch = launch_of(lines);
  launch.version = 6;
  const Imported trace = imported(launch);
  EXPECT_EQ(trace.complaints, "");
  const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
  const auto events = events_of(warp);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(addresses_of(trace.header, warp, events[1]).at(0), row(kArray, 8, 2));
  ASSERT_EQ(trace.header.omissions.size(), 1U);
  EXPECT_EQ(trace.header.omissions[0].what, "UBLKRED.G.S.ADD.F32.RN");
  // Marks are no work, and a uniform register is waited for where it is read.
  EXPECT_EQ(work_of(trace).issue_slots(), lines.size() - 4);
  const auto& waits = trace.header.costs.at("sm_86").at("baseline").paths.at(0).waits;
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits[0], (trace::ResultWait{ResultClass::kUniform, 0, 1}));
}

TEST(Launch, WrongLinesOfVersionSixAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"4 0x30000 2 4096 0 3 0 0 0 NoVal",
       "whether it is for several thread blocks is 2, at most 1 are known"},
      {"4 0x30000 0 4096 0 2 0x10 0 0 NoVal",
       "the form of the addresses of tiles is 2, 3 and 4 are known"},
      {"4 0x30000 0 4096 0 3 2 0x10 NoVal", "'NoVal' is not an address"},
      {"4 0x30000 0 4096 0 4 0x10 3 16", "the line ends where a step should stand"},
      {"4 0x30000 0 4096 0 3 9999999 0x10",
       "the number of transfers is 9999999, at most 1000000 are known"},
      {"4 0x30000 0 4096 0 3 0 0 0 Maybe", "'Maybe' behind the end of the instruction"},
      {"4 0x30000 0 4096 0 3 0 0 x NoVal", "'x' is not an immediate number"},
      {"4 0x30000 0 4096 0 3 0 0 0 Val 1 0 2 0 0", "2 values of a register, 1 and 32 are known"},
      {"4 0x30000 0 4096 0 3 0 0 0 Val 1 0", "values of 1 registers, 2 are listed"},
      {"4 0x30000 0 4096 0 3 0 0 0 NoVal 7", "'7' behind the end of the instruction"}};
  for (const auto& [behind, why] : cases) {
    Line line = plain(0x10, "UTMALDG.2D", "", {"UR8", "UR4"});
    line.behind = behind;
    Launch launch = launch_of({line});
    launch.version = 6;
    EXPECT_EQ(refusal(launch.text()), "kernel-1.traceg:24: " + why) << behind;
  }
}

TEST(Launch, TheHeaderSaysWhatTheFileSays) {
  Launch launch = launch_of(mixed_lines());
  launch.grid[0] = 3;
  launch.grid[1] = 2;
  launch.block[0] = 16;
  launch.block[1] = 3;
  const trace::Header header = imported(launch).header;
  EXPECT_EQ(header.kernel, "_Z3addPf");
  EXPECT_EQ(header.grid[0], 3U);
  EXPECT_EQ(header.grid[1], 2U);
  EXPECT_EQ(header.block[1], 3U);
  EXPECT_EQ(header.warps_per_cta(), 2U);
  EXPECT_EQ(header.registers_per_thread, 24U);
  EXPECT_EQ(header.shared_bytes_per_cta, 1024U);
  EXPECT_TRUE(header.costs.contains("sm_86"));
  EXPECT_EQ(header.values, trace::ValueMode::kNone);
  EXPECT_TRUE(header.times.empty());
  EXPECT_EQ(header.provenance.at("source"), "kernel-1.traceg");
  EXPECT_EQ(header.provenance.at("nvbit"), "1.7");
  EXPECT_NE(header.sampling, "");  // one of six blocks is there
}

TEST(Launch, EveryFormOfAddressesGivesTheSameLanes) {
  struct Case {
    std::uint32_t mask;
    Addresses addresses;
    std::vector<Form> forms;
  };
  const std::vector<Form> all = {Form::kEach, Form::kStride, Form::kSteps};
  const std::vector<Form> no_stride = {Form::kEach, Form::kSteps};
  const std::vector<Case> cases = {
      {kAll, at(kArray), all},
      {kAll, row(kArray, 4, 32), all},
      {kAll, row(kArray + 1024, -8, 32), all},
      {0x00000ff0, row(kArray + 64, 12, 8), all},
      {0x80000000, {kArray + 4}, all},
      {0x00000001, {kArray + 4}, all},
      {0xf0000000, row(kArray, 400, 4), all},
      {0x80000001, {kArray + 40, kArray}, no_stride},
      {0x00f00f00, row(kArray, 20, 8), no_stride},
      {0x00000007, {kArray + 4, kArray + 400, kArray + 12}, no_stride}};
  for (const Case& each : cases) {
    for (const Form form : each.forms) {
      // Another event, so that the site has a base and a stride of its own.
      Line line = red(0x20, each.addresses, each.mask);
      line.form = form;
      const Imported trace =
          imported(launch_of({red(0x10, at(kArray)), plain(0x18, "BAR.SYNC"), line}));
      const trace::WarpTrace& warp = trace.ctas.at(0).warps.at(0);
      const auto events = events_of(warp);
      ASSERT_EQ(events.size(), 2U);
      EXPECT_EQ(events[1].mask, each.mask);
      EXPECT_EQ(addresses_of(trace.header, warp, events[1]), std::vector<Addresses>{each.addresses})
          << fmt::format("{:#x} in form {}", each.mask, static_cast<int>(form));
    }
  }
}

TEST(Launch, InstructionsOfNoLaneAreWorkAlone) {
  WarpLines lines = mixed_lines();
  lines.push_back({.pc = 0x80,
                   .mask = 0,
                   .destination = "",
                   .opcode = kRed,
                   .sources = {"R2", "R4"},
                   .addresses = {0},
                   .form = Form::kStride});
  lines.push_back({.pc = 0x90,
                   .mask = 0,
                   .destination = "",
                   .opcode = "BAR.SYNC",
                   .sources = {},
                   .addresses = {}});
  const Imported trace = imported(launch_of(lines));
  const Imported without = imported(launch_of(mixed_lines()));
  EXPECT_EQ(events_of(trace.ctas[0].warps[0]).size(), 2U);
  EXPECT_EQ(work_of(trace).issue_slots(), work_of(without).issue_slots() + 2);
}

TEST(Launch, WorkIsCountedByClass) {
  const std::vector<std::string> opcodes = {
      "FFMA",         "IMAD.MOV.U32", "BRA",           "ULDC.64",   "VOTE.ANY",  "IADD3",
      "ISETP.GE.AND", "LOP3.LUT",     "MUFU.EX2",      "POPC",      "F2I.TRUNC", "LDS.64",
      "STS",          "LDS.128",      "LDSM.16.M88.4", "LDG.E.128", "STG.E",     "LDL",
      "TEX.SCR",      "SHFL.BFLY",    "SHFL.IDX",      "MATCH.ANY", "REDUX.SUM", "ATOMS.ADD",
      "BSYNC",        "EXIT"};
  WarpLines lines;
  for (const std::string& opcode : opcodes) {
    lines.push_back(plain(static_cast<std::uint32_t>(16 * lines.size()), opcode));
  }
  lines.push_back(red(0x1000, at(kArray)));
  const trace::InstructionCost work = work_of(imported(launch_of(lines)));
  EXPECT_EQ(work.alu, 7U);
  EXPECT_EQ(work.integer, 3U);
  EXPECT_EQ(work.sfu, 3U);
  EXPECT_EQ(work.shared, 3U);
  EXPECT_EQ(work.shared_wide, 2U);
  EXPECT_EQ(work.global_load, 4U);
  EXPECT_EQ(work.shuffle, 1U);
  EXPECT_EQ(work.shuffle_index, 1U);
  EXPECT_EQ(work.match, 1U);
  EXPECT_EQ(work.redux, 1U);
  EXPECT_EQ(work.branches, 2U);
  EXPECT_EQ(work.issue_slots(), opcodes.size());
}

TEST(Launch, LoadsAreWaitedForWhereTheyAreRead) {
  const WarpLines lines = {
      plain(0x00, "LDG.E.64", "R4", {"R2"}), plain(0x10, "FADD", "R8", {"R6", "R7"}),
      plain(0x20, "FADD", "R8", {"R8", "R7"}), plain(0x30, "FADD", "R9", {"R8", "R5"}),
      // A predicate is written first: the tracer lists R4 with what is read.
      plain(0x40, "SHFL.BFLY", "", {"R4", "R9"}), red(0x50, at(kArray)),
      plain(0x60, "LDS", "R10", {"R3"}), plain(0x20, "FADD", "R8", {"R10", "R7"})};
  const Imported trace = imported(launch_of(lines));
  const auto& paths = trace.header.costs.at("sm_86").at("baseline").paths;
  ASSERT_EQ(paths.size(), 3U);
  for (const trace::InstructionCost& cost : paths) {
    EXPECT_TRUE(cost.estimated);
  }
  // FADD behind the FADD that it needs, which the one in front of it does not.
  const std::vector<trace::ResultWait> waits = {{ResultClass::kGlobalLoad, 0, 11},
                                                {ResultClass::kShuffle, 16, 17}};
  EXPECT_EQ(paths[0].waits, waits);
  EXPECT_EQ(paths[0].stall_cycles, 17U);
  EXPECT_TRUE(paths[1].waits.empty());
  // Asked for in the way before.
  EXPECT_EQ(paths[2].waits, (std::vector<trace::ResultWait>{{ResultClass::kShared, 0, 0}}));
}

TEST(Launch, TurnsOfALoopAreOnePath) {
  WarpLines lines;
  for (int turn = 0; turn < 9; ++turn) {
    lines.push_back(plain(0x10, "FADD", "R4", {"R4"}));
    lines.push_back(plain(0x20, "BRA"));
  }
  lines.push_back(red(0x30, at(kArray)));
  const Imported trace = imported(launch_of(lines));
  const auto& records = trace.ctas.at(0).warps.at(0).records;
  ASSERT_EQ(records.size(), 3U);  // eight turns, the last up to the event, the event
  EXPECT_EQ(records[0].count, 8U);
}

TEST(Launch, ALoopMayBeOneInstruction) {
  WarpLines lines(5, plain(0x10, "BRA"));
  lines.push_back(red(0x30, at(kArray)));
  const auto records = imported(launch_of(lines)).ctas.at(0).warps.at(0).records;
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].count, 4U);
}

TEST(Launch, BarriersStandInTheirOrder) {
  Launch launch = launch_of({});
  launch.block[0] = 64;
  const WarpLines lines = {plain(0x10, "BAR.SYNC.DEFER_BLOCKING"), red(0x20, at(kArray)),
                           plain(0x30, "BAR.ARV"), plain(0x40, "BAR.RED.POPC")};
  launch.blocks[0].second = {lines, lines};
  const Imported trace = imported(launch);
  for (const trace::WarpTrace& warp : trace.ctas.at(0).warps) {
    ASSERT_EQ(warp.records.size(), 4U);
    EXPECT_EQ(warp.records[0].kind, RecordKind::kBarrier);
    EXPECT_EQ(warp.records[1].kind, RecordKind::kEvent);
    EXPECT_EQ(warp.records[2].kind, RecordKind::kWork);
    EXPECT_EQ(warp.records[3].kind, RecordKind::kBarrier);
  }
}

TEST(Launch, MoreWaysThanAHeaderHasRoomForAreKeptByClass) {
  // One way for each set of the 16 instructions.
  WarpLines lines;
  for (std::uint32_t set = 1; set < 40'000; ++set) {
    for (std::uint32_t bit = 0; bit < 16; ++bit) {
      if ((set >> bit & 1U) != 0) {
        lines.push_back(plain(0x10 * bit, bit % 2 == 0 ? "FADD" : "LOP3.LUT"));
      }
    }
    lines.push_back(plain(0x200, "BRA"));
  }
  lines.push_back(red(0x300, at(kArray)));
  const Imported trace = imported(launch_of(lines));
  EXPECT_NE(trace.printed.find("by class alone"), std::string::npos);
  EXPECT_EQ(work_of(trace).issue_slots(), lines.size() - 1);
  EXPECT_EQ(work_of(trace).branches, 39'999U);
}

TEST(Launch, BlocksThatAreNotThereAreSaid) {
  Launch launch;
  launch.grid[0] = 3;
  launch.grid[1] = 2;
  const WarpLines lines = {red(0x10, at(kArray))};
  launch.blocks = {{"1,0,0", {lines}}, {"0,1,0", {lines}}};
  Imported trace = imported(launch);
  ASSERT_EQ(trace.ctas.size(), 2U);
  EXPECT_EQ(trace.ctas[0].cta, 1U);
  EXPECT_EQ(trace.ctas[1].cta, 3U);
  EXPECT_EQ(trace.header.total_ctas, 6U);
  EXPECT_EQ(trace.header.sampling, "the thread blocks that the tracer wrote");
  launch.grid[0] = 2;
  launch.grid[1] = 1;
  launch.blocks = {{"0,0,0", {lines}}, {"1,0,0", {lines}}};
  EXPECT_EQ(imported(launch).header.sampling, "");
}

// The text with the first `from` replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t found = text.find(from);
  EXPECT_NE(found, std::string::npos) << from;
  return text.replace(found, from.size(), to);
}

// What is replaced in a good file, by what, and what is then said.
const std::vector<std::array<std::string, 3>> kWrong = {
    {"version = 5", "version = 2", "kernel-1.traceg:12: version 2 of the tracer; 3 to 6 are known"},
    {"version = 5", "version = 7", "kernel-1.traceg:12: version 7 of the tracer; 3 to 6 are known"},
    {"-nregs = 24", "-nregs = many", "kernel-1.traceg:6: -nregs: 'many' is not a number"},
    {"-nregs = 24", "-nregs = 21955", "kernel-1.traceg:6: -nregs: 21955 is not in 1..255"},
    {"-nregs = 24", "-nregs = 0", "kernel-1.traceg:6: -nregs: 0 is not in 1..255"},
    {"-shmem = 1024", "-shmem = 300000", "kernel-1.traceg:5: -shmem: 300000 is not in 0..262144"},
    {"version = 86", "version = 0", "kernel-1.traceg:7: -binary version: 0 is not in 10..999"},
    {"version = 86", "version = 21955",
     "kernel-1.traceg:7: -binary version: 21955 is not in 10..999"},
    {"name = _Z3addPf", "name =", "kernel-1.traceg:1: -kernel name: is empty"},
    {"name = _Z3addPf", "name = add\xff",
     "kernel-1.traceg:1: -kernel name: 'add\xef\xbf\xbd' is not text in UTF-8"},
    {"name = _Z3addPf", "name = add\xed\xa0\x80",
     "kernel-1.traceg:1: -kernel name: 'add\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd' is not text in "
     "UTF-8"},
    {"name = _Z3addPf", "name = a\tb",
     "kernel-1.traceg:1: -kernel name: 'a?b' is not text in UTF-8"},
    {"nvbit version = 1.7", "nvbit version = \xc0\xaf",
     "kernel-1.traceg:11: -nvbit version: '\xef\xbf\xbd\xef\xbf\xbd' is not text in UTF-8"},
    {"-nregs = 24\n", "", "kernel-1.traceg:14: the header ends without -nregs"},
    {"-nregs = 24", "-nregs = 24\n-nregs = 24", "kernel-1.traceg:7: -nregs comes twice"},
    {"(32,1,1)", "(32,1)",
     "kernel-1.traceg:4: -block dim: '(32,1)' is not (x,y,z) of numbers above 0"},
    {"(32,1,1)", "(32,0,1)",
     "kernel-1.traceg:4: -block dim: '(32,0,1)' is not (x,y,z) of numbers above 0"},
    {"(32,1,1)", "(32,33,1)", "kernel-1.traceg:4: -block dim: 1056 threads, at most 1024"},
    {"(32,1,1)", "(1,1,65)", "kernel-1.traceg:4: -block dim: 65 in z, at most 64"},
    {"(32,1,1)", "(4294967295,4294967295,2)",
     "kernel-1.traceg:4: -block dim: 4294967295 in x, at most 1024"},
    {"grid dim = (1,1,1)", "grid dim = (1,65536,1)",
     "kernel-1.traceg:3: -grid dim: 65536 in y, at most 65535"},
    {"grid dim = (1,1,1)", "grid dim = (2147483648,1,1)",
     "kernel-1.traceg:3: -grid dim: 2147483648 in x, at most 2147483647"},
    {"-shmem = 1024", "shmem = 1024",
     "kernel-1.traceg:5: no line of a header: it begins neither with - nor with #"},
    {"-shmem = 1024", "-shmem 1024", "kernel-1.traceg:5: a line of the header without ="},
    {"#traces", "#BEGIN_TB\n#traces",
     "kernel-1.traceg:15: a thread block before the line that begins with #traces format"},
    {"#BEGIN_TB", "#BEGIN",
     "kernel-1.traceg:18: begins with #, but is neither #BEGIN_TB nor #END_TB"},
    {"#BEGIN_TB", "", "kernel-1.traceg:20: 'thread block' that is not the first behind #BEGIN_TB"},
    {"#BEGIN_TB", "#BEGIN_TB\n#BEGIN_TB",
     "kernel-1.traceg:19: a thread block begins before the one before it has ended"},
    {"block = 0,0,0", "block = 0,0", "kernel-1.traceg:20: '0,0' is not x,y,z of a thread block"},
    {"block = 0,0,0", "block = 1,0,0",
     "kernel-1.traceg:20: thread block 1,0,0 lies outside the grid"},
    {"warp = 0", "warp = 1", "kernel-1.traceg:22: '1' is not one of the 1 warps of a thread block"},
    {"warp = 0", "warp = x", "kernel-1.traceg:22: 'x' is not one of the 1 warps of a thread block"},
    {"insts = 2", "insts = 1", "kernel-1.traceg:25: an instruction more than 'insts' says"},
    {"insts = 2", "insts = 3", "kernel-1.traceg:27: warp 0 ends 1 instructions early"},
    {"insts = 2", "insts = -2", "kernel-1.traceg:23: '-2' is not a number of instructions"},
    {"insts = 2\n", "", "kernel-1.traceg:23: an instruction outside a warp"},
    {"insts = 2", "insts = 2\ncluster rank = 0",
     "kernel-1.traceg:24: 'cluster' that is not id, cta or rank behind 'thread block'"},
    {"\n#BEGIN_TB", "0 0 0 0 0000 ffffffff 0 EXIT 0 0\n#BEGIN_TB",
     "kernel-1.traceg:17: an instruction outside a thread block: what the tracer writes is to be "
     "grouped by Accel-Sim's post-traces-processing"},
    {"#END_TB", "", "kernel-1.traceg:27: ends within a thread block"},
    {"0010 ffffffff", "zz10 ffffffff", "kernel-1.traceg:24: 'zz10' is not a place in the code"},
    {"0010 ffffffff", "0010 1ffffffff", "kernel-1.traceg:24: '1ffffffff' is not a mask"},
    {"0010 ffffffff 0", "0010 ffffffff 2",
     "kernel-1.traceg:24: the number of destinations is 2, at most 1 are known"},
    {"0010 ffffffff 0", "0010 ffffffff 1 R256", "kernel-1.traceg:24: 'R256' is not a register"},
    {"2 R2 R4 4", "2 R2 Q4 4", "kernel-1.traceg:24: 'Q4' is not a register"},
    {kRed, "17", "kernel-1.traceg:24: '17' is not an opcode"},
    {kRed, kRed + "\xff", "kernel-1.traceg:24: '" + kRed + "\xff' is not an opcode"},
    {"2 R2 R4 4", "2 R2 UR256 4", "kernel-1.traceg:24: 'UR256' is not a register"},
    {"2 R2 R4 4", "2 R2 P8 4", "kernel-1.traceg:24: 'P8' is not a register"},
    {"R4 4 0 0x", "R4 4 3 0x",
     "kernel-1.traceg:24: the form of the addresses is 3, at most 2 are known"},
    {"R4 4 0 0x", "R4 4 0 1x", "kernel-1.traceg:24: '1x00007f2ab4a00000' is not an address"},
    {"EXIT 0 0 0", "EXIT 0 0 x", "kernel-1.traceg:25: 'x' is not an immediate number"},
    {"EXIT 0 0 0", "EXIT 0 0 0 7", "kernel-1.traceg:25: '7' behind the end of the instruction"},
    {"EXIT 0 0 0", "EXIT 0",
     "kernel-1.traceg:25: the line ends where the width of an access should stand"},
    {"EXIT 0 0 0", "EXIT",
     "kernel-1.traceg:25: the line ends where the number of sources should stand"},
};

TEST(Launch, WhatIsWrongIsRefusedWithItsLine) {
  Launch launch = launch_of({red(0x10, at(kArray)), plain(0x20, "EXIT")});
  const std::string good = launch.text();
  for (const auto& [from, to, why] : kWrong) {
    EXPECT_EQ(refusal(with(good, from, to)), why) << from << " -> " << to;
  }
}

TEST(Launch, OtherOrdersAreRefused) {
  const WarpLines lines = {red(0x10, at(kArray))};
  Launch launch;
  launch.grid[0] = 2;
  launch.block[0] = 64;
  launch.blocks = {{"1,0,0", {lines}}, {"0,0,0", {lines}}};
  EXPECT_EQ(
      refusal(launch.text()),
      "kernel-1.traceg:30: thread block 0,0,0 comes behind a later one: they must be in order, "
      "x fastest");
  launch.blocks = {{"0,0,0", {lines, lines}}};
  EXPECT_EQ(refusal(with(launch.text(), "warp = 1", "warp = 0")),
            "kernel-1.traceg:26: warp 0 comes behind warp 0");
}

TEST(Launch, AStrideThroughAGapIsRefused) {
  Line line = red(0x10, row(kArray, 4, 4), 0x33);
  line.form = Form::kStride;
  EXPECT_EQ(refusal(launch_of({line}).text()),
            "kernel-1.traceg:24: addresses by a stride, but the lanes do not lie in a row");
}

// Tracers take an offset for an address at times, or leave other bits in it.
TEST(Launch, AdditionsWhereNoGpuHasMemoryAreWarnedOf) {
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{0x40}, std::uint64_t{0xffc},
                                    kArray | std::uint64_t{1} << 60U}) {
    const Imported trace = imported(launch_of({red(0x10, at(wrong))}));
    EXPECT_NE(trace.printed.find(fmt::format(
                  "  warning: 32 of 32 lane additions are at addresses that no GPU has, such as "
                  "{:#x}: a fault of the tracer\n",
                  wrong)),
              std::string::npos)
        << trace.printed;
    EXPECT_EQ(
        trace::address_warning(trace.header),
        fmt::format("\"0: 0x0010 {}\" adds at {:#x}, where no GPU has memory: results of this "
                    "trace mean nothing",
                    kRed, wrong));
  }
  const Imported good = imported(launch_of({red(0x10, at(kArray)), red(0x20, at(0x1000))}));
  EXPECT_EQ(good.printed.find("warning"), std::string::npos);
  EXPECT_EQ(trace::address_warning(good.header), "");
}

TEST(Launch, AdditionsOffTheirSizeAreRefused) {
  EXPECT_EQ(refusal(launch_of({red(0x10, at(kArray + 2))}).text()).substr(0, 40),
            "kernel-1.traceg: the additions at 0x0010");
}

// Whatever is cut off or changed: a line, or a trace that can be read.
TEST(Launch, DamagedFilesAreRefusedOrRead) {
  Launch launch = launch_of(mixed_lines());
  launch.grid[0] = 2;
  launch.blocks.emplace_back("1,0,0", std::vector<WarpLines>{mixed_lines()});
  const std::string good = launch.text();
  const auto survives = [](const std::string& text) {
    const Imported trace = imported(text);
    EXPECT_EQ(trace.outcome.refused + trace.outcome.launches, 1U);
    EXPECT_EQ(std::count(trace.complaints.begin(), trace.complaints.end(), '\n'),
              static_cast<std::ptrdiff_t>(trace.outcome.refused))
        << trace.complaints;
    return trace.ctas.size();
  };
  std::size_t whole = 0;
  for (std::size_t end = 0; end < good.size(); end += 7) {
    const std::size_t ctas = survives(good.substr(0, end));
    const std::string cut = good.substr(0, end);
    std::size_t ended = 0;
    for (std::size_t found = cut.find("#END_TB"); found != std::string::npos;
         found = cut.find("#END_TB", found + 1)) {
      ++ended;
    }
    EXPECT_LE(ctas, ended) << end;
    whole += ctas;
  }
  EXPECT_GT(whole, 0U);
  // Likewise as Accel-Sim 2.0 packs it, where no part of it is enough.
  launch.version = 6;
  const std::string packed = tracez_of(launch);
  for (std::size_t end = 0; end < packed.size(); end += 11) {
    EXPECT_EQ(survives(packed.substr(0, end)), 0U) << end;
  }
  std::mt19937 damage(9);  // NOLINT(bugprone-random-generator-seed): the same files each time
  for (int i = 0; i < 300; ++i) {
    std::string file = packed;
    file[damage() % file.size()] = static_cast<char>(damage());
    survives(file);
  }
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same files each time
  for (int i = 0; i < 200; ++i) {
    std::string text = good;
    text[random() % text.size()] = static_cast<char>(random());
    survives(text);
  }
}

}  // namespace
}  // namespace warpfold::accelsim::test
