// SPDX-License-Identifier: Apache-2.0
// What an FST file holds, read with the library that Verilator's package brings.
#pragma once

#include <fstapi.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpfold::test {

struct FstSignal {
  std::uint32_t width = 0;
  bool is_input = false;
  std::vector<std::pair<std::uint64_t, std::string>> changes;  // time, bits

  // The bits that stand there at that time.
  [[nodiscard]] std::string at(std::uint64_t time) const {
    std::string value;
    for (const auto& [when, bits] : changes) {
      if (when <= time) {
        value = bits;
      }
    }
    return value;
  }
  friend bool operator==(const FstSignal&, const FstSignal&) = default;
};

struct FstContents {
  int timescale = 0;
  std::uint64_t begin = 0, end = 0;
  std::map<std::string, FstSignal> signals;  // "top.arc_subcore.clk_i"

  [[nodiscard]] const FstSignal& of(const std::string& name) const { return signals.at(name); }
};

inline FstContents read_fst(const std::string& path) {
  void* const context = ::fstReaderOpen(path.c_str());
  if (context == nullptr) {
    throw std::runtime_error(path + ": is no FST file");
  }
  FstContents contents;
  contents.timescale = ::fstReaderGetTimescale(context);
  contents.begin = ::fstReaderGetStartTime(context);
  contents.end = ::fstReaderGetEndTime(context);
  std::vector<std::string> names(1);  // by handle, from 1 on
  std::vector<std::string> scopes;
  while (const fstHier* const entry = ::fstReaderIterateHier(context)) {
    if (entry->htyp == FST_HT_SCOPE) {
      scopes.emplace_back(entry->u.scope.name);
    } else if (entry->htyp == FST_HT_UPSCOPE) {
      scopes.pop_back();
    } else if (entry->htyp == FST_HT_VAR) {
      std::string name;
      for (const std::string& scope : scopes) {
        name += scope + ".";
      }
      const std::string label = entry->u.var.name;
      name += label.substr(0, label.find(' '));  // without "[31:0]"
      names.push_back(name);
      contents.signals[name].width = entry->u.var.length;
      contents.signals[name].is_input = entry->u.var.direction == FST_VD_INPUT;
    }
  }
  struct User {
    FstContents& contents;
    const std::vector<std::string>& names;
  } user{contents, names};
  ::fstReaderSetFacProcessMaskAll(context);
  ::fstReaderIterBlocks(
      context,
      [](void* data, std::uint64_t time, fstHandle handle, const unsigned char* value) {
        const User& to = *static_cast<User*>(data);
        auto& changes = to.contents.signals.at(to.names.at(handle)).changes;
        // The reader gives all values at the beginning of each block.
        std::string bits(reinterpret_cast<const char*>(value));
        if (changes.empty() || changes.back().second != bits) {
          changes.emplace_back(time, std::move(bits));
        }
      },
      &user, nullptr);
  ::fstReaderClose(context);
  return contents;
}

}  // namespace warpfold::test
