// SPDX-License-Identifier: Apache-2.0
// Results, a timeline and areas on their way into a report. The input has them one behind the
// other, with a byte of zero between.
#include "model/report/page.hpp"
#include "model/report/report_data.hpp"
#include "tb/fuzz/fuzz.hpp"

namespace warpfold::fuzz {

void run(std::string_view input) {
  std::vector<std::string_view> parts(3);
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    part = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  report::ReportFiles files;
  files.results = {file("results.json", parts[0]).string()};
  if (!parts[1].empty()) {
    files.timeline = file("timeline.json", parts[1]).string();
  }
  if (!parts[2].empty()) {
    files.area = file("area.json", parts[2]).string();
  }
  takes<report::ReportError>(
      [&] {
        const std::string page = report::report_page(report::read_report(files), "0");
        if (page.empty()) {
          finding("an empty page");
        }
      },
      folder());
}

std::vector<std::string> seeds() {
  const std::string results = repository_file("tb/fuzz/seeds/report/results.json");
  const std::string timeline = repository_file("tb/fuzz/seeds/report/timeline.json");
  const std::string none(1, '\0');
  const std::string area =
      R"({"schema":"warpfold.synth/1","library":"l","rows":[{"top":"arc_subcore","parameters":{},)"
      R"("transistors":10,"cells":5,"area_um2":1.5,"ge":3,"path_ps":900}]})";
  return {results, results + none + timeline, results + none + none + area};
}

}  // namespace warpfold::fuzz
