// SPDX-License-Identifier: Apache-2.0
// The forms that a training can have in place of the original backward kernel. Host only.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "traces/capture/workload/variant.hpp"

namespace warpfold::capture::splat_forms {

enum class Form {
  kPerSplat,
  kPerSplatStruct,
  kPerSplatBulk,
  kPerSplatFixed,
  kHalved,
  kHalvedVector,
  kHalvedFixed,
  kBlockReduced,
  kSharedSlot,
  kTileWarp,
  kTileWarpHalved,
};

struct FormName {
  Form form;
  std::string_view name;
};
inline constexpr std::array<FormName, 11> kFormNames = {
    {{Form::kPerSplat, "per_splat"},
     {Form::kPerSplatStruct, "per_splat_struct"},
     {Form::kPerSplatBulk, "per_splat_bulk"},
     {Form::kPerSplatFixed, "per_splat_fixed"},
     {Form::kHalved, "halved"},
     {Form::kHalvedVector, "halved_vector"},
     {Form::kHalvedFixed, "halved_fixed"},
     {Form::kBlockReduced, "block_reduced"},
     {Form::kSharedSlot, "shared_slot"},
     {Form::kTileWarp, "tile_warp"},
     {Form::kTileWarpHalved, "tile_warp_halved"}}};

// None for another name.
[[nodiscard]] inline std::optional<Form> form_of(std::string_view name) {
  for (const FormName& entry : kFormNames) {
    if (entry.name == name) {
      return entry.form;
    }
  }
  return std::nullopt;
}

// "per_splat, per_splat_struct, ..."
[[nodiscard]] inline std::string form_names() {
  std::string names;
  for (const FormName& entry : kFormNames) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

// Does it add in fixed point (reduce/fixed_point.cuh)?
[[nodiscard]] constexpr bool in_fixed_point(Form form) {
  return form == Form::kPerSplatFixed || form == Form::kHalvedFixed;
}

// The least compute capability, times ten, of a GPU that can run it.
[[nodiscard]] constexpr int least_capability(Form form) {
  return form == Form::kPerSplatBulk ? workload::kBulkSince : 0;
}

}  // namespace warpfold::capture::splat_forms
