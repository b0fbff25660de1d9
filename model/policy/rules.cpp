// SPDX-License-Identifier: Apache-2.0
#include "model/policy/rules.hpp"

#include <array>

namespace warpfold::rules {

// A line for each policy. It declares the class, which a file in rules/ defines.
constexpr std::array kAll{
    &rule_of<class Baseline>,    // baseline
    &rule_of<class SwS>,         // sw-s:X
    &rule_of<class SwB>,         // sw-b:X
    &rule_of<class Skip>,        // skip
    &rule_of<class Cccl>,        // cccl
    &rule_of<class ArcHw>,       // arc-hw
    &rule_of<class Lab>,         // lab
    &rule_of<class LabIdeal>,    // lab-ideal
    &rule_of<class Phi>,         // phi
    &rule_of<class None>,        // none
    &rule_of<class Vector>,      // vector
    &rule_of<class SkipVector>,  // skip-vector
    &rule_of<class SharedSlot>,  // shared-slot
    &rule_of<class ArcMerge>,    // arc-merge
    &rule_of<class ArcMergeL2>,  // arc-merge-l2
};

std::span<const RuleGetter> all() {
  return kAll;
}

}  // namespace warpfold::rules
