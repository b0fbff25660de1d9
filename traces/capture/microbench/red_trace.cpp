// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/red_trace.hpp"

#include <algorithm>
#include <string>

#include "traces/format/writer.hpp"

namespace warpfold::microbench {
namespace {

constexpr std::uint64_t kBase = 1ULL << 32U;

// The REDs of an iteration go to one array nine times over, not to nine arrays.
bool one_array(const RedPattern& pattern) {
  return std::all_of(pattern.offset, pattern.offset + kReds,
                     [&](std::uint64_t offset) { return offset == pattern.offset[0]; });
}

// CTAs of a benchmark wait until the last one has come, and each sees that when it looks next. On
// an H100, whose timer steps 32 ns, the middle one goes on 64 to 128 ns after the first and the
// last one 224 to 320 ns, most often 288, 570 cycles at 1.98 GHz (middle_start_ns and last_start_ns
// of 373 cases). 130 of them are the model's own, which begins one CTA a cycle.
constexpr std::uint32_t kLookCycles = 16;
constexpr std::uint32_t kLooks = 400 / kLookCycles;

// How many of kLookCycles a CTA begins after the first: any number below kLooks, the same in each
// trace (Knuth's multiplicative hash).
std::uint32_t looks_of(std::uint32_t cta) {
  return static_cast<std::uint32_t>(std::uint64_t{cta * 2654435769U} * kLooks >> 32U);
}

// What the loop of kernels_red.cuh takes beside its REDs: an address for each (IMAD.WIDE), two
// additions, the mask, a comparison and a branch.
trace::VariantCost loop_cost(bool one_array) {
  trace::InstructionCost turn;
  turn.alu = one_array ? 1 : kReds + 2;
  turn.integer = one_array ? 0 : 4;
  turn.branches = one_array ? 0 : 1;
  turn.stall_cycles = turn.alu + turn.integer;
  trace::VariantCost cost;
  cost.paths = {turn, look_cost()};
  cost.reduce = {{{"plain", {}}}};
  cost.registers = 32;
  return cost;
}

}  // namespace

trace::Header microbench_header(const std::string& scene, const std::string& kernel) {
  trace::Header header;
  header.workload = "microbench";
  header.scene = scene;
  header.kernel = kernel;
  header.gpu = "none";
  header.driver = "none";
  header.cuda = "none";
  header.registers_per_thread = 32;
  return header;
}

trace::InstructionCost look_cost() {
  trace::InstructionCost look;
  look.alu = 1;
  look.stall_cycles = kLookCycles;
  return look;
}

void add_looks(std::uint64_t cta, trace::WarpTrace& warp) {
  if (const std::uint32_t looks = looks_of(static_cast<std::uint32_t>(cta)); looks > 0) {
    trace::Record waits;
    waits.kind = trace::RecordKind::kWork;
    waits.path = 1;
    waits.count = looks;
    warp.records.push_back(waits);
  }
}

trace::Header red_trace_header(const RedCase& one, int sms) {
  const int ctas = one.warps <= 32 ? 1 : one.warps / 16;  // of an SM, as Harness::place has it
  trace::Header header = microbench_header(one.name, "red_throughput");
  header.grid[0] = static_cast<std::uint32_t>(one.whole_gpu ? ctas * sms : ctas);
  header.block[0] = static_cast<std::uint32_t>(one.warps / ctas * trace::kWarpLanes);
  header.total_ctas = header.grid[0];
  const RedPattern& pattern = one.pattern;
  const bool array = one_array(pattern);
  trace::Site site{.name = header.kernel,
                   .primitive_count = std::uint64_t{pattern.mask} + 1 +
                                      *std::max_element(pattern.lane, pattern.lane + 32),
                   .parameters = {},
                   .taken_path = "iteration"};
  for (int a = 0; a < (array ? 1 : kReds); ++a) {
    site.parameters.push_back(
        {"array " + std::to_string(a), kBase + pattern.offset[a], pattern.scale[a]});
  }
  header.sites.push_back(std::move(site));
  header.paths = {"iteration", "look"};
  for (const char* arch : {"sm_86", "sm_89", "sm_90"}) {
    header.costs[arch]["baseline"] = loop_cost(array);
  }
  return header;
}

void write_red_trace(const RedCase& one, int sms, const std::filesystem::path& path) {
  if (one.subcores != 4) {
    throw trace::TraceError(one.name + ": a trace does not say which sub-core a warp is on");
  }
  const trace::Header header = red_trace_header(one, sms);
  const RedPattern& pattern = one.pattern;
  const std::uint32_t* const lane = pattern.lane;
  const bool uniform = std::adjacent_find(lane, lane + 32, std::not_equal_to<>()) == lane + 32;
  const int events = one.iterations * (one_array(pattern) ? kReds : 1);
  trace::Writer writer(path, header, {.zstd_level = 1});
  trace::CtaTrace cta;
  cta.warps.resize(header.warps_per_cta());
  for (cta.cta = 0; cta.cta < header.total_ctas; ++cta.cta) {
    for (std::size_t w = 0; w < cta.warps.size(); ++w) {
      trace::WarpTrace warp;
      if (one.whole_gpu) {
        add_looks(cta.cta, warp);
      }
      auto place = static_cast<std::uint32_t>(cta.cta * cta.warps.size() + w) * pattern.warp_step;
      for (int i = 0; i < events; ++i) {
        const std::uint32_t primitive = place & pattern.mask;
        trace::Record event;
        event.kind = trace::RecordKind::kEvent;
        event.mask = pattern.active;
        event.primitive = primitive + (uniform ? lane[0] : 0);
        if (!uniform) {
          event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
          for (int l = 0; l < trace::kWarpLanes; ++l) {
            const bool active = (pattern.active >> l & 1U) != 0;
            warp.lane_primitives.push_back(active ? primitive + lane[l] : 0);
          }
          event.primitive = 0;
        }
        warp.records.push_back(event);
        // With one array kReds events are one iteration.
        if (!one_array(pattern) || i % kReds == kReds - 1) {
          place += pattern.step;
        }
      }
      cta.warps[w] = std::move(warp);
    }
    writer.add(cta);
  }
  writer.finish();
}

}  // namespace warpfold::microbench
