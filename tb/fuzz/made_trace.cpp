// SPDX-License-Identifier: Apache-2.0
#include "tb/fuzz/made_trace.hpp"

#include <nlohmann/json.hpp>
#include <random>

#include "tb/fuzz/fuzz.hpp"
#include "tb/trace/synthetic.hpp"
#include "traces/format/header.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::fuzz {

namespace {

std::string written(const trace::Header& header, std::uint64_t seed, std::uint32_t ctas_per_chunk) {
  const std::filesystem::path path = folder() / "made.wft";
  std::mt19937_64 random(seed);
  trace::Writer writer(path, header, {.zstd_level = 1, .ctas_per_chunk = ctas_per_chunk});
  for (std::uint64_t cta = 0; cta < header.total_ctas; ++cta) {
    writer.add(trace::test::random_cta(header, cta, random));
  }
  writer.finish();
  return content_of(path);
}

trace::Site other_site() {
  return {.name = "other",
          .type = trace::ValueType::kF64,
          .primitive_count = 7,
          .parameters = {{.name = "x", .base = 0x900000, .stride_bytes = 8}},
          .taken_path = {}};
}

}  // namespace

std::vector<MadeTrace> made_traces(std::uint32_t ctas_per_chunk) {
  std::vector<MadeTrace> made;
  trace::Header header = trace::test::small_header(2, 64);
  made.push_back({header, written(header, 1, 256)});
  header = trace::test::small_header(3, 40);
  header.values = trace::ValueMode::kOperands;
  made.push_back({header, written(header, 2, ctas_per_chunk)});
  header = trace::test::small_header(1, 32);
  header.costs.clear();
  header.sites.push_back(other_site());
  made.push_back({header, written(header, 3, 256)});
  return made;
}

std::string header_of_version_3(const trace::Header& header) {
  using nlohmann::json;
  json text = json::parse(trace::header_to_json(header));
  const json site = text.at("sites").at(0);
  text["primitive_count"] = site.at("primitives");
  text["parameters"] = site.at("parameters");
  text["taken_path"] = site.at("taken_path");
  if (text["values"] == "operands") {
    text["values"] = "fp32";
  }
  for (json& machine : text["costs"]) {
    for (json& variant : machine) {
      const json first = variant.at("reduce").at(0);
      variant["reduce"] = first;
    }
  }
  for (const char* key : {"sites", "arrays", "omissions"}) {
    text.erase(key);
  }
  return text.dump();
}

}  // namespace warpfold::fuzz
