// SPDX-License-Identifier: Apache-2.0
// Input files that tests write, and the one line that bad ones get.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture {

// A file until the end of the scope, in a folder of this process: tests run side by side.
class TempFile {
 public:
  TempFile(const std::string& name, const std::string& content) : folder_(make_folder()) {
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() {
    std::error_code ignored;  // the folder stays while it has other files
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(folder_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static std::filesystem::path make_folder() {
    const auto folder = std::filesystem::path(testing::TempDir()) /
                        ("warpfold_capture_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    return folder;
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

// What an InputError says, or "no error".
template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace warpfold::capture
