// SPDX-License-Identifier: Apache-2.0
// A rule of the GPU: which slice of the L2, behind which of its ports, holds an address. The
// machine file names one, rules.slice_map; `warpfold rules` lists them. Each is one file in
// slice_map/ and one line in model/rules.cmake.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/base/rule_list.hpp"
#include "model/machine/config.hpp"
#include "model/types.hpp"

namespace warpfold {

// Owned by the GPU; asked by all partitions at once, so it keeps nothing that changes.
class SliceMap {
 public:
  SliceMap() = default;
  SliceMap(const SliceMap&) = delete;
  SliceMap& operator=(const SliceMap&) = delete;
  virtual ~SliceMap() = default;

  struct Place {
    std::uint32_t port;   // below l2.ports()
    std::uint32_t slice;  // among those of the port, below l2.slices_per_port
  };
  // The same for all bytes of a line.
  [[nodiscard]] virtual Place place(Address address) const = 0;
};

struct SliceMapRule {
  std::string_view name;
  std::string_view source;
  std::string_view description;
  std::unique_ptr<SliceMap> (*make)(const GpuConfig& config);
};

const RuleList<SliceMapRule>& slice_map_rules();

// The machine's. Throws std::invalid_argument where it names one that is not there.
inline std::unique_ptr<SliceMap> make_slice_map(const GpuConfig& config) {
  return slice_map_rules().find(config.rules.slice_map.or_else("hashed")).make(config);
}

}  // namespace warpfold
