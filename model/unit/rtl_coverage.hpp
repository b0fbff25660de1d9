// SPDX-License-Identifier: Apache-2.0
// Coverage of Verilated modules, in builds with WARPFOLD_COVERAGE; otherwise this does nothing. The
// counters live in the model, so whoever owns one hands them over before it goes. At the end of the
// process there is one file for each class of models, <folder>/<class>.<process>.dat, in the format
// of verilator_coverage; the folder is WARPFOLD_COVERAGE_DIR of the environment, and without it
// nothing is written. scripts/coverage.sh reads the files.
#pragma once

#include <verilated.h>

#ifdef WARPFOLD_COVERAGE

#include <unistd.h>
#include <verilated_cov.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace warpfold {

class RtlCoverage {
 public:
  static RtlCoverage& instance() {
    static RtlCoverage coverage;
    return coverage;
  }

  void add(VerilatedContext& context, const std::string& model) {
    if (folder_ == nullptr) {
      return;
    }
    const std::lock_guard lock(mutex_);
    const std::string path = file(model) + ".part";
    context.coveragep()->write(path.c_str());
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      // C '<point>' <count>; the first line of the file is a comment.
      const std::size_t end = line.rfind(' ');
      if (line.starts_with("C ") && end != std::string::npos) {
        counts_[model][line.substr(0, end)] += std::stoull(line.substr(end + 1));
      }
    }
    std::filesystem::remove(path);
  }

 private:
  RtlCoverage() = default;
  ~RtlCoverage() {
    for (const auto& [model, points] : counts_) {
      std::ofstream out(file(model) + ".dat");
      out << "# SystemC::Coverage-3\n";
      for (const auto& [point, count] : points) {
        out << point << ' ' << count << '\n';
      }
    }
  }
  std::string file(const std::string& model) const {
    return std::string(folder_) + '/' + model + '.' + std::to_string(getpid());
  }

  const char* folder_ = std::getenv("WARPFOLD_COVERAGE_DIR");
  std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::uint64_t>> counts_;
};

}  // namespace warpfold

#endif

namespace warpfold {

// Hands over the counters of `model`, the only one in `context`.
template <class Model>
void collect_coverage([[maybe_unused]] VerilatedContext& context,
                      [[maybe_unused]] const Model& model) {
#ifdef WARPFOLD_COVERAGE
  RtlCoverage::instance().add(context, model.modelName());
#endif
}

}  // namespace warpfold
