// SPDX-License-Identifier: Apache-2.0
// What is loaded into CUDA programs is built where they run, at its first use, by the CUDA toolkit
// that is there, and kept in a cache folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace warpfold::record {

// A CUDA toolkit that has what the recorder needs.
struct Toolkit {
  std::filesystem::path nvcc, cuobjdump;
  std::vector<std::filesystem::path> includes;  // of CUDA, CUPTI and the Compute Sanitizer
  std::filesystem::path sanitizer_library, cupti_library;
  std::string version;                     // of nvcc, "13.0.88"
  std::string compiler;                    // for C++: "g++"
  bool reports_rows = false;               // the sanitizer reports reductions of rows
  std::vector<std::string> architectures;  // that nvcc compiles for, "90"
};

// That of CUDA_HOME or CUDA_PATH, of the nvcc in PATH, or of /usr/local/cuda. Throws
// trace::TraceError that says what is missing. `scratch`: a folder for temporary files.
[[nodiscard]] Toolkit find_toolkit(const std::filesystem::path& scratch);

struct Recorder {
  std::filesystem::path record_library, time_library, patches;
  bool reports_rows = false;  // as the toolkit's sanitizer does
};

// The folder that WARPFOLD_CACHE names, or warpfold in that of XDG_CACHE_HOME, or in ~/.cache;
// where none of them can be written, one in TMPDIR.
[[nodiscard]] std::filesystem::path cache_folder();

// Of these sources (traces/record and what it includes, below `sources`) and that toolkit; built if
// it is not in the cache, which `say` tells of. Throws trace::TraceError that says what failed.
[[nodiscard]] Recorder recorder_for(const Toolkit& toolkit, const std::filesystem::path& sources,
                                    const std::filesystem::path& cache,
                                    const std::filesystem::path& scratch,
                                    const std::function<void(const std::string&)>& say);

}  // namespace warpfold::record
