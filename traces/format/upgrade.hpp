// SPDX-License-Identifier: Apache-2.0
// Version 3 of the format, of which the header alone is different: one site of FP32, whose fields
// stood in the header itself; then as in version 4. Not for use outside this folder.
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/format/trace.hpp"

namespace warpfold::trace {

inline constexpr std::uint32_t kUpgradedVersion = 3;

// As strict as header_from_json. The site has the kernel's name; of arrays and omissions nothing is
// known.
[[nodiscard]] Header header_from_version_3(std::string_view text);

}  // namespace warpfold::trace
