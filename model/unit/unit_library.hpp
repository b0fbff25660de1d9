// SPDX-License-Identifier: Apache-2.0
// A unit of somebody else, in a shared object that is loaded while the program runs. The object is
// compiled with the headers of this folder and says so in the table that warpfold_unit() returns;
// warpfold evaluate makes one of RTL, docs/evaluate.md shows one in C++.
// Owned by the command; units that it has made live no longer.
//
// Whatever such a unit throws becomes a UnitError that says in which of its cycles. What it does to
// the process is for another one to see, which watches the pulse (model/cli/apart.hpp): it may end
// it, crash it or never come back. A process that a unit forks ends when it comes back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/unit_pulse.hpp"

namespace warpfold {

// Counts changes of what a shared object and its user agree on.
inline constexpr std::uint32_t kUnitLibraryVersion = 1;

// What a shared object says. Sizes, since it is compiled apart.
struct UnitLibraryTable {
  std::uint32_t version = kUnitLibraryVersion;
  std::uint32_t inputs_size = sizeof(UnitInputs);
  std::uint32_t outputs_size = sizeof(UnitOutputs);
  std::uint32_t declaration_size = sizeof(UnitDeclaration);
  UnitDeclaration declaration;
  // In reset state; the caller deletes it. May throw.
  ArcUnit* (*make)() = nullptr;
};

class UnitLibrary {
 public:
  // Throws std::runtime_error with one line if there is no such object, or none of a unit. `pulse`,
  // which may be null, lives longer than the units.
  explicit UnitLibrary(const std::string& path, UnitPulse* pulse = nullptr);
  UnitLibrary(const UnitLibrary&) = delete;
  UnitLibrary& operator=(const UnitLibrary&) = delete;
  ~UnitLibrary();

  [[nodiscard]] const UnitDeclaration& declaration() const { return table_->declaration; }
  // Throws UnitError where the unit cannot be made.
  [[nodiscard]] std::unique_ptr<ArcUnit> make() const;

 private:
  void close();

  std::string path_;
  UnitPulse* pulse_;
  void* handle_ = nullptr;
  const UnitLibraryTable* table_ = nullptr;
};

}  // namespace warpfold

// Once in a shared object: a declaration, and an expression that makes a unit by `new`.
#define WARPFOLD_UNIT_LIBRARY(declaration_value, new_unit)                              \
  extern "C" __attribute__((visibility("default"))) const ::warpfold::UnitLibraryTable* \
  warpfold_unit() {                                                                     \
    static const ::warpfold::UnitLibraryTable table = {                                 \
        .declaration = declaration_value,                                               \
        .make = []() -> ::warpfold::ArcUnit* { return new_unit; }};                     \
    return &table;                                                                      \
  }
