// SPDX-License-Identifier: Apache-2.0
// Flits of 40 bytes have room for an address and a sector.
#include "model/gpu/sm/packet_shape.hpp"

namespace warpfold {

extern const PacketsRule flit_a_sector_packets;
const PacketsRule flit_a_sector_packets{
    .name = "flit-a-sector",
    .source = "GPGPU-Sim",
    .description = "A beat is one flit for each sector that it adds to, its address included.",
    .flits = [](std::uint32_t sectors, bool /*first*/, bool /*lone*/) { return sectors; }};

}  // namespace warpfold
