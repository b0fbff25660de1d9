// SPDX-License-Identifier: Apache-2.0
#include "tb/soak/random_trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>

namespace warpfold::soak {

namespace {

using trace::InstructionCost;
using trace::Record;
using trace::RecordKind;

constexpr std::uint32_t kArrayGap = 1U << 24U;

InstructionCost random_cost(Random& random) {
  InstructionCost cost;
  if (random.below(4) == 0) {
    return cost;
  }
  const auto some = [&](std::uint64_t most) {
    return random.below(3) == 0 ? 0U : static_cast<std::uint32_t>(random.below(most));
  };
  cost.alu = some(40);
  cost.integer = some(10);
  cost.sfu = some(4);
  cost.shared = some(6);
  cost.shared_wide = some(3);
  cost.global_load = some(3);
  cost.shuffle = some(20);
  cost.shuffle_index = some(4);
  cost.match = some(3);
  cost.redux = some(2);
  cost.branches = std::min(some(3), cost.alu);
  cost.stall_cycles = cost.issue_slots() + some(60);
  const std::uint64_t waits = random.below(4);
  std::uint32_t wanted = 0;
  for (std::uint64_t i = 0; i < waits && cost.issue_slots() != 0; ++i) {
    const auto kind = static_cast<trace::ResultClass>(
        random.below(static_cast<std::uint64_t>(trace::ResultClass::kCount)));
    wanted = std::min(cost.stall_cycles, wanted + some(20));
    cost.waits.push_back({kind, static_cast<std::uint32_t>(random.below(wanted + 1)), wanted});
  }
  return cost;
}

void add_costs(trace::Header& header, Random& random) {
  const std::map<std::string, std::vector<std::string>> segments{
      {"baseline", {"plain"}},
      {"sw-s", {"check", "plain", "setup", "per_lane", "leader"}},
      {"sw-b", {"check", "agree", "plain", "butterfly", "leader"}},
      {"skip", {"check", "butterfly", "leader"}},
      {"cccl", {"butterfly", "leader"}}};
  for (const auto& [variant, names] : segments) {
    trace::VariantCost cost;
    cost.registers = 16 + static_cast<std::uint32_t>(random.below(100));
    for (std::size_t i = 0; i < header.paths.size(); ++i) {
      cost.paths.push_back(random_cost(random));
    }
    for (std::size_t i = 0; i < header.sites.size(); ++i) {
      auto& code = cost.reduce.emplace_back();
      if (random.below(6) == 0) {
        continue;  // no code of its own at this site
      }
      for (const std::string& name : names) {
        code[name] = random_cost(random);
      }
    }
    for (const char* arch : {"sm_86", "sm_89", "sm_90"}) {
      header.costs[arch][variant] = cost;
    }
  }
}

void add_sites(trace::Header& header, Random& random) {
  const std::uint64_t sites = random.below(3) == 0 ? 1 + random.below(3) : 1;
  std::uint64_t base = 0x7f0000000000;
  for (std::uint64_t s = 0; s < sites; ++s) {
    trace::Site site;
    site.name = "site " + std::to_string(s);
    site.type = random.below(3) == 0 ? static_cast<trace::ValueType>(random.below(4))
                                     : trace::ValueType::kF32;
    site.primitive_count = 1 + random.below(random.below(2) == 0 ? 8 : 3000);
    const std::uint32_t bytes = site.type == trace::ValueType::kF64 ? 8 : 4;
    const std::uint64_t parameters = 1 + random.below(random.below(3) == 0 ? 12 : 4);
    const bool apart = random.below(3) == 0;
    const std::uint64_t stride =
        bytes * ((apart ? 1 : parameters) + (random.below(2) == 0 ? 0 : random.below(40)));
    for (std::uint64_t p = 0; p < parameters; ++p) {
      site.parameters.push_back({.name = "p" + std::to_string(p),
                                 .base = base,
                                 .stride_bytes = static_cast<std::uint32_t>(stride)});
      base += apart ? kArrayGap : bytes;
    }
    base += kArrayGap - base % kArrayGap;
    site.taken_path = random.below(4) == 0 ? "" : "taken";
    header.sites.push_back(site);
  }
}

std::uint32_t random_mask(Random& random, std::uint32_t lanes) {
  switch (random.below(5)) {
    case 0:
      return lanes;
    case 1:
      return 1U << random.below(static_cast<std::uint64_t>(std::popcount(lanes)));
    case 2:
      return random.word() & random.word() & lanes;
    case 3:
      return (~0U << random.below(32)) & lanes;
    default:
      return random.word() & lanes;
  }
}

std::uint32_t random_value(Random& random, trace::ValueType type) {
  if (type != trace::ValueType::kF32) {
    // Halves, or words of a double, of sizes that do not overflow.
    return (random.word() & 0x83ff83ffU) | 0x30003000U;
  }
  switch (random.below(20)) {
    case 0:
      return random.word() & 0x807fffffU;  // subnormal or zero
    case 1:
      return std::bit_cast<std::uint32_t>(static_cast<float>(random.below(1000)));
    default: {
      const auto exponent = static_cast<int>(random.below(40)) - 20;
      const auto part = static_cast<float>(random.fraction() * 4 - 2);
      return std::bit_cast<std::uint32_t>(std::ldexp(part, exponent));
    }
  }
}

class Warps {
 public:
  Warps(const trace::Header& header, Random& random) : header_(header), random_(random) {}

  trace::CtaTrace cta(std::uint64_t index) {
    trace::CtaTrace cta;
    cta.cta = index;
    cta.warps.resize(header_.warps_per_cta());
    const std::uint64_t barriers = random_.below(3) == 0 ? random_.below(4) : 0;
    const std::uint64_t steps = 1 + random_.below(12);
    const std::uint32_t threads = header_.block[0] * header_.block[1] * header_.block[2];
    for (std::uint32_t w = 0; w < cta.warps.size(); ++w) {
      const std::uint32_t rest = threads - w * trace::kWarpLanes;
      const std::uint32_t lanes = rest >= 32 ? ~0U : (1U << rest) - 1U;
      for (std::uint64_t b = 0; b <= barriers; ++b) {
        if (b > 0) {
          cta.warps[w].records.push_back({.kind = RecordKind::kBarrier});
        }
        for (std::uint64_t s = random_.below(steps + 1); s > 0; --s) {
          step(cta.warps[w], lanes);
        }
      }
    }
    return cta;
  }

 private:
  void step(trace::WarpTrace& warp, std::uint32_t lanes) {
    const auto path = static_cast<std::uint16_t>(random_.below(header_.paths.size()));
    const bool again = !warp.records.empty() && warp.records.back().kind == RecordKind::kWork &&
                       warp.records.back().path == path;
    if (random_.below(3) == 0 && !again) {
      warp.records.push_back({.kind = RecordKind::kWork,
                              .path = path,
                              .count = 1 + static_cast<std::uint32_t>(random_.below(9))});
    }
    if (const std::uint32_t mask = random_mask(random_, lanes); mask != 0) {
      event(warp, mask);
    }
  }

  void event(trace::WarpTrace& warp, std::uint32_t mask) {
    Record event{.kind = RecordKind::kEvent};
    event.site = static_cast<std::uint16_t>(random_.below(header_.sites.size()));
    event.mask = mask;
    const trace::Site& site = header_.sites[event.site];
    if (random_.below(2) == 0) {
      event.primitive = static_cast<std::uint32_t>(random_.below(site.primitive_count));
    } else {
      event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
      const std::uint64_t distinct =
          1 + random_.below(std::min<std::uint64_t>(site.primitive_count, 64));
      for (std::uint32_t lane = 0; lane < trace::kWarpLanes; ++lane) {
        const auto primitive = static_cast<std::uint32_t>(random_.below(distinct));
        warp.lane_primitives.push_back((mask >> lane & 1U) != 0 ? primitive : 0);
      }
    }
    if (header_.values == trace::ValueMode::kOperands) {
      event.values = warp.values.size();
      const std::size_t words = static_cast<std::size_t>(std::popcount(mask)) *
                                site.parameters.size() * words_of(site.type);
      for (std::size_t i = 0; i < words; ++i) {
        warp.values.push_back(random_value(random_, site.type));
      }
    }
    warp.records.push_back(event);
  }

  const trace::Header& header_;
  Random& random_;
};

}  // namespace

RandomTrace random_trace(Random& random) {
  RandomTrace made;
  trace::Header& header = made.header;
  header.workload = "soak";
  header.scene = "random";
  header.kernel = "kernel";
  header.gpu = header.driver = header.cuda = "none";
  header.grid[0] = 1 + static_cast<std::uint32_t>(random.below(random.below(4) == 0 ? 60 : 8));
  header.total_ctas = header.grid[0];
  constexpr std::array<std::uint32_t, 6> kThreads = {32, 33, 64, 100, 128, 256};
  header.block[0] = random.of(kThreads);
  header.registers_per_thread = 16 + static_cast<std::uint32_t>(random.below(64));
  header.shared_bytes_per_cta =
      random.below(2) == 0 ? 0 : static_cast<std::uint32_t>(random.below(4096));
  header.paths = {"work", "taken", "other"};
  header.values = random.below(2) == 0 ? trace::ValueMode::kOperands : trace::ValueMode::kNone;
  add_sites(header, random);
  add_costs(header, random);
  Warps warps(header, random);
  for (std::uint64_t cta = 0; cta < header.total_ctas; ++cta) {
    made.ctas.push_back(warps.cta(cta));
  }
  return made;
}

}  // namespace warpfold::soak
