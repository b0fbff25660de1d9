// SPDX-License-Identifier: Apache-2.0
// `warpfold trace info`.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "traces/format/commands.hpp"
#include "traces/format/header.hpp"
#include "traces/format/header_fields.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::trace {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kMostPathsShown = 100;
constexpr std::size_t kMostMemoryShown = 100;

ordered_json stats_to_json(const TraceStats& stats, const Header& header) {
  ordered_json passes = ordered_json::object();
  for (std::size_t p = 0; p < header.paths.size(); ++p) {
    passes[header.paths[p]] = stats.work_passes[p];
  }
  ordered_json out;
  out["ctas"] = stats.ctas;
  out["warps"] = stats.warps;
  out["warps_with_events"] = stats.warps_with_events;
  out["barriers"] = stats.barriers;
  out["work_records"] = stats.work_records;
  out["work_passes"] = std::move(passes);
  out["sites"] = ordered_json::array();
  for (std::size_t s = 0; s < stats.sites.size(); ++s) {
    out["sites"].push_back({{"name", header.sites[s].name},
                            {"events", stats.sites[s].events},
                            {"active_lanes", stats.sites[s].active_lanes},
                            {"mean_active_lanes", stats.sites[s].mean_active_lanes()},
                            {"distinct_primitives", stats.sites[s].distinct_primitives}});
  }
  for (std::size_t m = 0; m < stats.memory.size(); ++m) {
    out["memory"].push_back({{"name", header.memory[m].name},
                             {"accesses", stats.memory[m].accesses},
                             {"active_lanes", stats.memory[m].active_lanes},
                             {"sectors", stats.memory[m].sectors},
                             {"waits", stats.memory[m].waits}});
  }
  out["events"] = stats.events;
  out["lane_atomics"] = stats.lane_atomics;
  out["active_lanes"] = stats.active_lanes;
  out["mean_active_lanes"] = stats.mean_active_lanes();
  out["full_events"] = stats.full_events;
  out["one_address_events"] = stats.one_address_events;
  out["one_address_share"] = stats.one_address_share();
  out["active_histogram"] = stats.active_histogram;
  out["distinct_primitives"] = stats.distinct_primitives;
  out["cta_primitive_pairs"] = stats.cta_primitive_pairs;
  out["warp_primitive_pairs"] = stats.warp_primitive_pairs;
  out["mean_warps_per_pair"] = stats.mean_warps_per_pair();
  return out;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Issue slots of the paths and of the reduction code at each site, and which of them are estimated.
std::string cost_text(const Header& header, const VariantCost& variant) {
  std::string text = fmt::format("{} registers;", variant.registers);
  std::string estimated;
  const auto add = [&](std::string_view name, const InstructionCost& cost) {
    text += fmt::format(" {} {}", name, cost.issue_slots());
    if (cost.estimated) {
      estimated += fmt::format("{} {}", estimated.empty() ? "; estimated:" : ",", name);
    }
  };
  for (std::size_t p = 0; p < std::min(header.paths.size(), kMostPathsShown); ++p) {
    add(header.paths[p], variant.paths[p]);
  }
  if (header.paths.size() > kMostPathsShown) {
    text += " ...";
  }
  for (std::size_t s = 0; s < variant.reduce.size(); ++s) {
    const std::string of_site =
        header.sites.size() == 1 ? "" : fmt::format("{}/", header.sites[s].name);
    for (const auto& [segment, cost] : variant.reduce[s]) {
      text += ',';
      add(of_site + segment, cost);
    }
  }
  return text + " issue slots" + estimated;
}

std::string info_text(const Reader& reader, const TraceStats& stats) {
  const Header& header = reader.header();
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", name, value);
  };
  text += fmt::format("{}\n", reader.path().string());
  line("file", fmt::format("{} bytes, xxh64 {}, {} chunks", reader.file_bytes(), reader.file_hash(),
                           reader.chunk_count()));
  line("workload",
       fmt::format("{}, scene {}, kernel {}", header.workload, header.scene, header.kernel));
  line("captured on",
       fmt::format("{}, driver {}, CUDA {}", header.gpu, header.driver, header.cuda));
  line("launch",
       fmt::format("grid {}x{}x{}, block {}x{}x{}, {} registers, {} bytes shared", header.grid[0],
                   header.grid[1], header.grid[2], header.block[0], header.block[1],
                   header.block[2], header.registers_per_thread, header.shared_bytes_per_cta));
  line("sampling", header.sampling.empty() ? "whole launch" : header.sampling);
  if (header.sample_every > 1) {
    line("", fmt::format("stands for the launch on 1/{} of a GPU", header.sample_every));
  }
  line("values", header.values == ValueMode::kOperands ? "operands" : "none");
  for (std::size_t s = 0; s < header.sites.size(); ++s) {
    const auto name_of = [&](std::string_view what) {
      return header.sites.size() == 1 ? std::string(what) : fmt::format("{} {}", what, s);
    };
    const Site& site = header.sites[s];
    const SiteStats& found = stats.sites[s];
    const std::string vector = site.words > 1 ? fmt::format(" x {}", site.words) : "";
    const std::string kind =
        site.kind == SiteKind::kRed
            ? ""
            : fmt::format("{} of ", kSiteKinds.at(static_cast<std::size_t>(site.kind)));
    line(name_of("site"),
         fmt::format("{}: {}{}{}, {} events, mean {:.2f} lanes, {}", site.name, kind,
                     kValueTypes.at(static_cast<std::size_t>(site.type)), vector, found.events,
                     found.mean_active_lanes(),
                     site.taken_path.empty() ? "reached by passes without event"
                                             : fmt::format("pass {}", site.taken_path)));
    line("primitives",
         fmt::format("{}, {} with an event", site.primitive_count, found.distinct_primitives));
    std::string names;
    for (const Parameter& parameter : site.parameters) {
      names += (names.empty() ? "" : " ") + parameter.name;
    }
    line("parameters", fmt::format("{}: {}", site.parameters.size(), names));
  }
  for (std::size_t m = 0; m < std::min(header.memory.size(), kMostMemoryShown); ++m) {
    const MemorySite& site = header.memory[m];
    const MemoryStats& found = stats.memory[m];
    const auto each = [&](std::uint64_t of) {
      return found.accesses == 0 ? 0.0
                                 : static_cast<double>(of) / static_cast<double>(found.accesses);
    };
    line(
        m == 0 ? "memory" : "",
        fmt::format("{}: {} of {} bytes, {}, {} times, mean {:.2f} lanes, {:.2f} sectors, {} waits",
                    site.name, kAccessKinds.at(static_cast<std::size_t>(site.kind)), site.bytes,
                    kCacheUses.at(static_cast<std::size_t>(site.cache)), found.accesses,
                    each(found.active_lanes), each(found.sectors), found.waits));
  }
  if (header.memory.size() > kMostMemoryShown) {
    line("",
         fmt::format("and {} others, which --json has", header.memory.size() - kMostMemoryShown));
  }
  for (const Array& array : header.arrays) {
    line("array", fmt::format("{}: {} bytes at {:#x}", array.name, array.bytes, array.base));
  }
  for (const Omission& omission : header.omissions) {
    line("left out", fmt::format("{} x {}", omission.count, omission.what));
  }
  if (const std::string warning = address_warning(header); !warning.empty()) {
    line("warning", warning);
  }
  for (const std::string& remark : header.remarks) {
    line("remark", remark);
  }
  line("CTAs", fmt::format("{} of {}", stats.ctas, header.total_ctas));
  line("warps", fmt::format("{}, {} with an event", stats.warps, stats.warps_with_events));
  line("events", fmt::format("{}", stats.events));
  line("lane atomics", fmt::format("{}", stats.lane_atomics));
  line("active lanes", fmt::format("mean {:.2f}, all {} in {:.1f} %", stats.mean_active_lanes(),
                                   kWarpLanes, percent(stats.full_events, stats.events)));
  line("one address", fmt::format("{:.1f} % of events", 100.0 * stats.one_address_share()));
  line("(CTA, primitive)", fmt::format("{} pairs, mean {:.2f} active warps",
                                       stats.cta_primitive_pairs, stats.mean_warps_per_pair()));
  line("barriers", fmt::format("{}, summed over warps", stats.barriers));
  for (std::size_t p = 0; p < std::min(header.paths.size(), kMostPathsShown); ++p) {
    line(p == 0 ? "passes without event" : "",
         fmt::format("{:>12}  {}", stats.work_passes[p], header.paths[p]));
  }
  if (header.paths.size() > kMostPathsShown) {
    line("", fmt::format("and {} other paths, which --json has",
                         header.paths.size() - kMostPathsShown));
  }
  text += "  events by active lanes\n";
  for (std::size_t n = 1; n < stats.active_histogram.size(); ++n) {
    text += fmt::format("    {:>2} {:>12} {:>5.1f} %\n", n, stats.active_histogram[n],
                        percent(stats.active_histogram[n], stats.events));
  }
  for (const auto& [machine, variants] : header.costs) {
    for (const auto& [name, variant] : variants) {
      text += fmt::format("  cost {} {}: {}\n", machine, name, cost_text(header, variant));
    }
  }
  for (const VariantTime& time : header.times) {
    line("time",
         fmt::format("{}: {:.4f} ms ({:.4f}..{:.4f}, {} runs) at {:.0f} MHz{}", time.policy,
                     time.median_ms, time.min_ms, time.max_ms, time.runs, time.sm_clock_mhz,
                     time.gpu.empty() ? "" : ", on " + time.gpu) +
             (time.state == TimeState::kUnknown
                  ? ""
                  : fmt::format(", {}", kTimeStates.at(static_cast<std::size_t>(time.state)))));
  }
  if (header.costs_from != CostSource::kUnsaid) {
    line("costs", header.costs_from == CostSource::kCounts
                      ? "held to how often the GPU issued each instruction"
                      : "of the machine code alone");
  }
  if (const InstructionBounds& bounds = header.instructions; bounds.most > 0) {
    line("warp instructions",
         bounds.least == bounds.most
             ? fmt::format("{}", bounds.taken)
             : fmt::format("{}, at least {}, at most {}", bounds.taken, bounds.least, bounds.most));
  }
  for (const auto& [key, value] : header.provenance) {
    line(key, value);
  }
  return text;
}

}  // namespace

int trace_info(const std::vector<fs::path>& paths, bool json, std::ostream& out,
               const Progress& progress) {
  FileShares shares(paths, progress);
  ordered_json all;
  all["schema"] = "warpfold.trace-info/1";
  all["traces"] = ordered_json::array();
  for (const fs::path& path : paths) {
    const Reader reader(path);
    const TraceStats stats = collect_stats(reader, [&](double share) { shares.at(path, share); });
    shares.finished(path);
    if (!json) {
      out << info_text(reader, stats);
      continue;
    }
    ordered_json entry;
    entry["file"] = path.string();
    entry["xxh64"] = reader.file_hash();
    entry["bytes"] = reader.file_bytes();
    entry["format_version"] = reader.format_version();
    entry["header"] = ordered_json::parse(header_to_json(reader.header()));
    entry["stats"] = stats_to_json(stats, reader.header());
    all["traces"].push_back(std::move(entry));
  }
  if (json) {
    out << all.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  }
  return 0;
}

}  // namespace warpfold::trace
