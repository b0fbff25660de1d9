// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rule.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace warpfold {

std::uint32_t PolicyRule::lowest_alike(const GroupSizes& /*sizes*/, std::uint32_t threshold) const {
  return threshold;
}

std::uint32_t PolicyRule::shared_bytes(const trace::Header& /*header*/) const {
  return 0;
}

std::uint64_t PolicyRule::kept_from_shared(const GpuConfig& /*gpu*/) const {
  return 0;
}

BufferShape PolicyRule::buffer(const GpuConfig& /*gpu*/, std::uint64_t /*shared_bytes*/) const {
  throw std::logic_error(fmt::format("policy {} does not say what its buffer is", facts_.name));
}

}  // namespace warpfold
