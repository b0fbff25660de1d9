// SPDX-License-Identifier: Apache-2.0
// A file that is written whole or not at all: into a temporary file beside the target, which then
// takes its name. Owned by the command that writes the results.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "traces/format/whole_file.hpp"

namespace warpfold {

// A target that cannot be written: one clear line.
using OutputError = trace::FileError;

// Gives the text of a file to whoever writes it.
using Deliver = std::function<void(const std::filesystem::path& path, std::string_view text)>;

class OutputFile {
 public:
  // Throws OutputError at once if the target could not be written, so that a long simulation is not
  // run for nothing. Leaves no file behind. With `deliver`, another process writes it.
  explicit OutputFile(std::filesystem::path path, Deliver deliver = nullptr);

  // Writes the whole text. On OutputError an existing target stays as it was and nothing is left.
  // A target that is no regular file (a pipe, a device), or that is held open by the descriptor
  // that it is named by, is written into.
  void write(std::string_view text) const;

 private:
  std::filesystem::path path_;
  Deliver deliver_;
};

}  // namespace warpfold
