// SPDX-License-Identifier: Apache-2.0
// Kernels that add at several places, and other types than FP32, on the GPU model. Each run has a
// process of its own, since SystemC can run once in one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/gpu/cta/gradient_memory.hpp"
#include "model/policy/rule.hpp"
#include "model/policy/timing.hpp"
#include "model/results/json.hpp"
#include "model/results/process_pool.hpp"
#include "model/results/table.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "tb/model/gpu_run.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

using trace::ValueType;

constexpr std::uint64_t kBase = SmallTrace::kBase;
const char* const kHardware[] = {"arc-hw", "lab", "lab-ideal", "phi"};

// Gives the trace another site, whose code costs what that of the first does, with a path of its
// own or without one.
void add_site(SmallTrace& trace, trace::Site site) {
  site.name = fmt::format("site {}", trace.header.sites.size());
  trace.header.sites.push_back(std::move(site));
  for (auto& [arch, variants] : trace.header.costs) {
    for (auto& [name, variant] : variants) {
      variant.reduce.push_back(variant.reduce[0]);
    }
  }
}

trace::Site one_parameter(ValueType type, std::uint64_t base, std::uint32_t stride,
                          std::uint64_t primitives) {
  return {.name = "",
          .type = type,
          .primitive_count = primitives,
          .parameters = {{"q", base, stride}},
          .taken_path = ""};
}

// Random events, about half of which become events of site 1, of `primitives` primitives.
SmallTrace two_sites(std::uint64_t seed, const trace::Site& second, bool values = false) {
  SmallTrace trace = random_trace(seed, 6, 4, 2, 0.6, false);
  add_site(trace, second);
  std::mt19937_64 random(seed);
  for (trace::CtaTrace& cta : trace.ctas) {
    for (trace::WarpTrace& warp : cta.warps) {
      for (trace::Record& record : warp.records) {
        if (record.kind == trace::RecordKind::kEvent && random() % 2 == 0) {
          record.site = 1;
        }
      }
    }
  }
  if (values) {
    trace.add_values(seed);
  }
  return trace;
}

// Lanes of the events of a site, times its parameters.
std::uint64_t lane_atomics(const SmallTrace& trace, std::uint16_t site) {
  std::uint64_t lanes = 0;
  for (const trace::CtaTrace& cta : trace.ctas) {
    for (const trace::WarpTrace& warp : cta.warps) {
      for (const trace::Record& record : warp.records) {
        if (record.kind == trace::RecordKind::kEvent && record.site == site) {
          lanes += static_cast<std::uint64_t>(lane_count(record.mask));
        }
      }
    }
  }
  return lanes * trace.header.sites[site].parameters.size();
}

RunResult run_apart(const SimOptions& options, const trace::Reader& reader) {
  const ReferenceSums sums = ReferenceSums::compute(reader);
  PoolTask task;
  task.name = options.policy.name();
  task.work = [&](const auto&) { return simulate(options, reader, sums); };
  const PoolOutcome outcome = run_pool({task}, {.jobs = 1, .progress = {}}).at(0);
  if (!outcome.result) {
    throw std::runtime_error(outcome.error);
  }
  RunResult result = *outcome.result;
  result.config = options.gpu;
  return result;
}

RunResult run_apart(const trace::Reader& reader, const GpuConfig& gpu, const std::string& policy) {
  SimOptions options;
  options.gpu = gpu;
  options.policy = parse_policy(policy);
  options.unit.model = UnitModel::kGolden;
  return run_apart(options, reader);
}

void expect_right(const RunResult& result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.sums_match);
  EXPECT_TRUE(result.conserved);
}

TEST(Addresses, OfOneSiteAreNumberedByPrimitive) {
  const SmallTrace trace(1, 1, 3, 10, 20);
  const AddressMap map(trace.header);
  EXPECT_EQ(map.element_count(), 30U);
  EXPECT_EQ(map.element(4, 2), 14U);
  EXPECT_EQ(map.element_at(kBase + 4 * 20 + 8, 0), 14U);
}

TEST(Addresses, OfSitesThatLieApartAreNumberedBehindEachOther) {
  SmallTrace trace(1, 1, 3, 10, 20);
  add_site(trace, one_parameter(ValueType::kF32, kBase + 12, 20, 10));  // between the others
  const AddressMap map(trace.header);
  EXPECT_EQ(map.element_count(), 40U);
  EXPECT_EQ(map.site(1).first_parameter, 3U);
  EXPECT_EQ(map.element(4, 3), 34U);
  EXPECT_EQ(map.address(4, 3), kBase + 12 + 80);
  EXPECT_EQ(map.element_at(kBase + 12 + 80, 0), 34U);
}

// A site of three words a primitive, one that walks all words of the same array and goes beyond,
// one elsewhere, and one of FP64 on both.
TEST(Addresses, OfSitesThatShareThemAreOneElement) {
  SmallTrace trace(1, 1, 3, 10, 12);
  add_site(trace, one_parameter(ValueType::kF32, kBase, 4, 34));
  add_site(trace, one_parameter(ValueType::kF32, kBase + 0x10000, 8, 10));
  add_site(trace, one_parameter(ValueType::kF64, kBase + 8, 16, 9));
  const AddressMap map(trace.header);
  for (std::uint32_t p = 0; p < 3; ++p) {
    for (std::uint32_t i = 0; i < 10; ++i) {
      EXPECT_EQ(map.element(i, p), map.element(3 * i + p, 3));
    }
  }
  EXPECT_EQ(map.element(1, 5), map.element(6, 3));
  EXPECT_EQ(map.element(0, 4), map.element(33, 3) + 3);  // behind the range, which ends with FP64
  EXPECT_EQ(map.element_count(), 36U + 19);
  for (std::uint32_t guess = 0; guess < 6; ++guess) {
    EXPECT_EQ(map.element_at(kBase + 24, guess), map.element(6, 3)) << guess;
  }
  EXPECT_THROW(static_cast<void>(map.element_at(kBase + 4 * 35, 0)), CheckError);
}

TEST(Sites, TwoOnOneArrayAddUpRight) {
  for (const bool values : {false, true}) {
    // All words of the array that the first site adds to, and some behind it.
    const SmallTrace trace = two_sites(11, one_parameter(ValueType::kF32, kBase, 4, 100), values);
    const trace::Reader reader = trace.read();
    for (const char* const policy : {"baseline", "sw-s:4", "sw-b:8", "skip", "cccl", "arc-hw",
                                     "lab", "lab-ideal", "phi", "arc-merge", "arc-merge-l2"}) {
      SCOPED_TRACE(fmt::format("{} {}", policy, values));
      const RunResult result = run_apart(reader, small_h200(4), policy);
      expect_right(result);
      EXPECT_EQ(result.sum_check, values ? "bound" : "exact");
      EXPECT_EQ(result.lane_atomics, lane_atomics(trace, 0) + lane_atomics(trace, 1));
      EXPECT_EQ(result.passed_on, 0U);
    }
  }
}

// The sums of both are the same element's: without the second site's additions they differ.
TEST(Sites, TheReferenceAddsUpAllOfThem) {
  SmallTrace trace(1, 1, 1, 8, 8);
  add_site(trace, one_parameter(ValueType::kF32, kBase, 4, 16));
  trace.event(0, 0, 0xf, 3);
  const auto sums = [&] { return ReferenceSums::compute(trace.read()); };
  std::vector<Fp32Bits> memory(16, 0);
  EXPECT_EQ(sums().warp_atomics(), 1U);
  EXPECT_NE(sums().compare(memory).first_difference.find("element 6 holds 0"), std::string::npos);
  trace.event(0, 0, 0x1, 6);
  trace.warp(0, 0).records[1].site = 1;
  const std::string both = sums().compare(memory).first_difference;
  EXPECT_NE(both.find("element 6 holds 0"), std::string::npos) << both;
  trace.warp(0, 0).records.pop_back();
  EXPECT_NE(both, sums().compare(memory).first_difference);
}

// sw-b has no code for the second site, which costs what the baseline's does there.
TEST(Sites, WithoutCodeOfThePolicyAddAsTheBaselineDoes) {
  SmallTrace trace = two_sites(5, one_parameter(ValueType::kF32, kBase + 0x10000, 4, 40));
  trace.header.costs["sm_90"]["sw-b"].reduce[1].clear();
  trace.header.costs["sm_90"]["baseline"].reduce[1]["plain"] = {.alu = 17};
  const PolicyTiming timing(trace.header, load_gpu("h200"), parse_policy("sw-b:0"));
  EXPECT_EQ(timing.site(0).rule->facts().name, "sw-b");
  EXPECT_EQ(timing.site(1).rule->facts().name, "baseline");
  ASSERT_EQ(timing.site(1).pass(3).parts.size(), 1U);
  EXPECT_EQ(timing.site(1).pass(3).parts[0].slots, 17U);
  EXPECT_EQ(timing.site(1).first_parameter, 2U);
  EXPECT_EQ(timing.site(1).end_parameter, 3U);

  const RunResult result = run_apart(trace.read(), small_h200(4), "sw-b:0");
  expect_right(result);
  EXPECT_GT(counter(result.activity, "lanes_in_software"), 0U);
  EXPECT_GE(counter(result.activity, "lanes_as_red"), lane_atomics(trace, 1));
  EXPECT_LE(counter(result.activity, "lanes_in_software"), lane_atomics(trace, 0));
  EXPECT_EQ(result.passed_on, 0U);
}

TEST(Sites, APolicyWithoutCodeForAnyIsRefused) {
  SmallTrace trace = two_sites(5, one_parameter(ValueType::kF32, kBase + 0x10000, 4, 40));
  const GpuConfig gpu = load_gpu("h200");
  EXPECT_TRUE(PolicyTiming::has_code(trace.header, gpu, parse_policy("skip")));
  for (auto& site : trace.header.costs["sm_90"]["skip"].reduce) {
    site.clear();
  }
  EXPECT_FALSE(PolicyTiming::has_code(trace.header, gpu, parse_policy("skip")));
  try {
    const PolicyTiming timing(trace.header, gpu, parse_policy("skip"));
    ADD_FAILURE() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "the trace has no sm_90 code of variant skip, which skip needs");
  }
  // The baseline's additions may take nothing.
  trace.header.costs["sm_90"]["baseline"].reduce[1].clear();
  const PolicyTiming timing(trace.header, gpu, parse_policy("baseline"));
  EXPECT_EQ(timing.site(1).pass(1).parts.at(0).slots, 0U);
  EXPECT_EQ(timing.site(0).pass(1).parts.at(0).slots, 3U);
}

TEST(Sites, WithoutATakenPathAnEventTakesNoPass) {
  SmallTrace trace = two_sites(5, one_parameter(ValueType::kF32, kBase + 0x10000, 4, 40));
  const PolicyTiming timing(trace.header, load_gpu("h200"), parse_policy("baseline"));
  EXPECT_GT(timing.site(0).pass(1).taken.slots, 30U);
  EXPECT_EQ(timing.site(1).pass(1).taken.slots, 0U);
  EXPECT_EQ(timing.site(1).pass(1).taken.min_cycles, 0U);
}

TEST(Types, OtherThanFp32GoByTheHardwareThatReduces) {
  for (const ValueType type : {ValueType::kF16x2, ValueType::kBf16x2, ValueType::kF64}) {
    const SmallTrace trace =
        two_sites(23, one_parameter(type, kBase + 0x10000, 8, 40), type != ValueType::kF64);
    const trace::Reader reader = trace.read();
    const RunResult baseline = run_apart(reader, small_h200(4), "baseline");
    expect_right(baseline);
    EXPECT_EQ(baseline.passed_on, 0U);
    for (const char* const policy : kHardware) {
      SCOPED_TRACE(fmt::format("{} {}", policy, static_cast<int>(type)));
      const RunResult result = run_apart(reader, small_h200(4), policy);
      expect_right(result);
      EXPECT_EQ(result.passed_on, lane_atomics(trace, 1));
      EXPECT_GE(counter(result.activity, "lanes_as_red"), lane_atomics(trace, 1));
      const std::uint64_t reduced =
          counter(result.activity, "lanes_to_buffer") + counter(result.activity, "lanes_to_unit");
      EXPECT_GT(reduced, 0U);
      EXPECT_LE(reduced, lane_atomics(trace, 0));
    }
  }
}

// The gated clock must not change what goes by a buffer.
TEST(Types, GoByAlikeWhereEveryBlockIsClocked) {
  const SmallTrace trace = two_sites(37, one_parameter(ValueType::kF64, kBase + 0x10000, 8, 40));
  const trace::Reader reader = trace.read();
  for (const char* const policy : kHardware) {
    SimOptions options;
    options.gpu = small_h200(2);
    options.gpu.noc.injection_depth = 3;  // often full
    options.policy = parse_policy(policy);
    options.unit.model = UnitModel::kGolden;
    const RunResult gated = run_apart(options, reader);
    expect_right(gated);
    options.reference = true;
    const RunResult clocked = run_apart(options, reader);
    EXPECT_EQ(gated.cycles, clocked.cycles) << policy;
    EXPECT_EQ(gated.subcore_cycles, clocked.subcore_cycles) << policy;
    EXPECT_EQ(gated.activity, clocked.activity) << policy;
    options.reference = false;
    options.threads = 2;
    EXPECT_EQ(gated.activity, run_apart(options, reader).activity) << policy;
  }
}

// Nothing of a kernel of pairs of halves is the unit's: it takes what the baseline takes.
TEST(Types, AloneTakeTheBaselinesTimeUnderTheUnit) {
  SmallTrace trace = random_trace(3, 8, 4, 2, 0.6, false);
  trace.header.sites[0].type = ValueType::kF16x2;
  const trace::Reader reader = trace.read();
  const RunResult baseline = run_apart(reader, small_h200(4), "baseline");
  const RunResult unit = run_apart(reader, small_h200(4), "arc-hw");
  EXPECT_EQ(unit.cycles, baseline.cycles);
  EXPECT_EQ(unit.activity, baseline.activity);
  EXPECT_EQ(unit.passed_on, unit.lane_atomics);
}

// They take as much of the load-store pipe as under the baseline, also where a buffer lies beside
// it.
TEST(Types, GoByOnTheLoadStorePipe) {
  SmallTrace trace(4, 4, 2, 64, 8);
  trace.header.sites[0].type = ValueType::kF16x2;
  for (std::size_t cta = 0; cta < 4; ++cta) {
    for (std::size_t w = 0; w < 4; ++w) {
      for (std::uint32_t e = 0; e < 10; ++e) {
        trace.event(cta, w, 0xffff, e);
      }
    }
  }
  const trace::Reader reader = trace.read();
  const auto lsu = [&](const char* policy) {
    return counter(run_apart(reader, small_h200(2), policy).even_bounds, "lsu");
  };
  const std::uint64_t baseline = lsu("baseline");
  EXPECT_GT(baseline, 1000U);
  for (const char* const policy : kHardware) {
    EXPECT_EQ(lsu(policy), baseline) << policy;
  }
}

// Many warps whose lanes each add to `words` floats of a struct of their own.
SmallTrace structs(std::uint32_t words, trace::SiteKind kind = trace::SiteKind::kRed) {
  SmallTrace trace(8, 4, 4, 256, 16);
  trace.header.sites[0].words = words;
  trace.header.sites[0].kind = kind;
  std::mt19937_64 random(7);
  for (std::size_t cta = 0; cta < 8; ++cta) {
    for (std::size_t w = 0; w < 4; ++w) {
      for (int e = 0; e < 12; ++e) {
        std::vector<std::uint32_t> primitives(32);
        for (std::uint32_t& primitive : primitives) {
          primitive = static_cast<std::uint32_t>(random() % 256);
        }
        trace.event(cta, w, static_cast<std::uint32_t>(random()) | 1U, primitives);
      }
    }
  }
  return trace;
}

TEST(Vectors, AreOneInstructionUnderEveryPolicy) {
  const trace::Reader lone = structs(1).read();
  const RunResult one = run_apart(lone, small_h200(2), "baseline");
  for (const std::uint32_t words : {2U, 3U, 4U}) {
    const SmallTrace trace = structs(words);
    const trace::Reader reader = trace.read();
    std::uint64_t instructions = 0;
    for (const char* const policy : {"baseline", "sw-s:4", "sw-b:8", "skip", "arc-hw", "lab",
                                     "lab-ideal", "phi", "arc-merge", "arc-merge-l2", "none"}) {
      SCOPED_TRACE(fmt::format("{} {}", policy, words));
      const RunResult result = run_apart(reader, small_h200(2), policy);
      expect_right(result);
      EXPECT_EQ(result.lane_atomics, lane_atomics(trace, 0));
      EXPECT_EQ(result.warp_atomics, one.events * ((4 + words - 1) / words));
      if (policy == std::string("baseline")) {
        instructions = counter(result.activity, "reds");
        EXPECT_EQ(instructions, result.warp_atomics);
        EXPECT_LT(result.cycles, one.cycles);
      } else if (policy == std::string("arc-hw") || policy == std::string("lab")) {
        // The unit and the buffers take words, so vectors pass by.
        EXPECT_EQ(result.passed_on, result.lane_atomics);
        EXPECT_EQ(counter(result.activity, "reds"), instructions);
      }
    }
  }
}

TEST(Atoms, HoldTheirWarpUntilTheyAreAnswered) {
  const auto cycles = [](trace::SiteKind kind, const char* policy) {
    SmallTrace trace(1, 1, 1, 64, 4);
    trace.header.sites[0].kind = kind;
    for (std::uint32_t e = 0; e < 12; ++e) {
      trace.event(0, 0, 1, e);
    }
    const RunResult result = run_apart(trace.read(), small_h200(2), policy);
    expect_right(result);
    EXPECT_EQ(result.passed_on, policy == std::string("baseline") || kind == trace::SiteKind::kRed
                                    ? 0
                                    : result.lane_atomics);
    return result.cycles;
  };
  const GpuConfig gpu = small_h200(2);
  for (const char* const policy : {"baseline", "arc-hw", "phi"}) {
    const std::uint64_t reds = cycles(trace::SiteKind::kRed, "baseline");
    EXPECT_GT(cycles(trace::SiteKind::kAtom, policy), reds + 11 * gpu.latency.global_load / 2)
        << policy;
  }
}

TEST(Bulk, RowsPassByTheHardwareThatReduces) {
  const SmallTrace trace = structs(1, trace::SiteKind::kBulk);
  for (const char* const policy : {"baseline", "arc-hw", "lab"}) {
    const RunResult result = run_apart(trace.read(), small_h200(2), policy);
    expect_right(result);
    EXPECT_EQ(result.passed_on, policy == std::string("baseline") ? 0 : result.lane_atomics);
  }
}

// Integers and compare-and-swap: what they leave is not modelled, what they take is.
TEST(Types, WithoutFloatsPassByAndAreCounted) {
  for (const ValueType type : {ValueType::kU32, ValueType::kU64}) {
    const SmallTrace trace = two_sites(23, one_parameter(type, kBase + 0x10000, 8, 40));
    const trace::Reader reader = trace.read();
    for (const char* const policy : {"baseline", "sw-b:8", "arc-hw", "lab", "phi"}) {
      SCOPED_TRACE(policy);
      const RunResult result = run_apart(reader, small_h200(4), policy);
      expect_right(result);
      EXPECT_GT(result.other_atomics, 0U);
      EXPECT_LT(result.other_atomics, result.warp_atomics);
    }
    EXPECT_EQ(run_apart(reader, small_h200(4), "arc-hw").passed_on, lane_atomics(trace, 1));
  }
}

// An FP64 is two words: a head and a sector where a lone word is one flit, and 16 lanes fill a
// line.
TEST(Types, Fp64TakesTwoWords) {
  constexpr std::uint32_t kAll = 0;  // on one primitive, each lane with its own entry
  const auto flits = [](ValueType type, std::uint32_t lanes, bool uniform, std::uint32_t step = 1) {
    SmallTrace trace(1, 1, 1, 64, bytes_of(type));
    trace.header.sites[0].type = type;
    std::vector<std::uint32_t> own(kLanes);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      own[lane] = lane * step;
    }
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << lanes) - 1);
    if (uniform) {
      trace.event(0, 0, mask, 5);
    } else {
      trace.event(0, 0, mask, own);
    }
    const RunResult result = run_apart(trace.read(), small_h200(1), "baseline");
    expect_right(result);
    if (type == ValueType::kF64) {
      EXPECT_EQ(counter(result.activity, "noc_lone_words"), 0U);
    }
    return counter(result.activity, "noc_flits");
  };
  EXPECT_EQ(flits(ValueType::kF32, 3, true), 3U);
  EXPECT_EQ(flits(ValueType::kF16x2, 3, true), 3U);
  EXPECT_EQ(flits(ValueType::kF64, 3, true), 6U);
  EXPECT_EQ(flits(ValueType::kF32, 32, false), 5U);
  EXPECT_EQ(flits(ValueType::kF64, 16, false), 5U);
  EXPECT_EQ(flits(ValueType::kF64, 32, false), 10U);
  EXPECT_EQ(flits(ValueType::kF64, 1, false), 2U);
  EXPECT_EQ(flits(ValueType::kF32, 3, false, kAll), 3U);
  EXPECT_EQ(flits(ValueType::kF64, 3, false, kAll), 6U);
}

// The largest transaction that there is enters a port that has room for nothing else.
TEST(Types, LargestTransactionFitsInFrontOfASlice) {
  SmallTrace trace(1, 1, 1, 64, 8);
  trace.header.sites[0].type = ValueType::kF64;
  for (std::uint32_t e = 0; e < 8; ++e) {
    trace.event(0, 0, 0xffffffff, e);
  }
  const trace::Reader reader = trace.read();
  GpuConfig gpu = small_h200(1);
  gpu.l2.ingress_flits = 64;  // the least that a machine file may say
  for (const char* const policy : {"baseline", "arc-hw", "lab", "phi"}) {
    const RunResult result = run_apart(reader, gpu, policy);
    expect_right(result);
    EXPECT_EQ(counter(result.activity, "noc_flits"), 8U * 64U) << policy;
  }
}

// Software that has code for them sums them; the sum of each primitive is two words as well.
TEST(Types, SoftwareSumsFp64) {
  SmallTrace trace = random_trace(8, 6, 4, 1, 0.3, false);
  trace.header.sites[0] = one_parameter(ValueType::kF64, kBase, 8, 40);
  trace.header.sites[0].name = "doubles";
  const trace::Reader reader = trace.read();
  for (const char* const policy : {"sw-s:2", "sw-b:4", "skip", "cccl"}) {
    const RunResult result = run_apart(reader, small_h200(4), policy);
    expect_right(result);
    EXPECT_GT(counter(result.activity, "sums_from_software"), 0U) << policy;
    EXPECT_EQ(result.passed_on, 0U) << policy;
  }
}

TEST(Types, RegressSkipsWhatTheUnitDoesNotAdd) {
  const SmallTrace trace = two_sites(23, one_parameter(ValueType::kF16x2, kBase + 0x10000, 8, 40));
  const RegressResult result = regress_trace(trace.read(), {});
  EXPECT_TRUE(result.passed) << result.message;
  EXPECT_EQ(2 * result.events, result.counts.requests);
  EXPECT_EQ(result.counts.plain_lanes + result.counts.reduced_lanes, lane_atomics(trace, 0));
}

TEST(Types, ATableSaysHowManyWerePassedOn) {
  const SmallTrace trace = two_sites(23, one_parameter(ValueType::kF16x2, kBase + 0x10000, 8, 40));
  const trace::Reader reader = trace.read();
  const std::vector<RunResult> runs = {run_apart(reader, small_h200(4), "baseline"),
                                       run_apart(reader, small_h200(4), "arc-hw")};
  const std::string line =
      fmt::format("\narc-hw passed {} lane-atomics on, of types that it does not add\n",
                  with_separators(lane_atomics(trace, 1)));
  EXPECT_NE(results_table(runs).find(line), std::string::npos) << results_table(runs);
  const auto json = nlohmann::json::parse(results_to_json(runs));
  EXPECT_FALSE(json["runs"][0].contains("passed_on"));
  EXPECT_EQ(json["runs"][1]["passed_on"], lane_atomics(trace, 1));
}

SimOptions under_halves(UnitModel unit = UnitModel::kGolden) {
  SimOptions options;
  options.gpu = small_h200(4);
  options.policy = parse_policy("arc-hw");
  options.unit.model = unit;
  options.unit.kind = UnitKind::kHalves;
  return options;
}

// The unit that adds halves takes those of the second site, and passes FP32 on.
TEST(Halves, AreReducedByTheUnitThatAddsThem) {
  for (const bool values : {false, true}) {
    const SmallTrace trace =
        two_sites(23, one_parameter(ValueType::kF16x2, kBase + 0x10000, 8, 40), values);
    const trace::Reader reader = trace.read();
    const RunResult result = run_apart(under_halves(), reader);
    expect_right(result);
    EXPECT_EQ(result.unit_kind, "halves");
    EXPECT_EQ(result.passed_on, lane_atomics(trace, 0));
    EXPECT_GT(counter(result.activity, "lanes_to_unit"), 0U);
    EXPECT_LE(counter(result.activity, "lanes_to_unit"), lane_atomics(trace, 1));
    EXPECT_EQ(run_apart(under_halves(UnitModel::kRtl), reader).activity, result.activity);
  }
}

// BF16 and FP64 are not its either.
TEST(Halves, AreAllThatTheUnitAdds) {
  for (const ValueType type : {ValueType::kBf16x2, ValueType::kF64}) {
    const SmallTrace trace = two_sites(23, one_parameter(type, kBase + 0x10000, 8, 40));
    const RunResult result = run_apart(under_halves(), trace.read());
    expect_right(result);
    EXPECT_EQ(result.passed_on, result.lane_atomics);
    EXPECT_EQ(counter(result.activity, "lanes_to_unit"), 0U);
  }
}

// A word that is an FP32 to one site and two halves to another is no work for the unit.
TEST(Halves, ThatMeetAnotherTypeArePassedOn) {
  const SmallTrace trace = two_sites(29, one_parameter(ValueType::kF16x2, kBase, 4, 100));
  const trace::Reader reader = trace.read();
  const RunResult result = run_apart(under_halves(), reader);
  expect_right(result);
  EXPECT_EQ(result.passed_on, result.lane_atomics);
  const RunResult serial = run_apart(reader, small_h200(4), "arc-hw");
  expect_right(serial);
  EXPECT_EQ(serial.passed_on, lane_atomics(trace, 1));
  EXPECT_EQ(AddressMap(trace.header).type_of(2), WordType::kFp32);
}

// Software has code for them as well, and the same elements come of it.
TEST(Halves, AreAddedUpUnderEveryPolicy) {
  for (const bool values : {false, true}) {
    SmallTrace trace = random_trace(31, 6, 4, 2, 0.6, values);
    trace.make_halves();
    const trace::Reader reader = trace.read();
    for (const char* const policy : {"baseline", "sw-s:4", "sw-b:8", "skip", "cccl", "arc-hw",
                                     "lab", "lab-ideal", "phi", "arc-merge", "arc-merge-l2"}) {
      SCOPED_TRACE(fmt::format("{} {}", policy, values));
      const RunResult result = run_apart(reader, small_h200(4), policy);
      expect_right(result);
      EXPECT_EQ(result.sum_check, values ? "bound" : "exact");
    }
  }
}

// What a buffer sends is FP32, whatever the first site adds.
TEST(Halves, InFrontOfFp32AreNoMatterToABuffer) {
  SmallTrace trace = two_sites(37, one_parameter(ValueType::kF32, kBase + 0x10000, 4, 40));
  trace.header.sites[0].type = ValueType::kF16x2;
  const trace::Reader reader = trace.read();
  for (const char* const policy : kHardware) {
    SCOPED_TRACE(policy);
    expect_right(run_apart(reader, small_h200(4), policy));
  }
}

// In a whole run each sum that leaves a unit is the chain of binary16 additions of the lanes'
// recorded operands, to the bit.
TEST(Halves, AreReducedToTheBit) {
  constexpr std::uint32_t kEvents = 60;
  SmallTrace trace(1, 4, 1, kEvents * 4, 4);
  std::mt19937_64 random(41);
  for (std::uint32_t w = 0; w < 4; ++w) {
    for (std::uint32_t e = 0; e < kEvents; ++e) {
      trace.event(0, w, static_cast<std::uint32_t>(random()) | 3U, w * kEvents + e);
    }
  }
  trace.add_values(43);
  trace.make_halves();
  std::map<Address, Fp32Bits> sums;
  for (const trace::WarpTrace& warp : trace.ctas[0].warps) {
    for (const trace::Record& event : warp.records) {
      std::array<Fp32Bits, kLanes> values{};
      std::size_t next = event.values;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        values[lane] = (event.mask >> lane & 1U) != 0 ? warp.values[next++] : 0;
      }
      sums[kBase + 4ULL * event.primitive] =
          reduction_reference(event.mask, values, WordType::kHalves);
    }
  }
  const trace::Reader reader = trace.read();
  const ReferenceSums reference = ReferenceSums::compute(reader);
  for (const UnitModel model : {UnitModel::kGolden, UnitModel::kRtl}) {
    PoolTask task;
    task.name = "halves";
    task.work = [&](const auto&) {
      std::uint64_t compared = 0;
      PortProbe probe{.window = {.begin = 0, .end = 1'000'000}, .show = {}};
      probe.show = [&](Cycle, const UnitInputs& in, const UnitOutputs& out) {
        if (out.lsu_valid && out.lsu_reduced && in.lsu_room) {
          ++compared;
          if (out.lsu_data != sums.at(out.lsu_addr)) {
            throw std::runtime_error(fmt::format("{:#x} holds {:#x}, not {:#x}", out.lsu_addr,
                                                 out.lsu_data, sums.at(out.lsu_addr)));
          }
        }
      };
      SimOptions options = under_halves(model);
      options.gpu = small_h200(1);
      options.gpu.arc.queue_depth = 1;  // full while a RED of many lanes is in it
      options.probe = &probe;
      RunResult result = simulate(options, reader, reference);
      result.failure += compared < 20 ? "few sums were compared" : "";
      return result;
    };
    const PoolOutcome outcome = run_pool({task}, {.jobs = 1, .progress = {}}).at(0);
    ASSERT_TRUE(outcome.result) << outcome.error;
    expect_right(*outcome.result);
  }
}

TEST(Halves, TheReferenceHoldsBothHalves) {
  SmallTrace trace(1, 1, 1, 8, 4);
  trace.event(0, 0, 0x3, 2);
  trace.header.values = trace::ValueMode::kOperands;
  trace.warp(0, 0).records[0].values = 0;
  trace.warp(0, 0).values = {0x3c00'4000U, 0x4000'c200U};  // 1 and 2, 2 and -3
  trace.header.sites[0].type = ValueType::kF16x2;
  const ReferenceSums sums = ReferenceSums::compute(trace.read());
  std::vector<Fp32Bits> memory(8, 0);
  memory[2] = 0x4200'bc00U;
  EXPECT_TRUE(sums.compare(memory).match);
  memory[2] = 0x4300'bc00U;
  EXPECT_NE(sums.compare(memory).first_difference.find("element 2 holds 3.5 in its upper half"),
            std::string::npos)
      << sums.compare(memory).first_difference;
  memory[2] = 0x4200'0000U;
  EXPECT_NE(
      sums.compare(memory).first_difference.find("in its lower half, the trace adds up to -1"),
      std::string::npos);
}

TEST(Costs, OfTheNearestArchitectureStandIn) {
  SmallTrace trace(1, 1, 1, 4, 4);
  trace.event(0, 0, 1, 0);
  const auto stand_in = [&](const std::string& arch) {
    GpuConfig gpu = small_h200(1);
    gpu.sass_arch = arch;
    return PolicyTiming::code_of(trace.header, gpu);
  };
  EXPECT_EQ(stand_in("sm_89"), "sm_89");
  EXPECT_EQ(stand_in("sm_80"), "sm_86");
  EXPECT_EQ(stand_in("sm_120"), "sm_90");
  trace.header.costs.erase("sm_89");
  EXPECT_EQ(stand_in("sm_88"), "sm_86");  // of two as near the lower
  EXPECT_EQ(stand_in("sm_89"), "sm_90");
  trace.header.costs["sm_90"]["baseline"].registers = 77;
  trace.header.costs.erase("sm_86");
  const RunResult result = run_apart(trace.read(), small_h200(1), "baseline");
  EXPECT_EQ(result.costs_of, "sm_90");
  trace.header.costs.clear();
  EXPECT_EQ(stand_in("sm_89"), "");
}

// Under the vector kind: one atomred for the struct of the first site, one for the second's array.
TEST(Sites, AreStructsUnderTheVectorKind) {
  for (const bool values : {false, true}) {
    const SmallTrace trace =
        two_sites(13, one_parameter(ValueType::kF32, kBase + 0x10000, 4, 100), values);
    const trace::Reader reader = trace.read();
    SimOptions options;
    options.gpu = small_h200(4);
    options.policy = parse_policy("arc-hw");
    options.unit.model = UnitModel::kGolden;
    options.unit.kind = UnitKind::kVector;
    const RunResult vector = run_apart(options, reader);
    expect_right(vector);
    EXPECT_EQ(vector.lane_atomics, lane_atomics(trace, 0) + lane_atomics(trace, 1));
    const auto atomreds = std::find_if(vector.activity.begin(), vector.activity.end(),
                                       [](const auto& item) { return item.first == "atomreds"; });
    ASSERT_NE(atomreds, vector.activity.end());
    EXPECT_EQ(atomreds->second, vector.events);
    options.unit.kind = UnitKind::kFused;
    EXPECT_LT(vector.rop_ops, run_apart(options, reader).rop_ops);
  }
}

TEST(Sites, AreLeftAloneWhereNothingIsAdded) {
  const SmallTrace trace = two_sites(17, one_parameter(ValueType::kF32, kBase + 0x10000, 4, 100));
  const trace::Reader reader = trace.read();
  const RunResult none = run_apart(reader, small_h200(4), "none");
  expect_right(none);
  EXPECT_EQ(none.sum_check, "none");
  EXPECT_EQ(none.rop_ops, 0U);
  EXPECT_LT(none.cycles, run_apart(reader, small_h200(4), "baseline").cycles);
}

}  // namespace
}  // namespace warpfold::test
