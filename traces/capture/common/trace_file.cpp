// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/common/trace_file.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <numeric>

#include "traces/capture/common/input.hpp"
#include "traces/format/header.hpp"
#include "traces/format/whole_file.hpp"

namespace warpfold::capture {
namespace {

std::vector<std::uint64_t> rank(std::span<const std::uint64_t> events) {
  std::vector<std::uint64_t> ranked(events.size());
  std::iota(ranked.begin(), ranked.end(), std::uint64_t{0});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](std::uint64_t a, std::uint64_t b) { return events[a] < events[b]; });
  return ranked;
}

std::vector<std::uint64_t> pick(std::span<const std::uint64_t> ranked, std::size_t count) {
  std::vector<std::uint64_t> chosen(count);
  for (std::size_t k = 0; k < count; ++k) {
    chosen[k] = ranked[(2 * k + 1) * ranked.size() / (2 * count)];
  }
  return chosen;
}

}  // namespace

nlohmann::json read_json(const std::filesystem::path& path, std::string_view schema) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot be read");
  }
  try {
    nlohmann::json json = nlohmann::json::parse(file);
    if (json.at("schema") != schema) {
      throw InputError(path.string() + ": is not " + std::string(schema));
    }
    return json;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  try {
    trace::write_whole(path, text);
  } catch (const trace::FileError& error) {
    throw InputError(error.what());
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 11> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

// The trace library takes and checks what the files hold.
trace::Header with_costs_and_times(const trace::Header& header,
                                   const std::filesystem::path& costs_path,
                                   const std::filesystem::path& times_path,
                                   const std::string& kernel) {
  trace::Header changed = header;
  if (!costs_path.empty()) {
    const auto costs = read_json(costs_path, trace::kCostsSchema);
    if (costs.value("paths", nlohmann::json()) != nlohmann::json(header.paths) ||
        costs.value("kernel", "") != kernel) {
      throw InputError(costs_path.string() + ": its paths are not those of this program");
    }
    trace::replace_costs(changed, costs.dump());
  }
  if (!times_path.empty()) {
    const auto times = read_json(times_path, trace::kTimesSchema);
    if (times.value("gpu", "") != header.gpu || times.value("scene", "") != header.scene ||
        times.value("kernel", "") != kernel) {
      throw InputError(times_path.string() + ": is of another GPU or scene");
    }
    trace::replace_times(changed, times.dump());
  }
  trace::validate_header(changed);
  return changed;
}

void mark_next_words(trace::Header& header) {
  const auto mark = [](trace::InstructionCost& cost) {
    for (trace::ResultWait& wait : cost.waits) {
      if (wait.kind == trace::ResultClass::kGlobalLoad) {
        wait.kind = trace::ResultClass::kNextWord;
      }
    }
  };
  const auto taken = static_cast<std::size_t>(
      std::find(header.paths.begin(), header.paths.end(), header.sites.at(0).taken_path) -
      header.paths.begin());
  for (auto& [arch, variants] : header.costs) {
    for (auto& [name, variant] : variants) {
      mark(variant.paths.at(taken));
      for (auto& [segment, cost] : variant.reduce.at(0)) {
        mark(cost);
      }
    }
  }
}

std::vector<std::uint64_t> choose_ctas(std::span<const std::uint64_t> events, std::size_t count) {
  auto chosen = pick(rank(events), std::min(count, events.size()));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::uint64_t> choose_ctas(std::span<const std::uint64_t> events,
                                       std::span<const std::uint64_t> bytes, std::uint64_t budget) {
  const auto ranked = rank(events);
  const auto total = [&](std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      sum += bytes[ranked[(2 * k + 1) * ranked.size() / (2 * count)]];
    }
    return sum;
  };
  std::size_t count = events.size();
  while (count > 1 && total(count) > budget) {
    --count;
  }
  auto chosen = pick(ranked, count);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::string describe_sampling(std::size_t chosen, std::size_t all) {
  if (chosen == all) {
    return {};
  }
  return std::to_string(chosen) + " of " + std::to_string(all) +
         " CTAs, whole, evenly spaced over the CTAs ranked by (events, index)";
}

void renew_manifest(const std::filesystem::path& path,
                    const std::vector<trace::ManifestEntry>& entries) {
  std::vector<trace::ManifestEntry> all;
  if (std::filesystem::exists(path)) {
    all = trace::read_manifest(path);
  }
  for (const trace::ManifestEntry& entry : entries) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const trace::ManifestEntry& other) {
      return other.file == entry.file;
    });
    if (same == all.end()) {
      all.push_back(entry);
    } else {
      *same = entry;
    }
  }
  write_text(path, trace::manifest_to_json(all));
}

}  // namespace warpfold::capture
