// SPDX-License-Identifier: Apache-2.0
// Who looks at the ports of an ARC unit: `warpfold sim --wave`.
#pragma once

#include <cstdint>
#include <functional>

#include "model/kernel/recorder.hpp"
#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

// The unit whose ports are looked at, and who is shown what stands there in each cycle of the
// window.
struct PortProbe {
  CycleRange window;
  std::uint32_t sm = 0;
  std::uint32_t subcore = 0;
  std::function<void(Cycle, const UnitInputs&, const UnitOutputs&)> show;
  // Called in each cycle in which the unit has a request or holds one, in the window or not;
  // may be empty.
  std::function<void(Cycle)> works{};
};

}  // namespace warpfold
