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
          .kind = trace::SiteKind::kAtom,
          .type = trace::ValueType::kF64,
          .words = 2,
          .primitive_count = 7,
          .parameters = {{.name = "x", .base = 0x900000, .stride_bytes = 16},
                         {.name = "y", .base = 0x900008, .stride_bytes = 16}},
          .taken_path = {}};
}

trace::Site row_site() {
  return {.name = "rows",
          .kind = trace::SiteKind::kBulk,
          .type = trace::ValueType::kU32,
          .primitive_count = 64,
          .parameters = {{.name = "x", .base = 0xa00000, .stride_bytes = 4}},
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
  header.sites.push_back(row_site());
  header.memory = {{.name = "in", .bytes = 16, .cache = trace::CacheUse::kReadOnly},
                   {.name = "out", .kind = trace::AccessKind::kStore}};
  header.remarks = {"a launch of clusters"};
  header.costs_from = trace::CostSource::kCode;
  header.instructions = {.least = 7, .taken = 8, .most = 9};
  header.times[0].state = trace::TimeState::kWarm;
  made.push_back({header, written(header, 3, 256)});
  return made;
}

std::string header_of_version_4(const trace::Header& header) {
  nlohmann::json text = nlohmann::json::parse(trace::header_to_json(header));
  for (const char* key : {"remarks", "costs_from", "instructions", "memory"}) {
    text.erase(key);
  }
  for (nlohmann::json& site : text["sites"]) {
    site.erase("kind");
    site.erase("words");
  }
  return text.dump();
}

std::string header_of_version_3(const trace::Header& header) {
  using nlohmann::json;
  json text = json::parse(header_of_version_4(header));
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
