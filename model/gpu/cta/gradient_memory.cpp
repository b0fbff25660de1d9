// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/cta/gradient_memory.hpp"

#include <fmt/format.h>

#include "model/base/check.hpp"

namespace warpfold {

AddressMap::AddressMap(const trace::Header& header) : primitive_count_(header.primitive_count) {
  for (const trace::Parameter& parameter : header.parameters) {
    parameters_.push_back({parameter.base, Divider(parameter.stride_bytes)});
  }
}

ElementIndex AddressMap::element_at(Address address, std::uint32_t guess) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::size_t p = (guess + i) % parameters_.size();
    const Span& span = parameters_[p];
    if (address < span.base) {
      continue;
    }
    const std::uint64_t offset = address - span.base;
    const std::uint64_t primitive = span.stride_bytes.quotient(offset);
    if (primitive < primitive_count_ && primitive * span.stride_bytes.divisor() == offset) {
      return primitive * parameters_.size() + p;
    }
  }
  throw CheckError(fmt::format("no parameter lives at address {:#x}", address));
}

std::uint64_t synthetic_seed(const EventKey& key) {
  std::uint64_t x = key.cta * 0x9e3779b97f4a7c15ULL + key.warp;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93ULL;
  x = (x ^ (x >> 32U)) + key.record;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 32U);
}

}  // namespace warpfold
