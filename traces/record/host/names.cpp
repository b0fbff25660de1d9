// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace warpfold::record {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

std::string short_name(const std::string& function) {
  std::string name = demangled(function);
  if (name.starts_with("void ")) {
    name.erase(0, 5);
  }
  const std::string nameless = "(anonymous namespace)::";
  for (std::size_t at = name.find(nameless); at != std::string::npos; at = name.find(nameless)) {
    name.erase(at, nameless.size());
  }
  name.resize(std::min(name.find_first_of("<("), name.size()));
  if (const std::size_t colon = name.rfind("::"); colon != std::string::npos) {
    name.erase(0, colon + 2);
  }
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') {
      c = '_';
    }
  }
  return name.empty() ? "kernel" : name.substr(0, 80);
}

}  // namespace warpfold::record
