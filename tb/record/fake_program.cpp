// SPDX-License-Identifier: Apache-2.0
// A program as `warpfold record` sees it, without a GPU: it says over the socket what the injected
// libraries would. The first argument is what becomes of it; `cases` below says which there are.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tb/record/ring_words.hpp"
#include "traces/record/inject/connection.hpp"
#include "traces/record/inject/process.hpp"

namespace warpfold::record::test {
namespace {

using nlohmann::json;

struct Launch {
  std::string function = "adds";
  std::uint32_t ctas = 2;
  double nanoseconds = 2000;
  std::uint32_t slot = 0;
  json more = json::object();  // of the launch as it is told
};

// As the machine code in fake_kernel_code.py: 4 LDG, 5 RED, 9 exit. `lines`: with what the loads
// touch.
std::vector<std::uint32_t> words_of(const Launch& launch, bool lines) {
  RingWords words(launch.slot);
  for (std::uint32_t cta = 0; cta < launch.ctas; ++cta) {
    words.enter(kAll, cta);
    for (std::uint64_t pass = 0; pass < 3; ++pass) {
      if (lines) {
        words.access(4, kAll, {{0x20000 + 128 * pass, 0xfU}}, cta);
      } else {
        words.marker(Marker::kGlobal, 4, kAll, cta);
      }
      words.red(5, 0xffU, {0x10000 + 4 * (pass + cta)}, cta);
    }
    words.exit(9, kAll, cta);
  }
  return words.words();
}

// The process's side of the socket, as the recorder has it.
class Recorder {
 public:
  explicit Recorder(Connection& connection) : connection_(connection) {
    connection.send(Message::kHello, hello("record"));
    const std::uint64_t number = 1;
    connection.send(Message::kModule, &number, sizeof number, "cubin", 5);
  }
  // Whether it is to be recorded.
  bool begin(const Launch& launch) {
    json told = {{"slot", launch.slot},
                 {"module", 1},
                 {"function", launch.function},
                 {"grid", {launch.ctas, 1, 1}},
                 {"block", {32, 1, 1}},
                 {"cluster", {0, 0, 0}},
                 {"in_graph", false},
                 {"cooperative", false},
                 {"registers", 24},
                 {"static_shared", 128},
                 {"dynamic_shared", 64},
                 {"parameters", "2a000000"},
                 {"gpu", "a GPU"},
                 {"driver", "1.2"},
                 {"cuda", "13.0"}};
    told.update(launch.more);
    if (verdicts_[launch.function] == LaunchAnswer::kNever) {
      return false;
    }
    if (verdicts_[launch.function] == LaunchAnswer::kNoMore) {
      connection_.send(Message::kSeen, told.dump());
      return false;
    }
    connection_.send(Message::kLaunch, told.dump());
    LaunchAnswer answer{};
    if (!connection_.receive(&answer, sizeof answer)) {
      return false;
    }
    verdicts_[launch.function] = answer.record;
    std::vector<char> wanted(answer.instructions);
    connection_.receive(wanted.data(), wanted.size());
    if (wanted.size() > 4) {
      lines_ = wanted[4] == kLines;
    }
    if (answer.record != LaunchAnswer::kYes) {
      return false;
    }
    connection_.send(Message::kAllocations,
                     json{{"slot", launch.slot}, {"allocations", {{0x10000, 4096, false}}}}.dump());
    return true;
  }
  void records(std::span<const std::uint32_t> words) {
    connection_.send(Message::kRecords, words.data(), words.size() * sizeof(std::uint32_t));
  }
  void end(const Launch& launch, const std::string& error = "") {
    connection_.send(Message::kLaunchEnd, json{{"slot", launch.slot}, {"error", error}}.dump());
  }
  [[nodiscard]] std::vector<std::uint32_t> words(const Launch& launch) const {
    return words_of(launch, lines_);
  }
  void whole(const Launch& launch, const std::string& error = "") {
    if (begin(launch)) {
      records(words(launch));
      end(launch, error);
    }
  }
  void half(const Launch& launch) {
    if (begin(launch)) {
      const std::vector<std::uint32_t> all = words(launch);
      records(std::span(all).first(all.size() / 2 / 4 * 4));
    }
  }

 private:
  Connection& connection_;
  std::map<std::string, std::uint32_t> verdicts_;
  bool lines_ = false;  // of loads are wanted
};

bool is_timed() {
  const char* patches = std::getenv(kPatchesVariable);
  return patches == nullptr || *patches == 0;
}

// In a run for times what each took; else they are recorded.
int make(const std::vector<Launch>& launches) {
  Connection connection;
  if (!connection.open()) {
    return 0;
  }
  if (!is_timed()) {
    Recorder recorder(connection);
    for (const Launch& launch : launches) {
      recorder.whole(launch);
    }
    return 0;
  }
  connection.send(Message::kHello, hello("time"));
  // In two messages and out of order: the calls' numbers tell.
  for (const bool odd : {true, false}) {
    json told = json::array();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if ((i % 2 == 1) == odd) {
        told.push_back({7 + i,
                        100 * i,
                        launches[i].function,
                        {launches[i].ctas, 1, 1},
                        {32, 1, 1},
                        64,
                        launches[i].nanoseconds});
      }
    }
    connection.send(Message::kTimes, json{{"launches", told}, {"sm_clock_mhz", 1980}}.dump());
  }
  return 0;
}

const Launch kPasses{.function = "passes"};
const Launch kAdds{};
const Launch kAddsAgain{.nanoseconds = 3000};
const std::vector<Launch> kTwo = {kPasses, kAdds, kAddsAgain};

// With a recorder where it is not a run for times.
int recorded(const std::function<int(Recorder&, Connection&)>& body) {
  Connection connection;
  if (is_timed()) {
    return make(kTwo);
  }
  if (!connection.open()) {
    return 0;
  }
  Recorder recorder(connection);
  return body(recorder, connection);
}

[[noreturn]] void wait_for_ever() {
  for (;;) {
    pause();
  }
}

// Two children that begin one behind the other and speak the other way round; each launches its
// own. That of an even run, if told to, launches more.
int children() {
  for (const std::uint32_t child : {1U, 2U}) {
    if (fork() == 0) {
      usleep(child == 1 ? 400'000 : 100'000);
      std::_Exit(make({{.ctas = 2 * child, .nanoseconds = 1000.0 * child}}));
    }
    usleep(50'000);
  }
  while (wait(nullptr) > 0) {
  }
  return 0;
}

// `file` is there from the second run on.
int more_at_first(const std::string& file) {
  const bool is_first = !std::ifstream(file).good();
  std::ofstream(file) << "here";
  return make(is_first ? std::vector<Launch>{kPasses, {.nanoseconds = 9'000'000}, kAdds}
                       : std::vector<Launch>{kPasses, kAdds});
}

using Case = std::function<int(const std::string& argument)>;

const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all = {
      {"nothing", [](const std::string&) { return 0; }},
      {"whole",
       [](const std::string&) {
         return make({kPasses, kAdds});
       }},
      {"two", [](const std::string&) { return make(kTwo); }},
      {"other-grids",
       [](const std::string&) {
         return make({{.ctas = 2}, {.ctas = 4, .nanoseconds = 7000}, {.nanoseconds = 5000}});
       }},
      {"exit",
       [](const std::string&) {
         make({kPasses, kAdds});
         return is_timed() ? 0 : 3;
       }},
      {"children", [](const std::string&) { return children(); }},
      {"more-at-first", more_at_first},
      // As many launches as standard input has lines.
      {"reads",
       [](const std::string&) {
         std::vector<Launch> launches;
         for (std::string line; std::getline(std::cin, line);) {
           launches.push_back(kAdds);
         }
         return make(launches);
       }},
      // Between its launches another's, whose records come mixed with its own.
      {"mixed",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection&) {
           const Launch other{.function = "adds_too", .ctas = 3, .slot = 5};
           recorder.begin(kAdds);
           recorder.begin(other);
           const auto first = recorder.words(kAdds), second = recorder.words(other);
           std::vector<std::uint32_t> words(first.begin(), first.begin() + 4);
           words.insert(words.end(), second.begin(), second.begin() + 12);
           words.insert(words.end(), first.begin() + 4, first.end());
           words.insert(words.end(), second.begin() + 12, second.end());
           recorder.records(words);
           recorder.end(other);
           recorder.end(kAdds);
           return 0;
         });
       }},
      // In the middle of a launch, behind a whole one.
      {"crash",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection&) {
           recorder.whole(kAdds);
           recorder.half(kAdds);
           std::abort();
           return 0;
         });
       }},
      {"fail",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection&) {
           recorder.whole(kAdds, "the kernel failed: misaligned address");
           return 0;
         });
       }},
      {"garbage",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection& connection) {
           connection.send(static_cast<Message>(77), std::string("x"));
           recorder.begin(kAdds);
           const std::uint32_t words[4] = {3, 100, 1, 1};
           recorder.records(words);
           recorder.end(kAdds);
           return 0;
         });
       }},
      {"note",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection& connection) {
           for (int i = 0; i < 2; ++i) {
             connection.send(Message::kNote, json{{"text", "adds: not recorded"}}.dump());
           }
           recorder.whole(kAdds);
           return 0;
         });
       }},
      // For a signal, behind a whole launch.
      {"wait",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection&) {
           recorder.whole(kAdds);
           wait_for_ever();
           return 0;
         });
       }},
      {"stubborn",
       [](const std::string&) {
         return recorded([](Recorder& recorder, Connection&) {
           recorder.whole(kAdds);
           std::signal(SIGINT, SIG_IGN);
           std::signal(SIGTERM, SIG_IGN);
           wait_for_ever();
           return 0;
         });
       }},
      // The recorder waits within its second launch, and says so.
      {"stuck", [](const std::string&) {
         return recorded([](Recorder& recorder, Connection& connection) {
           recorder.whole(kAdds);
           recorder.half(kAdds);
           connection.send(Message::kStuck,
                           json{{"what", "the GPU, to end adds"}, {"seconds", 300}}.dump());
           std::signal(SIGINT, SIG_IGN);
           wait_for_ever();
           return 0;
         });
       }}};
  return all;
}

}  // namespace
}  // namespace warpfold::record::test

int main(int argc, char** argv) {
  const auto& cases = warpfold::record::test::cases();
  const auto found = cases.find(argc > 1 ? argv[1] : "");
  return found != cases.end() ? found->second(argc > 2 ? argv[2] : "") : 2;
}
