// SPDX-License-Identifier: Apache-2.0
#include "tb/fuzz/fuzz.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace warpfold::fuzz {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestLine = 4000;

// Removed when the process ends by itself; a finding leaves it.
struct Folder {
  Folder() {
    std::error_code none;
    const fs::path memory = "/dev/shm";
    std::string name = ((fs::is_directory(memory, none) ? memory : fs::temp_directory_path()) /
                        "warpfold-fuzz-XXXXXX")
                           .string();
    if (::mkdtemp(name.data()) == nullptr) {
      finding("no temporary folder");
    }
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

}  // namespace

const fs::path& folder() {
  static const Folder one;
  return one.path;
}

fs::path file(const std::string& name, std::string_view content) {
  const fs::path path = folder() / name;
  std::FILE* out = std::fopen(path.c_str(), "wb");
  if (out == nullptr || std::fwrite(content.data(), 1, content.size(), out) != content.size() ||
      std::fclose(out) != 0) {
    finding("cannot write " + path.string());
  }
  return path;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void finding(std::string_view what) {
  std::fprintf(stderr, "FINDING: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void check_line(std::string_view line, const fs::path& path) {
  if (line.empty() || line.size() > kLongestLine ||
      std::any_of(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; })) {
    finding("not one line: '" + std::string(line) + "'");
  }
  if (!line.starts_with(path.string())) {
    finding("does not name " + path.string() + ": '" + std::string(line) + "'");
  }
}

std::uint64_t Front::number(std::size_t bytes) {
  const std::string_view taken = this->bytes(bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(taken[i])} << (8 * i);
  }
  return value;
}

std::string_view Front::bytes(std::uint64_t count) {
  const std::string_view taken =
      rest_.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(count, rest_.size())));
  rest_.remove_prefix(taken.size());
  return taken;
}

void put_number(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

std::string repository_file(const std::string& path) {
  const std::string content = content_of(fs::path(WARPFOLD_REPOSITORY) / path);
  if (content.empty()) {
    finding("no " + path);
  }
  return content;
}

}  // namespace warpfold::fuzz
