// SPDX-License-Identifier: Apache-2.0
// A word alone is a flit; anything else has a header in front and a flit for each sector. Measured
// on an H200: four sectors of a line leave an SM in 5 cycles, a lane on one word in one.
#include "model/gpu/sm/packet_shape.hpp"

namespace warpfold {

extern const PacketsRule head_and_sectors_packets;
const PacketsRule head_and_sectors_packets{
    .name = "head-and-sectors",
    .source = "docs/model.md",
    .description =
        "A beat on a single word is a flit; any other is a header flit and one for each sector.",
    .flits = [](std::uint32_t sectors, bool first, bool lone) {
      return sectors + (first && !lone ? 1U : 0U);
    }};

}  // namespace warpfold
