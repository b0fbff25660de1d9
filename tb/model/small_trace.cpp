// SPDX-License-Identifier: Apache-2.0
#include "tb/model/small_trace.hpp"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <cmath>

#include "model/base/halves.hpp"

namespace warpfold::test {

SmallTrace::SmallTrace(std::uint32_t cta_count, std::uint32_t warps, std::uint32_t parameters,
                       std::uint64_t primitives, std::uint32_t stride_bytes) {
  header.workload = "test";
  header.scene = "made up";
  header.kernel = "kernel";
  header.gpu = "none";
  header.driver = "none";
  header.cuda = "none";
  header.grid[0] = cta_count;
  header.block[0] = warps * kLanes;
  header.registers_per_thread = 32;
  header.shared_bytes_per_cta = 0;
  trace::Site site{
      .name = "site", .primitive_count = primitives, .parameters = {}, .taken_path = "taken"};
  for (std::uint32_t p = 0; p < parameters; ++p) {
    site.parameters.push_back({"p" + std::to_string(p), kBase + 4ULL * p, stride_bytes});
  }
  header.sites.push_back(site);
  header.paths = {"work", "taken"};
  header.total_ctas = cta_count;
  const std::map<std::string, std::vector<std::string>> segments{
      {"baseline", {"plain"}},
      {"sw-s", {"check", "plain", "setup", "per_lane", "leader"}},
      {"sw-b", {"check", "agree", "plain", "butterfly", "leader"}},
      {"skip", {"check", "butterfly", "leader"}},
      {"cccl", {"butterfly", "leader"}},
      {"shared-slot", {"check", "plain", "setup", "turn", "leader"}}};
  for (const char* arch : {"sm_86", "sm_89", "sm_90"}) {
    for (const auto& [variant, names] : segments) {
      trace::VariantCost& cost = header.costs[arch][variant];
      cost.registers = 32;
      cost.paths.resize(header.paths.size());
      cost.reduce.resize(1);
      for (const std::string& name : names) {
        cost.reduce[0][name] = {};
      }
    }
  }
  for (std::uint32_t i = 0; i < cta_count; ++i) {
    trace::CtaTrace cta;
    cta.cta = i;
    cta.warps.resize(warps);
    ctas.push_back(cta);
  }
}

void SmallTrace::work(std::size_t cta, std::size_t index, std::uint32_t passes) {
  trace::Record record;
  record.kind = trace::RecordKind::kWork;
  record.path = 0;
  record.count = passes;
  warp(cta, index).records.push_back(record);
}

void SmallTrace::barrier(std::size_t cta, std::size_t index) {
  trace::Record record;
  record.kind = trace::RecordKind::kBarrier;
  warp(cta, index).records.push_back(record);
}

void SmallTrace::event(std::size_t cta, std::size_t index, std::uint32_t mask,
                       std::uint32_t primitive) {
  trace::Record record;
  record.kind = trace::RecordKind::kEvent;
  record.mask = mask;
  record.primitive = primitive;
  warp(cta, index).records.push_back(record);
}

void SmallTrace::event(std::size_t cta, std::size_t index, std::uint32_t mask,
                       const std::vector<std::uint32_t>& lane_primitives) {
  trace::WarpTrace& w = warp(cta, index);
  trace::Record record;
  record.kind = trace::RecordKind::kEvent;
  record.mask = mask;
  record.lane_primitives = static_cast<std::uint32_t>(w.lane_primitives.size());
  w.lane_primitives.insert(w.lane_primitives.end(), lane_primitives.begin(), lane_primitives.end());
  w.records.push_back(record);
}

void SmallTrace::path_cost(std::size_t path, const trace::InstructionCost& cost) {
  for (auto& [arch, variants] : header.costs) {
    for (auto& [name, variant] : variants) {
      variant.paths[path] = cost;
    }
  }
}

void SmallTrace::reduce_cost(const std::string& segment, const trace::InstructionCost& cost) {
  for (auto& [arch, variants] : header.costs) {
    for (auto& [name, variant] : variants) {
      for (auto& site : variant.reduce) {
        if (site.contains(segment)) {
          site[segment] = cost;
        }
      }
    }
  }
}

void SmallTrace::make_halves() {
  for (trace::Site& site : header.sites) {
    site.type = trace::ValueType::kF16x2;
  }
  for (trace::CtaTrace& cta : ctas) {
    for (trace::WarpTrace& warp : cta.warps) {
      for (std::uint32_t& value : warp.values) {
        const auto lower = half_of(std::bit_cast<float>(value));
        value = word_of_halves(lower, static_cast<HalfBits>(value & 0x83ffU) | 0x3800U);
      }
    }
  }
}

void SmallTrace::add_values(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> fraction(-2.0F, 2.0F);
  std::uniform_int_distribution<int> exponent(-20, 20);
  header.values = trace::ValueMode::kOperands;
  for (trace::CtaTrace& cta : ctas) {
    for (trace::WarpTrace& w : cta.warps) {
      for (trace::Record& record : w.records) {
        if (record.kind != trace::RecordKind::kEvent) {
          continue;
        }
        record.values = w.values.size();
        const trace::Site& site = header.sites[record.site];
        const auto count = site.parameters.size() * words_of(site.type) *
                           static_cast<std::size_t>(std::popcount(record.mask));
        for (std::size_t i = 0; i < count; ++i) {
          w.values.push_back(
              std::bit_cast<std::uint32_t>(std::ldexp(fraction(random), exponent(random))));
        }
      }
    }
  }
}

trace::Reader SmallTrace::read() const {
  static std::atomic<int> serial{0};
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("warpfold-test-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".wft");
  trace::Writer writer(path, header, {.zstd_level = 1});
  for (const trace::CtaTrace& cta : ctas) {
    writer.add(cta);
  }
  writer.finish();
  trace::Reader reader(path);
  std::filesystem::remove(path);
  return reader;
}

SmallTrace random_trace(std::uint64_t seed, std::uint32_t ctas, std::uint32_t warps,
                        std::uint32_t parameters, double shared, bool values) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  constexpr std::uint32_t kPrimitives = 40;
  SmallTrace trace(ctas, warps, parameters, kPrimitives, 4 * parameters + 4 * below(3));
  for (std::uint32_t c = 0; c < ctas; ++c) {
    const std::uint32_t barriers = below(3);
    for (std::uint32_t w = 0; w < warps; ++w) {
      for (std::uint32_t b = 0; b <= barriers; ++b) {
        const std::uint32_t steps = below(6);
        for (std::uint32_t s = 0; s < steps; ++s) {
          trace.work(c, w, 1 + below(9));
          auto mask = static_cast<std::uint32_t>(random());
          switch (below(4)) {
            case 0:
              mask = ~0U;
              break;
            case 1:
              mask = 1U << below(32);
              break;
            case 2:
              mask &= static_cast<std::uint32_t>(random());
              break;
            default:
              break;
          }
          if (mask == 0) {
            continue;
          }
          if (std::generate_canonical<double, 32>(random) < shared) {
            trace.event(c, w, mask, below(kPrimitives));
          } else {
            std::vector<std::uint32_t> primitives(kLanes);
            const std::uint32_t distinct = 1 + below(kPrimitives);
            for (std::uint32_t& primitive : primitives) {
              primitive = below(distinct);
            }
            trace.event(c, w, mask, primitives);
          }
        }
        if (b < barriers) {
          trace.barrier(c, w);
        }
      }
    }
  }
  trace.path_cost(0, {.alu = 7,
                      .sfu = 1,
                      .shared = 2,
                      .stall_cycles = 19,
                      .branches = 1,
                      .waits = {{trace::ResultClass::kShared, 4, 6}}});
  trace.path_cost(
      1, {.alu = 30,
          .sfu = 2,
          .shared = 1,
          .global_load = 2,
          .stall_cycles = 60,
          .waits = {{trace::ResultClass::kGlobalLoad, 2, 20}, {trace::ResultClass::kSfu, 24, 26}}});
  trace.reduce_cost("plain", {.alu = 3, .stall_cycles = 6});
  trace.reduce_cost("check", {.alu = 5, .match = 1, .stall_cycles = 12});
  trace.reduce_cost("setup", {.alu = 2, .stall_cycles = 4});
  trace.reduce_cost("per_lane", {.alu = 12, .shuffle = parameters, .stall_cycles = 20});
  trace.reduce_cost("butterfly",
                    {.alu = 5 * parameters, .shuffle = 5 * parameters, .stall_cycles = 40});
  trace.reduce_cost("leader", {.alu = 3, .stall_cycles = 6});
  if (values) {
    trace.add_values(seed + 1);
  }
  return trace;
}

GpuConfig small_h200(std::uint32_t sms) {
  GpuConfig config = load_gpu("h200");
  config.sm.count = sms;
  // Turns come when they are due, so that cycles can be computed by hand.
  config.l2.turn_spread = 0;
  return config;
}

}  // namespace warpfold::test
