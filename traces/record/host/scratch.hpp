// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "traces/format/trace.hpp"

namespace warpfold::record {

// A folder that is gone when this is.
class Scratch {
 public:
  Scratch() {
    const char* root = std::getenv("TMPDIR");
    std::string name =
        fmt::format("{}/warpfold-XXXXXX", root != nullptr && *root != 0 ? root : "/tmp");
    if (mkdtemp(name.data()) == nullptr) {
      throw trace::TraceError(name + ": a folder for temporary files cannot be made");
    }
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace warpfold::record
