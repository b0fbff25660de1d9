// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/launch_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/fields.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::uint32_t kOldestTracer = 3;
constexpr std::uint32_t kNewestTracer = 5;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

class HeaderReader {
 public:
  explicit HeaderReader(InputFile& file) : file_(file) {}

  LaunchHeader read() {
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
        return header_;
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
      header_.kernel = value;
    } else if (key == "grid dim") {
      three(value, header_.grid);
    } else if (key == "block dim") {
      three(value, header_.block);
    } else if (key == "shmem") {
      number(value, header_.shared_bytes);
    } else if (key == "nregs") {
      number(value, header_.registers);
    } else if (key == "binary version") {
      number(value, header_.binary_version);
    } else if (key == "accelsim tracer version") {
      number(value, header_.tracer_version);
      check_version();
    } else if (key == "enable lineinfo") {
      std::uint32_t flag = 0;
      number(value, flag);
      header_.has_line_numbers = flag != 0;
    } else if (key == "shmem base_addr") {
      number(value, header_.shared_window, 16);
    } else if (key == "local mem base_addr") {
      number(value, header_.local_window, 16);
    } else if (key == "nvbit version") {
      header_.nvbit_version = value;
    }
  }

  template <typename Number>
  void number(std::string_view text, Number& result, int base = 10) {
    if (!read_number(text, result, base)) {
      file_.refuse(fmt::format("'{}' is not a number", text));
    }
  }

  void three(std::string_view text, std::uint32_t (&result)[3]) {
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
      file_.refuse(fmt::format("'{}' is not (x,y,z) of numbers above 0", text));
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
    if (std::uint64_t{header_.block[0]} * header_.block[1] * header_.block[2] > 1024 ||
        std::max({header_.block[0], header_.block[1], header_.block[2]}) > 1024) {
      file_.refuse("a block of more than 1024 threads");
    }
    if (std::max(header_.grid[1], header_.grid[2]) > 65535) {
      file_.refuse("a grid of more than 65535 thread blocks in y or z");
    }
  }

  InputFile& file_;
  LaunchHeader header_;
  std::map<std::string, int> seen_;
};

}  // namespace

LaunchHeader read_launch_header(InputFile& file) {
  return HeaderReader(file).read();
}

}  // namespace warpfold::accelsim
