// SPDX-License-Identifier: Apache-2.0
// A failure made small: parameters and parts of the trace are left out as long as it fails alike.
#pragma once

#include <functional>

#include "tb/soak/soak_case.hpp"

namespace warpfold::soak {

// `fails`: whether a case fails as the first one does. Asked at most so many times.
Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned tries);

}  // namespace warpfold::soak
