// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/recorder_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>

#include "traces/format/container.hpp"
#include "traces/format/trace.hpp"
#include "traces/record/host/tool.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSources = "traces/record";
constexpr const char* kPatches = "traces/record/device/patches.cu";
constexpr int kOldestArchitecture = 70;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A program that PATH has; empty if it has none.
fs::path in_path(const std::string& name) {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / name;
    if (access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program)) {
      return program;
    }
  }
  return {};
}

fs::path find_nvcc() {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable(name); !root.empty()) {
      return fs::path(root) / "bin/nvcc";
    }
  }
  const fs::path found = in_path("nvcc");
  return found.empty() ? fs::path("/usr/local/cuda/bin/nvcc") : found;
}

// The first folder below `root` that has the file; throws if none has.
fs::path folder_with(const fs::path& root, std::string_view file,
                     std::initializer_list<std::string_view> folders, std::string_view what) {
  for (const std::string_view folder : folders) {
    if (fs::exists(root / folder / file)) {
      return root / folder;
    }
  }
  throw trace::TraceError(fmt::format("{}: has no {}, which {} has: install the whole CUDA toolkit",
                                      root.string(), file, what));
}

// What a tool prints; throws with its last line where it fails.
std::string output_of(const std::vector<std::string>& command, const fs::path& scratch) {
  const ToolResult result = run_tool(command, scratch, "");
  if (result.status != 0) {
    throw trace::TraceError(fmt::format("{}: cannot be run", command.front()));
  }
  return result.output;
}

std::string found_in(const std::string& text, const char* expression) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(expression)) ? found[1].str() : "";
}

// The first line that names an error, of what a compiler says.
std::string error_in(const std::string& text) {
  std::istringstream lines(text);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) {
      return line;
    }
    first = first.empty() ? line : first;
  }
  return first.empty() ? "it does not say why" : first;
}

class Build {
 public:
  Build(const Toolkit& toolkit, const fs::path& sources, const fs::path& scratch)
      : toolkit_(toolkit), sources_(sources), scratch_(scratch) {}

  void patches(const fs::path& out) const {
    std::vector<std::string> command = {toolkit_.nvcc.string(),
                                        "-ccbin",
                                        toolkit_.compiler,
                                        "-std=c++17",
                                        "--expt-relaxed-constexpr",
                                        "--fatbin",
                                        "--compile-as-tools-patch",
                                        "--threads=0",
                                        (sources_ / kPatches).string(),
                                        "-o",
                                        out.string()};
    for (const std::string& number : toolkit_.architectures) {
      command.push_back("-gencode");
      command.push_back(fmt::format("arch=compute_{0},code=sm_{0}", number));
    }
    run(std::move(command), "nvcc");
    check_predicates(out);
  }

  void library(const char* name, const fs::path& library, const fs::path& out) const {
    run({toolkit_.compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden",
         "-static-libstdc++", "-static-libgcc",
         (sources_ / kSources / fmt::format("inject/{}.cpp", name)).string(), "-o", out.string(),
         library.string(), "-Wl,-rpath," + library.parent_path().string(), "-ldl", "-pthread"},
        "the C++ compiler");
  }

 private:
  void run(std::vector<std::string> command, const char* what) const {
    command.push_back("-I" + sources_.string());
    for (const fs::path& folder : toolkit_.includes) {
      command.push_back("-isystem");
      command.push_back(folder.string());
    }
    if (toolkit_.reports_rows) {
      command.push_back("-DWARPFOLD_BULK");
    }
    const ToolResult result = run_tool(command, scratch_, "");
    if (result.status != 0) {
      throw trace::TraceError(fmt::format("{} cannot compile the recorder: {}", what,
                                          error_in(result.errors + result.output)));
    }
  }

  // The sanitizer's trampoline does not keep the predicates P3 and P4 of the code that it is
  // patched into, and the compiler does not save them in a callback: one that used them crashed a
  // kernel on an H100.
  void check_predicates(const fs::path& patches) const {
    const std::string code =
        output_of({toolkit_.cuobjdump.string(), "-sass", patches.string()}, scratch_);
    std::istringstream lines(code);
    static const std::regex kLost("[@! ,]P[34][ ,.;]");
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_search(line, kLost)) {
        throw trace::TraceError(
            fmt::format("the recorder cannot be used with nvcc {}: it would spoil a predicate of "
                        "the program: {}",
                        toolkit_.version, line.substr(0, line.find("/* 0x"))));
      }
    }
  }

  const Toolkit& toolkit_;
  const fs::path& sources_;
  const fs::path& scratch_;
};

// Of all that decides what the recorder is.
std::string fingerprint(const Toolkit& toolkit, const fs::path& sources) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(
           sources / kSources, fs::directory_options::follow_directory_symlink)) {
    const std::string extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".cpp" || extension == ".cu") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::string all =
      fmt::format("{} {} {} {} {}", toolkit.nvcc.string(), toolkit.version, toolkit.compiler,
                  toolkit.reports_rows, fmt::join(toolkit.architectures, " "));
  for (const fs::path& file : files) {
    all += text_of(file);
  }
  return fmt::format(
      "{:016x}",
      trace::container::xxh64({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()}, 0));
}

bool make_writable(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  return !failed && access(folder.c_str(), W_OK) == 0;
}

}  // namespace

Toolkit find_toolkit(const fs::path& scratch) {
  const fs::path nvcc = find_nvcc();
  if (access(nvcc.c_str(), X_OK) != 0) {
    throw trace::TraceError(
        "there is no CUDA toolkit: no nvcc in CUDA_HOME, in PATH or in /usr/local/cuda");
  }
  std::error_code failed;
  const fs::path real = fs::canonical(nvcc, failed);
  const fs::path root = (failed ? nvcc : real).parent_path().parent_path();
  Toolkit toolkit;
  toolkit.nvcc = nvcc;
  toolkit.version = found_in(output_of({nvcc.string(), "--version"}, scratch), "V([0-9.]+)");
  const std::string targets = "targets/x86_64-linux";
  const fs::path sanitizer = folder_with(
      root, "sanitizer.h",
      {"compute-sanitizer/include", "extras/compute-sanitizer/include", targets + "/include"},
      "the Compute Sanitizer");
  toolkit.includes = {
      folder_with(root, "cuda.h", {"include", targets + "/include"}, "CUDA"),
      folder_with(root, "cupti.h", {"extras/CUPTI/include", "include", targets + "/include"},
                  "CUPTI"),
      sanitizer};
  toolkit.sanitizer_library =
      folder_with(root, "libsanitizer-public.so",
                  {"compute-sanitizer", "extras/compute-sanitizer", "lib64", targets + "/lib"},
                  "the Compute Sanitizer") /
      "libsanitizer-public.so";
  toolkit.cupti_library =
      folder_with(root, "libcupti.so", {"extras/CUPTI/lib64", "lib64", "lib", targets + "/lib"},
                  "CUPTI") /
      "libcupti.so";
  const fs::path beside = root / "bin/cuobjdump";
  toolkit.cuobjdump = access(beside.c_str(), X_OK) == 0 ? beside : in_path("cuobjdump");
  if (toolkit.cuobjdump.empty()) {
    throw trace::TraceError(
        fmt::format("{}: has no cuobjdump: install the whole CUDA toolkit", root.string()));
  }
  toolkit.compiler = variable("CXX").empty() ? "g++" : variable("CXX");
  if (in_path(toolkit.compiler).empty() && access(toolkit.compiler.c_str(), X_OK) != 0) {
    throw trace::TraceError(
        fmt::format("there is no C++ compiler: {} is not found", toolkit.compiler));
  }
  toolkit.reports_rows =
      text_of(sanitizer / "sanitizer_patching.h")
          .find("SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL") != std::string::npos;
  std::istringstream listed(output_of({nvcc.string(), "--list-gpu-arch"}, scratch));
  for (std::string line; std::getline(listed, line);) {
    const std::string number = found_in(line, "^compute_([0-9]+)$");
    if (!number.empty() && std::stoi(number) >= kOldestArchitecture) {
      toolkit.architectures.push_back(number);
    }
  }
  if (toolkit.architectures.empty()) {
    throw trace::TraceError(
        fmt::format("{}: compiles for no GPU from compute capability 7.0 on", nvcc.string()));
  }
  return toolkit;
}

fs::path cache_folder() {
  const std::string own = variable("WARPFOLD_CACHE"), common = variable("XDG_CACHE_HOME"),
                    home = variable("HOME"), temporary = variable("TMPDIR");
  const fs::path wanted = !own.empty()      ? fs::path(own)
                          : !common.empty() ? fs::path(common) / "warpfold"
                                            : fs::path(home) / ".cache/warpfold";
  if ((!own.empty() || !common.empty() || !home.empty()) && make_writable(wanted)) {
    return wanted;
  }
  const fs::path other = fs::path(temporary.empty() ? "/tmp" : temporary) /
                         fmt::format("warpfold-{}", static_cast<unsigned>(getuid()));
  if (!make_writable(other)) {
    throw trace::TraceError(
        fmt::format("there is no folder to keep the recorder in: neither {} nor {} can be written; "
                    "WARPFOLD_CACHE names another",
                    wanted.string(), other.string()));
  }
  return other;
}

Recorder recorder_for(const Toolkit& toolkit, const fs::path& sources, const fs::path& cache,
                      const fs::path& scratch, const std::function<void(const std::string&)>& say) {
  const fs::path folder = cache / ("recorder-" + fingerprint(toolkit, sources));
  const auto in = [&](const fs::path& where) {
    return Recorder{.record_library = where / "libwarpfold_record.so",
                    .time_library = where / "libwarpfold_time.so",
                    .patches = where / "patches.fatbin",
                    .reports_rows = toolkit.reports_rows};
  };
  if (fs::exists(folder)) {
    return in(folder);
  }
  say(fmt::format("building the recorder for CUDA {}, once: {}", toolkit.version, folder.string()));
  const fs::path part = cache / fmt::format("part-{}", getpid());
  std::error_code ignored;
  fs::remove_all(part, ignored);
  try {
    fs::create_directories(part);
    const Build build(toolkit, sources, scratch);
    const Recorder made = in(part);
    say("  1 of 3: what runs on the GPU");
    build.patches(made.patches);
    say("  2 of 3: what records");
    build.library("record", toolkit.sanitizer_library, made.record_library);
    say("  3 of 3: what measures times");
    build.library("time", toolkit.cupti_library, made.time_library);
    std::error_code taken;
    fs::rename(part, folder, taken);
    if (taken && !fs::exists(folder)) {  // else somebody else has built it meanwhile
      throw trace::TraceError(fmt::format("{}: {}", folder.string(), taken.message()));
    }
  } catch (...) {
    fs::remove_all(part, ignored);
    throw;
  }
  fs::remove_all(part, ignored);
  return in(folder);
}

}  // namespace warpfold::record
