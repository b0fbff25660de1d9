// SPDX-License-Identifier: Apache-2.0
// A warp goes on as soon as the memory queue, or the ARC unit, has its RED.
#include "model/gpu/sm/red_wait.hpp"

namespace warpfold {

extern const RedWaitRule go_on_red_wait;
const RedWaitRule go_on_red_wait{
    .name = "go-on",
    .source = "docs/fidelity.md",
    .description = "A warp goes on as soon as the memory queue, or the ARC unit, has its RED.",
    .answered = false,
    .waits = [](std::uint32_t /*parts*/) { return false; }};

}  // namespace warpfold
