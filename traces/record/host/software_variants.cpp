// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/software_variants.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "traces/format/header.hpp"
#include "traces/record/host/variant_costs.hpp"

namespace warpfold::record {

namespace {

namespace fs = std::filesystem;

// 86 of sm_86.
int number_of(const std::string& arch) {
  int number = 0;
  const std::size_t first = std::min(arch.find_first_of("0123456789"), arch.size());
  std::from_chars(arch.data() + first, arch.data() + arch.size(), number);
  return number;
}

nlohmann::json nearest(const nlohmann::json& reductions, const std::string& arch) {
  nlohmann::json best = nlohmann::json::object();
  int least = -1;
  for (const auto& [name, entry] : reductions.items()) {
    const int apart = std::abs(number_of(name) - number_of(arch));
    if (least < 0 || apart < least) {
      best = entry;
      least = apart;
    }
  }
  return best;
}

}  // namespace

nlohmann::json read_reduction_costs() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path path = program.parent_path().parent_path() / "lib/warpfold/reduction_costs.json";
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw trace::TraceError(path.string() +
                            ": is not there: the data of warpfold are not installed with it");
  }
  std::ifstream file(path);
  if (!file) {
    throw trace::TraceError(path.string() + ": cannot be opened: " + std::strerror(errno));
  }
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) {
    throw trace::TraceError(path.string() + ": is no table of costs");
  }
  return json.value("costs", nlohmann::json::object());
}

void add_software_variants(trace::Header& header, const nlohmann::json& reductions) {
  // What is asked for does not depend on the paths, of which there may be thousands.
  trace::Header sites = header;
  sites.paths = {"any"};
  sites.costs.clear();
  for (trace::Site& site : sites.sites) {
    site.taken_path.clear();
  }
  for (auto& [arch, variants] : header.costs) {
    nlohmann::json json = nlohmann::json::parse(trace::header_to_json(sites));
    const WayCosts no_work{.whole = nlohmann::json::array({nullptr}), .parts = nullptr};
    json["costs"] = {{arch, variant_costs(sites, no_work, nearest(reductions, arch))}};
    const trace::Header filled = trace::header_from_json(json.dump());
    for (const auto& [name, cost] : filled.costs.at(arch)) {
      if (!variants.contains(name)) {
        trace::VariantCost& added = variants[name] = cost;
        added.paths = variants.at("baseline").paths;
      }
    }
  }
}

}  // namespace warpfold::record
