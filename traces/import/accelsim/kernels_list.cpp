// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/kernels_list.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::size_t kMostLaunches = 1'000'000;

// "kernel-1.trace.xz" to "kernel-1.traceg.xz".
std::string grouped_name(std::string name) {
  for (const std::string_view packing : {"", ".xz", ".zst"}) {
    const std::string end = fmt::format(".trace{}", packing);
    if (name.ends_with(end)) {
      name.insert(name.size() - packing.size(), "g");
      break;
    }
  }
  return name;
}

}  // namespace

std::vector<std::filesystem::path> read_kernels_list(const std::filesystem::path& path) {
  InputFile file(path);
  std::vector<std::filesystem::path> launches;
  std::string_view line;
  while (file.next(line)) {
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (line.empty() || line.starts_with("Memcpy")) {
      continue;
    }
    if (!line.starts_with("kernel")) {
      file.refuse("neither the file of a kernel nor a copy of memory");
    }
    if (line.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos) {
      file.refuse("the file of a kernel lies beside the list");
    }
    if (launches.size() == kMostLaunches) {
      file.refuse(fmt::format("more than {} kernels", kMostLaunches));
    }
    launches.push_back(path.parent_path() / grouped_name(std::string(line)));
  }
  if (launches.empty()) {
    throw trace::TraceError(fmt::format("{}: lists no kernel", path.string()));
  }
  return launches;
}

}  // namespace warpfold::accelsim
