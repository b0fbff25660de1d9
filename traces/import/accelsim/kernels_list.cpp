// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/kernels_list.hpp"

#include <fmt/format.h>

#include <string_view>
#include <system_error>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::accelsim {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLaunches = 1'000'000;
constexpr std::size_t kMostPassedOver = 5;  // that are told one by one

// The grouped file of "kernel-1.trace.xz": kernel-1.traceg.xz, .traceg or .tracez, as the tool that
// groups them was told; the first where there is none.
fs::path grouped_file(const fs::path& folder, const std::string& name) {
  for (const std::string_view packing : {"", ".xz", ".zst"}) {
    const std::string end = fmt::format(".trace{}", packing);
    if (!name.ends_with(end)) {
      continue;
    }
    const std::string stem = name.substr(0, name.size() - packing.size());
    for (const std::string& other : {fmt::format("{}g{}", stem, packing), stem + "g", stem + "z"}) {
      std::error_code error;
      if (fs::exists(folder / other, error)) {
        return folder / other;
      }
    }
    return folder / fmt::format("{}g{}", stem, packing);
  }
  return folder / name;
}

}  // namespace

KernelsList read_kernels_list(const fs::path& path) {
  InputFile file(path);
  KernelsList list;
  std::size_t unknown_lines = 0;
  std::string_view line;
  while (file.next(line)) {
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (line.starts_with("-kernel name")) {
      file.refuse("is the trace of a launch; what is wanted is the list beside it, kernelslist.g");
    }
    if (line.empty() || line.starts_with("Memcpy")) {
      continue;
    }
    const auto tell = [&](std::string_view why) {
      return fmt::format("{}:{}: {}", file.name(), file.line(), why);
    };
    if (!line.starts_with("kernel")) {
      if (++unknown_lines <= kMostPassedOver) {
        list.passed_over.push_back(tell("neither the file of a kernel nor a copy of memory"));
      }
      continue;
    }
    if (list.launches.size() + list.refused.size() == kMostLaunches) {
      file.refuse(fmt::format("more than {} kernels", kMostLaunches));
    }
    if (line.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos) {
      list.refused.push_back(tell("the file of a kernel lies beside the list"));
    } else {
      list.launches.push_back(grouped_file(path.parent_path(), std::string(line)));
    }
  }
  if (list.launches.empty() && list.refused.empty()) {
    throw trace::TraceError(list.passed_over.empty()
                                ? fmt::format("{}: lists no kernel", path.string())
                                : list.passed_over.front());
  }
  if (unknown_lines > kMostPassedOver) {
    list.passed_over.push_back(fmt::format("{}: {} more lines of that kind", path.string(),
                                           unknown_lines - kMostPassedOver));
  }
  return list;
}

}  // namespace warpfold::accelsim
