// SPDX-License-Identifier: Apache-2.0
// Whole sessions with a program that plays the injected libraries: what becomes a trace, and what
// is left where the program crashes, is interrupted, or the disk is full.
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
    tools_ = {.record_library = "",
              .time_library = "",
              .patches = "patches",
              .costs = folder_ / "costs",
              .reductions = folder_ / "reductions.json"};
    options_.out = folder_ / "out";
    options_.profile = false;
    options_.time_runs = 2;
  }
  void TearDown() override { fs::remove_all(folder_); }

  RecordOutcome run(const std::string& what) {
    options_.command = {WARPFOLD_FAKE_PROGRAM, what};
    said_.clear();
    return record(options_, tools_, [this](const std::string& line) { said_ += line + "\n"; });
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
  const trace::CtaTrace cta = reader.read_cta(1);
  trace::Record last;
  for (const trace::Record& record : cta.warps.at(0).records) {
    last = record.kind == trace::RecordKind::kEvent ? record : last;
  }
  EXPECT_EQ(last.mask, 0xffU);
  EXPECT_EQ(last.primitive, 3U);
}

TEST_F(Session, TheSoManiethLaunchIsMeant) {
  options_.launch = 2;
  EXPECT_EQ(run("two").traces, 1U);
  EXPECT_EQ(files(), std::vector<std::string>{"adds-2.wft"});
  const trace::Reader second(folder_ / "out/adds-2.wft");
  EXPECT_DOUBLE_EQ(second.header().times[0].median_ms, 0.003);
  options_.launch = 0;
  EXPECT_EQ(run("two").traces, 2U);
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
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
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
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
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

// An ncu that appends to "asked" and writes `lines` of shell into the file of --log-file.
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

TEST_F(SessionWithNcu, ATraceWhoseCountsDoNotFitKeepsNoOtherFromTheirs) {
  ncu_writes("if [ $asked = 1 ]; then echo '\"first\"'; else echo '\"later\"'; fi");
  EXPECT_EQ(run("two").traces, 2U);
  EXPECT_EQ(asked(), 2U);
  EXPECT_TRUE(
      said("adds-1.wft: costs stay as the machine code has them, unconfirmed: "
           "kernel-code: the counts do not go together with the ways"));
  EXPECT_TRUE(said("adds-2.wft: held to ncu's counts"));
  EXPECT_FALSE(trace::Reader(folder_ / "out/adds-1.wft").header().provenance.contains("costs"));
  EXPECT_TRUE(trace::Reader(folder_ / "out/adds-2.wft").header().provenance.contains("costs"));
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
