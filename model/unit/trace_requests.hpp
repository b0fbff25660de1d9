// SPDX-License-Identifier: Apache-2.0
// The atomreds of a trace, as requests of a unit: CTA by CTA and warp by warp, each event one for
// each of its parameters, with the addresses and values that it had on the GPU. Those that add
// another type than the unit are no work for it.
#pragma once

#include <cstdint>
#include <functional>

#include "model/unit/lockstep.hpp"
#include "traces/format/reader.hpp"

namespace warpfold {

// Where a request comes from.
struct RequestPlace {
  std::uint64_t cta = 0;
  std::uint32_t warp = 0;
  std::uint64_t event = 0;  // of the warp
  std::uint32_t parameter = 0;
};

struct RequestLimits {
  std::uint64_t events = 0;  // so many at most; 0: all
  // Parameters that one request adds at most, as if they were words of a struct at the address of
  // the first.
  std::uint32_t words = 1;
  WordType type = WordType::kFp32;  // that the unit adds
};

struct RequestVisitor {
  // False ends the walk.
  std::function<bool(const AtomredRequest& request, const RequestPlace& place)> request;
  std::function<void()> event_done;  // after the last request of an event; may be empty
  std::function<void()> cta_done;    // after the last warp of a CTA; may be empty
};

// Throws trace::TraceError if the trace cannot be read.
void visit_requests(const trace::Reader& reader, const RequestLimits& limits,
                    const RequestVisitor& visitor);

}  // namespace warpfold
