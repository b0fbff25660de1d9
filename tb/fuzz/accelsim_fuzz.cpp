// SPDX-License-Identifier: Apache-2.0
// What Accel-Sim's tracer leaves: the list of launches and their files. The input has them one
// behind the other, each behind a line "=== NAME"; names that lead elsewhere are left out.
#include <map>
#include <sstream>

#include "tb/fuzz/fuzz.hpp"
#include "traces/format/reader.hpp"
#include "traces/import/accelsim/import.hpp"

namespace warpfold::fuzz {

namespace {

constexpr std::string_view kMark = "=== ";

void write_files(std::string_view input) {
  std::error_code ignored;
  std::filesystem::remove_all(folder() / "in", ignored);
  std::filesystem::create_directory(folder() / "in");
  std::filesystem::create_directory(folder() / "out", ignored);
  std::string name = "kernelslist.g";
  std::string content;
  const auto close = [&] {
    if (name.find('/') == std::string::npos && !name.empty() && name.size() < 100 &&
        name.find('\0') == std::string::npos && name[0] != '.') {
      file("in/" + name, content);
    }
    content.clear();
  };
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    if (line.starts_with(kMark)) {
      close();
      name = line.substr(kMark.size());
    } else {
      content += line;
      content += '\n';
    }
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  close();
}

}  // namespace

void run(std::string_view input) {
  write_files(input);
  accelsim::ImportOptions options;
  options.list = folder() / "in/kernelslist.g";
  options.launch = 0;
  options.out = folder() / "out";
  std::ostringstream printed;
  takes<trace::TraceError>([&] { accelsim::import_accelsim(options, printed); });
  for (const auto& entry : std::filesystem::directory_iterator(folder() / "out")) {
    if (entry.path().extension() != ".wft") {
      finding("left behind: " + entry.path().filename().string());
    }
    try {
      trace::Reader(entry.path()).verify();
    } catch (const trace::TraceError& error) {
      finding(std::string("the trace that was made is refused: ") + error.what());
    }
    std::filesystem::remove(entry.path());
  }
}

std::vector<std::string> seeds() {
  const std::string folder = "traces/import/accelsim/example/";
  return {repository_file(folder + "kernelslist.g") + "=== kernel-1.traceg\n" +
              repository_file(folder + "kernel-1.traceg") + "=== kernel-2.traceg\n" +
              repository_file(folder + "kernel-2.traceg"),
          "kernel-2.traceg\n=== kernel-2.traceg\n" + repository_file(folder + "kernel-2.traceg")};
}

}  // namespace warpfold::fuzz
