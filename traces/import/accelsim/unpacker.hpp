// SPDX-License-Identifier: Apache-2.0
// How files are packed.
#pragma once

#include <memory>
#include <string_view>

#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::accelsim {

// By the first bytes of a file; plain text where they are of no packing that is known.
[[nodiscard]] std::unique_ptr<Unpacker> unpacker_for(std::string_view first_bytes);

}  // namespace warpfold::accelsim
