// SPDX-License-Identifier: Apache-2.0
// Costs of a recorded kernel, and of the policies in software that it does not have.
#pragma once

#include <nlohmann/json.hpp>

#include "traces/format/trace.hpp"
#include "traces/record/host/kernel_code.hpp"

namespace warpfold::record {

// Keys of a cost that count issue slots.
inline constexpr const char* kIssued[] = {"alu",         "integer",     "sfu",     "shared",
                                          "shared_wide", "global_load", "shuffle", "shuffle_index",
                                          "match",       "redux"};

// Issue slots of a way's cost, and the fewest and the most that the machine code allows: its
// "bounds", which a trace does not have, where the way is not known.
struct SlotBounds {
  std::uint64_t least = 0, taken = 0, most = 0;
};
[[nodiscard]] SlotBounds slot_bounds(const nlohmann::json& way_cost);

// The costs of ways as a variant's "paths": nothing, as an estimate, for null.
[[nodiscard]] nlohmann::json path_costs(const WayCosts& way_costs);

// The variants of one architecture as a trace's header has them. The baseline is the kernel as it
// is: `way_costs` by path, and nothing between the additions of an event. sw-s, sw-b and skip are
// the same with the reduction of `reductions` (traces/data/reduction_costs.json) for as many
// parameters at each site of FP32, all of it marked as estimated.
[[nodiscard]] nlohmann::json variant_costs(const trace::Header& header, const WayCosts& way_costs,
                                           const nlohmann::json& reductions);

}  // namespace warpfold::record
