// SPDX-License-Identifier: Apache-2.0
// Which slice of the L2, behind which of its ports, holds an address.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/divider.hpp"
#include "model/machine/config.hpp"
#include "model/types.hpp"

namespace warpfold {

// Which slice holds an address. Pieces of interleave_bytes go to groups of slices, each group once
// in as many pieces in a row as there are groups, in an order that changes from one such run to the
// next; within a piece the slices of the group take turns of slice_bytes. Measured on an H200 as
// which addresses slow each other down: scripts and figures in traces/capture/microbench. A port
// serves slices of different groups.
class SliceMap {
 public:
  struct Place {
    std::uint32_t port;
    std::uint32_t slice;  // among those of the port
  };
  explicit SliceMap(const GpuConfig& config);
  [[nodiscard]] Place place(Address address) const;

 private:
  Divider ports_;
  Divider slices_per_port_;
  Divider interleave_;
  Divider slice_bytes_;
  std::vector<std::uint32_t> steps_;  // coprime to the number of ports
  Divider step_count_;
  std::uint64_t apart_;  // what the slices of a group lie apart, in ports
};

}  // namespace warpfold
