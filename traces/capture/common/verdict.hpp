// SPDX-License-Identifier: Apache-2.0
// The list of comparisons that a check prints, and whether all held. Host only.
#pragma once

#include <cstdio>
#include <string>

namespace warpfold::capture {

class Verdict {
 public:
  void expect(const std::string& what, double value, double limit) {
    const bool good = value <= limit;
    failed_ = failed_ || !good;
    std::printf("  %-58s %10.3g  limit %8.1e  %s\n", what.c_str(), value, limit,
                good ? "ok" : "FAILED");
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

}  // namespace warpfold::capture
