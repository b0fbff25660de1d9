// SPDX-License-Identifier: Apache-2.0
// The rules of the GPU that a machine file may name, of all kinds. Pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "model/machine/config.hpp"

namespace warpfold {

struct RuleInfo {
  std::string_view kind;  // as in a machine file: "rules.admission"
  std::string_view name;
  std::string_view source;
  std::string_view description;
};

// Kind by kind, in the order in which they are listed.
std::vector<RuleInfo> rule_infos();

// Throws std::invalid_argument with one line where the machine names a rule that is not there.
void check_rules(const GpuConfig& config);

}  // namespace warpfold
