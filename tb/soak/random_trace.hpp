// SPDX-License-Identifier: Apache-2.0
// Small traces of all kinds.
#pragma once

#include <vector>

#include "tb/soak/random_machine.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::soak {

struct RandomTrace {
  trace::Header header;
  std::vector<trace::CtaTrace> ctas;
};

RandomTrace random_trace(Random& random);

}  // namespace warpfold::soak
