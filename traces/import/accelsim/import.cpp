// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/import.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <ostream>
#include <regex>
#include <system_error>

#include "traces/format/name_match.hpp"
#include "traces/format/trace.hpp"
#include "traces/import/accelsim/kernels_list.hpp"
#include "traces/import/accelsim/launch_reader.hpp"
#include "traces/import/accelsim/trace_file.hpp"

namespace warpfold::accelsim {

namespace {

namespace fs = std::filesystem;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

// "kernel-1.traceg.xz" to "kernel-1.wft".
std::string trace_name(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.rfind(".trace")) + ".wft";
}

class Importer {
 public:
  Importer(const ImportOptions& options, std::ostream& printed, const trace::Step& step)
      : options_(options), wanted_(options.kernel), printed_(printed), step_(step) {}

  ImportOutcome run() {
    const std::vector<fs::path> files = read_kernels_list(options_.list);
    std::error_code error;
    fs::create_directories(options_.out, error);
    if (error) {
      throw trace::TraceError(fmt::format("{}: {}", options_.out.string(), error.message()));
    }
    for (const fs::path& path : files) {
      InputFile file(path, step_);
      const LaunchHeader header = read_launch_header(file);
      if (is_wanted(header.kernel)) {
        ++outcome_.launches;
        import(file, header, path);
      }
    }
    return outcome_;
  }

 private:
  bool is_wanted(const std::string& kernel) {
    const bool matches =
        trace::is_found_in(kernel, wanted_) || trace::is_found_in(demangled(kernel), wanted_);
    return matches && (++launches_[kernel] == options_.launch || options_.launch == 0);
  }

  void import(InputFile& file, const LaunchHeader& header, const fs::path& path) {
    const std::string source = path.filename().string();
    Code code;
    Ways ways(code);
    Runs runs(code);
    Spill spill(options_.out);
    WarpReader warps(header, code, ways, runs, spill);
    LaunchReader reader(file, header, code, warps, spill);
    reader.read();
    const InstructionCounts& counts = warps.counts();
    const std::string read = fmt::format("{}: {}: {} CTAs, {} warp instructions", source,
                                         header.kernel, reader.ctas(), counts.instructions);
    if (counts.additions == 0) {
      printed_ << fmt::format("{}, none of which adds floats: no trace\n", read) << std::flush;
      return;
    }
    const fs::path target = options_.out / trace_name(path);
    const std::uint64_t events = write_trace_file(
        target, {.workload = options_.workload, .scene = options_.scene, .source = path},
        {.header = header, .ways = ways, .runs = runs, .counts = counts, .ctas = reader.ctas()},
        spill, step_, options_.complete);
    printed_ << fmt::format("{}, {} events, {} lane additions: {}\n", read, events,
                            counts.lane_additions, target.string());
    for (const auto& [name, count] : counts.omitted) {
      printed_ << fmt::format("  not events: {} of {}\n", count, name);
    }
    if (ways.ran_out()) {
      printed_ << "  work of more ways than a trace has room for is kept by class alone\n";
    }
    printed_ << std::flush;
    ++outcome_.traces;
  }

  const ImportOptions& options_;
  const std::regex wanted_;
  std::ostream& printed_;
  const trace::Step& step_;
  std::map<std::string, std::uint32_t> launches_;  // by kernel
  ImportOutcome outcome_;
};

}  // namespace

ImportOutcome import_accelsim(const ImportOptions& options, std::ostream& printed,
                              const trace::Step& step) {
  return Importer(options, printed, step).run();
}

}  // namespace warpfold::accelsim
