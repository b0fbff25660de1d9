// SPDX-License-Identifier: Apache-2.0
// The fuzz targets without libFuzzer, for any compiler: the seeds and so many of their mutants, the
// same ones every time. Coverage does not guide it.
//   fuzz_NAME --runs N [--seed S] [--dict FILE] [FILE|FOLDER]...     seeds beside those of the
//   target fuzz_NAME --runs 0 FILE                                          does an input again
// Leaves the input at which it ends in finding-NAME in the working folder.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tb/fuzz/fuzz.hpp"

namespace warpfold::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1U << 15U;
constexpr rlim_t kMostMemory = rlim_t{1} << 30U;

// For the handler of what ends the program.
std::string_view current;
const char* finding_name = "finding";

void leave_input(int signal) {
  const int fd = ::open(finding_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0) {
    for (std::size_t at = 0; at < current.size();) {
      const ssize_t wrote = ::write(fd, current.data() + at, current.size() - at);
      if (wrote <= 0) {
        break;
      }
      at += static_cast<std::size_t>(wrote);
    }
    ::close(fd);
  }
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Words of a dictionary as libFuzzer has it: "..." with \xNN.
std::vector<std::string> words_of(const fs::path& path) {
  std::vector<std::string> words;
  const std::string text = content_of(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.size() < 2 || line.front() != '"') {
      continue;
    }
    std::string word;
    for (std::size_t i = 1; i + 1 < line.size(); ++i) {
      if (line[i] == '\\' && i + 3 < line.size() && line[i + 1] == 'x') {
        word.push_back(static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16)));
        i += 3;
      } else {
        word.push_back(line[i]);
      }
    }
    words.push_back(word);
  }
  return words;
}

class Mutator {
 public:
  Mutator(std::uint64_t seed, std::vector<std::string> inputs, std::vector<std::string> words)
      : random_(seed), inputs_(std::move(inputs)), words_(std::move(words)) {}

  std::string next() {
    std::string input = inputs_[below(inputs_.size())];
    for (std::uint64_t changes = 1 + below(4) * below(4); changes > 0; --changes) {
      change(input);
    }
    input.resize(std::min(input.size(), kMostBytes));
    return input;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void put(std::string& input, std::string_view what) {
    const std::size_t at = below(input.size() + 1);
    if (below(2) == 0) {
      input.insert(at, what);
    } else {
      input.replace(at, std::min(what.size(), input.size() - at), what);
    }
  }

  // Numbers at the ends of their types, in decimal and in binary.
  std::string number() {
    const std::uint64_t one = std::uint64_t{1} << below(64);
    const std::uint64_t value = below(3) == 0 ? one : below(2) == 0 ? one - 1 : ~one;
    if (below(2) == 0) {
      return std::to_string(value);
    }
    std::string bytes;
    put_number(bytes, value, std::size_t{1} << below(4));
    return bytes;
  }

  void change(std::string& input) {
    const std::size_t at = below(input.size());
    const std::size_t length = std::min<std::size_t>(1 + below(1U << below(8)), input.size() - at);
    switch (below(8)) {
      case 0:
        if (!input.empty()) {
          input[at] = static_cast<char>(input[at] ^ static_cast<char>(1 << below(8)));
        }
        break;
      case 1:
        if (!input.empty()) {
          input[at] = static_cast<char>(below(256));
        }
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        put(input, input.substr(at, length));
        break;
      case 4:
        put(input, number());
        break;
      case 5:
        put(input, words_.empty() ? number() : words_[below(words_.size())]);
        break;
      case 6: {
        const std::string& other = inputs_[below(inputs_.size())];
        const std::size_t from = below(other.size());
        put(input, std::string_view(other).substr(from, 1 + below(200)));
        break;
      }
      default:
        input.resize(at);
    }
  }

  std::mt19937_64 random_;
  const std::vector<std::string> inputs_;
  const std::vector<std::string> words_;
};

struct Options {
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  std::vector<std::string> words;
  std::vector<std::string> inputs;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (argument == "--runs") {
      options.runs = std::strtoull(value, nullptr, 10);
    } else if (argument == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (argument == "--dict") {
      options.words = fs::exists(value) ? words_of(value) : std::vector<std::string>{};
    } else if (fs::is_directory(argument)) {
      for (const auto& entry : fs::directory_iterator(argument)) {
        options.inputs.push_back(content_of(entry.path()));
      }
      continue;
    } else {
      options.inputs.push_back(content_of(argument));
      continue;
    }
    ++i;
  }
  std::sort(options.inputs.begin(), options.inputs.end());
  return options;
}

void run_one(const std::string& input) {
  current = input;
  run(input);
}

int run_all(int argc, char** argv) {
  Options options = options_of(argc, argv);
  if (options.runs > 0) {
    for (std::string& made : seeds()) {
      options.inputs.push_back(std::move(made));
    }
  }
  for (const std::string& input : options.inputs) {
    run_one(input);
  }
  Mutator mutator(options.seed, options.inputs, options.words);
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    run_one(mutator.next());
  }
  std::printf("%zu seeds and %llu mutants: nothing found\n", options.inputs.size(),
              static_cast<unsigned long long>(options.runs));
  return 0;
}

}  // namespace
}  // namespace warpfold::fuzz

int main(int argc, char** argv) {
  using namespace warpfold::fuzz;
  static const std::string name = "finding-" + std::filesystem::path(argv[0]).filename().string();
  finding_name = name.c_str();
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGALRM}) {
    std::signal(signal, leave_input);
  }
#if !defined(__SANITIZE_ADDRESS__)
  // Memory by what a header declares ends in std::bad_alloc, which no reader throws.
  const rlimit memory{.rlim_cur = kMostMemory, .rlim_max = kMostMemory};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  return run_all(argc, argv);
}
