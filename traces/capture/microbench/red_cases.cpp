// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/red_cases.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace warpfold::microbench {
namespace {

// Lines of 128 bytes that no other warp or array uses: 2 MiB of them for each array.
constexpr std::uint32_t kPlaces = (2U << 20U) / 4;
RedPattern spread() {
  RedPattern p;
  p.warp_step = 32 * 37;
  p.step = 32 * 1031;
  p.mask = kPlaces - 1;
  for (int a = 0; a < kReds; ++a) {
    p.scale[a] = 4;
    p.offset[a] = static_cast<std::uint64_t>(a) * ((5U << 20U) + 37 * 128);
  }
  return p;
}

struct NamedPattern {
  std::string name;
  RedPattern pattern;
};

std::uint32_t low_lanes(int lanes) {
  return lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
}

// Where the lanes of a warp add, the warps all apart.
std::vector<NamedPattern> lane_patterns() {
  std::vector<NamedPattern> all;
  const auto add = [&](std::string name, auto place) {
    RedPattern p = spread();
    for (std::uint32_t l = 0; l < 32; ++l) {
      p.lane[l] = place(l);
    }
    all.push_back({std::move(name), p});
  };
  add("same", [](std::uint32_t) { return 0U; });
  for (const std::uint32_t k : {2U, 4U, 8U, 16U}) {
    const std::string distinct = "distinct_" + std::to_string(k);
    add(distinct + "_in_sectors", [k](std::uint32_t l) { return l % k * 8; });
    add(distinct + "_consecutive", [k](std::uint32_t l) { return l % k; });
    add(distinct + "_lines", [k](std::uint32_t l) { return l % k * 32 * 33; });
  }
  add("blocks_of_2", [](std::uint32_t l) { return l / 2; });
  add("blocks_of_4", [](std::uint32_t l) { return l / 4; });
  add("consecutive", [](std::uint32_t l) { return l; });
  add("sectors", [](std::uint32_t l) { return l * 8; });
  add("lines", [](std::uint32_t l) { return l * 32; });
  add("far", [](std::uint32_t l) { return l * 32 * 129; });
  // Any float of 1 MiB; with the step of the warp, any of 3 MiB.
  add("random",
      [](std::uint32_t l) { return (l * 2654435761U + 12345U) >> 7U & (kPlaces / 2 - 1); });
  // One Gaussian for a warp, and 32 of them.
  for (const bool apart : {false, true}) {
    RedPattern p = spread();
    p.warp_step = 37;
    p.step = 1031;
    p.mask = (1U << 17U) - 1;
    std::uint64_t place = 0;
    int a = 0;
    for (const auto& [floats, stride] : {std::pair(3U, 12U), {2U, 8U}, {3U, 16U}, {1U, 4U}}) {
      for (std::uint32_t f = 0; f < floats; ++f, ++a) {
        p.scale[a] = stride;
        p.offset[a] = place + f * 4;
      }
      place += (2ULL << 20U) + (1U << 17U) * stride;
    }
    for (std::uint32_t l = 0; l < 32; ++l) {
      p.lane[l] = apart ? l * 977 % (1U << 16U) : 0;
    }
    all.push_back({apart ? "gaussian_of_each_lane" : "gaussian", p});
  }
  return all;
}

// Cycles that an SM takes for a RED: one for each lane on one and the same word, and where several
// words of a line are added to at once, one for each of their sectors and one more.
int sm_cycles(const RedPattern& pattern) {
  std::map<std::uint64_t, std::map<std::uint64_t, int>> lines;  // line, word: lanes
  for (std::uint32_t l = 0; l < 32; ++l) {
    const std::uint64_t address = std::uint64_t{pattern.lane[l]} * pattern.scale[0];
    if ((pattern.active >> l & 1U) != 0) {
      ++lines[address / 128][address / 4];
    }
  }
  int cycles = 0;
  for (const auto& [line, words] : lines) {
    for (int pass = 0;; ++pass) {
      std::set<std::uint64_t> sectors;
      int added = 0;
      for (const auto& [word, lanes] : words) {
        if (lanes > pass) {
          ++added;
          sectors.insert(word / 8);
        }
      }
      if (added == 0) {
        break;
      }
      cycles += added == 1 ? 1 : 1 + static_cast<int>(sectors.size());
    }
  }
  return std::max(cycles, 2);
}

// Iterations that take some 240,000 cycles of an SM, beside which the start of a launch is little:
// about 1,000 cycles on one SM and 4,000 on all of an H200.
int iterations_of(const RedPattern& pattern, int warps, bool whole_gpu) {
  const double cost = sm_cycles(pattern) * (whole_gpu ? 2.6 : 1.0);
  return std::clamp(static_cast<int>(240'000 / (cost * warps * kReds)), 6, 1000);
}

RedCase lanes_on(const NamedPattern& named, int lanes, int warps, bool whole_gpu,
                 int subcores = 4) {
  RedCase made;
  made.name =
      "red/" + named.name + "/lanes=" + std::to_string(lanes) + "/warps=" + std::to_string(warps) +
      (subcores < 4 ? "/subcores=" + std::to_string(subcores) : "") + (whole_gpu ? "/gpu" : "/sm");
  made.pattern = named.pattern;
  made.pattern.active = low_lanes(lanes);
  made.lanes = lanes;
  made.warps = warps;
  made.whole_gpu = whole_gpu;
  made.subcores = subcores;
  made.iterations = iterations_of(made.pattern, warps, whole_gpu);
  made.parameters = {{"pattern", named.name},
                     {"lanes", lanes},
                     {"warps_per_sm", warps},
                     {"subcores", subcores},
                     {"whole_gpu", whole_gpu}};
  return made;
}

RedCase hot(int sms, const std::string& kind, int lanes, std::uint32_t n, std::uint32_t stride,
            std::uint32_t warp_step, std::uint32_t lane_bytes) {
  constexpr int kWarps = 16;
  RedCase made;
  made.name = "red/" + kind + "/lanes=" + std::to_string(lanes) +
              "/addresses=" + std::to_string(n) + "/stride=" + std::to_string(stride);
  RedPattern& p = made.pattern;
  p.active = low_lanes(lanes);
  p.warp_step = warp_step;
  p.mask = n - 1;
  for (std::uint32_t l = 0; l < 32; ++l) {
    p.lane[l] = l * lane_bytes / 4;
  }
  std::fill_n(p.scale, kReds, stride);
  made.lanes = lanes;
  made.warps = kWarps;
  made.whole_gpu = true;
  // One ROP takes some four cycles for an addition.
  const double rate = std::min(60.0, 0.28 * n);
  const double all = static_cast<double>(sms) * kWarps * kReds * lanes;
  made.iterations = std::clamp(static_cast<int>(400'000 * rate / all), 2, 400);
  made.parameters = {{"pattern", kind},  {"lanes", lanes},         {"warps_per_sm", kWarps},
                     {"addresses", n},   {"stride_bytes", stride}, {"lane_bytes", lane_bytes},
                     {"whole_gpu", true}};
  return made;
}

// The same words of so many sectors of a line by every warp, or, if there are two lines of one
// slice, every other one by turns: how long a slice takes for them.
RedCase hot_block(int sms, std::uint32_t sectors, std::uint32_t words, std::uint32_t lines) {
  RedCase made = hot(sms, "hot_block", static_cast<int>(sectors * words), lines, 512, 1, 0);
  made.name = "red/hot_block/sectors=" + std::to_string(sectors) +
              "/words=" + std::to_string(words) + "/lines=" + std::to_string(lines);
  RedPattern& p = made.pattern;
  for (std::uint32_t l = 0; l < sectors * words; ++l) {
    p.lane[l] = l / words * 8 + l % words;
  }
  // By words; the lines lie 512 bytes apart.
  p.warp_step = 128;
  p.mask = 128 * (lines - 1);
  std::fill_n(p.scale, kReds, 4);
  made.launches = 9;
  made.parameters = {{"pattern", "hot_block"}, {"sectors", sectors}, {"words", words},
                     {"lines", lines},         {"warps_per_sm", 16}, {"whole_gpu", true}};
  return made;
}

// All warps walk around the same sectors: nine REDs to one, then to the next one. How much
// of a hot row's sectors overlap.
RedCase hot_walk(int sms, int lanes, std::uint32_t sectors) {
  RedCase made = hot(sms, "hot_walk", lanes, sectors, 32, 1, 0);
  made.name = "red/hot_walk/lanes=" + std::to_string(lanes) + "/sectors=" + std::to_string(sectors);
  made.pattern.step = 1;
  // Once around at least.
  made.iterations = std::max(made.iterations, 2 * static_cast<int>(sectors));
  return made;
}

}  // namespace

std::vector<RedCase> red_cases(int sms, int max_warps) {
  std::vector<RedCase> all;
  const std::vector<NamedPattern> patterns = lane_patterns();
  for (const NamedPattern& named : patterns) {
    for (const int lanes : {1, 2, 4, 8, 16, 24, 32}) {
      all.push_back(lanes_on(named, lanes, 32, false));
      all.push_back(lanes_on(named, lanes, 32, true));
    }
  }
  for (const NamedPattern& named : patterns) {
    if (named.name != "same" && named.name != "consecutive" && named.name != "sectors") {
      continue;
    }
    for (const int warps : {1, 2, 4, 8, 16, 48, 64}) {
      for (const int lanes : {1, 8, 32}) {
        all.push_back(lanes_on(named, lanes, warps, false));
        if (warps >= 4) {
          all.push_back(lanes_on(named, lanes, warps, true));
        }
      }
    }
    // All warps of one sub-core.
    for (const int warps : {1, 2, 4, 8}) {
      for (const int lanes : {1, 32}) {
        all.push_back(lanes_on(named, lanes, warps, false, 1));
      }
    }
  }
  // Eight active lanes anywhere.
  for (const std::uint32_t active : {0x01010101U * 0x11U, 0xff000000U, 0x000f000fU, 0x80808082U}) {
    RedCase made = lanes_on(patterns.front(), std::popcount(active), 32, false);
    made.name = "red/same/mask=" + std::to_string(active);
    made.pattern.active = active;
    made.parameters = {{"pattern", "same"}, {"mask", active}};
    all.push_back(std::move(made));
  }
  // One address or line for the whole GPU.
  for (const int lanes : {1, 2, 4, 8, 16, 24, 32}) {
    all.push_back(hot(sms, "hot_address", lanes, 1, 4, 0, 0));
    all.push_back(hot(sms, "hot_line", lanes, 1, 4, 0, 4));
    all.push_back(hot(sms, "hot_sectors", lanes, 1, 4, 0, 32));
  }
  for (const std::uint32_t lines : {1U, 2U}) {
    for (const std::uint32_t sectors : {1U, 2U, 3U, 4U}) {
      for (const std::uint32_t words : {1U, 2U, 4U, 8U}) {
        all.push_back(hot_block(sms, sectors, words, lines));
      }
    }
  }
  for (const int lanes : {1, 4}) {
    for (const std::uint32_t sectors : {1U, 2U, 4U, 8U, 32U}) {
      all.push_back(hot_walk(sms, lanes, sectors));
    }
  }
  // One lane each: n hot addresses at a stride. The first shows what a line, the others where the
  // next ROP and the next slice begin.
  for (const std::uint32_t stride :
       {4U, 32U, 64U, 128U, 256U, 512U, 1024U, 2048U, 4096U, 8192U, 16384U}) {
    for (std::uint32_t n = 1; n <= 1024 && n * stride <= kRedBytes / 4; n *= 2) {
      all.push_back(hot(sms, "hot_addresses", 1, n, stride, 1, 0));
    }
  }
  std::erase_if(all, [max_warps](const RedCase& one) { return one.warps > max_warps; });
  return all;
}

}  // namespace warpfold::microbench
