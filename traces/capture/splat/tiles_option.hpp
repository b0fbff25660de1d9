// SPDX-License-Identifier: Apache-2.0
// The option that chooses the tile lists. Host only.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "traces/capture/splat/scene.hpp"

namespace warpfold::capture {

inline void add_tiles_option(CLI::App& command, TileRule& rule) {
  const std::map<std::string, TileRule> rules = {{"box", TileRule::kBox},
                                                 {"tight", TileRule::kTight}};
  command
      .add_option("--tiles", rule,
                  "tiles of a Gaussian: box (its square at three standard deviations, as in 3DGS) "
                  "or tight (only where it can count)")
      ->transform(CLI::CheckedTransformer(rules));
}

}  // namespace warpfold::capture
