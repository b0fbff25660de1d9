// SPDX-License-Identifier: Apache-2.0
// Loads and stores of which the trace says what they touch: the L1 and the L2's reads by
// themselves, and whole runs, each in a process of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "model/gpu/memory/l2_reads.hpp"
#include "model/gpu/sm/l1_cache.hpp"
#include "model/gpu/sm/sector_tags.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "tb/model/gpu_run.hpp"

namespace warpfold::test {
namespace {

TEST(SectorTags, KeepTheLinesUsedLast) {
  SectorTags tags(4 * kLineBytes, 4);  // one set
  EXPECT_EQ(tags.bring_in(1, 0b0011), 0U);
  EXPECT_EQ(tags.bring_in(1, 0b0110), 0b0010U);
  for (std::uint64_t line = 2; line <= 4; ++line) {
    EXPECT_EQ(tags.bring_in(line, 1), 0U);
  }
  EXPECT_EQ(tags.bring_in(1, 0b1111), 0b0111U);
  EXPECT_EQ(tags.bring_in(5, 1), 0U);  // in place of 2
  EXPECT_EQ(tags.bring_in(1, 1), 1U);
  EXPECT_EQ(tags.bring_in(3, 1), 1U);
  EXPECT_EQ(tags.bring_in(2, 1), 0U);
  SectorTags none(0, 4);
  EXPECT_EQ(none.bring_in(1, 1), 0U);
  EXPECT_EQ(none.bring_in(1, 1), 0U);
}

TEST(L1Cache, AsksForASectorOnceAndTellsAllWhoWait) {
  L1Cache cache(16 * kLineBytes, 4, 8);
  const L1Cache::Asker first{.source = 0, .slot = 1, .site = 0};
  const L1Cache::Asker second{.source = 3, .slot = 2, .site = 1};
  EXPECT_EQ(cache.load(7, 0b0011, true, first, 10).missing, 0b0011U);
  const L1Cache::Answer merged = cache.load(7, 0b0110, true, second, 12);
  EXPECT_EQ(merged.missing, 0b0100U);
  EXPECT_EQ(merged.waits, 2U);
  std::vector<std::uint32_t> told;
  const auto tell = [&](const L1Cache::Asker& asker) { told.push_back(asker.slot); };
  cache.fill(7, 0b0011, 300, tell);
  EXPECT_EQ(told, (std::vector<std::uint32_t>{1, 1, 2}));
  // On its way, with a time that is known: nobody is told again.
  const L1Cache::Answer late = cache.load(7, 0b0001, true, first, 299);
  EXPECT_EQ(late.waits, 0U);
  EXPECT_EQ(late.due, 300U);
  EXPECT_EQ(cache.load(7, 0b0001, true, first, 300).due, 0U);
  EXPECT_EQ(cache.unknown(), 1U);
  EXPECT_EQ(cache.stats().hits, 1U);
  EXPECT_EQ(cache.stats().merged, 2U);
  EXPECT_EQ(cache.stats().asked, 3U);
  EXPECT_EQ(cache.stats().filled, 2U);
  // What passes the L1 by is not looked for there.
  EXPECT_EQ(cache.load(7, 0b0001, false, first, 400).missing, 0b0001U);
}

TEST(L1Cache, HasRoomForSoManyLinesOnTheirWay) {
  L1Cache cache(0, 4, 2);
  const L1Cache::Asker asker;
  static_cast<void>(cache.load(1, 0b0111, true, asker, 0));
  EXPECT_TRUE(cache.has_room(2, 0b1111, 0));
  static_cast<void>(cache.load(2, 0b1111, true, asker, 0));
  EXPECT_FALSE(cache.has_room(3, 0b0001, 0));
  EXPECT_FALSE(cache.has_room(1, 0b1000, 0));  // its others are on their way, and it is not
  EXPECT_TRUE(cache.has_room(1, 0b0011, 0));
  EXPECT_EQ(cache.more_room(), kNever);
  cache.fill(1, 0b0111, 20, [](const L1Cache::Asker&) {});
  EXPECT_EQ(cache.more_room(), 20U);
  EXPECT_FALSE(cache.has_room(3, 0b0011, 19));
  EXPECT_TRUE(cache.has_room(3, 0b0011, 20));
}

// Memory that takes 100 cycles and notes down what is asked of it.
class NotedMemory : public MemoryBehind {
 public:
  void write_back(Address line, Cycle /*now*/) override { written.push_back(line / kLineBytes); }
  Cycle read(Address /*line*/, Cycle now) override { return now + 100; }
  Cycle read_sectors(Address line, std::uint32_t count, Cycle now) override {
    reads.emplace_back(line / kLineBytes, count);
    return now + 100;
  }
  std::vector<std::uint64_t> written;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> reads;
};

struct Reads {
  Reads()
      : config(load_gpu("h200")),
        tags(2 * kLineBytes, 2, kLineBytes),
        reads(make(), tags, memory) {}
  const GpuConfig& make() {
    config.l2.load_cycles = 0;
    config.l2.read_cycles = 0.5;
    return config;
  }
  // Cycles in which loads of so many sectors each are answered, up to that one.
  std::vector<std::pair<Cycle, std::uint64_t>> answers(Cycle until) {
    std::vector<std::pair<Cycle, std::uint64_t>> done;
    for (Cycle cycle = reads.next(); cycle <= until; cycle = std::max(cycle, reads.next())) {
      reads.clock(cycle, [&](const L2Reads::Load& load) { done.emplace_back(cycle, load.line); });
    }
    return done;
  }
  GpuConfig config;
  NotedMemory memory;
  L2Tags tags;  // two lines
  L2Reads reads;
};

using Times = std::vector<std::pair<Cycle, std::uint64_t>>;

TEST(L2Reads, ASectorIsReadOnceAndGivenOutOneAfterTheOther) {
  Reads l2;
  l2.reads.load({.sm = 0, .line = 5, .sectors = 0b1111}, 0, 10);
  l2.reads.load({.sm = 1, .line = 5, .sectors = 0b0001}, 0, 11);
  EXPECT_EQ(l2.answers(1000), (Times{{112, 5}, {113, 5}}));
  using Asked = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  EXPECT_EQ(l2.memory.reads, (Asked{{5, 4}}));
  l2.reads.load({.sm = 1, .line = 5, .sectors = 0b0100}, 0, 200);
  EXPECT_EQ(l2.answers(1000), (Times{{201, 5}}));
  EXPECT_EQ(l2.reads.stats().hits, 2U);
  EXPECT_EQ(l2.reads.stats().misses, 4U);
  EXPECT_EQ(l2.reads.stats().sent, 6U);
  EXPECT_TRUE(l2.reads.empty());
}

TEST(L2Reads, OnlySectorsThatAreMissedAreRead) {
  Reads l2;
  l2.reads.store(5, 0b0010, 0);
  l2.reads.load({.sm = 0, .line = 5, .sectors = 0b0110}, 0, 1);
  using Asked = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  EXPECT_EQ(l2.memory.reads, (Asked{{5, 2}}));  // and the other of its 64 bytes
  EXPECT_EQ(l2.reads.stats().misses, 1U);
  EXPECT_EQ(l2.reads.stats().read, 2U);
  l2.reads.load({.sm = 0, .line = 5, .sectors = 0b1000}, 0, 1);
  EXPECT_EQ(l2.memory.reads.size(), 1U);
  // A line that additions have brought in is whole.
  static_cast<void>(l2.tags.access(9 * kLineBytes));
  l2.reads.load({.sm = 0, .line = 9, .sectors = 0b1111}, 0, 2);
  EXPECT_EQ(l2.memory.reads.size(), 1U);
  // An addition to a sector that is not in has the line read; it is whole then.
  EXPECT_TRUE(l2.reads.lacks(5, 0b0001));
  EXPECT_FALSE(l2.reads.lacks(5, 0b0001));
}

TEST(L2Reads, WhatHasBeenWrittenIsWrittenBackAndNothingElse) {
  Reads l2;
  l2.reads.store(1, 0b0001, 0);
  l2.reads.load({.sm = 0, .line = 2, .sectors = 0b0001}, 0, 0);
  l2.reads.load({.sm = 0, .line = 3, .sectors = 0b0001}, 0, 0);  // in place of 1
  l2.reads.load({.sm = 0, .line = 4, .sectors = 0b0001}, 0, 0);  // of 2
  EXPECT_EQ(l2.memory.written, (std::vector<std::uint64_t>{1}));
}

constexpr std::uint64_t kData = 0x7e0000000000 / trace::kSectorBytes;

SmallTrace with_memory(std::uint32_t ctas, std::uint32_t warps) {
  SmallTrace trace(ctas, warps, 1, 64, 4);
  trace.header.memory = {{.name = "in"},
                         {.name = "past the L1", .cache = trace::CacheUse::kL2},
                         {.name = "out", .kind = trace::AccessKind::kStore}};
  return trace;
}

void access(trace::WarpTrace& warp, std::uint16_t site, std::uint64_t first, std::uint32_t count,
            std::uint64_t step = 1) {
  warp.records.push_back({.kind = trace::RecordKind::kAccess,
                          .site = site,
                          .count = count,
                          .mask = ~0U,
                          .values = warp.sectors.size()});
  for (std::uint32_t i = 0; i < count; ++i) {
    warp.sectors.push_back(first + i * step);
  }
}

void wait(trace::WarpTrace& warp, std::uint16_t site) {
  warp.records.push_back({.kind = trace::RecordKind::kWait, .site = site});
}

std::vector<RunResult> run_all(const SmallTrace& made, const std::vector<SimOptions>& all) {
  const trace::Reader trace = made.read();
  const ReferenceSums reference = ReferenceSums::compute(trace);
  std::vector<PoolTask> tasks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    tasks.push_back({.name = std::to_string(i),
                     .work = [&trace, &reference, options = all[i]](
                                 const auto&) { return simulate(options, trace, reference); },
                     .prepare = {}});
  }
  std::vector<RunResult> results;
  for (const PoolOutcome& outcome : run_pool(tasks, {.jobs = 2, .progress = {}})) {
    EXPECT_TRUE(outcome.result) << outcome.error;
    results.push_back(outcome.result.value_or(RunResult{}));
    EXPECT_EQ(results.back().failure, "");
  }
  return results;
}

SimOptions options_of(const GpuConfig& gpu, const std::string& policy = "baseline") {
  SimOptions options;
  options.gpu = gpu;
  options.policy = parse_policy(policy);
  options.unit.model = UnitModel::kGolden;
  return options;
}

Cycle cycles_of(const SmallTrace& made, const GpuConfig& gpu) {
  return run_all(made, {options_of(gpu)})[0].cycles;
}

// A sector of the DRAM, of the L2 and of the L1, each waited for: each takes its latency and the
// few cycles of the blocks on the way.
TEST(Loads, TakeTheLatencyOfWhereTheirDataIs) {
  const GpuConfig gpu = small_h200(1);
  SmallTrace made = with_memory(1, 1);
  trace::WarpTrace& warp = made.warp(0, 0);
  std::vector<Cycle> cycles;
  for (const std::uint16_t site : std::vector<std::uint16_t>{0, 0, 1}) {
    access(warp, site, kData, 1);
    wait(warp, site);
    cycles.push_back(cycles_of(made, gpu));
  }
  constexpr Cycle kBlocks = 8;
  const Cycle dram = cycles[0] - first_issue(gpu);
  const Cycle l1 = cycles[1] - cycles[0];
  const Cycle l2 = cycles[2] - cycles[1];
  EXPECT_GE(l1, gpu.latency.l1_load);
  EXPECT_LE(l1, gpu.latency.l1_load + kBlocks);
  EXPECT_GE(l2, gpu.latency.global_load);
  EXPECT_LE(l2, gpu.latency.global_load + kBlocks);
  EXPECT_GE(dram, gpu.latency.global_load + gpu.l2.dram_latency);
  EXPECT_LE(dram, gpu.latency.global_load + gpu.l2.dram_latency + kBlocks);
}

// What is not waited for holds nobody up but the end of the warp.
TEST(Loads, OverlapUntilTheyAreWaitedFor) {
  const GpuConfig gpu = small_h200(1);
  const auto made = [&](bool each) {
    SmallTrace trace = with_memory(1, 1);
    for (std::uint64_t i = 0; i < 8; ++i) {
      access(trace.warp(0, 0), 0, kData + 1000 * i, 1);
      if (each) {
        wait(trace.warp(0, 0), 0);
      }
    }
    return trace;
  };
  const Cycle together = cycles_of(made(false), gpu);
  const Cycle apart = cycles_of(made(true), gpu);
  EXPECT_LT(together, first_issue(gpu) + gpu.latency.global_load + gpu.l2.dram_latency + 80);
  EXPECT_GT(apart, first_issue(gpu) + 8 * (gpu.latency.global_load + gpu.l2.dram_latency));
}

// 16 warps that each read 32 x 32 sectors: what is narrowest on the way sets the time.
TEST(Loads, AreHeldUpByTheNarrowestPlace) {
  constexpr Cycle kSectors = 16 * 32 * 32;
  const auto made = [&](std::uint64_t step, std::uint64_t rows) {
    SmallTrace trace = with_memory(1, 16);
    for (std::size_t w = 0; w < 16; ++w) {
      for (std::uint64_t i = 0; i < 32; ++i) {
        access(trace.warp(0, w), 1, kData + ((w * 32 + i) % rows) * 32 * step, 32, step);
      }
    }
    return trace;
  };
  const GpuConfig gpu = small_h200(1);
  const auto between = [](Cycle cycles, double least, double most) {
    EXPECT_GE(static_cast<double>(cycles), least);
    EXPECT_LE(static_cast<double>(cycles), most);
  };
  // A line a cycle of the L1, of which a load of 32 lines takes 32.
  between(cycles_of(made(4, 64), gpu), kSectors, 1.3 * kSectors + 3000);
  // Each sector once: none is on its way already.
  constexpr std::uint64_t kRows = 16 * 32;
  GpuConfig narrow = gpu;
  narrow.noc.return_cycles = 2;
  between(cycles_of(made(1, kRows), narrow), 2 * kSectors, 2.2 * kSectors + 3000);
  // Of a line in four, one sector: the DRAM takes as long as for a burst.
  narrow = gpu;
  narrow.l2.dram_bytes_per_cycle = 64 / narrow.l2.dram_share;
  narrow.l2.dram_burst = 128;
  between(cycles_of(made(16, kRows), narrow), 2 * kSectors * 0.9, 2.6 * kSectors + 4000);
  narrow = gpu;
  narrow.l2.dram_bytes_per_cycle = 16 / narrow.l2.dram_share;
  between(cycles_of(made(1, kRows), narrow), 2 * kSectors * 0.9, 2.6 * kSectors + 4000);
  narrow = gpu;
  narrow.l1.misses = 8;  // a trip for each 8 lines
  const double trip = gpu.latency.global_load + gpu.l2.dram_latency;
  between(cycles_of(made(1, kRows), narrow), kSectors / 32.0 * trip,
          kSectors / 32.0 * (trip + 60) + 3000);
}

// Shared memory leaves less of the L1.
TEST(Loads, HitLessWhereSharedMemoryTakesTheL1) {
  SmallTrace made = with_memory(1, 1);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 400; ++i) {  // 50 KiB
      access(made.warp(0, 0), 0, kData + 4 * i, 4);
    }
  }
  GpuConfig gpu = small_h200(1);
  gpu.l1.misses = 16;  // so that the second round does not meet the first on its way
  const auto hits = [&] {
    const RunResult result = run_all(made, {options_of(gpu)})[0];
    return counter(result.activity, "l1_hit_sectors") +
           counter(result.activity, "l1_merged_sectors");
  };
  EXPECT_GE(hits(), 1500U);
  made.header.shared_bytes_per_cta = 220 * 1024;
  EXPECT_LT(hits(), 1500U);
}

SmallTrace random_loads(std::uint64_t seed) {
  SmallTrace made = random_trace(seed, 10, 4, 2, 0.5, false);
  made.header.memory = with_memory(1, 1).header.memory;
  std::mt19937_64 random(seed);
  for (trace::CtaTrace& cta : made.ctas) {
    for (trace::WarpTrace& warp : cta.warps) {
      std::vector<trace::Record> records;
      records.swap(warp.records);
      for (const trace::Record& record : records) {
        warp.records.push_back(record);
        for (std::uint64_t i = random() % 4; i > 0; --i) {
          const auto site = static_cast<std::uint16_t>(random() % 3);
          const std::uint64_t first = kData + random() % 3000;
          access(warp, site, first, static_cast<std::uint32_t>(1 + random() % 32),
                 1 + random() % 5);
          if (random() % 2 == 0) {
            wait(warp, static_cast<std::uint16_t>(random() % 3));
          }
        }
      }
    }
  }
  return made;
}

// The same results on the gated clock and the reference, and on any number of threads; each load is
// answered once, which every run checks.
TEST(Loads, ComeOutAlikeHoweverTheyAreSimulated) {
  for (const std::string policy :
       {"baseline", "sw-b:8", "arc-hw", "lab", "lab-ideal", "phi", "arc-merge", "arc-merge-l2"}) {
    for (const bool few_misses : {false, true}) {
      GpuConfig gpu = small_h200(4);
      gpu.l1.misses = few_misses ? 16 : gpu.l1.misses;
      gpu.l2.bytes = few_misses ? std::uint64_t{1} << 16U : gpu.l2.bytes;
      std::vector<SimOptions> all(4, options_of(gpu, policy));
      all[1].reference = true;
      all[2].threads = 2;
      all[3].threads = 4;
      std::vector<nlohmann::ordered_json> results;
      for (RunResult& result : run_all(random_loads(few_misses ? 7 : 8), all)) {
        EXPECT_TRUE(result.conserved);
        EXPECT_GT(counter(result.activity, "load_sectors"), 1000U);
        result.wall_seconds = 0;
        results.push_back(nlohmann::ordered_json::parse(results_to_json({result}))["runs"][0]);
      }
      EXPECT_EQ(results[0], results[1]) << policy << ": gated and ungated clocks differ";
      EXPECT_EQ(results[0], results[2]) << policy << ": one thread and two differ";
      EXPECT_EQ(results[0], results[3]) << policy << ": one thread and four differ";
    }
  }
}

// Beside a buffer a miss takes the latency of the L2, and nothing is asked of that; LAB leaves the
// L1 less room.
TEST(Loads, TakeALatencyAloneBesideABuffer) {
  SmallTrace made = with_memory(1, 1);
  for (std::uint64_t line = 0; line < 600; ++line) {
    access(made.warp(0, 0), 0, kData + 4 * (line % 300), 4);
    wait(made.warp(0, 0), 0);
  }
  GpuConfig gpu = small_h200(1);
  gpu.l1.ways = 1024;
  const std::vector<RunResult> results =
      run_all(made, {options_of(gpu), options_of(gpu, "lab-ideal"), options_of(gpu, "lab")});
  const auto hits = [&](std::size_t run) {
    return counter(results[run].activity, "l1_hit_sectors");
  };
  for (const RunResult& result : results) {
    EXPECT_TRUE(result.conserved);
  }
  EXPECT_EQ(hits(0), 1200U);
  EXPECT_EQ(hits(1), 1200U);
  EXPECT_LT(hits(2), 1200U);
  EXPECT_GT(counter(results[0].activity, "l2_load_miss_sectors"), 0U);
  EXPECT_EQ(counter(results[1].activity, "l2_load_miss_sectors"), 0U);
  // 300 trips to the DRAM against as many to the L2.
  EXPECT_GT(results[0].cycles, results[1].cycles + 300 * gpu.l2.dram_latency);
}

// What fits the L2 is found there by the launch that comes behind one like it; a store's line is
// written back when another drives it out.
TEST(Loads, FindInAWarmL2WhatALaunchLikeThisHasLeft) {
  SmallTrace made = with_memory(1, 1);
  for (std::uint64_t line = 0; line < 100; ++line) {
    access(made.warp(0, 0), line % 10 == 0 ? 2 : 0, kData + 4 * line, 4);
    wait(made.warp(0, 0), 0);
  }
  GpuConfig gpu = small_h200(1);
  std::vector<SimOptions> all(3, options_of(gpu));
  all[1].warm_l2 = true;
  all[2].warm_l2 = true;
  all[2].gpu.l2.bytes = std::uint64_t{gpu.l2.ports()} * gpu.l2.ways * kLineBytes;
  const std::vector<RunResult> results = run_all(made, all);
  const auto misses = [&](std::size_t run) {
    return counter(results[run].activity, "l2_load_miss_sectors");
  };
  EXPECT_EQ(misses(0), 360U);
  EXPECT_EQ(misses(1), 0U);
  EXPECT_EQ(counter(results[1].activity, "l2_load_hit_sectors"), 360U);
  EXPECT_TRUE(results[1].conserved && results[2].conserved);
  EXPECT_GT(results[0].cycles, results[1].cycles + 90 * gpu.l2.dram_latency);
  Reads warm;
  warm.reads.warm(1, 0b0011, true);
  warm.reads.load({.sm = 0, .line = 1, .sectors = 0b0111}, 0, 10);
  EXPECT_EQ(warm.memory.reads, (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 2}}));
  warm.reads.warm(2, 1, false);
  warm.reads.load({.sm = 0, .line = 3, .sectors = 1}, 0, 11);
  EXPECT_EQ(warm.memory.written, (std::vector<std::uint64_t>{1}));
}

TEST(Loads, AreRefusedWithOtherLines) {
  SmallTrace made = with_memory(1, 1);
  access(made.warp(0, 0), 0, kData, 1);
  const trace::Reader trace = made.read();
  const ReferenceSums reference = ReferenceSums::compute(trace);
  const auto refusal = [&](const SimOptions& options) -> std::string {
    try {
      static_cast<void>(simulate(options, trace, reference));
    } catch (const SimulationError& error) {
      return error.what();
    }
    return "";
  };
  GpuConfig other = small_h200(1);
  other.l2.line_bytes = 64;
  EXPECT_NE(refusal(options_of(other)).find("lines of 128 and 64 bytes"), std::string::npos);
}

}  // namespace
}  // namespace warpfold::test
