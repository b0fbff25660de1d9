// SPDX-License-Identifier: Apache-2.0
#include "model/results/output_file.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpfold {

OutputFile::OutputFile(std::filesystem::path path, Deliver deliver)
    : path_(std::move(path)), deliver_(std::move(deliver)) {
  if (trace::is_standard_stream(path_)) {
    throw OutputError(fmt::format(
        "{}: cannot be written: standard output or standard error goes there", path_.string()));
  }
  trace::WholeFile::probe(path_);
}

void OutputFile::write(std::string_view text) const {
  if (deliver_) {
    deliver_(path_, text);
  } else {
    trace::write_whole(path_, text);
  }
}

}  // namespace warpfold
