// SPDX-License-Identifier: Apache-2.0
// The built warpfold command as a process. Whatever is wrong with its input: exit code 2, exactly
// one line on stderr, nothing on stdout, no file left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/gpus/builtin.hpp"
#include "tb/model/cli_fixture.hpp"

namespace warpfold {
namespace {

// --- Help and lists ------------------------------------------------------------------------------

TEST_F(Cli, VersionAndHelpAreNoErrors) {
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("warpfold "));
  for (const Words& words :
       {Words{"--help"}, Words{"sim", "--help"}, Words{"trace", "--help"},
        Words{"trace", "info", "--help"}, Words{"trace", "verify", "--help"},
        Words{"trace", "dump", "--help"}, Words{"trace", "slice", "--help"},
        Words{"trace", "recost", "--help"}, Words{"trace", "retime", "--help"},
        Words{"trace", "upgrade", "--help"}, Words{"regress", "--help"}, Words{"gpus", "--help"},
        Words{"policies", "--help"}, Words{"rules", "--help"}}) {
    const Outcome help = run(words);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_NE(help.out.find("Example"), std::string::npos) << words.front();
    EXPECT_NE(help.out.find("  warpfold "), std::string::npos) << words.front();
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 120U) << line;
    }
  }
}

TEST_F(Cli, ListsGpusPoliciesAndRules) {
  const Outcome gpus = run({"gpus"});
  EXPECT_EQ(gpus.code, 0);
  for (const std::string name :
       {"rtx4090", "rtx3060", "h200", "h100", "arc-4090-sim", "arc-3060-sim"}) {
    EXPECT_NE(gpus.out.find("\n" + name), std::string::npos);
  }
  const Outcome policies = run({"policies"});
  EXPECT_EQ(policies.code, 0);
  for (const std::string name :
       {"baseline", "sw-s:X", "sw-b:X", "skip", "cccl", "arc-hw", "lab", "lab-ideal", "phi"}) {
    EXPECT_NE(("\n" + policies.out).find("\n" + name), std::string::npos);
  }
  const Outcome rules = run({"rules"});
  EXPECT_EQ(rules.code, 0);
  for (const std::string name : {"rules.admission  round-robin", "rules.admission  sleepers",
                                 "rules.l2_order   in-turn", "rules.slice_map  hashed"}) {
    EXPECT_NE(("\n" + rules.out).find("\n" + name), std::string::npos) << name;
  }
}

TEST_F(Cli, FullStandardOutputIsAnError) {
  for (const Words& words : {Words{"gpus"}, Words{"policies"}, Words{"rules"}}) {
    const Outcome outcome = run(words, "/dev/full");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, "warpfold: cannot write to standard output\n");
  }
}

// --- Bad usage -----------------------------------------------------------------------------------

TEST_F(Cli, BadUsageIsRefused) {
  EXPECT_EQ(refusal({}), "a command is required (see 'warpfold --help')");
  EXPECT_EQ(refusal({"trace"}), "a command is required (see 'warpfold trace --help')");
  EXPECT_EQ(refusal({"sim"}), "TRACE is required (see 'warpfold sim --help')");
  EXPECT_NE(refusal({"bogus"}).find("bogus"), std::string::npos);
  EXPECT_NE(refusal({"trace", "bogus"}).find("bogus"), std::string::npos);
  EXPECT_NE(refusal({"sim", "t.wft", "--bogus"}).find("--bogus"), std::string::npos);
  for (const std::string jobs : {"0", "-1", "x", "1.5", "99999999999999999999"}) {
    EXPECT_NE(refusal({"sim", "t.wft", "--jobs", jobs}).find("--jobs"), std::string::npos);
  }
  refusal({"sim", "t.wft", "--json"});
  refusal({"sim", "t.wft", "--gpu"});
  EXPECT_EQ(refusal({"sim", "t.wft", "--timeline-interval", "50"}),
            "--timeline-interval requires --timeline (see 'warpfold sim --help')");
  refusal({"trace", "info"});
  refusal({"trace", "dump", "t.wft", "--warp", "-1"});
  for (const Words& words : {Words{"trace", "dump", "t.wft", "--first-cta", "-1"},
                             Words{"trace", "dump", "t.wft", "--last-cta", "-1"},
                             Words{"trace", "slice", "t.wft", "o.wft", "--every", "-1"},
                             Words{"regress", "t.wft", "--seed", "-1"},
                             Words{"regress", "t.wft", "--max-events", "-1"}}) {
    EXPECT_NE(refusal(words).find("is -1, must be 0 or more"), std::string::npos);
  }
  refusal({"trace", "slice", "t.wft"});
  EXPECT_EQ(refusal({"trace", "slice", "t.wft", "o.wft", "--every", "0"}),
            "--every is 0, must be at least 1");
  EXPECT_EQ(refusal({"trace", "dump", "t.wft", "--first-cta", "3", "--last-cta", "2"}),
            "--last-cta 2 comes before --first-cta 3");
  for (const std::string probability : {"1", "-0.5", "nan", "inf", "1e9"}) {
    EXPECT_NE(refusal({"regress", "t.wft", "--stall-probability", probability})
                  .find("--stall-probability is"),
              std::string::npos);
  }
}

TEST_F(Cli, UnknownRuleIsRefused) {
  write_trace("t.wft");
  const auto refusal_of = [this](const std::string& rule) {
    return refusal({"sim", "t.wft", "--gpu", "h200", "--unit", "golden", "--set", rule});
  };
  EXPECT_EQ(refusal_of("rules.admission=nonsense"),
            "h200: unknown rules.admission 'nonsense': known are round-robin, sleepers");
  EXPECT_EQ(refusal_of("rules.l2_order=nonsense"),
            "h200: unknown rules.l2_order 'nonsense': known are in-turn");
  EXPECT_EQ(refusal_of("rules.slice_map=nonsense"),
            "h200: unknown rules.slice_map 'nonsense': known are hashed");
  EXPECT_EQ(refusal_of("rules.scheduler=nonsense"),
            "h200: unknown rules.scheduler 'nonsense': known are greedy, reduce-groups");
  EXPECT_EQ(refusal_of("rules.other=hashed"), "--set rules.other=hashed: unknown key");
}

TEST_F(Cli, ARuleThatTheMachineCannotHaveIsRefused) {
  write_trace("t.wft");
  EXPECT_EQ(refusal({"sim", "t.wft", "--gpu", "rtx4090", "--unit", "golden", "--policy", "baseline",
                     "--set", "rules.admission=sleepers"}),
            "t.wft: rules.admission 'sleepers' needs lsu.sleep_cycles above 0");
}

TEST_F(Cli, UnknownPolicyIsRefused) {
  write_trace("t.wft");
  const std::string unknown = refusal({"sim", "t.wft", "--policy", "arc"});
  EXPECT_TRUE(unknown.starts_with(
      "unknown policy 'arc': known are baseline, sw-s:X, sw-b:X, skip, cccl, arc-hw, "))
      << unknown;
  EXPECT_TRUE(unknown.ends_with(" (X from 0 to 32)")) << unknown;
  EXPECT_EQ(refusal({"sim", "t.wft", "--policy", "baseline,sw-b:33"}),
            "policy 'sw-b:33': the threshold must be a number from 0 to 32");
  EXPECT_NE(refusal({"sim", "t.wft", "--policy", ""}), "");
}

TEST_F(Cli, UnknownUnitIsRefused) {
  write_trace("t.wft");
  EXPECT_NE(refusal({"sim", "t.wft", "--unit", "verilog"}).find("verilog"), std::string::npos);
}

TEST_F(Cli, UnknownGpuIsRefused) {
  write_trace("t.wft");
  EXPECT_EQ(refusal({"sim", "t.wft", "--gpu", "rtx5090"}),
            "unknown GPU 'rtx5090': known are rtx4090, rtx3060, h200, h100, arc-4090-sim, "
            "arc-3060-sim, or a file that ends in .toml");
  EXPECT_EQ(refusal({"sim", "t.wft", "--gpu", "h200,h200"}),
            "h200: another GPU is named 'h200' too");
  EXPECT_EQ(refusal({"sim", "t.wft", "--gpu", "none.toml"}),
            "none.toml: cannot be opened: No such file or directory");
}

TEST_F(Cli, MisspeltGpuFileIsRefused) {
  write_trace("t.wft");
  write_file("my.toml", "name = \"mine\"\nsass_acrh = \"sm_89\"\n");
  EXPECT_EQ(refusal({"sim", "t.wft", "--gpu", "my.toml"}),
            "my.toml: sass_acrh: unknown key (did you mean sass_arch?)");
}

// --- Bad traces ----------------------------------------------------------------------------------

TEST_F(Cli, MissingTraceIsRefused) {
  EXPECT_TRUE(refusal({"sim", "none.wft"}).starts_with("none.wft: "));
  EXPECT_TRUE(refusal({"regress", "none.wft"}).starts_with("none.wft: "));
  EXPECT_TRUE(refusal({"trace", "info", "none.wft"}).starts_with("none.wft: "));
  EXPECT_TRUE(refusal({"trace", "dump", "none.wft"}).starts_with("none.wft: "));
  EXPECT_TRUE(refusal({"trace", "slice", "none.wft", "out.wft"}).starts_with("none.wft: "));
}

TEST_F(Cli, WhatIsNoTraceIsRefused) {
  write_file("text.wft", "this is no trace\n");
  write_file("empty.wft", "");
  write_trace("cut.wft");
  fs::resize_file(folder_ / "cut.wft", fs::file_size(folder_ / "cut.wft") / 2);
  fs::create_directory(folder_ / "folder.wft");
  for (const std::string name : {"text.wft", "empty.wft", "cut.wft", "folder.wft"}) {
    EXPECT_TRUE(refusal({"sim", name}).starts_with(name + ": "));
    EXPECT_TRUE(refusal({"regress", name}).starts_with(name + ": "));
    EXPECT_TRUE(refusal({"trace", "dump", name}).starts_with(name + ": "));
  }
}

TEST_F(Cli, SecondBadTraceStopsTheFirstFromBeingSimulated) {
  write_trace("t.wft");
  write_file("bad.wft", "x");
  EXPECT_TRUE(refusal({"sim", "t.wft", "bad.wft", "--json", "o.json"}).starts_with("bad.wft: "));
}

// Older traces have no costs of every variant.
TEST_F(Cli, APolicyWithoutCostsIsLeftOutWhereOthersRun) {
  trace::Header header = small_trace_header();
  header.costs["sm_89"].erase("cccl");
  write_trace("t.wft", header);
  const Outcome all = run({"sim", "t.wft", "--unit", "golden", "--json", "o.json"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.err,
            "warpfold: t.wft: left out cccl: the trace has no sm_89 code of variant cccl\n");
  const auto runs = nlohmann::json::parse(text_of(folder_ / "o.json"))["runs"];
  EXPECT_EQ(runs.size(), 8U);
  EXPECT_EQ(std::count_if(runs.begin(), runs.end(),
                          [](const auto& entry) { return entry["policy"] == "cccl"; }),
            0);
  // On a machine whose code is there it runs.
  EXPECT_EQ(run({"sim", "t.wft", "--unit", "golden", "--gpu", "h200"}).err, "");
  fs::remove(folder_ / "o.json");
  const Outcome some = run({"sim", "t.wft", "--unit", "golden", "--policy", "baseline,cccl"});
  EXPECT_EQ(some.code, 0);
  EXPECT_EQ(some.err, all.err);
  EXPECT_NE(some.out.find("\nbaseline "), std::string::npos) << some.out;
  EXPECT_EQ(refusal({"sim", "t.wft", "--unit", "golden", "--policy", "cccl"}),
            "t.wft: the trace has no sm_89 code of variant cccl, which cccl needs");
}

TEST_F(Cli, WhereCostsAreFromIsSaid) {
  const auto said = [&](const trace::Header& header) {
    write_trace("t.wft", header);
    return run({"sim", "t.wft", "--unit", "golden", "--policy", "baseline"}).out;
  };
  trace::Header header = small_trace_header();
  EXPECT_EQ(said(header).find("the costs are"), std::string::npos);
  header.costs_from = trace::CostSource::kCounts;
  header.instructions = {.least = 90, .taken = 90, .most = 90};
  EXPECT_NE(said(header).find("\nthe costs are held to ncu's counts\n"), std::string::npos);
  header.costs_from = trace::CostSource::kCode;
  EXPECT_NE(said(header).find("\nthe costs are of the machine code alone: 90 warp instructions\n"),
            std::string::npos);
  header.instructions.most = 120;
  EXPECT_NE(said(header).find("alone: 90 warp instructions, and they may be 90 to 120\n"),
            std::string::npos);
}

TEST_F(Cli, TraceGivenTwiceIsRefused) {
  write_trace("t.wft");
  fs::create_symlink("t.wft", folder_ / "link.wft");
  EXPECT_EQ(refusal({"sim", "t.wft", "t.wft"}), "t.wft: given twice");
  EXPECT_EQ(refusal({"sim", "t.wft", "./t.wft"}), "./t.wft: the same trace as t.wft");
  EXPECT_EQ(refusal({"regress", "t.wft", "link.wft"}), "link.wft: the same trace as t.wft");
  fs::create_hard_link(folder_ / "t.wft", folder_ / "hard.wft");
  EXPECT_EQ(refusal({"sim", "t.wft", "hard.wft"}), "hard.wft: the same trace as t.wft");
}

TEST_F(Cli, VerifyTellsBadInputFromADamagedTrace) {
  write_file("text.wft", "this is no trace\n");
  fs::create_directory(folder_ / "folder.wft");
  for (const std::string name : {"text.wft", "none.wft", "folder.wft", "none.json"}) {
    EXPECT_TRUE(refusal({"trace", "verify", name}).starts_with(name + ": ")) << name;
  }
  write_trace("t.wft");
  fs::resize_file(folder_ / "t.wft", fs::file_size(folder_ / "t.wft") - 1);
  const Outcome damaged = run({"trace", "verify", "t.wft"});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_EQ(damaged.err, "");
  EXPECT_TRUE(damaged.out.starts_with("FAIL t.wft: ")) << damaged.out;
}

// --- Simulations ---------------------------------------------------------------------------------

// Without what differs between two runs of one simulation.
std::string without_wall_time(const std::string& text) {
  auto document = nlohmann::ordered_json::parse(text);
  for (auto& entry : document["runs"]) {
    entry.erase("wall_seconds");
  }
  return document.dump(2);
}

TEST_F(Cli, SimulatesEveryPolicy) {
  write_trace("t.wft");
  const Outcome outcome = run({"sim", "t.wft", "--unit", "golden", "--json", "o.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("t.wft\nrtx4090: 128 SMs")) << outcome.out;
  const auto document = nlohmann::json::parse(text_of(folder_ / "o.json"));
  EXPECT_EQ(document["schema"], "warpfold.sim/1");
  ASSERT_EQ(document["runs"].size(), 9U);
  std::vector<std::string> policies;
  for (const auto& entry : document["runs"]) {
    policies.push_back(entry["policy"]);
    EXPECT_EQ(entry["trace"], "t.wft");
    EXPECT_EQ(entry["unit"], "golden");
    EXPECT_EQ(entry["sums_match"], true);
    EXPECT_EQ(entry["conserved"], true);
    EXPECT_EQ(entry["config"]["sm"]["count"], 128);
    EXPECT_GT(entry["speedup"], 0.0);
  }
  EXPECT_EQ(policies, (Words{"baseline", "sw-s:16", "sw-b:16", "skip", "cccl", "arc-hw", "lab",
                             "lab-ideal", "phi"}));
  EXPECT_EQ(document["runs"][0]["speedup"], 1.0);
}

TEST_F(Cli, LastOfAnOptionThatIsGivenTwiceCounts) {
  write_trace("t.wft");
  const Outcome outcome =
      run({"sim",    "t.wft",  "--gpu",  "rtx4090", "--policy", "all",  "--unit", "rtl",
           "--json", "a.json", "--jobs", "1",       "--gpu",    "h200", "--unit", "golden",
           "--json", "b.json", "--jobs", "2",       "--policy", "skip"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "a.json"));
  const auto document = nlohmann::json::parse(text_of(folder_ / "b.json"));
  ASSERT_EQ(document["runs"].size(), 1U);
  EXPECT_EQ(document["runs"][0]["gpu"], "h200");
  EXPECT_EQ(document["runs"][0]["unit"], "golden");
  EXPECT_EQ(document["runs"][0]["policy"], "skip");
}

TEST_F(Cli, ResultsDoNotDependOnTheNumberOfJobs) {
  write_trace("t.wft");
  const auto results = [this](const std::string& jobs) {
    const Outcome outcome = run({"sim", "t.wft", "--unit", "golden", "--gpu", "rtx3060,h200",
                                 "--jobs", jobs, "--json", "-"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return without_wall_time(outcome.out);
  };
  const std::string one = results("1");
  EXPECT_EQ(results("4"), one);
  EXPECT_EQ(nlohmann::json::parse(one)["runs"].size(), 18U);
}

TEST_F(Cli, ThresholdsThatDecideAlikeHaveTheSameResults) {
  trace::Header header = small_trace_header();
  header.times = {{"sw-b:7", 1.0, 1.0, 1.0, 1, 1980}, {"sw-b:24", 2.0, 2.0, 2.0, 1, 1980}};
  trace::Writer writer(folder_ / "t.wft", header);
  for (std::uint64_t i = 0; i < header.total_ctas; ++i) {
    trace::CtaTrace cta;
    cta.cta = i;
    cta.warps.resize(header.warps_per_cta());
    for (trace::WarpTrace& warp : cta.warps) {
      for (const std::uint32_t mask : {0x1fU, 0xffffffU}) {  // 5 and 24 lanes
        trace::Record event{.kind = trace::RecordKind::kEvent};
        event.mask = mask;
        warp.records.push_back(event);
      }
    }
    writer.add(cta);
  }
  writer.finish();
  const auto simulate = [this](const std::string& policies) {
    const Outcome outcome = run({"sim", "t.wft", "--gpu", "h200", "--unit", "golden", "--policy",
                                 policies, "--json", "r.json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    auto runs = nlohmann::json::parse(text_of(folder_ / "r.json"))["runs"];
    for (auto& one : runs) {
      one.erase("wall_seconds");
    }
    return runs;
  };
  const Words policies = {"sw-b:0",  "sw-b:5", "sw-b:7",  "sw-b:24",
                          "sw-b:30", "sw-s:4", "sw-s:30", "sw-s:32"};
  const auto together = simulate(fmt::format("{}", fmt::join(policies, ",")));
  ASSERT_EQ(together.size(), policies.size());
  for (std::size_t i = 0; i < policies.size(); ++i) {
    EXPECT_EQ(together[i]["policy"], policies[i]);
    EXPECT_EQ(together[i], simulate(policies[i])[0]) << policies[i];
  }
  EXPECT_NE(together[1]["cycles"], together[2]["cycles"]);
  EXPECT_EQ(together[2]["cycles"], together[3]["cycles"]);
  EXPECT_NE(together[3]["cycles"], together[4]["cycles"]);
  EXPECT_NE(together[2]["measured"], together[3]["measured"]);
}

TEST_F(Cli, GpuFileOfOnesOwnIsSimulated) {
  write_trace("t.wft");
  std::string toml(builtin_gpus().front().toml);
  toml.replace(toml.find("name = \"rtx4090\""), 16, "name = \"half\"   ");
  toml.replace(toml.find("count = 128"), 11, "count = 64 ");
  write_file("half.toml", toml);
  const Outcome outcome = run({"sim", "t.wft", "--gpu", "half.toml", "--policy", "arc-hw", "--unit",
                               "golden", "--json", "o.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = nlohmann::json::parse(text_of(folder_ / "o.json"));
  EXPECT_EQ(document["runs"][0]["gpu"], "half");
  EXPECT_EQ(document["runs"][0]["config"]["sm"]["count"], 64);
  EXPECT_TRUE(document["runs"][0]["speedup"].is_null());
}

TEST_F(Cli, ASampleRunsOnItsPartOfTheGpu) {
  trace::Header header = small_trace_header();
  header.times = {{.policy = "baseline",
                   .median_ms = 1,
                   .min_ms = 1,
                   .max_ms = 1,
                   .runs = 10,
                   .sm_clock_mhz = 1980}};
  write_trace("t.wft", header);
  EXPECT_EQ(run({"trace", "sample", "t.wft", "half.wft", "--every", "2"}).code, 0);
  const auto simulate = [this](Words more) {
    Words words{"sim", "half.wft", "--policy", "baseline", "--unit", "golden", "--json", "o.json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    auto first = nlohmann::json::parse(text_of(folder_ / "o.json"))["runs"][0];
    first["table"] = outcome.out;
    return first;
  };
  const auto part = simulate({});
  EXPECT_EQ(part["gpu"], "rtx4090");
  EXPECT_EQ(part["gpu_part"], 2);
  EXPECT_EQ(part["config"]["sm"]["count"], 64);
  EXPECT_EQ(part["measured"]["ms"], 1.0);
  EXPECT_NE(part["table"].get<std::string>().find("\n1/2 of rtx4090: 64 SMs"), std::string::npos);
  const auto whole = simulate({"--whole-gpu"});
  EXPECT_EQ(whole["gpu_part"], 1);
  EXPECT_EQ(whole["config"]["sm"]["count"], 128);
  EXPECT_TRUE(whole["measured"].is_null());  // half a launch on a whole GPU was not measured

  EXPECT_EQ(run({"trace", "sample", "t.wft", "third.wft", "--every", "3"}).code, 0);
  EXPECT_EQ(
      refusal({"sim", "third.wft", "--json", "p.json"}),
      "third.wft: a sample of 1 CTA in 3: rtx4090: its 128 SMs have no 1/3 (--whole-gpu takes "
      "all of it)");
  EXPECT_EQ(refusal({"trace", "sample", "half.wft", "o.wft"}),
            "half.wft: is no whole launch: the middle one of every 2 CTAs; of a sample only odd "
            "parts are samples");
}

TEST_F(Cli, ParametersOfAMachineCanBeSet) {
  write_trace("t.wft");
  const Outcome outcome =
      run({"sim", "--set", "lab.bytes=8192", "--set", "sm.count=7", "t.wft", "--gpu",
           "rtx4090,h200", "--policy", "lab", "--unit", "golden", "--json", "o.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = nlohmann::json::parse(text_of(folder_ / "o.json"));
  ASSERT_EQ(document["runs"].size(), 2U);
  for (const auto& run : document["runs"]) {
    EXPECT_EQ(run["config"]["lab"]["bytes"], 8192);
    EXPECT_EQ(run["config"]["sm"]["count"], 7);
  }
  EXPECT_EQ(refusal({"sim", "t.wft", "--set", "lab.byte=1"}),
            "--set lab.byte=1: unknown key (did you mean lab.bytes?)");
}

TEST_F(Cli, TimelinesAndEnergiesAreWritten) {
  write_trace("t.wft");
  const Outcome outcome =
      run({"sim", "t.wft", "--policy", "baseline,arc-hw", "--unit", "golden", "--json", "o.json",
           "--timeline", "t.json", "--timeline-interval", "50", "--energy", "e.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto results = nlohmann::json::parse(text_of(folder_ / "o.json"))["runs"];
  const auto timelines = nlohmann::json::parse(text_of(folder_ / "t.json"))["warpfold"];
  EXPECT_EQ(timelines["schema"], "warpfold.timeline/2");
  ASSERT_EQ(timelines["runs"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& timeline = timelines["runs"][i];
    EXPECT_EQ(timeline["policy"], results[i]["policy"]);
    EXPECT_EQ(timeline["interval"], 50);
    EXPECT_EQ(timeline["cycles"], results[i]["cycles"]);
    double issued = 0;
    for (const double busy : timeline["busy"]["issue"]) {
      issued += busy;
    }
    EXPECT_EQ(issued, results[i]["activity"]["instructions"]);
    EXPECT_EQ(timeline["units"]["issue"], 512);
  }
  const auto energies = nlohmann::json::parse(text_of(folder_ / "e.json"))["runs"];
  ASSERT_EQ(energies.size(), 2U);
  EXPECT_EQ(energies[1]["total_nj"], results[1]["energy_nj"]["total"]);
  EXPECT_EQ(refusal({"sim", "t.wft", "--timeline", "t.wft"}),
            "--timeline t.wft: is an input of this simulation");
  EXPECT_EQ(refusal({"sim", "t.wft", "--json", "a", "--timeline", "a"}),
            "--timeline a: is the file of --json");
}

TEST_F(Cli, UpgradesTracesOfVersion3Alone) {
  write_trace("t.wft");
  EXPECT_EQ(refusal({"trace", "upgrade", "t.wft", "new.wft"}),
            "t.wft: format version 5, what is upgraded is of version 3");
  EXPECT_EQ(refusal({"trace", "upgrade", "t.wft", "t.wft"}), "t.wft: is the trace to read");
}

TEST_F(Cli, APolicyWithoutCodeForAnySiteIsLeftOut) {
  trace::Header header = small_trace_header();
  header.costs["sm_89"]["skip"].reduce = {{}};
  write_trace("t.wft", header);
  const Outcome outcome = run({"sim", "t.wft", "--policy", "all"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err,
            "warpfold: t.wft: left out skip: the trace has no sm_89 code of variant skip\n");
}

TEST_F(Cli, CostsOfTheNearestArchitectureStandIn) {
  write_trace("t.wft");
  std::string toml(builtin_gpus().front().toml);
  toml.replace(toml.find("\"sm_89\""), 7, "\"sm_12\"");
  write_file("old.toml", toml);
  const Outcome outcome =
      run({"sim", "t.wft", "--gpu", "old.toml", "--policy", "baseline", "--json", "o.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\ncosts of sm_86 code stand in for sm_12\n"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(text_of(folder_ / "o.json"))["runs"][0].at("costs_of"), "sm_86");
  EXPECT_EQ(run({"sim", "t.wft", "--policy", "baseline", "--json", "o.json"}).code, 0);
  EXPECT_FALSE(nlohmann::json::parse(text_of(folder_ / "o.json"))["runs"][0].contains("costs_of"));
}

TEST_F(Cli, TraceWithoutCostsIsRefused) {
  trace::Header header = small_trace_header();
  header.costs.clear();
  write_trace("t.wft", header);
  const std::string why = refusal({"sim", "t.wft", "--json", "o.json"});
  EXPECT_TRUE(why.starts_with("t.wft: ")) << why;
  EXPECT_NE(why.find("sm_89"), std::string::npos) << why;
}

// --- Output --------------------------------------------------------------------------------------

TEST_F(Cli, UnwritableOutputIsRefusedBeforeTheSimulation) {
  write_trace("t.wft");
  EXPECT_EQ(refusal({"sim", "t.wft", "--json", "none/o.json"}),
            "none/o.json: cannot be written: No such file or directory");
  fs::create_directory(folder_ / "folder");
  EXPECT_EQ(refusal({"sim", "t.wft", "--json", "folder"}),
            "folder: cannot be written: Is a directory");
  EXPECT_EQ(refusal({"sim", "t.wft", "--json", "/proc/o.json"}).find("/proc/o.json: "), 0U);
}

TEST_F(Cli, ResultsDoNotReplaceTheirInputs) {
  write_trace("t.wft");
  write_file("my.toml", std::string(builtin_gpus().front().toml));
  fs::create_hard_link(folder_ / "t.wft", folder_ / "hard.json");
  fs::create_symlink("my.toml", folder_ / "link.json");
  const std::string trace = text_of(folder_ / "t.wft");
  const std::string gpu = text_of(folder_ / "my.toml");
  for (const std::string name : {"t.wft", "./t.wft", "hard.json", "my.toml", "link.json"}) {
    EXPECT_EQ(refusal({"sim", "t.wft", "--gpu", "h200,my.toml", "--json", name}),
              "--json " + name + ": is an input of this simulation");
  }
  EXPECT_EQ(text_of(folder_ / "t.wft"), trace);
  EXPECT_EQ(text_of(folder_ / "my.toml"), gpu);
}

TEST_F(Cli, ResultsWithoutAPlaceAreRefused) {
  write_trace("t.wft");
  EXPECT_NE(refusal({"sim", "t.wft", "--json", ""}).find("--json"), std::string::npos);
  fs::create_symlink("none.json", folder_ / "link.json");
  EXPECT_EQ(refusal({"sim", "t.wft", "--json", "link.json"}),
            "link.json: cannot be written: it is a symbolic link to nothing");
}

TEST_F(Cli, FullDiskIsOneLineAndLeavesNothing) {
  write_trace("t.wft");
  const Words words{"sim", "t.wft", "--policy", "baseline", "--unit", "golden"};
  Words to_device = words;
  to_device.insert(to_device.end(), {"--json", "/dev/full"});
  EXPECT_EQ(refusal(to_device), "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));

  const Outcome table = run(words, "/dev/full");
  EXPECT_EQ(table.code, 2);
  EXPECT_EQ(table.err, "warpfold: cannot write to standard output\n");
}

TEST_F(Cli, RegressAgreesOnASmallTrace) {
  write_trace("t.wft");
  const Outcome outcome = run({"regress", "t.wft", "--max-events", "20", "--seed", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("t.wft: RTL and golden unit agree: ")) << outcome.out;
  EXPECT_EQ(outcome.out, run({"regress", "t.wft", "--max-events", "20", "--seed", "3"}).out);
}

TEST_F(Cli, TraceCommandsWork) {
  write_trace("t.wft");
  EXPECT_EQ(run({"trace", "info", "t.wft"}).code, 0);
  const Outcome json = run({"trace", "info", "t.wft", "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["schema"], "warpfold.trace-info/1");
  EXPECT_EQ(run({"trace", "verify", "t.wft"}).code, 0);
  EXPECT_EQ(run({"trace", "dump", "t.wft", "--last-cta", "0", "--warp", "1"}).code, 0);
  const Outcome slice = run({"trace", "slice", "t.wft", "half.wft", "--every", "2"});
  EXPECT_EQ(slice.code, 0) << slice.err;
  EXPECT_EQ(run({"trace", "verify", "half.wft"}).code, 0);
}

TEST_F(Cli, SlicesToBadPlacesLeaveNothing) {
  write_trace("t.wft");
  refusal({"trace", "slice", "t.wft", "none/o.wft"});
  const std::string before = text_of(folder_ / "t.wft");
  EXPECT_EQ(refusal({"trace", "slice", "t.wft", "t.wft", "--every", "2"}),
            "t.wft: is the trace to read");
  EXPECT_TRUE(text_of(folder_ / "t.wft") == before);
  EXPECT_EQ(refusal({"trace", "slice", "t.wft", "/dev/full"}), "/dev/full: is no regular file");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace warpfold
