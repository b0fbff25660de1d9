// SPDX-License-Identifier: Apache-2.0
// A warp issues nothing while any of its own REDs is on its way.
#include "model/gpu/sm/red_wait.hpp"

namespace warpfold {

extern const RedWaitRule own_reds_red_wait;
const RedWaitRule own_reds_red_wait{
    .name = "own-reds",
    .source = "GPGPU-Sim",
    .description =
        "A warp issues nothing until all transactions of its RED have been answered by the L2, "
        "or the RED by the atomic buffer that has taken it.",
    .answered = true,
    .waits = [](std::uint32_t parts) { return parts > 0; }};

}  // namespace warpfold
