// SPDX-License-Identifier: Apache-2.0
#include "model/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace warpfold::cli {

void complain(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::cerr << "warpfold: " << text << '\n';
}

std::string refuse_negative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("is {}, must be 0 or more", text) : "";
}

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "is empty" : "";
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    items.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return items;
}

std::vector<trace::Reader> open_traces(const std::vector<std::string>& paths) {
  std::vector<trace::Reader> readers;
  for (const std::string& path : paths) {
    readers.emplace_back(path);
    for (std::size_t i = 0; i + 1 < readers.size(); ++i) {
      if (std::filesystem::equivalent(paths[i], path)) {
        throw UsageError(paths[i] == path
                             ? fmt::format("{}: given twice", path)
                             : fmt::format("{}: the same trace as {}", path, paths[i]));
      }
    }
  }
  return readers;
}

}  // namespace warpfold::cli
