// SPDX-License-Identifier: Apache-2.0
// Names of kernels, as users know them.
#pragma once

#include <string>

namespace warpfold::record {

// As C++ has it; the same where it is no mangled name.
[[nodiscard]] std::string demangled(const std::string& name);

// Without namespaces and parameters, fit for a file.
[[nodiscard]] std::string short_name(const std::string& function);

}  // namespace warpfold::record
