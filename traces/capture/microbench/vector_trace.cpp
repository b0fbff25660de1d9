// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/vector_trace.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "traces/capture/microbench/red_trace.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::microbench {
namespace {

constexpr std::uint64_t kBase = 1ULL << 32U;
constexpr std::uint32_t kLineBytes = 128;

// Bytes of a primitive of the trace: all places where lanes begin to add are a multiple of that.
std::uint32_t unit_of(const VectorPattern& pattern) {
  std::uint32_t unit = pattern.mask == 0 ? 0 : pattern.scale;
  for (const std::uint32_t lane : pattern.lane) {
    unit = std::gcd(unit, lane);
  }
  return unit == 0 ? kLineBytes : unit;
}

std::uint32_t arrays_of(const VectorPattern& pattern) {
  return pattern.array == 0 ? 1 : kVectorArrays;
}

// Beside the REDs of an operation: the address of the next array.
trace::VariantCost loop_cost() {
  trace::InstructionCost operation;
  operation.alu = 1;
  operation.integer = 2;
  operation.stall_cycles = 5;
  trace::VariantCost cost;
  cost.paths = {operation, look_cost()};
  cost.reduce.assign(kVectorArrays, {{"plain", {}}});
  cost.registers = 32;
  return cost;
}

class VectorTrace {
 public:
  VectorTrace(const VectorCase& one, const trace::Header& header)
      : one_(one),
        unit_(unit_of(one.pattern)),
        uniform_(std::adjacent_find(one.pattern.lane, one.pattern.lane + trace::kWarpLanes,
                                    std::not_equal_to<>()) == one.pattern.lane + trace::kWarpLanes),
        warps_(header.warps_per_cta()) {}

  [[nodiscard]] trace::CtaTrace cta(std::uint64_t number) const {
    trace::CtaTrace made;
    made.cta = number;
    for (std::uint64_t w = 0; w < warps_; ++w) {
      made.warps.push_back(warp(number, static_cast<std::uint32_t>(number * warps_ + w)));
    }
    return made;
  }

 private:
  [[nodiscard]] trace::WarpTrace warp(std::uint64_t cta, std::uint32_t number) const {
    trace::WarpTrace made;
    if (one_.whole_gpu) {
      add_looks(cta, made);
    }
    std::uint32_t place = number * one_.pattern.warp_step;
    for (int i = 0; i < one_.iterations; ++i, place += one_.pattern.step) {
      for (int a = 0; a < kVectorArrays; ++a) {
        add_event(place & one_.pattern.mask, static_cast<std::uint32_t>(a), made);
      }
    }
    return made;
  }

  void add_event(std::uint32_t place, std::uint32_t array, trace::WarpTrace& warp) const {
    const VectorPattern& pattern = one_.pattern;
    trace::Record event;
    event.kind = trace::RecordKind::kEvent;
    event.site = static_cast<std::uint16_t>(arrays_of(pattern) == 1 ? 0 : array);
    event.mask = pattern.active;
    const auto primitive = [&](int lane) {
      return (place * pattern.scale + pattern.lane[lane]) / unit_;
    };
    if (uniform_) {
      event.primitive = primitive(0);
    } else {
      event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
      for (int l = 0; l < trace::kWarpLanes; ++l) {
        warp.lane_primitives.push_back((pattern.active >> l & 1U) != 0 ? primitive(l) : 0);
      }
    }
    warp.records.push_back(event);
  }

  const VectorCase& one_;
  const std::uint32_t unit_;
  const bool uniform_;
  const std::uint64_t warps_;
};

}  // namespace

bool has_trace(const VectorCase& one) {
  return one.form != VectorForm::kHalf2;
}

const char* policy_of(const VectorCase& one) {
  const bool vector =
      one.form == VectorForm::kV2 || one.form == VectorForm::kV4 || one.form == VectorForm::kV4x9;
  return vector ? "vector" : "baseline";
}

trace::Header vector_trace_header(const VectorCase& one, int sms) {
  trace::Header header = microbench_header(one.name, "vector_red");
  header.grid[0] = one.whole_gpu ? static_cast<std::uint32_t>(sms) : 1;
  header.block[0] = static_cast<std::uint32_t>(one.warps * trace::kWarpLanes);
  header.total_ctas = header.grid[0];
  const VectorPattern& pattern = one.pattern;
  const std::uint32_t unit = unit_of(pattern);
  const std::uint64_t most = std::uint64_t{pattern.mask} * pattern.scale +
                             *std::max_element(pattern.lane, pattern.lane + trace::kWarpLanes);
  for (std::uint64_t a = 0; a < arrays_of(pattern); ++a) {
    trace::Site site{.name = "array " + std::to_string(a),
                     .primitive_count = most / unit + 1,
                     .parameters = {},
                     .taken_path = "operation"};
    const auto words = static_cast<std::uint64_t>(words_of(one.form));
    for (std::uint64_t w = 0; w < words; ++w) {
      site.parameters.push_back(
          {"word " + std::to_string(w), kBase + pattern.array * a + sizeof(float) * w, unit});
    }
    header.sites.push_back(std::move(site));
  }
  header.paths = {"operation", "look"};
  for (const char* arch : {"sm_86", "sm_89", "sm_90"}) {
    trace::VariantCost cost = loop_cost();
    cost.reduce.resize(header.sites.size());
    header.costs[arch]["baseline"] = header.costs[arch][policy_of(one)] = cost;
  }
  return header;
}

void write_vector_trace(const VectorCase& one, int sms, const std::filesystem::path& path) {
  if (!has_trace(one)) {
    throw trace::TraceError(one.name + ": a trace of halves has no microbenchmark");
  }
  const trace::Header header = vector_trace_header(one, sms);
  const VectorTrace made(one, header);
  trace::Writer writer(path, header, {.zstd_level = 1});
  for (std::uint64_t cta = 0; cta < header.total_ctas; ++cta) {
    writer.add(made.cta(cta));
  }
  writer.finish();
}

}  // namespace warpfold::microbench
