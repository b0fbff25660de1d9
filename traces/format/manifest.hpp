// SPDX-License-Identifier: Apache-2.0
// MANIFEST.json: what the traces beside it are, and the hashes that say they are still that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warpfold::trace {

struct ManifestEntry {
  std::string file;   // name in the folder of the manifest
  std::string xxh64;  // of the whole file, 16 lower-case hexadecimal digits
  std::uint64_t bytes = 0;
  std::string workload, scene, gpu;  // as in the header of the trace
  std::string date;                  // of the capture, YYYY-MM-DD
  std::string command;               // that captured it
};

// Strict, as the header: throws TraceError with one line that starts with the path.
[[nodiscard]] std::vector<ManifestEntry> read_manifest(const std::filesystem::path& path);

// The text of a manifest, two spaces of indentation and a line end at its end.
[[nodiscard]] std::string manifest_to_json(const std::vector<ManifestEntry>& entries);

}  // namespace warpfold::trace
