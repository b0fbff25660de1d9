// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/recorded_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/whole_file.hpp"
#include "traces/format/writer.hpp"
#include "traces/record/host/counts.hpp"
#include "traces/record/host/variant_costs.hpp"

namespace warpfold::record {

namespace fs = std::filesystem;

std::uint64_t RecordedTrace::warp_instructions() const {
  std::uint64_t total = beside;
  for (std::size_t i = 0; i < costs.whole.size(); ++i) {
    total += slot_bounds(costs.whole[i]).taken * ways.passes[i];
  }
  return total;
}

bool RecordedTrace::has_costs() const {
  return std::any_of(costs.whole.begin(), costs.whole.end(),
                     [](const nlohmann::json& cost) { return !cost.is_null(); });
}

void hold_to(RecordedTrace& trace, const std::string& csv, const CodeReader& reader,
             const fs::path& scratch) {
  const fs::path counts = scratch / "counts.csv";
  trace::write_whole(counts, csv);
  WayCosts costs = reader.refined(trace.cubin, trace.function, trace.ways, counts, trace.every);
  trace.by_code = trace.warp_instructions();
  trace.ncu_counted = counted_instructions(csv) / trace.every;
  trace.costs = std::move(costs);
  trace.counted = true;
}

void settle(const RecordedTrace& trace, std::vector<trace::VariantTime> times,
            const std::map<std::string, std::string>& provenance) {
  const trace::Reader reader(trace.path);
  nlohmann::json json = nlohmann::json::parse(trace::header_to_json(reader.header()));
  if (trace.counted) {
    const nlohmann::json paths = path_costs(trace.costs);
    for (auto& [variant, costs] : json["costs"][trace.arch].items()) {
      costs["paths"] = paths;
    }
  }
  trace::Header header = trace::header_from_json(json.dump());
  header.times = std::move(times);
  header.provenance.insert(provenance.begin(), provenance.end());
  if (trace.counted) {
    const std::uint64_t issued = trace.warp_instructions();
    header.costs_from = trace::CostSource::kCounts;
    header.instructions = {.least = issued, .taken = issued, .most = issued};
    header.provenance["ncu_counted"] = std::to_string(trace.ncu_counted);
    header.provenance["by_machine_code"] = std::to_string(trace.by_code);
  }
  trace::Writer writer(trace.path, header);
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    writer.add(reader.read_cta(i));
  }
  writer.finish();
}

void keep_code(const RecordedTrace& trace) {
  nlohmann::json json = trace.ways.to_json();
  json["function"] = trace.function;
  json["costs"] = trace.costs.whole;
  fs::path base = trace.path;
  trace::write_whole(base.replace_extension("ways.json"), json.dump() + "\n");
  std::ifstream cubin(trace.cubin, std::ios::binary);
  std::ostringstream text;
  text << cubin.rdbuf();
  base = trace.path;
  trace::write_whole(base.replace_extension("cubin"), text.str());
}

}  // namespace warpfold::record
