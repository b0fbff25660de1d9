// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/trace_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "traces/format/header.hpp"
#include "traces/format/writer.hpp"
#include "traces/record/host/variant_costs.hpp"
#include "traces/record/protocol.hpp"

namespace warpfold::record {

namespace {

// The allocations that parameters lie in. Without those of all parameters there are none.
std::vector<trace::Array> arrays_of(const LaunchInfo& launch,
                                    const std::vector<trace::Site>& sites) {
  std::map<std::uint64_t, trace::Array> found;
  for (const trace::Site& site : sites) {
    for (const trace::Parameter& parameter : site.parameters) {
      auto next = launch.allocations.upper_bound(parameter.base);
      if (next == launch.allocations.begin()) {
        return {};
      }
      const auto& [base, bytes] = *std::prev(next);
      const std::uint64_t end = parameter.base +
                                (site.primitive_count - 1) * parameter.stride_bytes +
                                trace::bytes_of(site.type);
      if (end > base + bytes) {
        return {};
      }
      const auto name = launch.array_names.find(base);
      found[base] = {.name = name != launch.array_names.end()
                                 ? name->second
                                 : fmt::format("allocation at {:#x}", base),
                     .base = base,
                     .bytes = bytes};
    }
  }
  std::vector<trace::Array> result;
  for (auto& [base, array] : found) {
    result.push_back(std::move(array));
  }
  return result;
}

class Builder {
 public:
  Builder(const BuildInputs& inputs, const LaunchShape& shape) : in_(inputs), shape_(shape) {
    name_memory();
    lay_paths();
    sites_ = find_sites(in_.code, in_.tracker, all_events());
    count_passes();
    count_instructions();
  }

  BuiltTrace write(const std::filesystem::path& path) {
    const trace::Header header = make_header();
    trace::Writer writer(path, header);
    for (std::uint64_t place = 0; place < shape_.recorded_ctas(); ++place) {
      if (in_.stop && in_.stop()) {
        throw trace::TraceError("interrupted while it was written");
      }
      trace::CtaTrace cta{.cta = shape_.cta(place), .warps = {}};
      for (std::uint32_t warp = 0; warp < shape_.warps_per_cta; ++warp) {
        cta.warps.push_back(make_warp(in_.tracker.warp(place, warp)));
      }
      writer.add(cta);
    }
    writer.finish();
    result_.sites = header.sites.size();
    return result_;
  }

 private:
  // Calls visit(record) for all of the log.
  template <typename Visit>
  void for_each_record(Visit visit) const {
    for (std::uint64_t place = 0; place < shape_.recorded_ctas(); ++place) {
      for (std::uint32_t warp = 0; warp < shape_.warps_per_cta; ++warp) {
        for (const LogRecord& record : in_.tracker.warp(place, warp)) {
          visit(record);
        }
      }
    }
  }

  // Loads and stores that have records.
  void name_memory() {
    std::set<std::uint32_t> met;
    for_each_record([&](const LogRecord& record) {
      if (record.kind == LogRecord::Kind::kAccess) {
        met.insert(record.index);
      }
    });
    if (met.size() > kMostMemory) {
      throw trace::TraceError(
          fmt::format("{} places load or store, and a trace has {} at most: --loads none leaves "
                      "them out",
                      met.size(), kMostMemory));
    }
    for (const std::uint32_t at : met) {
      const auto number = static_cast<InstructionNumber>(at);
      const auto& access = in_.code.instructions[at].access;
      if (!access) {
        throw trace::TraceError("a record of the launch makes no sense");
      }
      memory_of_[number] = static_cast<std::uint16_t>(memory_.size());
      memory_.push_back(*access);
      memory_.back().name =
          fmt::format("{}: {} {}", memory_.size() - 1, in_.code.place(number), access->name);
    }
  }

  // Each way is a path, or several between which it waits.
  void lay_paths() {
    std::size_t number = 0;
    for (const WayIndex way : in_.tracker.ways_gone()) {
      const auto markers = in_.tracker.ways().markers(way);
      const std::string name =
          fmt::format("{} to {}", in_.code.place(markers.front()), in_.code.place(markers.back()));
      WaySteps& steps = ways_[way];
      steps.number = number;
      const nlohmann::json parts =
          in_.way_costs.parts.is_null() ? nlohmann::json() : in_.way_costs.parts.at(number);
      ++number;
      if (parts.is_null()) {
        steps.steps.push_back({.waits_for = {}, .path = add_path(name)});
        continue;
      }
      for (const nlohmann::json& part : parts) {
        WayStep& step = steps.steps.emplace_back();
        for (const nlohmann::json& offset : part.at("loads")) {
          const auto found =
              memory_of_.find(offset.get<std::int32_t>() / static_cast<int>(kInstructionBytes));
          if (found != memory_of_.end()) {
            step.waits_for.push_back(found->second);
          }
        }
        if (!part.at("cost").is_null()) {
          step.path = add_path(name);
        }
      }
    }
  }

  std::uint16_t add_path(const std::string& name) {
    if (paths_.size() >= kMostPaths) {
      throw trace::TraceError("there are more ways through the kernel than a trace can name");
    }
    paths_.push_back(fmt::format("{}: {}", paths_.size(), name));
    return static_cast<std::uint16_t>(paths_.size() - 1);
  }

  [[nodiscard]] std::vector<LogRecord> all_events() const {
    std::vector<LogRecord> events;
    for_each_record([&](const LogRecord& record) {
      if (record.kind == LogRecord::Kind::kEvent) {
        events.push_back(record);
      }
    });
    if (events.empty()) {
      throw trace::TraceError("the launch added nothing");
    }
    return events;
  }

  // What the trace does not have, or the model does not do.
  [[nodiscard]] std::vector<std::string> remarks(const trace::Header& header) const {
    std::vector<std::string> result;
    const LaunchInfo& launch = in_.launch;
    if (std::uint64_t{launch.cluster[0]} * launch.cluster[1] * launch.cluster[2] > 1) {
      result.push_back(fmt::format(
          "launched in clusters of {}x{}x{} CTAs, which are simulated as CTAs that wait for none",
          launch.cluster[0], launch.cluster[1], launch.cluster[2]));
    }
    if (launch.cooperative) {
      result.emplace_back(
          "a cooperative launch, whose CTAs are simulated as ones that wait for none");
    }
    if (launch.in_graph) {
      result.emplace_back(
          "launched by a graph, so shared memory that the launch asked for is not counted");
    }
    for (const trace::Array& array : header.arrays) {
      if (launch.managed.contains(array.base)) {
        result.emplace_back("adds to managed memory, whose pages may move while it runs");
        break;
      }
    }
    std::size_t unreported = 0;
    for (const Instruction& instruction : in_.code.instructions) {
      unreported += instruction.atomic && !instruction.atomic->is_reported ? 1U : 0U;
    }
    if (unreported > 0) {
      result.push_back(fmt::format(
          "lacks what {} instructions add from shared memory, which the recorder does not see",
          unreported));
    }
    return result;
  }

  trace::Header make_header() {
    trace::Header header;
    header.workload = in_.workload;
    header.scene = in_.scene;
    header.kernel = in_.launch.function;
    header.gpu = in_.launch.gpu;
    header.driver = in_.launch.driver;
    header.cuda = in_.launch.cuda;
    std::copy_n(in_.launch.grid, 3, header.grid);
    std::copy_n(in_.launch.block, 3, header.block);
    header.registers_per_thread = in_.launch.registers;
    header.shared_bytes_per_cta = in_.launch.shared_bytes;
    header.sites = sites_.sites;
    header.arrays = arrays_of(in_.launch, sites_.sites);
    header.times = in_.times;
    header.costs_from = in_.costs_from;
    if (in_.costs_from != trace::CostSource::kUnsaid) {
      header.instructions = result_.instructions;
    }
    header.omissions = omissions();
    header.remarks = remarks(header);
    header.memory = memory_;
    header.paths = paths_;
    header.values =
        in_.tracker.has_operands() ? trace::ValueMode::kOperands : trace::ValueMode::kNone;
    header.total_ctas = shape_.ctas;
    header.sample_every = shape_.every;
    if (shape_.every > 1) {
      header.sampling = fmt::format("the middle one of each {} CTAs", shape_.every);
    }
    header.provenance = in_.provenance;
    nlohmann::json json = nlohmann::json::parse(trace::header_to_json(header));
    json["costs"] = {{in_.code.arch, variant_costs(header, in_.way_costs,
                                                   in_.reductions.value(
                                                       in_.code.arch, nlohmann::json::object()))}};
    return trace::header_from_json(json.dump());
  }

  std::vector<trace::Omission> omissions() {
    std::vector<trace::Omission> result;
    for (const auto& [at, count] : in_.tracker.other_atomics()) {
      const Atomic& atomic = *in_.code.instructions[static_cast<std::size_t>(at)].atomic;
      result.push_back(
          {.what = fmt::format("{} at {}", atomic.name, in_.code.place(at)), .count = count});
    }
    if (in_.tracker.partial_barriers() > 0) {
      result.push_back(
          {.what = "barriers of a part of the CTA", .count = in_.tracker.partial_barriers()});
    }
    return result;
  }

  trace::WarpTrace make_warp(const std::vector<LogRecord>& log) {
    trace::WarpTrace warp;
    for (const LogRecord& record : log) {
      switch (record.kind) {
        case LogRecord::Kind::kWay:
          add_work(record, warp);
          break;
        case LogRecord::Kind::kAccess:
          add_access(record, warp);
          break;
        case LogRecord::Kind::kBarrier:
          warp.records.push_back({.kind = trace::RecordKind::kBarrier});
          break;
        case LogRecord::Kind::kEvent:
          add_events(record, warp);
          break;
      }
    }
    return warp;
  }

  // A way that waits nowhere is one record however often it was gone.
  void add_work(const LogRecord& record, trace::WarpTrace& warp) const {
    const std::vector<WayStep>& steps = ways_.at(record.index).steps;
    const bool waits = steps.size() > 1 || !steps.front().waits_for.empty();
    for (std::uint32_t pass = 0; pass < (waits ? record.count : 1); ++pass) {
      for (const WayStep& step : steps) {
        for (const std::uint16_t site : step.waits_for) {
          warp.records.push_back({.kind = trace::RecordKind::kWait, .site = site});
        }
        if (step.path) {
          warp.records.push_back({.kind = trace::RecordKind::kWork,
                                  .path = *step.path,
                                  .count = waits ? 1 : record.count});
        }
      }
    }
  }

  void add_access(const LogRecord& record, trace::WarpTrace& warp) {
    trace::Record access{.kind = trace::RecordKind::kAccess, .mask = record.count};
    access.site = memory_of_.at(static_cast<InstructionNumber>(record.index));
    access.values = warp.sectors.size();
    for (const std::uint64_t entry : in_.tracker.lines(record)) {
      for (std::uint32_t s = 0; s < kLineSectors; ++s) {
        if ((entry >> s & 1U) != 0) {
          warp.sectors.push_back((entry >> kLineSectors) * kLineSectors + s);
        }
      }
    }
    access.count = static_cast<std::uint32_t>(warp.sectors.size() - access.values);
    warp.records.push_back(access);
    ++result_.accesses;
    result_.sectors += access.count;
  }

  // A row of shared memory, line by line: a lane for each element.
  void add_row(const LogRecord& record, const Run& run, trace::WarpTrace& warp) {
    constexpr std::uint64_t kLine = 128;
    const RunSite& place = sites_.runs[record.index].front();
    const std::uint64_t bytes = place.stride_bytes;
    const std::uint64_t begin = in_.tracker.addresses()[record.addresses];
    const std::uint64_t end = begin + std::uint64_t{run.row} * kRowUnit;
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t stop = std::min(end, at / kLine * kLine + kLine);
      const auto elements = static_cast<std::uint32_t>((stop - at) / bytes);
      trace::Record event{.kind = trace::RecordKind::kEvent, .mask = ~0U >> (32U - elements)};
      event.site = place.site;
      event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
      warp.lane_primitives.resize(warp.lane_primitives.size() + trace::kWarpLanes, 0);
      for (std::uint32_t lane = 0; lane < elements; ++lane) {
        warp.lane_primitives[event.lane_primitives + lane] = place.primitive(at + lane * bytes);
      }
      warp.records.push_back(event);
      ++result_.events;
      result_.lane_additions += elements;
      at = stop;
    }
  }

  void add_events(const LogRecord& record, trace::WarpTrace& warp) {
    const auto lanes = static_cast<std::size_t>(std::popcount(record.count));
    const Run& run = in_.tracker.runs()[record.index];
    if (run.row > 0) {
      add_row(record, run, warp);
      return;
    }
    for (const RunSite& place : sites_.runs[record.index]) {
      trace::Record event{.kind = trace::RecordKind::kEvent, .mask = record.count};
      event.site = place.site;
      const std::size_t each = record.uniform ? 1 : lanes;
      const std::uint64_t* addresses =
          &in_.tracker.addresses()[record.addresses + place.instructions.front() * each];
      const bool alike = std::all_of(addresses, addresses + each,
                                     [&](std::uint64_t address) { return address == *addresses; });
      if (alike) {
        event.primitive = place.primitive(*addresses);
      } else {
        event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
        warp.lane_primitives.resize(warp.lane_primitives.size() + trace::kWarpLanes, 0);
        std::uint32_t* primitives = &warp.lane_primitives[event.lane_primitives];
        for (std::uint32_t rest = record.count; rest != 0; rest &= rest - 1) {
          primitives[std::countr_zero(rest)] = place.primitive(*addresses++);
        }
      }
      if (in_.tracker.has_operands()) {
        event.values = warp.values.size();
        const std::size_t words = lanes * trace::words_of(sites_.sites[place.site].type);
        const std::span<const std::uint32_t> operands = in_.tracker.operands(record);
        for (const std::size_t i : place.instructions) {
          const auto of_one = operands.subspan(i * words, words);
          warp.values.insert(warp.values.end(), of_one.begin(), of_one.end());
        }
      }
      warp.records.push_back(event);
      ++result_.events;
      result_.lane_additions += lanes * sites_.sites[place.site].parameters.size();
    }
  }

  // How often each way was gone, and what is in none.
  void count_passes() {
    for_each_record([&](const LogRecord& record) {
      switch (record.kind) {
        case LogRecord::Kind::kWay:
          passes_[ways_.at(record.index).number] += record.count;
          break;
        case LogRecord::Kind::kBarrier:
        case LogRecord::Kind::kAccess:
          ++result_.instructions_beside;
          break;
        case LogRecord::Kind::kEvent:
          result_.instructions_beside += in_.tracker.runs()[record.index].instructions.size();
          break;
      }
    });
    for (const auto& [at, count] : in_.tracker.other_atomics()) {
      result_.instructions_beside += count;
    }
  }

  void count_instructions() {
    std::uint64_t estimated = 0;
    trace::InstructionBounds& all = result_.instructions;
    all = {.least = result_.instructions_beside,
           .taken = result_.instructions_beside,
           .most = result_.instructions_beside};
    for (const auto& [way, count] : passes_) {
      const nlohmann::json& cost = in_.way_costs.whole.at(way);
      const SlotBounds slots = slot_bounds(cost);
      all.least += slots.least * count;
      all.taken += slots.taken * count;
      all.most += slots.most * count;
      estimated += cost.is_null() || cost.value("estimated", false) ? slots.taken * count : 0;
      result_.lost_passes += cost.is_null() ? count : 0;
    }
    if (all.taken > 0) {
      result_.estimated = static_cast<double>(estimated) / static_cast<double>(all.taken);
    }
  }

  const BuildInputs& in_;
  const LaunchShape shape_;
  Sites sites_;
  // What a warp does along a way: it waits for loads, then goes a path, if that takes anything.
  struct WayStep {
    std::vector<std::uint16_t> waits_for;
    std::optional<std::uint16_t> path;
  };
  struct WaySteps {
    std::size_t number = 0;  // among the ways that were gone
    std::vector<WayStep> steps;
  };
  static constexpr std::size_t kMostMemory = 4096;
  static constexpr std::size_t kMostPaths = 65535;
  std::map<WayIndex, WaySteps> ways_;
  std::vector<std::string> paths_;
  std::map<InstructionNumber, std::uint16_t> memory_of_;
  std::vector<trace::MemorySite> memory_;
  std::map<std::size_t, std::uint64_t> passes_;  // by number of the way
  BuiltTrace result_;
};

}  // namespace

LaunchShape LaunchInfo::shape(std::uint32_t every) const {
  return {
      .ctas = std::uint64_t{grid[0]} * grid[1] * grid[2],
      .warps_per_cta = (block[0] * block[1] * block[2] + trace::kWarpLanes - 1) / trace::kWarpLanes,
      .every = every};
}

BuiltTrace build_trace(const BuildInputs& inputs, const LaunchShape& shape,
                       const std::filesystem::path& path) {
  return Builder(inputs, shape).write(path);
}

}  // namespace warpfold::record
