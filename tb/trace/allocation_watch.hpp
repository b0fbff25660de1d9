// SPDX-License-Identifier: Apache-2.0
// Links in an operator new that remembers the largest single allocation of the program.
#pragma once

#include <cstddef>

namespace warpfold::trace::test {

void reset_largest_allocation();
[[nodiscard]] std::size_t largest_allocation();

}  // namespace warpfold::trace::test
