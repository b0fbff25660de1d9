// SPDX-License-Identifier: Apache-2.0
// Results: the JSON document, speedups, the table, files that are written whole or not at all, and
// child processes that end in every way a process can.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "model/results/json.hpp"
#include "model/results/output_file.hpp"
#include "model/results/process_pool.hpp"
#include "model/results/table.hpp"

namespace warpfold {
namespace {

namespace fs = std::filesystem;

RunResult make_run(const std::string& policy, std::uint64_t cycles) {
  RunResult run;
  run.trace = "truck.wft";
  run.trace_hash = "0123456789abcdef";
  run.gpu = "h200";
  run.policy = policy;
  run.unit = "golden";
  run.unit_kind = "serial";
  run.cycles = cycles;
  run.events = 100;
  run.warp_atomics = 900;
  run.lane_atomics = 11790;
  run.rop_ops = 1234567;
  run.noc_packets = 1000;
  run.noc_bytes = 2500000;
  run.subcore_cycles = {{"issued", 250}, {"queue_full", 750}};
  run.warp_cycles = {{"ready", 10}, {"barrier", 3}};
  run.activity = {{"reds", 7}};
  run.utilization = {{"lsu", 0.9}, {"unit", 0.1 + 0.2}, {"rop", 1}};
  run.bounds = {{"issue", 5}, {"lsu", 800}, {"rop", 800}};
  run.even_bounds = {{"issue", 3}, {"lsu", 700}, {"rop", 750}};
  run.sums_match = true;
  run.conserved = true;
  run.sum_check = "bound";
  run.max_sum_error = 0.125;
  run.wall_seconds = 1.5;
  run.config = load_gpu("h200");
  return run;
}

// --- JSON ----------------------------------------------------------------------------------------

TEST(Json, DocumentIsAsTheSchemaSays) {
  RunResult run = make_run("baseline", 2000);
  run.measured_gpu = "NVIDIA H200";
  run.measured_ms = 0.5;
  run.measured_clock_mhz = 1980;
  auto document = nlohmann::ordered_json::parse(results_to_json({run}));
  EXPECT_EQ(document["runs"][0]["config"], config_to_json(run.config));
  document["runs"][0].erase("config");
  // energy_test.cpp
  EXPECT_EQ(document["runs"][0].erase("energy_nj"), 1U);
  EXPECT_EQ(document.dump(1), R"({
 "schema": "warpfold.sim/1",
 "runs": [
  {
   "trace": "truck.wft",
   "trace_hash": "0123456789abcdef",
   "gpu": "h200",
   "policy": "baseline",
   "unit": "golden",
   "unit_kind": "serial",
   "cycles": 2000,
   "speedup": 1.0,
   "speedup_is_doubtful": true,
   "events": 100,
   "warp_atomics": 900,
   "lane_atomics": 11790,
   "rop_ops": 1234567,
   "noc_packets": 1000,
   "noc_bytes": 2500000,
   "stalls": {
    "subcore_cycles": {
     "issued": 250,
     "queue_full": 750
    },
    "warp_cycles": {
     "ready": 10,
     "barrier": 3
    }
   },
   "utilization": {
    "lsu": 0.9,
    "unit": 0.30000000000000004,
    "rop": 1.0
   },
   "bounds": {
    "cycles": {
     "issue": 5,
     "lsu": 800,
     "rop": 800
    },
    "even_cycles": {
     "issue": 3,
     "lsu": 700,
     "rop": 750
    },
    "tightest": "lsu",
    "achieved": 0.4
   },
   "activity": {
    "reds": 7
   },
   "sums_match": true,
   "conserved": true,
   "sum_check": "bound",
   "max_sum_error": 0.125,
   "wall_seconds": 1.5,
   "measured": {
    "gpu": "NVIDIA H200",
    "ms": 0.5,
    "clock_mhz": 1980.0,
    "cycles": 990000.0,
    "ratio": 0.00202020202020202
   },
   "gpu_part": 1
  }
 ]
})");
}

// A second run of a simulation gives the same file, wall time aside.
TEST(Json, NothingButWallTimeDependsOnTheMachineThatRunsIt) {
  RunResult run = make_run("baseline", 10);
  run.wall_seconds = 1.5;
  RunResult again = run;
  again.wall_seconds = 4.5;
  EXPECT_NE(results_to_json({again}), results_to_json({run}));
  auto first = nlohmann::json::parse(results_to_json({run}));
  auto second = nlohmann::json::parse(results_to_json({again}));
  EXPECT_EQ(first["runs"][0].erase("wall_seconds"), 1U);
  EXPECT_EQ(second["runs"][0].erase("wall_seconds"), 1U);
  EXPECT_EQ(first, second);
}

TEST(Json, EndsWithANewlineAndNamesNoRunsAsAnEmptyList) {
  EXPECT_EQ(results_to_json({}), "{\n  \"schema\": \"warpfold.sim/1\",\n  \"runs\": []\n}\n");
}

TEST(Json, WhatIsNotKnownIsNull) {
  const auto document = nlohmann::json::parse(results_to_json({make_run("arc-hw", 10)}));
  EXPECT_TRUE(document["runs"][0]["speedup"].is_null());
  EXPECT_TRUE(document["runs"][0]["measured"].is_null());
}

TEST(Json, NoRatioAgainstAnotherGpu) {
  RunResult run = make_run("baseline", 10);
  run.gpu = "rtx4090";
  run.measured_gpu = "NVIDIA H200";
  run.measured_ms = 1;
  run.measured_clock_mhz = 1980;
  const auto document = nlohmann::json::parse(results_to_json({run}));
  EXPECT_EQ(document["runs"][0]["measured"]["cycles"], 1980000.0);
  EXPECT_TRUE(document["runs"][0]["measured"]["ratio"].is_null());
}

TEST(Json, AProfilersTimeHasTheLaunchInIt) {
  RunResult run = make_run("baseline", 1000);
  run.gpu = "h200";
  run.measured_gpu = "NVIDIA H200";
  run.measured_ms = 1e-3;
  run.measured_clock_mhz = 2000;
  run.config.latency.launch = 600;
  EXPECT_DOUBLE_EQ(measured_ratio(run).value(), 0.5);
  run.measured_state = "cold";
  EXPECT_DOUBLE_EQ(measured_ratio(run).value(), 0.8);
}

TEST(Json, InfinityAndNaNAreNull) {
  RunResult run = make_run("baseline", 10);
  run.max_sum_error = std::numeric_limits<double>::infinity();
  const auto document = nlohmann::json::parse(results_to_json({run}));
  EXPECT_TRUE(document["runs"][0]["max_sum_error"].is_null());
}

TEST(Json, PathThatIsNoUtf8IsWritten) {
  RunResult run = make_run("baseline", 10);
  run.trace = "a\xff.wft";
  EXPECT_EQ(nlohmann::json::parse(results_to_json({run}))["runs"][0]["trace"], "a\uFFFD.wft");
}

TEST(Json, DoublesReadBackExactly) {
  for (const double value : {0.1, 1.0 / 3, 1e-300, 5e-324, 123456789.125, 1.7976931348623157e308}) {
    RunResult run = make_run("baseline", 10);
    run.wall_seconds = value;
    EXPECT_EQ(nlohmann::json::parse(results_to_json({run}))["runs"][0]["wall_seconds"], value);
  }
}

TEST(Json, MeasuredGpuIsRecognisedByName) {
  EXPECT_TRUE(is_measured_gpu("h200", "NVIDIA H200"));
  EXPECT_TRUE(is_measured_gpu("rtx4090", "NVIDIA GeForce RTX 4090"));
  EXPECT_TRUE(is_measured_gpu("h100", "NVIDIA H100 80GB HBM3"));
  EXPECT_FALSE(is_measured_gpu("rtx4090", "NVIDIA H200"));
  EXPECT_FALSE(is_measured_gpu("h20", "NVIDIA H200"));
  EXPECT_FALSE(is_measured_gpu("200", "NVIDIA H200"));
  EXPECT_FALSE(is_measured_gpu("4090", "NVIDIA RTX4090"));
  EXPECT_FALSE(is_measured_gpu("h200", ""));
  EXPECT_FALSE(is_measured_gpu("", "NVIDIA H200"));
}

// --- Speedup -------------------------------------------------------------------------------------

TEST(Speedup, IsAgainstTheBaselineOfTheSameTraceGpuAndUnit) {
  std::vector<RunResult> runs{make_run("arc-hw", 50), make_run("baseline", 100),
                              make_run("skip", 200),  make_run("arc-hw", 10),
                              make_run("arc-hw", 10), make_run("baseline", 30),
                              make_run("arc-hw", 10)};
  runs[3].gpu = "rtx4090";
  runs[4].trace = runs[5].trace = "other.wft";
  runs[6].unit = "rtl";
  const auto values = speedups(runs);
  EXPECT_EQ(values[0].factor, 2.0);
  EXPECT_EQ(values[1].factor, 1.0);
  EXPECT_EQ(values[2].factor, 0.5);
  EXPECT_EQ(values[3].factor, std::nullopt);
  EXPECT_EQ(values[4].factor, 3.0);
  EXPECT_EQ(values[5].factor, 1.0);
  EXPECT_EQ(values[6].factor, std::nullopt);
}

TEST(Speedup, OfAnEmptyRunIsUnknown) {
  EXPECT_EQ(speedups({make_run("baseline", 100), make_run("skip", 0)})[1].factor, std::nullopt);
}

// Cycles that the GPU took, at 1 GHz.
RunResult make_timed_run(const std::string& policy, std::uint64_t cycles, double measured) {
  RunResult run = make_run(policy, cycles);
  run.measured_gpu = "NVIDIA H200";
  run.gpu = "h200";
  run.measured_clock_mhz = 1000;
  run.measured_ms = measured / 1e6;
  return run;
}

TEST(Speedup, IsDoubtfulWhereTheBaselineIsOff) {
  for (const auto& [measured, doubtful] :
       {std::pair{1000, false}, {900, false}, {860, true}, {1200, true}, {1150, false}}) {
    const auto values =
        speedups({make_timed_run("baseline", 1000, measured), make_run("arc-hw", 10)});
    EXPECT_EQ(values[0].is_doubtful, doubtful) << measured;
  }
  auto other = make_timed_run("arc-hw", 500, 0);
  EXPECT_TRUE(speedups({make_timed_run("baseline", 1000, 500), other})[1].is_doubtful);
}

TEST(Speedup, IsDoubtfulInTheRowThatIsOff) {
  const auto values =
      speedups({make_timed_run("baseline", 1000, 1000), make_timed_run("sw-b", 500, 700),
                make_timed_run("sw-s", 500, 480)});
  EXPECT_FALSE(values[0].is_doubtful);
  EXPECT_TRUE(values[1].is_doubtful);
  EXPECT_FALSE(values[2].is_doubtful);
}

// --- Table ---------------------------------------------------------------------------------------

TEST(Table, SeparatesThousands) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(1234567890), "1,234,567,890");
}

TEST(Table, ShowsWhatWasSimulated) {
  std::vector<RunResult> runs{make_run("baseline", 2000000), make_run("arc-hw", 1000000)};
  EXPECT_EQ(results_table(runs),
            R"(truck.wft
h200: 132 SMs at 1.98 GHz, 96 L2 slices; golden serial unit; 100 events, 900 warp-atomics, 11,790 lane-atomics

policy       cycles  speedup  atomics/kcycle  ROP operations  NoC MB  checks
--------  ---------  -------  --------------  --------------  ------  ------
baseline  2,000,000     1.00             0.5       1,234,567     2.5      ok
arc-hw    1,000,000     2.00             0.9       1,234,567     2.5      ok

sub-core cycles, %            | busy, %
policy    issued  queue_full  |   lsu  unit    rop
--------  ------  ----------  -  ----  ----  -----
baseline    25.0        75.0  |  90.0  30.0  100.0
arc-hw      25.0        75.0  |  90.0  30.0  100.0
)");
}

TEST(Table, WarnsOfATraceThatAddsWhereNoGpuHasMemory) {
  RunResult run = make_run("baseline", 10);
  EXPECT_EQ(results_table({run}).find("warning"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(results_to_json({run}))["runs"][0].contains("warning"));
  run.warning = "\"0: RED\" adds at 0x0, where no GPU has memory";
  EXPECT_NE(
      results_table({run}).find("\nwarning: \"0: RED\" adds at 0x0, where no GPU has memory\n"),
      std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(results_to_json({run}))["runs"][0]["warning"], run.warning);
}

TEST(Table, ShowsLowerBoundsIfAskedTo) {
  const std::vector<RunResult> runs{make_run("baseline", 2000), make_run("arc-hw", 1000)};
  EXPECT_EQ(results_table(runs).find("lower bounds"), std::string::npos);
  const std::string table = results_table(runs, true);
  EXPECT_NE(table.find(R"(
lower bounds, cycles
policy    issue  lsu  rop  |  tightest  cycles  achieved, %
--------  -----  ---  ---  -  --------  ------  -----------
baseline      5  800  800  |       lsu   2,000         40.0
arc-hw        5  800  800  |       lsu   1,000         80.0
)"),
            std::string::npos)
      << table;
}

TEST(Bounds, AreAbsentWhereNothingSetsOne) {
  RunResult run = make_run("baseline", 10);
  run.bounds.clear();
  EXPECT_EQ(tightest_bound(run), std::nullopt);
  EXPECT_EQ(nlohmann::json::parse(results_to_json({run}))["runs"][0]["bounds"], nullptr);
  // A run of no cycles has achieved nothing.
  EXPECT_EQ(tightest_bound(make_run("baseline", 0))->achieved, 0.0);
}

TEST(Table, NamesFailedChecks) {
  std::vector<RunResult> runs{make_run("baseline", 20), make_run("skip", 20),
                              make_run("arc-hw", 20), make_run("sw-b:8", 20)};
  runs[0].sums_match = false;
  runs[1].conserved = false;
  runs[2].sums_match = runs[2].conserved = false;
  runs[3].failure = "a queue is not empty";
  const std::string table = results_table(runs);
  EXPECT_NE(table.find("  SUMS DIFFER\n"), std::string::npos);
  EXPECT_NE(table.find("  LANES LOST\n"), std::string::npos);
  EXPECT_NE(table.find("  SUMS DIFFER, LANES LOST\n"), std::string::npos);
  EXPECT_NE(table.find("  FAILED\n"), std::string::npos);
}

TEST(Table, ComparesWithTheMeasurementOnTheSameGpuOnly) {
  std::vector<RunResult> runs{make_run("baseline", 2000000), make_run("arc-hw", 1000000)};
  runs[0].measured_gpu = "NVIDIA H200";
  runs[0].measured_ms = 1;
  runs[0].measured_clock_mhz = 1980;
  std::string table = results_table(runs);
  EXPECT_NE(table.find("measured  ratio"), std::string::npos);
  EXPECT_NE(table.find(" 1,980,000   1.01 "), std::string::npos) << table;
  runs[0].gpu = runs[1].gpu = "rtx4090";
  table = results_table(runs);
  EXPECT_EQ(table.find("measured  ratio"), std::string::npos);
  EXPECT_NE(table.find("lane-atomics\ntimes were measured on NVIDIA H200, not on this machine\n\n"),
            std::string::npos)
      << table;
}

TEST(Table, MarksSpeedupsOfWhatTheModelDoesNotTellWell) {
  std::vector<RunResult> runs{make_timed_run("baseline", 2000000, 1500000),
                              make_run("arc-hw", 1000000)};
  runs[0].measured_state = "warm";
  const std::string table = results_table(runs);
  EXPECT_NE(table.find("lane-atomics\nthe measured time is that of a warm launch\n"
                       "?: modelled and measured cycles differ by more than 15 %, so the "
                       "speedup may not hold\n\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("  2.00?  "), std::string::npos) << table;
  runs[0].measured_ms = 2;
  EXPECT_EQ(results_table(runs).find('?'), std::string::npos);
}

TEST(Table, SaysWhatTheTraceLacksOnce) {
  std::vector<RunResult> runs{make_run("baseline", 20), make_run("arc-hw", 20)};
  runs[0].remarks = runs[1].remarks = {"a cluster", "CAS is left out"};
  EXPECT_NE(results_table(runs).find("lane-atomics\na cluster\nCAS is left out\n\npolicy"),
            std::string::npos)
      << results_table(runs);
  EXPECT_EQ(nlohmann::json::parse(results_to_json(runs))["runs"][1]["remarks"],
            nlohmann::json({"a cluster", "CAS is left out"}));
}

TEST(Table, StaysWithin120ColumnsOnALargeRun) {
  RunResult run = make_run("baseline", 123456789);
  run.rop_ops = 12345678901;
  run.noc_bytes = 987654321012;
  run.subcore_cycles = {{"issued", 1},     {"memory_queue", 2}, {"arc_unit", 3}, {"shuffle", 4},
                        {"dependency", 5}, {"barrier", 6},      {"idle", 7}};
  run.utilization = {{"issue", 1},  {"arc_unit", 1}, {"lsu", 1},
                     {"buffer", 1}, {"noc", 1},      {"rop", 1}};
  run.measured_gpu = "NVIDIA H200";
  run.measured_ms = 62;
  run.measured_clock_mhz = 1980;
  std::istringstream lines(results_table({run}));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 120U) << line;
  }
}

TEST(Table, OfNothingIsEmpty) {
  EXPECT_EQ(results_table({}), "");
}

// --- Output file ---------------------------------------------------------------------------------

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / fmt::format("warpfold-out-{}-{}", test->name(), ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string error_of(const fs::path& path) {
    try {
      OutputFile(path).write("text");
    } catch (const OutputError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(OutputFileTest, NothingIsThereBeforeItIsWritten) {
  const OutputFile file(folder_ / "a.json");
  EXPECT_EQ(files(), Names{});
  file.write("text\n");
  EXPECT_EQ(files(), Names{"a.json"});
  EXPECT_EQ(text_of(folder_ / "a.json"), "text\n");
}

TEST_F(OutputFileTest, NewFileHasTheUsualPermissions) {
  const mode_t mask = ::umask(022);
  OutputFile(folder_ / "a.json").write("x");
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / "a.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST_F(OutputFileTest, ReplacesAFileWhole) {
  std::ofstream(folder_ / "a.json") << std::string(10000, 'x');
  OutputFile(folder_ / "a.json").write("new");
  EXPECT_EQ(text_of(folder_ / "a.json"), "new");
  EXPECT_EQ(files(), Names{"a.json"});
}

TEST_F(OutputFileTest, WritesThroughASymbolicLink) {
  std::ofstream(folder_ / "a.json") << "old";
  fs::create_symlink("a.json", folder_ / "link.json");
  OutputFile(folder_ / "link.json").write("new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(text_of(folder_ / "a.json"), "new");
}

TEST_F(OutputFileTest, SymbolicLinkToNothingIsRefusedAndStays) {
  fs::create_symlink("none.json", folder_ / "link.json");
  EXPECT_THROW(OutputFile(folder_ / "link.json"), OutputError);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_FALSE(fs::exists(folder_ / "none.json"));
}

TEST_F(OutputFileTest, MissingFolderIsKnownBeforeWriting) {
  const fs::path path = folder_ / "none" / "a.json";
  try {
    const OutputFile file(path);
    FAIL();
  } catch (const OutputError& error) {
    EXPECT_EQ(std::string(error.what()),
              path.string() + ": cannot be written: No such file or directory");
  }
}

TEST_F(OutputFileTest, FolderIsNoFile) {
  EXPECT_EQ(error_of(folder_), folder_.string() + ": cannot be written: Is a directory");
  EXPECT_EQ(error_of(""), ": cannot be written: No such file or directory");
}

TEST_F(OutputFileTest, FileInPlaceOfAFolderIsRefused) {
  std::ofstream(folder_ / "a") << "x";
  EXPECT_NE(error_of(folder_ / "a" / "b.json"), "");
  EXPECT_EQ(files(), Names{"a"});
}

TEST_F(OutputFileTest, FullDiskIsOneLineAndTheDeviceStays) {
  EXPECT_EQ(error_of("/dev/full"), "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, FullDiskKeepsTheOldFileAndLeavesNoOther) {
  std::ofstream(folder_ / "a.json") << "old";
  // A limit on the size of files stands in for a full disk; in a child, as it cannot be undone.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 2, .rlim_max = 2};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = error_of(folder_ / "a.json");
    ::_exit(error.ends_with("a.json: cannot be written: File too large") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(folder_ / "a.json"), "old");
  EXPECT_EQ(files(), Names{"a.json"});
}

// --- Child processes -----------------------------------------------------------------------------

using Work = std::function<RunResult(const std::function<void(double)>&)>;

PoolTask task(const std::string& name, Work work) {
  return {.name = name, .work = std::move(work), .prepare = {}};
}
PoolTask task_of(const RunResult& run) {
  return task(run.policy, [run](const auto&) { return run; });
}

TEST(Pool, ResultsArriveWhole) {
  RunResult run = make_run("sw-b:8", 12345678901234);
  run.failure = "two\nlines";
  run.max_sum_error = std::numeric_limits<double>::infinity();
  run.utilization.emplace_back("nan", std::numeric_limits<double>::quiet_NaN());
  run.wall_seconds = 1.0 / 3;
  const auto outcomes = run_pool({task_of(run)}, {});
  ASSERT_EQ(outcomes.size(), 1U);
  ASSERT_TRUE(outcomes[0].result);
  const RunResult& got = *outcomes[0].result;
  EXPECT_EQ(got.trace, run.trace);
  EXPECT_EQ(got.trace_hash, run.trace_hash);
  EXPECT_EQ(got.gpu, run.gpu);
  EXPECT_EQ(got.policy, run.policy);
  EXPECT_EQ(got.unit, run.unit);
  EXPECT_EQ(got.cycles, run.cycles);
  EXPECT_EQ(got.events, run.events);
  EXPECT_EQ(got.warp_atomics, run.warp_atomics);
  EXPECT_EQ(got.lane_atomics, run.lane_atomics);
  EXPECT_EQ(got.rop_ops, run.rop_ops);
  EXPECT_EQ(got.noc_packets, run.noc_packets);
  EXPECT_EQ(got.noc_bytes, run.noc_bytes);
  EXPECT_EQ(got.subcore_cycles, run.subcore_cycles);
  EXPECT_EQ(got.warp_cycles, run.warp_cycles);
  EXPECT_EQ(got.activity, run.activity);
  EXPECT_EQ(got.bounds, run.bounds);
  EXPECT_EQ(got.even_bounds, run.even_bounds);
  ASSERT_EQ(got.utilization.size(), run.utilization.size());
  EXPECT_EQ(got.utilization[1], run.utilization[1]);
  EXPECT_NE(got.utilization[3].second, got.utilization[3].second);
  EXPECT_EQ(got.sums_match, run.sums_match);
  EXPECT_EQ(got.conserved, run.conserved);
  EXPECT_EQ(got.sum_check, run.sum_check);
  EXPECT_EQ(got.max_sum_error, run.max_sum_error);
  EXPECT_EQ(got.failure, run.failure);
  EXPECT_EQ(got.wall_seconds, run.wall_seconds);
}

TEST(Pool, LargeResultIsNotCut) {
  RunResult run = make_run("baseline", 1);
  for (int i = 0; i < 20000; ++i) {
    run.activity.emplace_back(fmt::format("a_counter_with_a_long_name_{}", i), i);
  }
  const auto outcomes = run_pool({task_of(run)}, {});
  ASSERT_TRUE(outcomes[0].result);
  EXPECT_EQ(outcomes[0].result->activity, run.activity);
}

TEST(Pool, OrderIsThatOfTheTasksWhateverTheNumberOfJobs) {
  constexpr int kTasks = 12;
  for (const std::size_t jobs : {0U, 1U, 3U, 64U}) {
    std::vector<PoolTask> tasks;
    for (int i = 0; i < kTasks; ++i) {
      tasks.push_back(task("t", [i](const auto&) {
        // The first ends last.
        std::this_thread::sleep_for(std::chrono::milliseconds(3 * (kTasks - i)));
        return make_run("baseline", static_cast<std::uint64_t>(i));
      }));
    }
    const auto outcomes = run_pool(tasks, {.jobs = jobs, .progress = {}});
    ASSERT_EQ(outcomes.size(), static_cast<std::size_t>(kTasks));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      ASSERT_TRUE(outcomes[i].result);
      EXPECT_EQ(outcomes[i].result->cycles, i);
    }
  }
}

TEST(Pool, NoTasksNoOutcomes) {
  EXPECT_TRUE(run_pool({}, {.jobs = 4, .progress = {}}).empty());
}

TEST(Pool, DeathOfOneChildLeavesTheOthers) {
  std::vector<PoolTask> tasks{
      task_of(make_run("baseline", 1)),
      task("segv",
           [](const auto&) -> RunResult {
             ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report it and exit
             ::raise(SIGSEGV);
             return {};
           }),
      task("abort",
           [](const auto&) -> RunResult {
             ::signal(SIGABRT, SIG_DFL);
             std::abort();
           }),
      task("exit", [](const auto&) -> RunResult { ::_exit(3); }),
      task("check", [](const auto&) -> RunResult { throw std::logic_error("check\nfailed"); }),
      task("memory", [](const auto&) -> RunResult { throw std::bad_alloc(); }),
      task("odd", [](const auto&) -> RunResult { throw 7; }),
      task_of(make_run("skip", 2))};
  const auto outcomes = run_pool(tasks, {.jobs = 2, .progress = {}});
  ASSERT_EQ(outcomes.size(), 8U);
  EXPECT_TRUE(outcomes[0].result);
  EXPECT_EQ(outcomes[1].error, "the simulation died: Segmentation fault");
  EXPECT_EQ(outcomes[2].error, "the simulation died: Aborted");
  EXPECT_EQ(outcomes[3].error, "the simulation ended without a result, exit status 3");
  EXPECT_EQ(outcomes[4].error, "check failed");
  EXPECT_EQ(outcomes[5].error, "out of memory");
  EXPECT_EQ(outcomes[6].error, "an unknown exception");
  EXPECT_TRUE(outcomes[7].result);
  for (std::size_t i = 1; i <= 6; ++i) {
    EXPECT_FALSE(outcomes[i].result) << i;
  }
}

TEST(Pool, BadInputEndsTheOthersAtOnce) {
  std::vector<PoolTask> tasks{
      task("sleeps",
           [](const auto&) -> RunResult {
             std::this_thread::sleep_for(std::chrono::minutes(1));
             return {};
           }),
      task("bad", [](const auto&) -> RunResult { throw BadInputError("no costs\nfor sm_89"); })};
  const auto begin = std::chrono::steady_clock::now();
  try {
    run_pool(tasks, {.jobs = 2, .progress = {}});
    FAIL();
  } catch (const BadInputError& error) {
    EXPECT_STREQ(error.what(), "no costs?for sm_89");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

TEST(Pool, PrepareRunsInTheParentBeforeItsChild) {
  int prepared = 0;
  std::vector<PoolTask> tasks;
  for (int i = 1; i <= 3; ++i) {
    PoolTask counting = task("t", [&prepared](const auto&) {
      return make_run("baseline", static_cast<std::uint64_t>(prepared));
    });
    counting.prepare = [&prepared] { ++prepared; };
    tasks.push_back(counting);
  }
  const auto outcomes = run_pool(tasks, {.jobs = 3, .progress = {}});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(outcomes[i].result->cycles, i + 1);
  }
}

TEST(Pool, ProgressIsReported) {
  std::vector<double> seen;
  std::size_t finished = 0;
  PoolOptions options;
  options.jobs = 2;
  options.progress = [&](const PoolProgress& progress) {
    seen.push_back(progress.done);
    finished = progress.finished;
    EXPECT_EQ(progress.tasks, 2U);
  };
  const auto slow = task("slow", [](const std::function<void(double)>& progress) {
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      progress(i / 10.0);
    }
    return make_run("baseline", 1);
  });
  run_pool({slow, slow}, options);
  EXPECT_GT(seen.size(), 4U);
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](double x) { return x > 0 && x < 0.5; }));
  EXPECT_EQ(seen.back(), 1.0);
  EXPECT_EQ(finished, 2U);
}

TEST(Pool, NoProgressFunctionWithoutAListener) {
  const auto outcomes = run_pool({task("t",
                                       [](const std::function<void(double)>& progress) {
                                         return make_run("baseline", progress ? 1 : 2);
                                       })},
                                 {});
  EXPECT_EQ(outcomes[0].result->cycles, 2U);
}

// Ctrl-C, or any other end of the parent, ends the children too.
TEST(Pool, ChildrenDieWithTheParent) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::close(ends[0]);
    const int alive = ends[1];  // open in the child too; end of file once both are gone
    const auto sleeps = task("sleeps", [alive](const auto&) -> RunResult {
      (void)!::write(alive, "x", 1);
      std::this_thread::sleep_for(std::chrono::minutes(1));
      return {};
    });
    run_pool({sleeps}, {});
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  const auto begin = std::chrono::steady_clock::now();
  ::kill(parent, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  ::close(ends[0]);
}

}  // namespace
}  // namespace warpfold
