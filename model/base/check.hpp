// SPDX-License-Identifier: Apache-2.0
// ARC_CHECK: an invariant of the simulation that is always on. A failure is a bug in the model or
// in the unit under test, never bad input; the run ends with the message.
#pragma once

#include <stdexcept>
#include <string>

namespace warpfold {

class CheckError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line,
                                      const std::string& what) {
  throw CheckError(std::string("check failed: ") + condition + " (" + file + ":" +
                   std::to_string(line) + "): " + what);
}

}  // namespace warpfold

#define ARC_CHECK(condition, what)                                      \
  do {                                                                  \
    if (!(condition)) [[unlikely]] {                                    \
      ::warpfold::check_failed(#condition, __FILE__, __LINE__, (what)); \
    }                                                                   \
  } while (false)
