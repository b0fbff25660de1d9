// SPDX-License-Identifier: Apache-2.0
// What follows a failed assertion of Verilated RTL, behind the line that names it.
#pragma once

namespace warpfold {

// Called instead of ending the program, for all models of the process, on the thread that evaluates
// one. It may throw.
void on_verilated_stop(void (*stop)());

}  // namespace warpfold
