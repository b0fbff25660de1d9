// SPDX-License-Identifier: Apache-2.0
// What all blocks of an SM know of the GPU around it. Plain data; all references outlive the SM.
#pragma once

#include <cstdint>
#include <optional>

#include "model/gpu/cta/gradient_memory.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/tally.hpp"
#include "model/machine/config.hpp"
#include "model/policy/buffer_shape.hpp"
#include "model/policy/program.hpp"
#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

struct SmContext {
  const GpuConfig& config;
  const PolicyTiming& timing;
  const AddressMap& addresses;
  const BufferShape& buffer;  // the atomic buffer, if the policy has one
  std::uint32_t merge_rows;   // of the merge buffer; 0: there is none
  LineSumsPool& sums;
  Tally& tally;
  bool reference;               // SimOptions::reference
  std::uint32_t index;          // of the SM
  std::uint32_t resident_ctas;  // that fit it
  Cycle quantum;                // it does not run ahead beyond the next multiple of these cycles
  // Where the L2 lies outside: cycles from its answers on.
  std::optional<Cycle> way_back = {};
  std::uint64_t l1_bytes = 0;  // that shared memory leaves of the L1

  // Whether REDs go to a buffer, in which they end for their CTA.
  [[nodiscard]] bool sums_in_sm() const { return buffer.present() || merge_rows != 0; }
};

}  // namespace warpfold
