// SPDX-License-Identifier: Apache-2.0
#include "model/results/json.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "model/machine/config_fields.hpp"
#include "model/outcome/result_fields.hpp"
#include "model/results/energy.hpp"

namespace warpfold {
namespace {

using Json = nlohmann::ordered_json;

// Adds each parameter that visit_config shows to `out`.
struct ConfigPrinter {
  Json& out;

  void operator()(std::string_view section, std::string_view key, const std::string& value) {
    place(section, key) = value;
  }
  void operator()(std::string_view section, std::string_view key, const RuleName& value) {
    if (!value.name.empty()) {
      place(section, key) = value.name;
    }
  }
  void operator()(std::string_view section, std::string_view key, const IssueOrder& value) {
    place(section, key) = value == IssueOrder::kLooseRoundRobin ? "lrr" : "gto";
  }
  template <typename T, typename Limits>
  void operator()(std::string_view section, std::string_view key, const T& value,
                  const Limits& /*range*/) {
    place(section, key) = value;
  }

 private:
  Json& place(std::string_view section, std::string_view key) {
    Json& table = section.empty() ? out : out[std::string(section)];
    return table[std::string(key)];
  }
};

Json optional_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json measured_to_json(const RunResult& run) {
  const auto cycles = measured_cycles(run);
  if (!cycles) {
    return nullptr;
  }
  Json out;
  out["gpu"] = run.measured_gpu;
  out["ms"] = run.measured_ms;
  out["clock_mhz"] = run.measured_clock_mhz;
  if (!run.measured_state.empty()) {
    out["state"] = run.measured_state;
  }
  out["cycles"] = *cycles;
  out["ratio"] = optional_number(measured_ratio(run));
  return out;
}

Json bounds_to_json(const RunResult& run) {
  const auto tightest = tightest_bound(run);
  if (!tightest) {
    return nullptr;
  }
  Json out;
  out["cycles"] = named_values(run.bounds);
  out["even_cycles"] = named_values(run.even_bounds);
  out["tightest"] = tightest->unit;
  out["achieved"] = tightest->achieved;
  return out;
}

Json energy_to_json(const std::vector<EnergyPart>& parts) {
  Json out;
  for (const EnergyPart& part : parts) {
    out[part.name] = part.nj();
  }
  out["total"] = total_nj(parts);
  return out;
}

// Writes what visit_result shows, and what is worked out from it.
struct ResultPrinter {
  const RunResult& run;
  const Speedup& speedup;
  Json& out;

  template <typename T>
  void operator()(std::string_view key, const T& value) {
    Json* place = &out;
    for (std::size_t slash = 0; (slash = key.find('/')) != std::string_view::npos;
         key.remove_prefix(slash + 1)) {
      place = &(*place)[std::string(key.substr(0, slash))];
    }
    (*place)[std::string(key)] = json_of(value);
  }
  template <typename T>
  void if_any(std::string_view key, const T& value) {
    if (value != T()) {
      out[std::string(key)] = value;
    }
  }
  void derived(std::string_view key) {
    if (key == "costs_of") {
      if (!run.costs_of.empty() && run.costs_of != run.config.sass_arch) {
        out["costs_of"] = run.costs_of;
      }
    } else if (key == "speedup") {
      out["speedup"] = optional_number(speedup.factor);
      if (speedup.is_doubtful) {
        out["speedup_is_doubtful"] = true;
      }
    } else if (key == "bounds") {
      out["bounds"] = bounds_to_json(run);
    } else if (key == "energy_nj") {
      out["energy_nj"] = energy_to_json(energy_parts(run));
    } else if (key == "measured") {
      out["measured"] = measured_to_json(run);
    } else if (key == "config") {
      out["config"] = config_to_json(run.config);
    }
  }

 private:
  static Json json_of(const Counters& values) { return named_values(values); }
  static Json json_of(const Fractions& values) { return named_values(values); }
  template <typename T>
  static Json json_of(const T& value) {
    return value;
  }
};

Json run_to_json(const RunResult& run, const Speedup& speedup) {
  Json out;
  visit_result(ResultPrinter{.run = run, .speedup = speedup, .out = out}, run);
  return out;
}

// Runs of letters and digits, in lower case.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

std::string letters_and_digits(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  return std::accumulate(words.begin(), words.end(), std::string());
}

}  // namespace

nlohmann::ordered_json config_to_json(const GpuConfig& gpu) {
  Json out;
  visit_config(gpu, ConfigPrinter{out});
  return out;
}

namespace {

bool is_off(const RunResult& run) {
  const auto ratio = measured_ratio(run);
  return ratio && std::abs(*ratio - 1) > kMostDeviation;
}

}  // namespace

std::vector<Speedup> speedups(const std::vector<RunResult>& runs) {
  std::vector<Speedup> out;
  for (const RunResult& run : runs) {
    Speedup speedup;
    for (const RunResult& other : runs) {
      if (other.policy == "baseline" && other.trace == run.trace && other.gpu == run.gpu &&
          other.unit == run.unit && run.cycles != 0) {
        speedup = {.factor = static_cast<double>(other.cycles) / static_cast<double>(run.cycles),
                   .is_doubtful = is_off(other) || is_off(run)};
        break;
      }
    }
    out.push_back(speedup);
  }
  return out;
}

std::optional<TightestBound> tightest_bound(const RunResult& run) {
  const auto highest =
      std::max_element(run.bounds.begin(), run.bounds.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (highest == run.bounds.end()) {
    return std::nullopt;
  }
  return TightestBound{.unit = highest->first,
                       .cycles = highest->second,
                       .achieved = run.cycles == 0 ? 0
                                                   : static_cast<double>(highest->second) /
                                                         static_cast<double>(run.cycles)};
}

bool is_measured_gpu(const std::string& gpu, const std::string& measured_gpu) {
  const std::string name = letters_and_digits(gpu);
  if (name.empty()) {
    return false;
  }
  // Whole words in a row: "rtx4090" is in "NVIDIA GeForce RTX 4090", "h20" not in "NVIDIA H200".
  const std::vector<std::string> words = words_of(measured_gpu);
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string joined;
    for (std::size_t i = first; i < words.size() && joined.size() < name.size(); ++i) {
      joined += words[i];
    }
    if (joined == name) {
      return true;
    }
  }
  return false;
}

std::optional<double> measured_cycles(const RunResult& run) {
  // Negated, so that a NaN in a header counts as not measured.
  if (!(run.measured_ms > 0 && run.measured_clock_mhz > 0)) {
    return std::nullopt;
  }
  return run.measured_ms * run.measured_clock_mhz * 1e3;
}

std::optional<double> measured_ratio(const RunResult& run) {
  const auto cycles = measured_cycles(run);
  if (!cycles || !is_measured_gpu(run.gpu, run.measured_gpu)) {
    return std::nullopt;
  }
  // Times with a state are a profiler's, of the launch as a whole.
  const std::uint32_t launch = run.measured_state.empty() ? 0 : run.config.latency.launch;
  return static_cast<double>(run.cycles + launch) / *cycles;
}

std::string energies_to_json(const std::vector<RunResult>& runs, bool partial) {
  Json out;
  out["schema"] = "warpfold.energy-model/1";
  if (partial) {
    out["partial"] = true;
  }
  out["runs"] = Json::array();
  for (const RunResult& run : runs) {
    Json entry;
    entry["trace"] = run.trace;
    entry["gpu"] = run.gpu;
    entry["policy"] = run.policy;
    entry["unit_kind"] = run.unit_kind;
    entry["cycles"] = run.cycles;
    entry["gpu_part"] = run.gpu_part;
    entry["parts"] = Json::array();
    const std::vector<EnergyPart> parts = energy_parts(run);
    for (const EnergyPart& part : parts) {
      entry["parts"].push_back({{"part", part.name},
                                {"count", part.count},
                                {"per", part.per},
                                {"pj", part.pj},
                                {"nj", part.nj()}});
    }
    entry["total_nj"] = total_nj(parts);
    out["runs"].push_back(std::move(entry));
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string results_to_json(const std::vector<RunResult>& runs, bool partial) {
  const auto run_speedups = speedups(runs);
  Json out;
  out["schema"] = "warpfold.sim/1";
  if (partial) {
    out["partial"] = true;
  }
  out["runs"] = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out["runs"].push_back(run_to_json(runs[i], run_speedups[i]));
  }
  // A path need not be UTF-8; what is not is replaced.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpfold
