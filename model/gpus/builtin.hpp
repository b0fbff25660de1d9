// SPDX-License-Identifier: Apache-2.0
// The GPU files of this folder, embedded into the program at build time: no path is looked up when
// it runs. Generated from builtin.cpp.in; read by load_gpu like any other GPU file.
#pragma once

#include <span>
#include <string_view>

namespace warpfold {

struct BuiltinGpu {
  std::string_view name;
  std::string_view toml;  // the whole file
};

// In the order in which they are listed.
std::span<const BuiltinGpu> builtin_gpus();

}  // namespace warpfold
