// SPDX-License-Identifier: Apache-2.0
// The built warpfold command as a process, in a folder of the test's own, and a small trace for it.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tb/trace/synthetic.hpp"
#include "traces/format/writer.hpp"

namespace warpfold {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Outcome {
  int code = -1;  // exit code, or -signal
  std::string out;
  std::string err;
};

// A trace that every policy and every built-in GPU can run in a moment.
inline trace::Header small_trace_header() {
  constexpr std::uint32_t kCtas = 6;
  trace::Header header = trace::test::small_header(kCtas, 64);
  const trace::InstructionCost cost{
      .alu = 5, .shared = 1, .stall_cycles = 20, .waits = {{trace::ResultClass::kShared, 0, 0}}};
  const std::vector<trace::InstructionCost> paths(header.paths.size(), cost);
  const trace::InstructionCost butterfly{.alu = 5, .shuffle = 5};
  header.costs.clear();
  for (const std::string arch : {"sm_86", "sm_89", "sm_90"}) {
    auto& variants = header.costs[arch];
    variants["baseline"] = {.paths = paths, .reduce = {{{"plain", cost}}}, .registers = 48};
    variants["sw-s"] = {.paths = paths,
                        .reduce = {{{"check", cost},
                                    {"plain", cost},
                                    {"setup", cost},
                                    {"per_lane", butterfly},
                                    {"leader", cost}}},
                        .registers = 48};
    variants["sw-b"] = {.paths = paths,
                        .reduce = {{{"check", cost},
                                    {"agree", cost},
                                    {"plain", cost},
                                    {"butterfly", butterfly},
                                    {"leader", cost}}},
                        .registers = 48};
    variants["skip"] = {.paths = paths,
                        .reduce = {{{"check", cost}, {"butterfly", butterfly}, {"leader", cost}}},
                        .registers = 48};
    variants["cccl"] = {
        .paths = paths, .reduce = {{{"butterfly", butterfly}, {"leader", cost}}}, .registers = 48};
  }
  return header;
}

// Events on few primitives with masks of every size, and one barrier in each warp.
inline trace::CtaTrace small_cta(const trace::Header& header, std::uint64_t index,
                                 std::mt19937_64& random) {
  constexpr int kEvents = 12;
  trace::CtaTrace cta;
  cta.cta = index;
  cta.warps.resize(header.warps_per_cta());
  for (trace::WarpTrace& warp : cta.warps) {
    warp.records.push_back({.kind = trace::RecordKind::kWork, .path = 0, .count = 1});
    for (int i = 0; i < kEvents; ++i) {
      trace::Record event{.kind = trace::RecordKind::kEvent};
      event.mask = (static_cast<std::uint32_t>(random()) >> (i % 3 == 0 ? 0U : random() % 32)) | 1U;
      event.primitive = static_cast<std::uint32_t>(random() % 8);
      warp.records.push_back(event);
      if (i == kEvents / 2) {
        warp.records.push_back({.kind = trace::RecordKind::kBarrier});
      }
    }
  }
  return cta;
}

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / fmt::format("warpfold-cli-{}-{}", test->name(), ::getpid());
    folder_ = root_ / "work";
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(root_); }

  // Runs the command in folder_.
  Outcome run(const Words& words, const std::string& out_path = "") {
    const std::string out = out_path.empty() ? (root_ / "out").string() : out_path;
    const std::string err = (root_ / "err").string();
    const pid_t child = ::fork();
    if (child == 0) {
      redirect(out, STDOUT_FILENO);
      redirect(err, STDERR_FILENO);
      std::vector<char*> argv;
      std::string command = WARPFOLD_COMMAND;
      argv.push_back(command.data());
      Words copies = words;
      for (std::string& word : copies) {
        argv.push_back(word.data());
      }
      argv.push_back(nullptr);
      if (::chdir(folder_.c_str()) == 0) {
        ::execv(argv[0], argv.data());
      }
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            .out = out_path.empty() ? text_of(out) : "",
            .err = text_of(err)};
  }

  // The one line that the command has to say against its input, without "warpfold: ".
  std::string refusal(const Words& words) {
    const Words before = files();
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(files(), before);
    const std::string prefix = "warpfold: ";
    EXPECT_TRUE(outcome.err.starts_with(prefix)) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with("\n"));
    return outcome.err.size() > prefix.size()
               ? outcome.err.substr(prefix.size(), outcome.err.size() - prefix.size() - 1)
               : "";
  }

  void write_file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void write_trace(const std::string& name) const { write_trace(name, small_trace_header()); }
  void write_trace(const std::string& name, const trace::Header& header) const {
    trace::Writer writer(folder_ / name, header);
    std::mt19937_64 random(1);
    for (std::uint64_t i = 0; i < header.total_ctas; ++i) {
      writer.add(small_cta(header, i, random));
    }
    writer.finish();
  }
  [[nodiscard]] Words files() const {
    Words names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path root_;
  fs::path folder_;

 private:
  static void redirect(const std::string& path, int to) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || ::dup2(fd, to) < 0) {
      ::_exit(126);
    }
  }
};

}  // namespace warpfold
