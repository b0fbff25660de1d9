// SPDX-License-Identifier: Apache-2.0
// What lies at the far ends of machines and traces: durations under a cycle, units that are busy
// beyond the last addition, sums beyond FP32, headers that declare much more than events add to,
// runs in which nothing advances. Each test runs in a process of its own (ctest does so); those
// with several runs fork one for each.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/base/check.hpp"
#include "model/base/lazy_array.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/kernel/clock.hpp"
#include "model/kernel/clock_driver.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

RunResult run(const trace::Reader& trace, const GpuConfig& gpu, const std::string& policy,
              std::size_t threads = 1) {
  SimOptions options;
  options.gpu = gpu;
  options.policy = parse_policy(policy);
  options.unit.model = UnitModel::kGolden;
  options.threads = threads;
  return simulate(options, trace, ReferenceSums::compute(trace));
}

// What a run in a process of its own complains of, or nothing.
std::string complaint_of(const std::function<RunResult()>& simulation) {
  std::FILE* const file = std::tmpfile();
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    try {
      const RunResult result = simulation();
      text = result.failure;
      for (const auto& [name, bound] : result.bounds) {
        text += bound > result.cycles ? " bound of " + name : "";
      }
      for (const auto& [name, share] : result.utilization) {
        text += share > 1 ? " share of " + name : "";
      }
    } catch (const std::exception& error) {
      text = error.what();
    }
    std::fputs(text.c_str(), file);
    std::fflush(file);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    text += static_cast<char>(c);
  }
  std::fclose(file);
  return status == 0 ? text : "died";
}

TEST(Machines, DurationsAtBothEndsOfTheirRanges) {
  const trace::Reader trace = random_trace(3, 3, 4, 3, 0.5, true).read();
  const auto all = [&](const char* what, double GpuConfig::L1::*l1, double GpuConfig::Buffer::*add,
                       double GpuConfig::Lsu::*lsu, double GpuConfig::L2::*l2, double value) {
    for (const std::string policy : {"baseline", "lab", "lab-ideal", "phi", "arc-hw", "sw-b:8"}) {
      GpuConfig gpu = small_h200(2);
      if (l1 != nullptr) {
        gpu.l1.*l1 = value;
      } else if (add != nullptr) {
        gpu.buffer.*add = value;
      } else if (lsu != nullptr) {
        gpu.lsu.*lsu = value;
      } else {
        gpu.l2.*l2 = value;
        gpu.l2.sector_cycles = std::max(gpu.l2.sector_cycles, gpu.l2.rop_cycles);
      }
      EXPECT_EQ(complaint_of([&] { return run(trace, gpu, policy); }), "")
          << what << " = " << value << ", " << policy;
    }
  };
  using Gpu = GpuConfig;
  for (const double value : {0.01, 0.9, 300.0}) {
    all("l1.access_cycles", &Gpu::L1::access_cycles, nullptr, nullptr, nullptr, value);
    all("buffer.add_cycles", nullptr, &Gpu::Buffer::add_cycles, nullptr, nullptr, value);
    all("lsu.red_flit", nullptr, nullptr, &Gpu::Lsu::red_flit, nullptr, value);
    all("lsu.red_min", nullptr, nullptr, &Gpu::Lsu::red_min, nullptr, value);
    all("lsu.hand_red", nullptr, nullptr, &Gpu::Lsu::hand_red, nullptr, value);
    all("l2.rop_cycles", nullptr, nullptr, nullptr, &Gpu::L2::rop_cycles, value);
    all("l2.line_cycles", nullptr, nullptr, nullptr, &Gpu::L2::line_cycles, value);
    all("l2.port_cycles", nullptr, nullptr, nullptr, &Gpu::L2::port_cycles, value);
    all("l2.flit_cycles", nullptr, nullptr, nullptr, &Gpu::L2::flit_cycles, value);
  }
}

// Turns of one sector, which a slice takes in for longer than it adds, beside turns of four.
TEST(Machines, ASliceIsBusyForTheLongerOfTwoSums) {
  SmallTrace trace(8, 4, 1, 4096, 4);
  for (std::size_t cta = 0; cta < 8; ++cta) {
    for (std::size_t warp = 0; warp < 4; ++warp) {
      for (std::uint32_t i = 0; i < 40; ++i) {
        std::vector<std::uint32_t> lanes(32);
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          lanes[lane] = i % 2 == 0
                            ? (i * 61 + static_cast<std::uint32_t>(warp) * 1024) % 4000 + lane
                            : (i * 997 + lane * 131) % 4096;
        }
        trace.event(cta, warp, 0xffffffffU, lanes);
      }
    }
  }
  const trace::Reader reader = trace.read();
  for (const std::uint32_t slices : {1U, 2U, 4U}) {
    GpuConfig gpu = small_h200(8);
    gpu.l2.slices = slices;
    gpu.l2.slices_per_port = 1;
    EXPECT_EQ(complaint_of([&] { return run(reader, gpu, "baseline"); }), "") << slices;
  }
}

TEST(Machines, ARunEndsWithWhatItsUnitsAreBusyWith) {
  SmallTrace trace(1, 1, 1, 64, 4);
  trace.event(0, 0, 0xffffffffU, 3);
  const trace::Reader reader = trace.read();
  for (const double cycles : {200.0, 1000.0}) {
    GpuConfig gpu = small_h200(1);
    gpu.noc.flit_cycles = cycles;
    EXPECT_EQ(complaint_of([&] { return run(reader, gpu, "baseline"); }), "") << cycles;
    gpu = small_h200(1);
    gpu.lsu.red_flit = cycles;
    EXPECT_EQ(complaint_of([&] { return run(reader, gpu, "baseline"); }), "") << cycles;
  }
}

SmallTrace two_lanes(float first, float second) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.event(0, 0, 0x3, 2);
  trace.header.values = trace::ValueMode::kOperands;
  trace::WarpTrace& warp = trace.warp(0, 0);
  warp.values = {std::bit_cast<Fp32Bits>(first), std::bit_cast<Fp32Bits>(second)};
  warp.records.back().values = 0;
  return trace;
}

TEST(Sums, BeyondFp32AreInfinite) {
  for (const std::string policy : {"baseline", "lab", "arc-hw", "sw-b:1", "sw-s:1"}) {
    for (const float sign : {1.0F, -1.0F}) {
      const trace::Reader reader = two_lanes(sign * FLT_MAX, sign * FLT_MAX).read();
      EXPECT_EQ(complaint_of([&] { return run(reader, small_h200(1), policy); }), "") << policy;
    }
  }
}

TEST(Sums, OnlyTheRightInfinityIsRight) {
  const ReferenceSums up = ReferenceSums::compute(two_lanes(FLT_MAX, FLT_MAX).read());
  const ReferenceSums both = ReferenceSums::compute(two_lanes(FLT_MAX / 2, -FLT_MAX / 2).read());
  const ReferenceSums small = ReferenceSums::compute(two_lanes(1, 2).read());
  const auto matches = [](const ReferenceSums& sums, float value) {
    std::vector<Fp32Bits> memory(4, 0);
    memory[2] = std::bit_cast<Fp32Bits>(value);
    return sums.compare(memory).match;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(matches(up, kInfinity));
  EXPECT_FALSE(matches(up, -kInfinity));
  EXPECT_FALSE(matches(up, NAN));
  EXPECT_FALSE(matches(up, FLT_MAX));
  EXPECT_TRUE(matches(both, 0));
  EXPECT_FALSE(matches(both, kInfinity));  // no order of these overflows
  EXPECT_TRUE(matches(small, 3));
  EXPECT_FALSE(matches(small, kInfinity));
  EXPECT_FALSE(matches(small, NAN));
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Memory, GoesByWhatTheTraceHolds) {
  SmallTrace trace(1, 1, 9, 10'000'000, 36);
  trace.event(0, 0, 0xf, 17);
  trace.event(0, 0, 0xf, 9'999'999);
  const trace::Reader reader = trace.read();
  const long before = peak_kib();
  const RunResult result = run(reader, small_h200(1), "baseline");
  EXPECT_EQ(result.failure, "");
  // The elements alone would be 2.5 GB. The memory, 360 MB, is read to its end, and some kernels
  // give a page to who reads it.
  EXPECT_LT(peak_kib() - before, 512L << 10U);
}

TEST(LazyArrayTest, IsZeroAndMoves) {
  LazyArray<int> a(1 << 20, false);
  EXPECT_EQ(a[1 << 19], 0);
  a[5] = 7;
  LazyArray<int> b = std::move(a);
  EXPECT_EQ(b[5], 7);
  EXPECT_EQ(a.size(), 0U);
  EXPECT_EQ(LazyArray<int>(0, true).size(), 0U);
  EXPECT_THROW(LazyArray<int>(~std::size_t{0}, false), std::bad_alloc);
}

// Ticks for ever; fails in a cycle, if it is to.
class Ticker : public Block {
 public:
  Ticker(std::string name, Domain& domain, Cycle fails_in)
      : Block(std::move(name), domain), fails_in_(fails_in) {
    wake_at(1);
  }

 private:
  void tick() override {
    ARC_CHECK(now() != fails_in_, "planted");
    wake_next();
  }
  const Cycle fails_in_;
};

std::string end_of_clock(std::size_t threads, Cycle fails_in) {
  Clock clock(threads);
  std::vector<std::unique_ptr<Ticker>> tickers;
  for (std::size_t i = 0; i < threads; ++i) {
    tickers.push_back(std::make_unique<Ticker>("ticker" + std::to_string(i), clock.partition(i),
                                               i + 1 == threads ? fails_in : kNever));
  }
  clock.watch_every(1000, [](Cycle cycle) {
    if (cycle >= 3000) {
      throw CheckError("nothing advances");
    }
  });
  try {
    run_to_rest(clock, 1.0);
  } catch (const CheckError& error) {
    return error.what();
  }
  return "";
}

TEST(Watchdog, EndsARunInWhichNothingAdvances) {
  EXPECT_EQ(end_of_clock(1, kNever), "nothing advances");
}

TEST(Watchdog, ARunThatStandsStillSaysWhoWaitsForWhat) {
  const trace::Reader trace = random_trace(3, 3, 4, 3, 0.5, true).read();
  for (const std::size_t threads : {1U, 2U}) {
    const std::string text = complaint_of([&] {
      SimOptions options;
      options.gpu = small_h200(2);
      options.policy = parse_policy("baseline");
      options.unit.model = UnitModel::kGolden;
      options.threads = threads;
      options.lose_grants = 1;
      const RunResult result = simulate(options, trace, ReferenceSums::compute(trace));
      EXPECT_EQ(result.failure_label, "STUCK");
      return result;
    });
    EXPECT_TRUE(text.starts_with("CTAs have not finished: sm0.subcore")) << text;
    EXPECT_NE(text.find("; sm0.port waits for port "), std::string::npos) << text;
  }
}

TEST(Watchdog, WithSeveralThreads) {
  EXPECT_EQ(end_of_clock(3, kNever), "nothing advances");
}

TEST(Checks, AFailedOneOfAnotherThreadEndsTheRunInItsOwnWords) {
  const std::string text = end_of_clock(3, 500);
  EXPECT_TRUE(text.starts_with("check failed: ") && text.ends_with(": planted")) << text;
}

}  // namespace
}  // namespace warpfold::test
