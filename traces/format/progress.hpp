// SPDX-License-Identifier: Apache-2.0
// How far work on traces is. Owned by whoever does the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <system_error>
#include <vector>

namespace warpfold::trace {

// Told the share of the work that is done, 0 to 1, now and then; may be empty.
using Progress = std::function<void(double done)>;
// Told the same before each CTA; where it returns true the work is given up.
using Step = std::function<bool(double done)>;

inline double share_of(std::size_t done, std::size_t all) {
  return all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all);
}

// Several files one after the other, of which a byte takes as long as any other.
class FileShares {
 public:
  FileShares(const std::vector<std::filesystem::path>& files, const Progress& progress)
      : progress_(progress) {
    for (const std::filesystem::path& file : files) {
      all_ += size_of(file);
    }
  }
  // Of that one so much is done.
  void at(const std::filesystem::path& file, double share) const {
    if (progress_) {
      progress_((done_ + share * size_of(file)) / all_);
    }
  }
  void finished(const std::filesystem::path& file) {
    done_ += size_of(file);
    at({}, 0);
  }

 private:
  static double size_of(const std::filesystem::path& file) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(file, error);
    return error ? 0.0 : static_cast<double>(bytes);
  }

  const Progress& progress_;
  double all_ = 1;  // of one that cannot be looked at
  double done_ = 0;
};

}  // namespace warpfold::trace
