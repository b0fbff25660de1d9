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
    const KernelsList list = read_kernels_list(options_.list);
    std::error_code error;
    fs::create_directories(options_.out, error);
    if (error) {
      throw trace::TraceError(fmt::format("{}: {}", options_.out.string(), error.message()));
    }
    for (const std::string& line : list.passed_over) {
      complain(line);
    }
    for (const std::string& line : list.refused) {
      refuse(line);
    }
    for (const fs::path& path : list.launches) {
      take(path);
    }
    return outcome_;
  }

 private:
  void take(const fs::path& path) {
    LaunchHeader header;
    bool wanted = true;  // for all that is known
    try {
      InputFile file(path, step_);
      try {
        read_launch_header(file, header);
      } catch (const FileError&) {
        wanted = header.kernel.empty() || is_wanted(header.kernel);
        throw;
      }
      if (is_wanted(header.kernel)) {
        import(file, header, path);
        ++outcome_.launches;
      }
    } catch (const FileError& error) {
      if (wanted) {
        refuse(error.what());
      }
    }
  }

  void complain(const std::string& line) const {
    if (options_.complain) {
      options_.complain(line);
    }
  }
  void refuse(const std::string& line) {
    ++outcome_.refused;
    complain(line);
  }

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
    WarpReader warps(header, code, ways, runs, spill, options_.loads);
    LaunchReader reader(file, header, code, warps, spill);
    reader.read();
    const InstructionCounts& counts = warps.counts();
    const std::string read = fmt::format("{}: {}: {} CTAs, {} warp instructions", source,
                                         header.kernel, reader.ctas(), counts.instructions);
    if (counts.additions == 0) {
      printed_ << fmt::format("{}, none of its REDs or ATOMs adds floats: no trace\n", read);
      print_omitted(counts);
      printed_ << std::flush;
      return;
    }
    const fs::path target = options_.out / trace_name(path);
    const std::uint64_t events = write_trace_file(
        target, {.workload = options_.workload, .scene = options_.scene, .source = path},
        {.header = header,
         .ways = ways,
         .runs = runs,
         .counts = counts,
         .memory = warps.memory(),
         .ctas = reader.ctas()},
        spill, step_, options_.complete);
    printed_ << fmt::format("{}, {} events, {} lane additions: {}\n", read, events,
                            counts.lane_additions, target.string());
    print_omitted(counts);
    if (counts.impossible > 0) {
      printed_ << fmt::format(
          "  warning: {} of {} lane additions are at addresses that no GPU has, such as {:#x}: a "
          "fault of the tracer\n",
          counts.impossible, counts.lane_additions, counts.impossible_address);
    }
    if (ways.ran_out()) {
      printed_ << "  work of more ways than a trace has room for is kept by class alone\n";
    }
    printed_ << std::flush;
    ++outcome_.traces;
  }

  void print_omitted(const InstructionCounts& counts) {
    for (const auto& [name, count] : counts.omitted) {
      printed_ << fmt::format("  not events: {} of {}\n", count, name);
    }
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
