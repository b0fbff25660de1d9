// SPDX-License-Identifier: Apache-2.0
// The forms that a training can have in place of the original backward kernel. Host only.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace warpfold::capture::splat_forms {

enum class Form {
  kPerSplat,
  kPerSplatStruct,
  kHalved,
  kHalvedVector,
  kTileWarp,
  kTileWarpHalved,
};

struct FormName {
  Form form;
  std::string_view name;
};
inline constexpr std::array<FormName, 6> kFormNames = {
    {{Form::kPerSplat, "per_splat"},
     {Form::kPerSplatStruct, "per_splat_struct"},
     {Form::kHalved, "halved"},
     {Form::kHalvedVector, "halved_vector"},
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

}  // namespace warpfold::capture::splat_forms
