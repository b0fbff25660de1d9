// SPDX-License-Identifier: Apache-2.0
// A program as `warpfold record` sees it, without a GPU: it says over the socket what the injected
// libraries would. The argument is what becomes of it: "whole", "two" (launches), "crash" (in the
// middle of a launch, behind a whole one), "fail" (a launch that CUDA cannot run), "exit" (status
// 3), "nothing" (says nothing), "garbage", "wait" (for a signal, behind a whole launch), "stubborn"
// (the same, but SIGINT and SIGTERM do not move it).
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tb/record/ring_words.hpp"
#include "traces/record/inject/connection.hpp"

namespace warpfold::record::test {
namespace {

// As the machine code in session_test.cpp: 4 shared, 5 RED, 9 exit.
std::vector<std::uint32_t> launch_words(std::uint32_t ctas) {
  RingWords words;
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    words.enter(kAll, cta);
    for (std::uint64_t pass = 0; pass < 3; ++pass) {
      words.marker(Marker::kShared, 4, kAll, cta).red(5, 0xffU, {0x10000 + 4 * (pass + cta)}, cta);
    }
    words.exit(9, kAll, cta);
  }
  return words.words();
}

bool launch(Connection& connection, const char* function, bool whole, const std::string& error) {
  const nlohmann::json told = {{"module", 1},
                               {"function", function},
                               {"grid", {2, 1, 1}},
                               {"block", {32, 1, 1}},
                               {"registers", 24},
                               {"static_shared", 128},
                               {"dynamic_shared", 64},
                               {"gpu", "a GPU"},
                               {"driver", "1.2"},
                               {"cuda", "13.0"},
                               {"allocations", {{0x10000, 4096}}}};
  connection.send(Message::kLaunch, told.dump());
  LaunchAnswer answer{};
  if (!connection.receive(&answer, sizeof answer) || answer.record == 0) {
    return false;
  }
  std::vector<char> additions(answer.instructions);
  connection.receive(additions.data(), additions.size());
  const std::vector<std::uint32_t> words = launch_words(2);
  const std::size_t half = words.size() / 2 / 4 * 4;
  // In two messages that may cut the records of a launch, but no record.
  const std::size_t first = whole ? words.size() : half;
  connection.send(Message::kRecords, words.data(), first * sizeof(std::uint32_t));
  if (whole) {
    connection.send(Message::kLaunchEnd, nlohmann::json{{"error", error}}.dump());
  }
  return true;
}

int run(const std::string& what) {
  Connection connection;
  if (what == "nothing" || !connection.open()) {
    return 0;
  }
  if (std::getenv(kPatchesVariable) == nullptr || *std::getenv(kPatchesVariable) == 0) {
    // Without patches it is the run for times.
    connection.send(Message::kHello, nlohmann::json{{"library", "time"}}.dump());
    const nlohmann::json times = {
        {"launches", {{7, "adds", 2000.0}, {9, "adds", 3000.0}, {8, "other", 500.0}}},
        {"sm_clock_mhz", 1980}};
    connection.send(Message::kTimes, times.dump());
    return 0;
  }
  connection.send(Message::kHello, nlohmann::json{{"library", "record"}}.dump());
  const std::uint64_t number = 1;
  connection.send(Message::kModule, &number, sizeof number, "cubin", 5);
  if (what == "garbage") {
    connection.send(static_cast<Message>(77), std::string("x"));
    const std::uint32_t words[4] = {0, 0, 0, 0};
    launch(connection, "adds", false, "");
    connection.send(Message::kRecords, words, sizeof words);
    connection.send(Message::kLaunchEnd, nlohmann::json{{"error", ""}}.dump());
    return 0;
  }
  launch(connection, "passes", true, "");
  launch(connection, "adds", true, what == "fail" ? "the kernel failed: misaligned address" : "");
  if (what == "two") {
    launch(connection, "adds", true, "");
  } else if (what == "crash") {
    launch(connection, "adds", false, "");
    std::abort();
  } else if (what == "wait" || what == "stubborn") {
    if (what == "stubborn") {
      std::signal(SIGINT, SIG_IGN);
      std::signal(SIGTERM, SIG_IGN);
    }
    for (;;) {
      pause();
    }
  }
  return what == "exit" ? 3 : 0;
}

}  // namespace
}  // namespace warpfold::record::test

int main(int argc, char** argv) {
  return argc == 2 ? warpfold::record::test::run(argv[1]) : 2;
}
