// SPDX-License-Identifier: Apache-2.0
// The JSON around traces: headers of both versions, costs, times, manifests.
#include <nlohmann/json.hpp>

#include "tb/fuzz/fuzz.hpp"
#include "tb/fuzz/made_trace.hpp"
#include "tb/trace/synthetic.hpp"
#include "traces/format/header.hpp"
#include "traces/format/manifest.hpp"
#include "traces/format/upgrade.hpp"

namespace warpfold::fuzz {

namespace {

using trace::TraceError;

void check_round_trip(const trace::Header& header) {
  const std::string text = trace::header_to_json(header);
  if (trace::header_to_json(trace::header_from_json(text)) != text) {
    finding("written and read, the header is another");
  }
}

}  // namespace

void run(std::string_view input) {
  Front front(input);
  const std::uint64_t kind = front.number(1);
  const std::string_view text = front.rest();
  const trace::Header known = trace::test::small_header(2, 64);
  switch (kind % 6) {
    case 0:
      takes<TraceError>([&] { check_round_trip(trace::header_from_json(text)); });
      break;
    case 1:
      takes<TraceError>([&] { check_round_trip(trace::header_from_version_3(text)); });
      break;
    case 2:
      takes<TraceError>([&] {
        trace::Header header = known;
        trace::replace_costs(header, text);
        check_round_trip(header);
      });
      break;
    case 3:
      takes<TraceError>([&] {
        trace::Header header = known;
        trace::replace_times(header, text);
        check_round_trip(header);
      });
      break;
    case 4:
      takes<TraceError>(
          [&] { check_round_trip(trace::header_from_json(text, trace::kEarlierVersion)); });
      break;
    default: {
      const std::filesystem::path path = file("MANIFEST.json", text);
      takes<TraceError>(
          [&] {
            const auto entries = trace::read_manifest(path);
            const std::string again = trace::manifest_to_json(entries);
            if (trace::manifest_to_json(trace::read_manifest(file("MANIFEST.json", again))) !=
                again) {
              finding("written and read, the manifest is another");
            }
          },
          path);
    }
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const auto put = [&](std::uint64_t kind, const std::string& text) {
    std::string seed;
    put_number(seed, kind, 1);
    all.push_back(seed + text);
  };
  for (const MadeTrace& made : made_traces()) {
    put(0, trace::header_to_json(made.header));
    if (made.header.sites.size() == 1) {
      put(1, header_of_version_3(made.header));
    }
  }
  const nlohmann::json known =
      nlohmann::json::parse(trace::header_to_json(trace::test::small_header(2, 64)));
  nlohmann::json costs = {
      {"schema", "warpfold.costs/3"}, {"paths", known.at("paths")}, {"costs", known.at("costs")}};
  for (nlohmann::json& machine : costs["costs"]) {
    for (nlohmann::json& variant : machine) {
      const nlohmann::json first = variant.at("reduce").at(0);
      variant["reduce"] = first;
    }
  }
  put(2, costs.dump());
  put(3, R"({"schema":"warpfold.times/1","gpu":"NVIDIA Test","driver":"1.0","cuda":"13.0","scene":)"
         R"("scene","kernel":"kernel","times":[{"policy":"sw-b:8","median_ms":1.5,"min_ms":1,)"
         R"("max_ms":2,"runs":3,"sm_clock_mhz":1980}]})");
  put(4, header_of_version_4(trace::test::small_header(2, 64)));
  put(5, trace::manifest_to_json({{.file = "a.wft",
                                   .xxh64 = "0123456789abcdef",
                                   .bytes = 100,
                                   .workload = "w",
                                   .scene = "s",
                                   .gpu = "g",
                                   .date = "2025-01-31",
                                   .command = "c"}}));
  return all;
}

}  // namespace warpfold::fuzz
