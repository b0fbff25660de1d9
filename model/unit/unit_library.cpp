// SPDX-License-Identifier: Apache-2.0
#include "model/unit/unit_library.hpp"

#include <dlfcn.h>

#include <bit>
#include <filesystem>
#include <stdexcept>

namespace warpfold {
namespace {

void check(const std::string& path, const UnitLibraryTable& table) {
  const UnitLibraryTable ours;
  if (table.version != ours.version || table.inputs_size != ours.inputs_size ||
      table.outputs_size != ours.outputs_size || table.declaration_size != ours.declaration_size ||
      table.make == nullptr) {
    throw std::runtime_error(path + ": made for another version of warpfold; make it anew");
  }
  const ArcUnit::Ports& ports = table.declaration.ports;
  if (!std::has_single_bit(ports.read_lanes) || ports.read_lanes > kMostReadLanes ||
      !std::has_single_bit(ports.operands) || ports.operands > kTagMask) {
    throw std::runtime_error(path + ": read_lanes and operands are powers of two, at most " +
                             std::to_string(kMostReadLanes) + " and " +
                             std::to_string(kTagMask / 2 + 1));
  }
}

}  // namespace

UnitLibrary::UnitLibrary(const std::string& path) {
  // A name without a folder would be looked for where libraries of the system are.
  const std::string file = std::filesystem::absolute(path).string();
  handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    throw std::runtime_error(::dlerror());
  }
  using Entry = const UnitLibraryTable* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(handle_, "warpfold_unit"));
  if (entry == nullptr) {
    ::dlclose(handle_);
    throw std::runtime_error(path + ": has no unit (no function warpfold_unit)");
  }
  table_ = entry();
  check(path, *table_);
}

UnitLibrary::~UnitLibrary() {
  ::dlclose(handle_);
}

}  // namespace warpfold
