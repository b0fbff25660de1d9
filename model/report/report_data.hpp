// SPDX-License-Identifier: Apache-2.0
// What a report shows, read from files and checked: results (schema warpfold.sim/1), a timeline
// (warpfold.timeline/1 or /2), areas (warpfold.synth/1). The page trusts it, so whatever a page
// would trip over is refused here.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "traces/format/printable.hpp"

namespace warpfold::report {

// Input that is no such file: one clear line that begins with its path.
class ReportError : public std::runtime_error {
 public:
  explicit ReportError(std::string_view what) : std::runtime_error(trace::printable(what)) {}
};

struct ReportFiles {
  std::vector<std::string> results{};  // one at least
  std::string timeline{};              // empty: none
  std::string area{};                  // empty: none
};

struct ReportData {
  // {"files": [path], "configs": [{...}], "runs": [{..., "file": index, "config": index}],
  //  "timelines": [{..., "run": index}], "area": {"rows": [...], "library": name} or null}.
  // Of a run it has the keys of the schema and no others.
  nlohmann::ordered_json document;
  std::string title;  // plain text: traces, GPUs
  std::size_t runs = 0;
  std::size_t failed = 0;  // runs whose checks failed
};

// Throws ReportError for a file that cannot be read, is no JSON, has another schema, lacks a key or
// has one of another type, has no runs, or is given twice, and for a timeline of runs that the
// results do not have.
ReportData read_report(const ReportFiles& files);

}  // namespace warpfold::report
