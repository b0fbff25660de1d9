// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/launch_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "traces/format/printable.hpp"
#include "traces/import/accelsim/fields.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::uint32_t kOldestTracer = 3;
constexpr std::uint32_t kNewestTracer = 6;
// Of the oldest GPU that CUDA ran on, and above all that there are.
constexpr std::uint32_t kOldestBinary = 10;
constexpr std::uint32_t kNewestBinary = 999;
// As a trace's header has them.
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kMostThreadsInZ = 64;
constexpr std::uint32_t kMostBlocksInX = 0x7fffffffU;
constexpr std::uint32_t kMostBlocksInYZ = 65535;
constexpr std::uint32_t kMostRegisters = 255;
constexpr std::uint32_t kMostSharedBytes = 256U << 10U;
constexpr std::size_t kMostNameBytes = std::size_t{64} << 10U;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

class HeaderReader {
 public:
  HeaderReader(InputFile& file, LaunchHeader& header) : file_(file), header_(header) {}

  void read() {
    std::string_view line;
    while (file_.next(line)) {
      if (trimmed(line).empty()) {
        continue;
      }
      if (line.front() == '#') {
        if (line.starts_with("#BEGIN_TB")) {
          file_.refuse("a thread block before the line that begins with #traces format");
        }
        check_all_there();
        return;
      }
      if (line.front() != '-') {
        file_.refuse("no line of a header: it begins neither with - nor with #");
      }
      take(line.substr(1));
    }
    file_.refuse(file_.line() == 0 ? "is empty" : "ends within the header");
  }

 private:
  void take(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      file_.refuse("a line of the header without =");
    }
    const std::string key(trimmed(line.substr(0, equals)));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (++seen_[key] > 1) {
      file_.refuse(fmt::format("-{} comes twice", key));
    }
    if (key == "kernel name") {
      text(key, value);
      header_.kernel = value;
    } else if (key == "grid dim") {
      three(key, value, {kMostBlocksInX, kMostBlocksInYZ, kMostBlocksInYZ}, header_.grid);
    } else if (key == "block dim") {
      three(key, value, {kMostThreads, kMostThreads, kMostThreadsInZ}, header_.block);
      const std::uint64_t threads =
          std::uint64_t{header_.block[0]} * header_.block[1] * header_.block[2];
      if (threads > kMostThreads) {
        file_.refuse(fmt::format("-{}: {} threads, at most {}", key, threads, kMostThreads));
      }
    } else if (key == "shmem") {
      number(key, value, header_.shared_bytes);
      within(key, header_.shared_bytes, 0, kMostSharedBytes);
    } else if (key == "nregs") {
      number(key, value, header_.registers);
      within(key, header_.registers, 1, kMostRegisters);
    } else if (key == "binary version") {
      number(key, value, header_.binary_version);
      within(key, header_.binary_version, kOldestBinary, kNewestBinary);
    } else if (key == "accelsim tracer version") {
      number(key, value, header_.tracer_version);
      check_version();
    } else if (key == "enable lineinfo") {
      std::uint32_t flag = 0;
      number(key, value, flag);
      header_.has_line_numbers = flag != 0;
    } else if (key == "shmem base_addr") {
      number(key, value, header_.shared_window, 16);
    } else if (key == "local mem base_addr") {
      number(key, value, header_.local_window, 16);
    } else if (key == "nvbit version" && !value.empty()) {
      text(key, value);
      header_.nvbit_version = value;
    }
  }

  template <typename Number>
  void number(std::string_view key, std::string_view text, Number& result, int base = 10) {
    if (!read_number(text, result, base)) {
      file_.refuse(fmt::format("-{}: '{}' is not a number", key, text));
    }
  }

  void within(std::string_view key, std::uint32_t value, std::uint32_t least, std::uint32_t most) {
    if (value < least || value > most) {
      file_.refuse(fmt::format("-{}: {} is not in {}..{}", key, value, least, most));
    }
  }

  // A name that a trace can hold.
  void text(std::string_view key, std::string_view value) {
    const bool has_control = std::any_of(value.begin(), value.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (value.empty()) {
      file_.refuse(fmt::format("-{}: is empty", key));
    }
    if (value.size() > kMostNameBytes) {
      file_.refuse(fmt::format("-{}: more than {} bytes", key, kMostNameBytes));
    }
    if (has_control || !trace::is_utf8(value)) {
      file_.refuse(fmt::format("-{}: '{}' is not text in UTF-8", key, trace::as_utf8(value)));
    }
  }

  void three(std::string_view key, std::string_view text, const std::array<std::uint32_t, 3>& most,
             std::uint32_t (&result)[3]) {
    std::string_view rest = text;
    bool good = rest.starts_with('(') && rest.ends_with(')');
    rest = good ? rest.substr(1, rest.size() - 2) : rest;
    for (std::size_t i = 0; good && i < 3; ++i) {
      const std::size_t comma = i < 2 ? rest.find(',') : rest.size();
      good = comma != std::string_view::npos && read_number(rest.substr(0, comma), result[i]) &&
             result[i] > 0;
      rest = good && i < 2 ? rest.substr(comma + 1) : rest;
    }
    if (!good) {
      file_.refuse(fmt::format("-{}: '{}' is not (x,y,z) of numbers above 0", key, text));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (result[i] > most[i]) {
        file_.refuse(fmt::format("-{}: {} in {}, at most {}", key, result[i], "xyz"[i], most[i]));
      }
    }
  }

  void check_version() {
    if (header_.tracer_version < kOldestTracer || header_.tracer_version > kNewestTracer) {
      file_.refuse(fmt::format("version {} of the tracer; {} to {} are known",
                               header_.tracer_version, kOldestTracer, kNewestTracer));
    }
  }

  void check_all_there() {
    for (const char* key : {"kernel name", "grid dim", "block dim", "shmem", "nregs",
                            "binary version", "accelsim tracer version"}) {
      if (!seen_.contains(key)) {
        file_.refuse(fmt::format("the header ends without -{}", key));
      }
    }
  }

  InputFile& file_;
  LaunchHeader& header_;
  std::map<std::string, int> seen_;
};

}  // namespace

void read_launch_header(InputFile& file, LaunchHeader& header) {
  HeaderReader(file, header).read();
}

}  // namespace warpfold::accelsim
