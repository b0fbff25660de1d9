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

namespace {

// A line of each form that version 6 has more than 5.
std::string newest() {
  std::string text = repository_file("traces/import/accelsim/example/kernel-2.traceg");
  const std::string version = "tracer version = ";
  text[text.find(version) + version.size()] = '6';
  const std::string block = "thread block = 0,0,0\n";
  text.insert(text.find(block) + block.size(),
              "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n");
  const std::string count = "insts = ";
  const std::size_t at = text.find(count);
  text.replace(at, text.find('\n', at) - at, "insts = 6");
  text.resize(text.find('\n', at) + 1);
  return text +
         "0000 ffffffff 1 UR4 S2UR 0 0 0 0 NoVal \n"
         "0010 ffffffff 0 UTMALDG.2D 2 UR8 UR4 4 0x30000 1 0x3 4096 0 3 2 0x7f2ab4b00000 "
         "0x7f2ab4b00800 0 0 NoVal \n"
         "0020 ffffffff 0 UBLKRED.G.S.ADD.F32.RN 2 UR8 UR4 4 0x0 0 64 0 4 0x7f2ab4b00000 2 32 0 0 "
         "NoVal \n"
         "0030 ffffffff 1 R24 HGMMA.64x8x16.F32 2 UR4 R24 1 0 0 0 NoVal \n"
         "0040 ffffffff 0 REDG.E.ADD.F32.FTZ.RN.STRONG.GPU 2 R2 R4 4 1 0x7f2ab4a00000 4 -1 0 Val 1 "
         "0x7f2ab4a00000 1 0x3f800000 \n"
         "0050 ffffffff 0 EXIT 0 0 0 0 NoVal \n\n#END_TB\n";
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string folder = "traces/import/accelsim/example/";
  return {repository_file(folder + "kernelslist.g") + "=== kernel-1.traceg\n" +
              repository_file(folder + "kernel-1.traceg") + "=== kernel-2.traceg\n" +
              repository_file(folder + "kernel-2.traceg"),
          "kernel-2.traceg\n=== kernel-2.traceg\n" + repository_file(folder + "kernel-2.traceg"),
          "kernel-2.traceg\n=== kernel-2.traceg\n" + newest()};
}

}  // namespace warpfold::fuzz
