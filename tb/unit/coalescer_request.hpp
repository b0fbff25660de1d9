// SPDX-License-Identifier: Apache-2.0
// Requests for the benches of the coalescers.
#pragma once

#include <array>
#include <cstdint>

#include "model/types.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold::bench {

struct Request {
  LaneMask mask = 0;
  std::array<Address, kLanes> addr{};
};

// Puts it onto the ports of a coalescer.
template <class Dut>
void drive(Dut& dut, const Request& request) {
  dut->req_valid_i = 1;
  dut->req_mask_i = request.mask;
  for (std::size_t bit = 0; bit < kLanes * kAddrWidth; bit += 16) {
    const auto part =
        static_cast<std::uint32_t>(request.addr[bit / kAddrWidth] >> (bit % kAddrWidth)) & 0xffffU;
    auto& word = dut->req_addr_i[bit / 32];
    word = bit % 32 == 0 ? (word & 0xffff0000U) | part : (word & 0xffffU) | part << 16;
  }
}

// Of one to 32 addresses, which lie in one sector or far apart.
inline Request random_request(Rng& rng) {
  Request request;
  request.mask = static_cast<LaneMask>(rng());
  if (chance(rng, 30)) {
    request.mask &= static_cast<LaneMask>(rng() & rng());
  }
  if (chance(rng, 10)) {
    request.mask = chance(rng, 50) ? 0 : 0xffffffffU;
  }
  const std::uint64_t addresses = 1 + rng() % (chance(rng, 70) ? 4 : 32);
  const Address base = rng() & kAddrMask;
  const Address stride = Address{1} << rng() % 40;
  for (auto& addr : request.addr) {
    addr = (base + stride * (rng() % addresses)) & kAddrMask;
  }
  return request;
}

}  // namespace warpfold::bench
