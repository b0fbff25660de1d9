// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "traces/format/header.hpp"
#include "traces/format/writer.hpp"
#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::accelsim {

namespace {

// What one thread block may hold while it is put together. The first is the format's.
constexpr std::size_t kMostRecords = 4'194'304;
constexpr std::size_t kMostLaneEvents = 2'097'152;

trace::Header make_header(const TraceNames& names, const LaunchParts& parts,
                          std::vector<trace::Site> sites) {
  const LaunchHeader& launch = parts.header;
  trace::Header header;
  header.workload = names.workload;
  header.scene = names.scene;
  header.kernel = launch.kernel;
  header.gpu = fmt::format("unknown, of sm_{}", launch.binary_version);
  header.driver = header.cuda = "unknown";
  std::copy_n(launch.grid, 3, header.grid);
  std::copy_n(launch.block, 3, header.block);
  header.registers_per_thread = launch.registers;
  header.shared_bytes_per_cta = launch.shared_bytes;
  header.sites = std::move(sites);
  for (const auto& [name, count] : parts.counts.omitted) {
    header.omissions.push_back({.what = name, .count = count});
  }
  header.memory = parts.memory;
  header.paths = parts.ways.names();
  trace::VariantCost& baseline =
      header.costs[fmt::format("sm_{}", launch.binary_version)]["baseline"];
  baseline.paths = parts.ways.costs();
  baseline.reduce.resize(header.sites.size());
  baseline.registers = launch.registers;
  if (header.paths.empty()) {  // a trace has one at least
    header.paths.emplace_back("none");
    baseline.paths.push_back({.estimated = true});
  }
  header.total_ctas = launch.ctas();
  if (parts.ctas < header.total_ctas) {
    header.sampling = "the thread blocks that the tracer wrote";
  }
  header.provenance["source"] = trace::as_utf8(names.source.filename().string());
  header.provenance["tracer"] = fmt::format("Accel-Sim tracer version {}", launch.tracer_version);
  if (!launch.nvbit_version.empty()) {
    header.provenance["nvbit"] = launch.nvbit_version;
  }
  if (parts.counts.returning > 0) {
    header.provenance["returning"] =
        fmt::format("{} additions give back what was there, and are events as those that do not",
                    parts.counts.returning);
  }
  return header;
}

class Body {
 public:
  Body(const trace::Header& header, const std::vector<std::vector<RunSite>>& runs,
       const std::filesystem::path& file)
      : header_(header), runs_(runs), file_(file) {}

  std::uint64_t write(trace::Writer& writer, const Runs& runs, Spill& spill,
                      const trace::Step& step) {
    SpillItem item;
    do {
      spill.next(item, runs);
      if (item.kind == SpillKind::kEnd || item.kind == SpillKind::kCta) {
        if (!cta_.warps.empty()) {
          writer.add(cta_);
        }
        begin_cta(item.number);
        if (step && step(spill.done())) {
          throw trace::TraceError("writing was given up");
        }
      } else {
        take(item);
      }
    } while (item.kind != SpillKind::kEnd);
    return events_;
  }

 private:
  void begin_cta(std::uint64_t cta) {
    cta_.cta = cta;
    cta_.warps.assign(header_.warps_per_cta(), {});
    records_ = lane_events_ = 0;
  }

  void take(const SpillItem& item) {
    if (item.kind == SpillKind::kWarp) {
      warp_ = item.number;
      return;
    }
    if (item.kind == SpillKind::kEvent) {
      for (const RunSite& place : runs_[item.number]) {
        add_event(place, item.event);
      }
      return;
    }
    if (item.kind == SpillKind::kAccess) {
      add_access(item);
      return;
    }
    trace::Record record{.kind = trace::RecordKind::kBarrier};
    if (item.kind == SpillKind::kWait) {
      record = {.kind = trace::RecordKind::kWait, .site = static_cast<std::uint16_t>(item.number)};
    }
    if (item.kind == SpillKind::kWork) {
      record = {.kind = trace::RecordKind::kWork,
                .path = static_cast<std::uint16_t>(item.number),
                .count = item.count};
    }
    add(record);
  }

  void add(const trace::Record& record) {
    if (++records_ > kMostRecords || lane_events_ > kMostLaneEvents) {
      throw FileError(fmt::format("{}: thread block {} has more records than a trace has room for",
                                  file_.string(), cta_.cta));
    }
    cta_.warps[warp_].records.push_back(record);
  }

  void add_access(const SpillItem& item) {
    const SpilledAccess& access = item.access;
    std::vector<std::uint64_t>& sectors = cta_.warps[warp_].sectors;
    add({.kind = trace::RecordKind::kAccess,
         .site = static_cast<std::uint16_t>(item.number),
         .count = static_cast<std::uint32_t>(access.sectors.size()),
         .mask = access.mask,
         .values = sectors.size()});
    sectors.insert(sectors.end(), access.sectors.begin(), access.sectors.end());
  }

  void add_event(const RunSite& place, const RunEvent& event) {
    const auto lanes = static_cast<std::size_t>(std::popcount(event.mask));
    const std::uint64_t* const addresses = &event.addresses[place.members.front() * lanes];
    check(place, event, lanes);
    trace::Record record{.kind = trace::RecordKind::kEvent, .mask = event.mask};
    record.site = place.site;
    const auto primitive = [&](std::uint64_t address) {
      return static_cast<std::uint32_t>((address - place.base) / place.stride);
    };
    const bool alike = std::all_of(addresses, addresses + lanes,
                                   [&](std::uint64_t address) { return address == *addresses; });
    if (alike) {
      record.primitive = primitive(*addresses);
    } else {
      ++lane_events_;
      std::vector<std::uint32_t>& primitives = cta_.warps[warp_].lane_primitives;
      record.lane_primitives = static_cast<std::uint32_t>(primitives.size());
      primitives.resize(primitives.size() + trace::kWarpLanes, 0);
      const std::uint64_t* next = addresses;
      for (std::uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
        primitives[record.lane_primitives + static_cast<std::size_t>(std::countr_zero(rest))] =
            primitive(*next++);
      }
    }
    add(record);
    ++events_;
  }

  // That the site gives back every address.
  void check(const RunSite& place, const RunEvent& event, std::size_t lanes) const {
    const trace::Site& site = header_.sites[place.site];
    const std::uint64_t* const first = &event.addresses[place.members.front() * lanes];
    std::size_t parameter = 0;
    for (const std::size_t member : place.members) {
      const trace::Parameter& here = site.parameters[parameter];
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::uint64_t primitive = (first[lane] - place.base) / place.stride;
        if (event.addresses[member * lanes + lane] != here.base + primitive * here.stride_bytes) {
          throw trace::TraceError(
              fmt::format("site {} does not have address {:#x}, which is an error of this program",
                          site.name, event.addresses[member * lanes + lane]));
        }
      }
      // The words of an instruction lie in a row.
      do {
        ++parameter;
      } while (parameter < site.parameters.size() &&
               site.parameters[parameter].name.starts_with(here.name + "+"));
    }
  }

  const trace::Header& header_;
  const std::vector<std::vector<RunSite>>& runs_;
  const std::filesystem::path& file_;
  trace::CtaTrace cta_;
  std::size_t warp_ = 0;
  std::size_t records_ = 0;
  std::size_t lane_events_ = 0;
  std::uint64_t events_ = 0;
};

// What a trace cannot hold of the launch is wrong with its file.
template <typename Work>
auto of_file(const TraceNames& names, Work work) {
  try {
    return work();
  } catch (const std::runtime_error& error) {
    throw FileError(fmt::format("{}: {}", names.source.string(), error.what()));
  }
}

}  // namespace

std::uint64_t write_trace_file(const std::filesystem::path& path, const TraceNames& names,
                               const LaunchParts& parts, Spill& spill, const trace::Step& step,
                               const std::function<void(trace::Header&)>& complete) {
  Runs::Sites sites = of_file(names, [&] { return parts.runs.sites(); });
  trace::Header header = of_file(names, [&] {
    trace::Header made = make_header(names, parts, std::move(sites.sites));
    trace::validate_header(made);
    return made;
  });
  if (complete) {
    complete(header);
  }
  trace::Writer writer(path, header);
  spill.rewind();
  const std::uint64_t events =
      Body(header, sites.runs, names.source).write(writer, parts.runs, spill, step);
  writer.finish();
  return events;
}

}  // namespace warpfold::accelsim
