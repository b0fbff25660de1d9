// SPDX-License-Identifier: Apache-2.0
// Machines that the ranges of their parameters allow.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "model/machine/config.hpp"

namespace warpfold::soak {

// Of the standard library the engine alone: its distributions are not the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  double fraction() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  template <typename List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

// Values of parameters of a built-in machine, which go together.
Overrides random_overrides(const std::string& gpu, Random& random);

}  // namespace warpfold::soak
