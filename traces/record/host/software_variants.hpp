// SPDX-License-Identifier: Apache-2.0
// Policies in software for a trace that has the costs of its baseline alone.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "traces/format/trace.hpp"

namespace warpfold::record {

// The table of reduction code (traces/data/reduction_costs.json) of this build or installation, by
// where the running program lies; by architecture. Throws trace::TraceError where it is not there.
[[nodiscard]] nlohmann::json read_reduction_costs();

// Gives each architecture of the header the variants that `reductions` has for its sites, as
// variant_costs() does. One that is not in the table has the code of that whose number is nearest.
void add_software_variants(trace::Header& header, const nlohmann::json& reductions);

}  // namespace warpfold::record
