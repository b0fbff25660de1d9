// SPDX-License-Identifier: Apache-2.0
// Policies that nobody but this file knows, as an architect would add them: in a warp's program and
// on a whole GPU. And what is said about rules that do not keep to the interface. Each test that
// simulates runs in a process of its own.
#include "model/policy/rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/base/check.hpp"
#include "model/gpu/run/reference_sums.hpp"
#include "model/gpu/run/simulate.hpp"
#include "model/policy/plain_rule.hpp"
#include "model/policy/policy.hpp"
#include "model/policy/program.hpp"
#include "model/results/process_pool.hpp"
#include "tb/model/small_trace.hpp"

namespace warpfold::test {
namespace {

constexpr std::uint32_t kParameters = 3;

// sw-s without its test and threshold: every group is summed, however small.
class AlwaysSerial final : public PolicyRule {
 public:
  AlwaysSerial()
      : PolicyRule({.name = "always-serial",
                    .source = "a test",
                    .description = "The serial loop of ARC-SW in every event.",
                    .variant = "sw-s"}) {}

  [[nodiscard]] std::vector<CodePart> parts() const override {
    return {{.name = "setup"}, {.name = "per_lane", .shuffles = kSerialTurn}, {.name = "leader"}};
  }
  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
    const LaneGroups groups = event.groups();
    int most = 0;
    for (std::size_t g = 0; g < groups.count; ++g) {
      most = std::max(most, lane_count(groups.lanes[g]));
    }
    steps.run(0);
    steps.run(1, static_cast<std::uint32_t>(most - 1));
    steps.run(2);
    steps.add_sums(event.mask(), SumOrder::kSerial);
  }
};

PolicyRule::Facts named(const char* name, AdditionPath path = AdditionPath::kRops) {
  return {.name = name, .source = "a test", .description = "Only here.", .path = path};
}

// The baseline's code in front of a buffer of one line, which keeps most of the SRAM to itself.
class TinyBuffer final : public PlainRule {
 public:
  explicit TinyBuffer(std::uint64_t kept = 0)
      : PlainRule(named("tiny", AdditionPath::kBuffer)), kept_(kept) {}

  [[nodiscard]] std::uint64_t kept_from_shared(const GpuConfig& /*gpu*/) const override {
    return kept_;
  }
  [[nodiscard]] BufferShape buffer(const GpuConfig& gpu, std::uint64_t /*shared*/) const override {
    BufferShape shape = buffer_on_pipe(gpu);
    shape.bytes = shape.line_bytes = 32;
    shape.ways = 1;
    return shape;
  }

 private:
  const std::uint64_t kept_;
};

class UnitForAll final : public PlainRule {
 public:
  UnitForAll() : PlainRule(named("unit", AdditionPath::kUnit)) {}
};

// REDs of two words of a struct: lanes' own, or their sums.
class Pairs final : public PlainRule {
 public:
  explicit Pairs(bool sums)
      : PlainRule({.name = "pairs", .source = "a test", .description = "Only here.", .words = 2}),
        sums_(sums) {}

  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
    steps.run(0);
    if (sums_) {
      steps.add_sums(event.mask(), SumOrder::kSerial);
    } else {
      steps.add_lanes(event.mask());
    }
  }

 private:
  const bool sums_;
};

class NoShape final : public PlainRule {
 public:
  NoShape() : PlainRule(named("no-shape", AdditionPath::kBuffer)) {}
};

// What goes wrong when it expands an event.
class Wrong final : public PlainRule {
 public:
  enum class How { kForgetsALane, kAddsTwice, kAddsNone, kRunsAnotherPart, kTakesTooManySteps };
  explicit Wrong(How how) : PlainRule(named("wrong")), how_(how) {}

  void expand(const WarpEvent& event, std::uint32_t /*threshold*/,
              EventSteps& steps) const override {
    if (how_ == How::kRunsAnotherPart) {
      steps.run(1);
    }
    for (int i = 0; how_ == How::kTakesTooManySteps && i < 20; ++i) {
      steps.run(0);
    }
    if (how_ == How::kAddsNone) {
      steps.add_lanes(0);
    }
    steps.add_lanes(how_ == How::kForgetsALane ? event.mask() & (event.mask() - 1) : event.mask());
    if (how_ == How::kAddsTwice) {
      steps.add_sums(1, SumOrder::kSerial);
    }
  }

 private:
  const How how_;
};

// Asks for a part that no compiler has made, or for the baseline's, which may be missing.
class AsksFor final : public PlainRule {
 public:
  explicit AsksFor(const CodePart& part) : PlainRule(named("asks")), part_(part) {}
  [[nodiscard]] std::vector<CodePart> parts() const override { return {part_}; }

 private:
  const CodePart part_;
};

// Every part has another power of ten of slots.
SmallTrace priced_trace() {
  SmallTrace trace(1, 1, kParameters, 100, 4 * kParameters);
  trace.path_cost(1, {.alu = 10});
  trace.reduce_cost("plain", {.alu = 100});
  trace.reduce_cost("check", {.alu = 1000});
  trace.reduce_cost("setup", {.alu = 10000});
  trace.reduce_cost("leader", {.alu = 100000});
  trace.reduce_cost("per_lane", {.alu = 1000000, .shuffle = 1});
  return trace;
}

struct Issued {
  std::uint64_t slots = 0, shuffles = 0, atomics = 0, sums = 0;
};

Issued issue(const SmallTrace& trace, const PolicyRule& rule) {
  const PolicyTiming timing(trace.header, load_gpu("h200"), {.rule = &rule});
  WarpProgram program;
  program.start(timing, trace.ctas[0].warps[0]);
  Issued issued;
  Step step;
  for (program.next(step); step.kind != StepKind::kEnd; program.next(step)) {
    issued.slots += step.kind == StepKind::kRun ? step.slots : 0;
    issued.shuffles += step.access != nullptr ? step.access->slots : 0;
    issued.atomics += step.kind == StepKind::kAtomic ? 1 : 0;
    issued.sums += step.kind == StepKind::kReduced ? 1 : 0;
  }
  return issued;
}

RunResult run(const SmallTrace& trace, const GpuConfig& gpu, const PolicyRule& rule) {
  const trace::Reader reader = trace.read();
  return simulate({.gpu = gpu,
                   .policy = {.rule = &rule},
                   .unit = {.model = UnitModel::kGolden},
                   .timeline_detail = {},
                   .progress = {}},
                  reader, ReferenceSums::compute(reader));
}

// Where a test simulates more than once.
RunResult run_apart(const SmallTrace& trace, const GpuConfig& gpu, const PolicyRule& rule) {
  PoolTask task;
  task.work = [&](const auto&) { return run(trace, gpu, rule); };
  const PoolOutcome outcome = run_pool({task}, {.jobs = 1, .progress = {}}).at(0);
  if (!outcome.result) {
    throw std::runtime_error(outcome.error);
  }
  return *outcome.result;
}

std::uint64_t counter(const RunResult& result, const std::string& name) {
  for (const auto& [key, value] : result.activity) {
    if (key == name) {
      return value;
    }
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

void expect_sound(const RunResult& result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_TRUE(result.conserved);
  EXPECT_TRUE(result.sums_match);
  EXPECT_GT(result.cycles, 0U);
}

SmallTrace some_events() {
  SmallTrace trace = random_trace(7, 4, 2, kParameters, 0.5, true);
  trace.reduce_cost("per_lane", {.alu = 2, .shuffle = 1});
  return trace;
}

TEST(Rule, OfATestMakesAWarpsProgram) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0xff, 5);
  const Issued issued = issue(trace, AlwaysSerial());
  EXPECT_EQ(issued.slots, 10U + 10000 + 7 * 1000000 + 100000);
  EXPECT_EQ(issued.shuffles, 7U);
  EXPECT_EQ(issued.sums, kParameters);
  EXPECT_EQ(issued.atomics, 0U);
}

TEST(Rule, OfATestRunsOnAWholeGpu) {
  const AlwaysSerial rule;
  const SmallTrace trace = some_events();
  const RunResult result = run(trace, small_h200(2), rule);
  expect_sound(result);
  EXPECT_EQ(result.policy, "always-serial");
  EXPECT_EQ(counter(result, "lanes_in_software"), result.lane_atomics);
  EXPECT_EQ(counter(result, "lanes_as_red"), 0U);
}

TEST(Rule, OfATestHasABufferOfItsOwn) {
  const RunResult result = run(some_events(), small_h200(2), TinyBuffer());
  expect_sound(result);
  EXPECT_EQ(counter(result, "lanes_to_buffer"), result.lane_atomics);
  // What does not fit 32 bytes goes at once.
  EXPECT_GT(counter(result, "buffer_evicted_sectors"), counter(result, "buffer_flushed_sectors"));
}

TEST(Rule, SharedMemoryLosesWhatABufferKeeps) {
  SmallTrace trace = some_events();
  trace.header.shared_bytes_per_cta = 16 * 1024;
  const GpuConfig gpu = small_h200(1);
  const TinyBuffer all_but_little(gpu.l1.bytes - 8 * 1024);
  try {
    run(trace, gpu, all_but_little);
    ADD_FAILURE() << "not refused";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("does not fit an SM"), std::string::npos)
        << error.what();
  }
  expect_sound(run(trace, gpu, TinyBuffer()));
}

TEST(Rule, OfATestHasAUnit) {
  SmallTrace trace(4, 4, kParameters, 100, 4 * kParameters);
  for (std::size_t cta = 0; cta < 4; ++cta) {
    for (std::size_t warp = 0; warp < 4; ++warp) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        trace.event(cta, warp, ~0U, i);
      }
    }
  }
  const RunResult result = run(trace, small_h200(1), UnitForAll());
  expect_sound(result);
  EXPECT_GT(counter(result, "lanes_to_unit"), 0U);
}

TEST(Rule, MayAddSeveralWordsAtOnce) {
  for (const bool sums : {false, true}) {
    const SmallTrace trace = some_events();  // three parameters in a struct: two words, and one
    const RunResult result = run_apart(trace, small_h200(2), Pairs(sums));
    expect_sound(result);
    EXPECT_EQ(counter(result, "reds"), 2 * result.events);
    EXPECT_EQ(counter(result, sums ? "lanes_in_software" : "lanes_as_red"), result.lane_atomics);
  }
}

// Sums of a struct in one transaction, where each alone is one.
TEST(Rule, SeveralWordsAtOnceAreFewerOperations) {
  SmallTrace trace(1, 1, kParameters, 100, 16);
  trace.event(0, 0, ~0U, 4);
  EXPECT_EQ(run_apart(trace, small_h200(1), Pairs(true)).rop_ops, 2U);
  EXPECT_EQ(run_apart(trace, small_h200(1), AlwaysSerial()).rop_ops, kParameters);
}

TEST(Rule, LanesOfAPrimitiveAddInASlot) {
  const RunResult result = run(some_events(), small_h200(2), *parse_policy("shared-slot").rule);
  expect_sound(result);
  // Events of several primitives have lone lanes.
  EXPECT_GT(counter(result, "lanes_in_software"), 0U);
  EXPECT_GT(counter(result, "lanes_as_red"), 0U);
  EXPECT_EQ(counter(result, "lanes_in_software") + counter(result, "lanes_as_red"),
            result.lane_atomics);
}

// A slot of each lane for each of three parameters, in a CTA of up to eight warps.
TEST(Rule, SlotsTakeSharedMemory) {
  SmallTrace trace = some_events();
  const std::uint32_t slots = 8 * 32 * 4 * kParameters;
  const GpuConfig gpu = small_h200(1);
  const PolicyRule& rule = *parse_policy("shared-slot").rule;
  trace.header.shared_bytes_per_cta = gpu.sm.shared_bytes - 1024 - slots;
  expect_sound(run_apart(trace, gpu, rule));
  ++trace.header.shared_bytes_per_cta;
  try {
    run(trace, gpu, rule);
    ADD_FAILURE() << "not refused";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("does not fit an SM"), std::string::npos)
        << error.what();
  }
}

// Nine floats of structs of 48 bytes, as code with vector REDs adds them.
SmallTrace vector_events() {
  SmallTrace trace = random_trace(7, 4, 2, 9, 0.5, true);
  for (trace::Parameter& parameter : trace.header.sites[0].parameters) {
    parameter.stride_bytes = 48;
  }
  for (auto& [arch, variants] : trace.header.costs) {
    variants["vector"] = variants.at("baseline");
    variants["skip-vector"] = variants.at("skip");
  }
  return trace;
}

TEST(Rule, VectorRedsAddFourFloatsOfAStruct) {
  for (const char* name : {"vector", "skip-vector"}) {
    const PolicyRule& rule = *parse_policy(name).rule;
    const SmallTrace trace = vector_events();
    const RunResult result = run_apart(trace, small_h200(2), rule);
    expect_sound(result);
    EXPECT_EQ(counter(result, "reds"), 3 * result.events);  // four, four and one
    EXPECT_GT(counter(result, "noc_lone_words"), 0U);
  }
}

TEST(Rule, VectorRedsTakeTheStructsThatThereAre) {
  SmallTrace trace = vector_events();
  for (std::size_t p = 0; p < 9; ++p) {
    trace.header.sites[0].parameters[p].base += 0x100000 * p;
    trace.header.sites[0].parameters[p].stride_bytes = 4;
  }
  const RunResult result = run_apart(trace, small_h200(2), *parse_policy("vector").rule);
  expect_sound(result);
  EXPECT_EQ(counter(result, "reds"), 9 * result.events);
}

TEST(Rule, VectorRedsNeedTheirCode) {
  try {
    run(some_events(), small_h200(1), *parse_policy("vector").rule);
    ADD_FAILURE() << "not refused";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("has no sm_90 code of variant vector"),
              std::string::npos)
        << error.what();
  }
}

std::string complaint(Wrong::How how) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0xff, 5);
  try {
    issue(trace, Wrong(how));
  } catch (const CheckError& error) {
    return error.what();
  }
  return "";
}

TEST(Rule, MustAddEachLaneOnce) {
  using How = Wrong::How;
  EXPECT_NE(complaint(How::kForgetsALane).find("leaves out lanes"), std::string::npos);
  EXPECT_NE(complaint(How::kAddsTwice).find("others than are left"), std::string::npos);
  EXPECT_NE(complaint(How::kAddsNone).find("adds no lanes"), std::string::npos);
}

TEST(Rule, MustKeepToItsPartsAndRoom) {
  using How = Wrong::How;
  EXPECT_NE(complaint(How::kRunsAnotherPart).find("has not asked for"), std::string::npos);
  EXPECT_NE(complaint(How::kTakesTooManySteps).find("has room for"), std::string::npos);
}

TEST(Rule, ThatHasABufferMustSayWhichOne) {
  EXPECT_THROW(run(some_events(), small_h200(1), NoShape()), std::logic_error);
}

TEST(Rule, WithoutItsPartOfTheCodeIsRefused) {
  const SmallTrace trace = priced_trace();
  const AsksFor rule({.name = "vote"});
  try {
    const PolicyTiming timing(trace.header, load_gpu("h200"), {.rule = &rule});
    ADD_FAILURE() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "the trace's sm_90 code of variant baseline lacks its 'vote' part");
  }
}

TEST(Rule, TheBaselinesPartMayBeMissing) {
  SmallTrace trace = priced_trace();
  trace.event(0, 0, 0xff, 5);
  const AsksFor rule({.name = "plain", .of_baseline = true});
  EXPECT_EQ(issue(trace, rule).slots, 10U + 100);
  trace.header.costs["sm_90"]["baseline"].reduce[0].clear();
  EXPECT_EQ(issue(trace, rule).slots, 10U);
}

}  // namespace
}  // namespace warpfold::test
