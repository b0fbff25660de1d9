// SPDX-License-Identifier: Apache-2.0
// Whole sessions with a program that plays the injected libraries: what becomes a trace, and what
// is left where the program crashes, is interrupted, or the disk is full.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "traces/format/reader.hpp"
#include "traces/record/host/record.hpp"

namespace warpfold::record::test {
namespace {

namespace fs = std::filesystem;

class Session : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("session-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "costs");
    fs::copy_file(WARPFOLD_FAKE_KERNEL_CODE, folder_ / "costs/__main__.py");
    std::ofstream(folder_ / "reductions.json") << R"({"costs": {}})";
    tools_ = {.recorder = {.record_library = "", .time_library = "", .patches = "patches"},
              .costs = folder_ / "costs",
              .reductions = folder_ / "reductions.json",
              .listings = folder_ / "listings"};
    options_.out = folder_ / "out";
    options_.profile = false;
    options_.time_runs = 2;
  }
  void TearDown() override { fs::remove_all(folder_); }

  RecordOutcome run(const std::string& what, const std::string& argument = "") {
    options_.command = {WARPFOLD_FAKE_PROGRAM, what, argument};
    said_.clear();
    return record(options_, tools_, [this](const std::string& line) { said_ += line + "\n"; });
  }
  // That the program finishes, however long the machine takes.
  void wait_for_a_trace() const {
    for (int turn = 0; turn < 600 && !fs::exists(folder_ / "out/adds.wft"); ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "out")) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] bool said(const std::string& text) const {
    return said_.find(text) != std::string::npos;
  }

  fs::path folder_;
  RecordTools tools_;
  RecordOptions options_;
  std::string said_;
};

TEST_F(Session, ALaunchBecomesATrace) {
  const RecordOutcome outcome = run("whole");
  EXPECT_EQ(outcome.traces, 1U);
  EXPECT_EQ(outcome.failed, 0U);
  EXPECT_EQ(outcome.program_status, 0);
  EXPECT_EQ(files(), std::vector<std::string>{"adds.wft"});
  const trace::Reader reader(folder_ / "out/adds.wft");
  reader.verify();
  EXPECT_EQ(reader.event_count(), 6U);
  const trace::Header& header = reader.header();
  EXPECT_EQ(header.gpu, "a GPU");
  EXPECT_EQ(header.registers_per_thread, 24U);
  EXPECT_EQ(header.shared_bytes_per_cta, 192U);
  ASSERT_EQ(header.sites.size(), 1U);
  EXPECT_EQ(header.sites[0].parameters[0].base, 0x10000U);
  EXPECT_EQ(header.sites[0].primitive_count, 4U);
  ASSERT_EQ(header.arrays.size(), 1U);
  EXPECT_EQ(header.arrays[0].bytes, 4096U);
  // Of two runs; the kernel's first launch in each.
  ASSERT_EQ(header.times.size(), 1U);
  EXPECT_EQ(header.times[0].runs, 2U);
  EXPECT_DOUBLE_EQ(header.times[0].median_ms, 0.002);
  EXPECT_EQ(header.times[0].state, trace::TimeState::kCold);
  EXPECT_EQ(header.costs_from, trace::CostSource::kCode);
  // Per CTA 3 passes to a RED and the way to the end, and the REDs.
  EXPECT_EQ(header.instructions.taken, header.instructions.most);
  EXPECT_GT(header.instructions.taken, 6U);
  const trace::CtaTrace cta = reader.read_cta(1);
  trace::Record last;
  for (const trace::Record& record : cta.warps.at(0).records) {
    last = record.kind == trace::RecordKind::kEvent ? record : last;
  }
  EXPECT_EQ(last.mask, 0xffU);
  EXPECT_EQ(last.primitive, 3U);
}

TEST_F(Session, LoadsAreRecordedUnlessTheyAreLeftOut) {
  EXPECT_EQ(run("whole").traces, 1U);
  EXPECT_TRUE(said("6 loads and stores of 24 sectors"));
  const auto count = [&](trace::RecordKind kind) {
    std::size_t found = 0;
    const trace::Reader reader(folder_ / "out/adds.wft");
    reader.verify();
    for (std::size_t cta = 0; cta < reader.cta_count(); ++cta) {
      const trace::CtaTrace read = reader.read_cta(cta);
      for (const trace::Record& record : read.warps.at(0).records) {
        found += record.kind == kind ? 1U : 0U;
      }
    }
    return found;
  };
  const trace::Header header = trace::Reader(folder_ / "out/adds.wft").header();
  ASSERT_EQ(header.memory.size(), 1U);
  EXPECT_EQ(header.memory[0].cache, trace::CacheUse::kReadOnly);
  EXPECT_EQ(count(trace::RecordKind::kAccess), 6U);
  EXPECT_GT(count(trace::RecordKind::kWait), 6U);
  const std::size_t events = count(trace::RecordKind::kEvent);
  options_.loads = false;
  EXPECT_EQ(run("whole").traces, 1U);
  EXPECT_FALSE(said("loads and stores"));
  EXPECT_TRUE(trace::Reader(folder_ / "out/adds.wft").header().memory.empty());
  EXPECT_EQ(count(trace::RecordKind::kAccess), 0U);
  EXPECT_EQ(count(trace::RecordKind::kEvent), events);
}

TEST_F(Session, TheSoManiethLaunchIsMeant) {
  options_.launch = 2;
  EXPECT_EQ(run("two").traces, 1U);
  EXPECT_EQ(files(), std::vector<std::string>{"adds-2.wft"});
  const trace::Reader second(folder_ / "out/adds-2.wft");
  ASSERT_EQ(second.header().times.size(), 2U);
  EXPECT_DOUBLE_EQ(second.header().times[0].median_ms, 0.003);
  EXPECT_EQ(second.header().times[0].state, trace::TimeState::kWarm);
  EXPECT_DOUBLE_EQ(second.header().times[1].median_ms, 0.002);
  EXPECT_EQ(second.header().times[1].state, trace::TimeState::kCold);
  options_.launch = 0;
  EXPECT_EQ(run("two").traces, 2U);
}

// A launch is known by its grid and block, so each of these is the first of its kind.
TEST_F(Session, LaunchesOfOtherGridsDoNotTakeEachOthersTimes) {
  options_.launch = 0;
  EXPECT_EQ(run("other-grids").traces, 3U);
  const auto times = [&](const char* file) {
    return trace::Reader(folder_ / "out" / file).header().times;
  };
  ASSERT_EQ(times("adds-1.wft").size(), 2U);
  EXPECT_DOUBLE_EQ(times("adds-1.wft")[0].median_ms, 0.002);
  EXPECT_DOUBLE_EQ(times("adds-1.wft")[1].median_ms, 0.005);
  ASSERT_EQ(times("adds-2.wft").size(), 1U);
  EXPECT_DOUBLE_EQ(times("adds-2.wft")[0].median_ms, 0.007);
  EXPECT_DOUBLE_EQ(times("adds-3.wft")[0].median_ms, 0.005);
}

TEST_F(Session, ProcessesAreKnownByWhenTheyBegan) {
  EXPECT_EQ(run("children").traces, 2U);
  EXPECT_EQ(files(), (std::vector<std::string>{"adds.2.wft", "adds.wft"}));
  for (const std::string& file : files()) {
    const trace::Reader reader(folder_ / "out" / file);
    const std::uint32_t child = reader.header().grid[0] / 2;
    ASSERT_EQ(reader.header().times.size(), 1U);
    EXPECT_EQ(reader.header().times[0].runs, 2U);
    EXPECT_DOUBLE_EQ(reader.header().times[0].median_ms, 0.001 * child);
  }
}

TEST_F(Session, ARunThatDoesMoreGivesNoTime) {
  options_.time_runs = 1;
  EXPECT_EQ(run("more-at-first", folder_ / "seen").traces, 1U);
  EXPECT_TRUE(said("adds.wft: no time: the runs differ: 2 launches of this grid and block, not 1"));
  EXPECT_TRUE(trace::Reader(folder_ / "out/adds.wft").header().times.empty());
  fs::remove(folder_ / "seen");
  options_.time_runs = 3;
  EXPECT_EQ(run("more-at-first", folder_ / "seen").traces, 1U);
  const auto times = trace::Reader(folder_ / "out/adds.wft").header().times;
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].runs, 2U);
}

TEST_F(Session, EveryRunReadsTheSameStandardInput) {
  const std::string input = (folder_ / "input").string();
  std::ofstream(input) << "one\ntwo\n";
  const int old = dup(STDIN_FILENO);
  for (const bool piped : {false, true}) {
    const int file = open(input.c_str(), O_RDONLY);
    int ends[2] = {file, -1};
    if (piped) {
      ASSERT_EQ(pipe(ends), 0);
      ASSERT_EQ(write(ends[1], "one\ntwo\n", 8), 8);
      close(ends[1]);
    }
    dup2(ends[0], STDIN_FILENO);
    options_.launch = 0;
    EXPECT_EQ(run("reads").traces, 2U) << piped;
    EXPECT_EQ(trace::Reader(folder_ / "out/adds-2.wft").header().times.size(), 2U);
    close(ends[0]);
    fs::remove_all(folder_ / "out");
  }
  dup2(old, STDIN_FILENO);
  close(old);
}

TEST_F(Session, LaunchesAtOneTimeAreToldApart) {
  EXPECT_EQ(run("mixed").traces, 2U) << said_;
  EXPECT_EQ(files(), (std::vector<std::string>{"adds.wft", "adds_too.wft"}));
  EXPECT_EQ(trace::Reader(folder_ / "out/adds.wft").event_count(), 6U);
  EXPECT_EQ(trace::Reader(folder_ / "out/adds_too.wft").event_count(), 9U);
}

TEST_F(Session, WhatTheRecorderNotesIsSaidOnce) {
  EXPECT_EQ(run("note").traces, 1U);
  const std::size_t at = said_.find("adds: not recorded");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(said_.find("adds: not recorded", at + 1), std::string::npos);
}

TEST_F(Session, ARecorderThatWaitsInVainEndsTheProgram) {
  options_.launch = 0;
  const RecordOutcome outcome = run("stuck");
  EXPECT_TRUE(outcome.stuck);
  EXPECT_EQ(outcome.interrupted, 0);
  EXPECT_TRUE(said("the recorder has waited 300 s for the GPU, to end adds: the program is ended"));
  EXPECT_TRUE(said("adds, launch 2: no trace: the program ended while it ran"));
  EXPECT_EQ(files(), std::vector<std::string>{"adds-1.wft"});
  trace::Reader(folder_ / "out/adds-1.wft").verify();
}

TEST_F(Session, AKernelThatIsNamedAndAddsNothingIsTold) {
  options_.kernel = "^passes$";
  EXPECT_EQ(run("whole").traces, 0U);
  EXPECT_TRUE(said("passes: not recorded"));
}

TEST_F(Session, OfAProgramThatCrashesWhatIsFinishedIsWhole) {
  options_.launch = 0;
  const RecordOutcome outcome = run("crash");
  EXPECT_EQ(outcome.program_status, 128 + SIGABRT);
  EXPECT_EQ(outcome.traces, 1U);
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_TRUE(said("adds, launch 2: no trace: the program ended while it ran"));
  EXPECT_EQ(files(), std::vector<std::string>{"adds-1.wft"});
  trace::Reader(folder_ / "out/adds-1.wft").verify();
}

TEST_F(Session, AnInterruptEndsTheProgramAndKeepsWhatIsFinished) {
  std::thread later([this] {
    wait_for_a_trace();
    kill(getpid(), SIGINT);
  });
  const RecordOutcome outcome = run("wait");
  later.join();
  EXPECT_EQ(outcome.interrupted, SIGINT);
  EXPECT_EQ(outcome.traces, 1U);
  EXPECT_EQ(files(), std::vector<std::string>{"adds.wft"});
  trace::Reader(folder_ / "out/adds.wft").verify();
}

TEST_F(Session, AProgramThatDoesNotHearIsKilled) {
  std::thread later([this] {
    wait_for_a_trace();
    kill(getpid(), SIGTERM);
  });
  const RecordOutcome outcome = run("stubborn");
  later.join();
  EXPECT_EQ(outcome.interrupted, SIGTERM);
  EXPECT_EQ(outcome.program_status, 128 + SIGKILL);
  EXPECT_EQ(files(), std::vector<std::string>{"adds.wft"});
}

TEST_F(Session, AFullDiskLeavesNoPartOfATrace) {
  // A limit on the size of files is an error of write(), as a full disk is.
  // A trace that is larger than all other files: its header has much that does not compress.
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    options_.scene += static_cast<char>('!' + random() % 90);
  }
  options_.time_runs = 0;  // with times it is written again
  ASSERT_EQ(run("whole").traces, 1U);
  const std::uintmax_t size = fs::file_size(folder_ / "out/adds.wft");
  fs::remove(folder_ / "out/adds.wft");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{.rlim_cur = size - 1, .rlim_max = old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  RecordOutcome outcome;
  std::string error;
  try {
    outcome = run("whole");
  } catch (const trace::TraceError& failure) {
    error = failure.what();
  }
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(outcome.traces, 0U);
  EXPECT_EQ(outcome.failed, 1U) << error;
  EXPECT_TRUE(said("adds.wft")) << said_;
  EXPECT_TRUE(files().empty());
}

// An ncu that appends to "asked" and writes what a shell makes of `lines` into the file of
// --log-file.
class SessionWithNcu : public Session {
 protected:
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    Session::TearDown();
  }
  void ncu_writes(const std::string& lines) {
    const fs::path ncu = folder_ / "ncu";
    std::ofstream(ncu) << "#!/bin/sh\necho >> " << (folder_ / "asked").string()
                       << "\nwhile [ \"$1\" != --log-file ]; do shift; done\n"
                       << "asked=$(wc -l < " << (folder_ / "asked").string() << ")\n(" << lines
                       << ") > \"$2\"\n";
    fs::permissions(ncu, fs::perms::owner_all);
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
    options_.profile = true;
    options_.launch = 0;
  }
  [[nodiscard]] std::size_t asked() const { return fs::file_size(folder_ / "asked"); }

  const std::string path_ = std::getenv("PATH");
};

// A line of a process's launch as ncu writes it.
std::string counted(int process, int ctas, const std::string& value) {
  return "echo '\"" + std::to_string(process) + "\",\"adds\",\"(32, 1, 1)\",\"(" +
         std::to_string(ctas) + ", 1, 1)\",\"inst_executed\",\"" + value + "\"';";
}
const std::string kHeads =
    "echo '\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric "
    "Value\"';";

TEST_F(SessionWithNcu, ATraceWhoseCountsDoNotFitKeepsNoOtherFromTheirs) {
  ncu_writes(kHeads + counted(9, 2, "first") + counted(9, 2, "1,234 (later)"));
  EXPECT_EQ(run("two").traces, 2U);
  EXPECT_EQ(asked(), 1U);
  EXPECT_TRUE(
      said("adds-1.wft: costs stay as the machine code has them, unconfirmed: "
           "kernel-code: the counts do not go together with the ways"));
  EXPECT_TRUE(
      said("adds-2.wft: held to ncu's counts: 62 warp instructions of 1234; the machine "
           "code alone says 48"))
      << said_;
  EXPECT_EQ(trace::Reader(folder_ / "out/adds-2.wft").header().provenance.at("ncu_counted"),
            "1234");
  const auto source = [&](const char* file) {
    return trace::Reader(folder_ / "out" / file).header().costs_from;
  };
  EXPECT_EQ(source("adds-1.wft"), trace::CostSource::kCode);
  EXPECT_EQ(source("adds-2.wft"), trace::CostSource::kCounts);
}

TEST_F(SessionWithNcu, CountsGoToTheProcessOfTheSameRank) {
  ncu_writes(kHeads + counted(11, 4, "later") + counted(9, 2, "later"));
  EXPECT_EQ(run("children").traces, 2U);
  EXPECT_TRUE(said("adds-1.wft: held to ncu's counts"));
  EXPECT_TRUE(said("adds-1.2.wft: held to ncu's counts"));
}

TEST_F(SessionWithNcu, ARunThatDiffersGivesNoCount) {
  const auto refused = [&](const std::string& lines, const std::string& why) {
    ncu_writes(kHeads + lines);
    EXPECT_EQ(run("two").traces, 2U);
    EXPECT_FALSE(said("held to")) << said_;
    EXPECT_TRUE(said("unconfirmed: " + why)) << said_;
  };
  refused(counted(9, 2, "x"), "under ncu the kernel had 1 such launches, not 2");
  refused(counted(9, 2, "x") + counted(8, 2, "x"),
          "under ncu 2 processes launched what was recorded, not 1");
  refused(counted(9, 3, "x") + counted(9, 3, "x"),
          "under ncu the launch has another grid or block");
  refused("echo '\"9\"';", "ncu's CSV has a line of 1 fields under 6 heads");
}

TEST_F(SessionWithNcu, OneThatMayNotCountIsAskedOnce) {
  ncu_writes("echo '==PROF== Connected'; echo '==ERROR== ERR_NVGPUCTRPERM - no permission'");
  EXPECT_EQ(run("two").traces, 2U);
  EXPECT_EQ(asked(), 1U);
  EXPECT_TRUE(said("costs stay as the machine code has them, unconfirmed: ncu: ERR_NVGPUCTRPERM"));
}

TEST_F(Session, ALaunchThatFailsIsNoTrace) {
  const RecordOutcome outcome = run("fail");
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_TRUE(said("the kernel failed: misaligned address"));
  EXPECT_TRUE(files().empty());
}

TEST_F(Session, TheProgramsStatusIsPassedOn) {
  const RecordOutcome outcome = run("exit");
  EXPECT_EQ(outcome.program_status, 3);
  EXPECT_EQ(outcome.traces, 1U);
}

TEST_F(Session, WordsThatMakeNoSenseAreNoTrace) {
  const RecordOutcome outcome = run("garbage");
  EXPECT_EQ(outcome.traces, 0U);
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_TRUE(said("makes no sense"));
}

TEST_F(Session, AProgramThatUsesNoGpuHasNoTrace) {
  const RecordOutcome outcome = run("nothing");
  EXPECT_EQ(outcome.traces + outcome.failed, 0U);
}

// As where a library that the recorder needs is not found: CUDA says nothing of it.
TEST_F(Session, AProgramWithoutTheRecorderInItIsKnown) {
  EXPECT_TRUE(run("whole").loaded);
  options_.command = {"true"};
  EXPECT_FALSE(record(options_, tools_, [](const std::string&) {}).loaded);
}

TEST_F(Session, AProgramThatIsNotThereIsAnError) {
  options_.command = {"/nowhere/program"};
  EXPECT_THROW(record(options_, tools_, [](const std::string&) {}), trace::TraceError);
  options_.command = {WARPFOLD_FAKE_PROGRAM, "whole"};
  options_.out = "/proc/nowhere";
  EXPECT_THROW(record(options_, tools_, [](const std::string&) {}), trace::TraceError);
}

}  // namespace
}  // namespace warpfold::record::test
