// SPDX-License-Identifier: Apache-2.0
// Files for the tests of the trace library: a folder that goes away, bytes in and out, the one line
// that a refusal gives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tb/trace/file_builder.hpp"
#include "traces/format/container.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::trace::test {

using container::Bytes;

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Names in the folder, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] Bytes read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const Bytes& bytes);

// Writes random CTAs and returns them.
std::vector<CtaTrace> write_random(const std::filesystem::path& path, const Header& header,
                                   std::uint64_t seed, std::uint32_t ctas_per_chunk = 256);

// What Reader says of the file; with `verify`, what it or its verify() says. Empty if it is sound.
// Fails the test if the answer is not one line that starts with the path.
[[nodiscard]] std::string refusal(const std::filesystem::path& path, bool verify = false);

}  // namespace warpfold::trace::test
