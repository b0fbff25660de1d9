// SPDX-License-Identifier: Apache-2.0
// RED throughput of one SM and of all, by active lanes and addresses; hot addresses, their distance
// in memory, and which lines share a slice.
#include <algorithm>
#include <cmath>
#include <map>

#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"

namespace warpfold::microbench {
namespace {

__global__ void red_throughput(Probe probe, char* base, const __grid_constant__ RedPattern pattern,
                               int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  red_loop(base, pattern, static_cast<std::uint32_t>(warp), iterations, 1.0F);
  watch.stop(probe, warp, true);
}

// Even warps add to one address and odd warps to another, one lane each.
__global__ void red_pair(Probe probe, char* even, char* odd, int iterations) {
  const int warp = enter(probe);
  if (warp < 0) {
    return;
  }
  Stopwatch watch;
  watch.start();
  if (lane_id() == 0) {
    char* const address = (warp & 1) != 0 ? odd : even;
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        red_add(address, 1.0F);
      }
    }
  }
  watch.stop(probe, warp, true);
}

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
  double lane_cycles;  // expected of an SM for each active lane, to choose the iterations
};

std::uint32_t low_lanes(int lanes) {
  return lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
}

// Where the lanes of a warp add, the warps all apart.
std::vector<NamedPattern> lane_patterns() {
  std::vector<NamedPattern> all;
  const auto add = [&](std::string name, double cycles, auto place) {
    RedPattern p = spread();
    for (std::uint32_t l = 0; l < 32; ++l) {
      p.lane[l] = place(l);
    }
    all.push_back({std::move(name), p, cycles});
  };
  add("same", 1, [](std::uint32_t) { return 0U; });
  for (const std::uint32_t k : {2U, 4U, 8U, 16U}) {
    const std::string distinct = "distinct_" + std::to_string(k);
    add(distinct + "_in_sectors", 1, [k](std::uint32_t l) { return l % k * 8; });
    add(distinct + "_consecutive", 1, [k](std::uint32_t l) { return l % k; });
    add(distinct + "_lines", 1.25, [k](std::uint32_t l) { return l % k * 32 * 33; });
  }
  add("blocks_of_2", 1, [](std::uint32_t l) { return l / 2; });
  add("blocks_of_4", 1, [](std::uint32_t l) { return l / 4; });
  add("consecutive", 0.2, [](std::uint32_t l) { return l; });
  add("sectors", 1.25, [](std::uint32_t l) { return l * 8; });
  add("lines", 1.25, [](std::uint32_t l) { return l * 32; });
  add("far", 1.25, [](std::uint32_t l) { return l * 32 * 129; });
  // Any float of 1 MiB; with the step of the warp, any of 3 MiB.
  add("random", 1.25,
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
    all.push_back({apart ? "gaussian_of_each_lane" : "gaussian", p, apart ? 1.25 : 1.0});
  }
  return all;
}

class RedBench {
 public:
  explicit RedBench(Harness& harness) : harness_(harness), buffer_(kRedBytes) {
    buffer_.clear_async();
  }

  void one_sm() {
    for (const NamedPattern& named : lane_patterns()) {
      for (const int lanes : {1, 2, 4, 8, 16, 24, 32}) {
        lanes_on(named, lanes, 32, false);
        lanes_on(named, lanes, 32, true);
      }
    }
    for (const NamedPattern& named : lane_patterns()) {
      if (named.name != "same" && named.name != "consecutive" && named.name != "sectors") {
        continue;
      }
      for (const int warps : {1, 2, 4, 8, 16, 48, 64}) {
        for (const int lanes : {1, 8, 32}) {
          lanes_on(named, lanes, warps, false);
          if (warps >= 4) {
            lanes_on(named, lanes, warps, true);
          }
        }
      }
      // All warps of one sub-core.
      for (const int warps : {1, 2, 4, 8}) {
        for (const int lanes : {1, 32}) {
          lanes_on(named, lanes, warps, false, 1);
        }
      }
    }
    // Eight active lanes anywhere.
    for (const std::uint32_t active :
         {0x01010101U * 0x11U, 0xff000000U, 0x000f000fU, 0x80808082U}) {
      NamedPattern named = lane_patterns().front();
      named.pattern.active = active;
      measure("red/same/mask=" + std::to_string(active), named, std::popcount(active), 32, false, 4,
              {{"pattern", "same"}, {"mask", active}});
    }
  }

  // One address or line for the whole GPU.
  void hot() {
    for (const int lanes : {1, 2, 4, 8, 16, 24, 32}) {
      hot_pattern("hot_address", lanes, 1, 4, 0, 0);
      hot_pattern("hot_line", lanes, 1, 4, 0, 4);
      hot_pattern("hot_sectors", lanes, 1, 4, 0, 32);
    }
    // One lane each: n hot addresses at a stride. The first shows what a line, the others where the
    // next ROP and the next slice begin.
    for (const std::uint32_t stride :
         {4U, 32U, 64U, 128U, 256U, 512U, 1024U, 2048U, 4096U, 8192U, 16384U}) {
      for (std::uint32_t n = 1; n <= 1024 && n * stride <= kRedBytes / 4; n *= 2) {
        hot_pattern("hot_addresses", 1, n, stride, 1, 0);
      }
    }
  }

  // Which addresses share a ROP with the first: there two hot addresses take twice as long.
  void slices() {
    constexpr int kIterations = 6;
    const Placement placement = harness_.place(8, true);
    const double adds = 4.0 * harness_.device().sms * kIterations * 8;  // to each address
    const auto cycles = [&](std::uint64_t a, std::uint64_t b, int repetitions) {
      const auto samples =
          harness_.run(placement, repetitions, [&](const Probe& probe, int grid, int block) {
            red_pair<<<grid, block>>>(probe, buffer_.data() + a, buffer_.data() + b, kIterations);
          });
      return summarize_member(samples, &Sample::drained_window, adds);
    };
    Result result;
    result.group = "slices";
    result.unit = "SM cycles/addition to each of two addresses";
    result.grid = placement.grid;
    result.block = placement.block;
    const auto pair = [&](std::uint64_t offset) {
      result.name = "slices/pair/offset=" + std::to_string(offset);
      result.parameters = {{"offset_bytes", offset}};
      result.value = cycles(0, offset, harness_.repetitions());
      harness_.report().add(result);
      return result.value.median;
    };
    const double together = pair(0);
    double apart = together;
    for (std::uint64_t offset = 4; offset < 32; offset *= 2) {
      pair(offset);
    }
    // Neighbouring sectors have a ROP in common: it takes longer for two of them than two ROPs for
    // one each, and less long than for two additions to one address.
    double conflict = together;
    for (std::uint64_t offset = 32; offset <= 2048; offset += 32) {
      const double each = pair(offset);
      conflict = offset == 32 ? each : conflict;
      apart = std::min(apart, each);
    }
    for (std::uint64_t offset = 4096; offset <= kRedBytes / 2; offset *= 2) {
      apart = std::min(apart, pair(offset));
    }
    const double limit = (conflict + apart) / 2;

    // How many of all sectors share the ROP of the first: one in as many as there are ROPs.
    constexpr int kTried = 6000;
    int conflicts = 0;
    std::uint32_t state = 1;
    Json places = Json::array();
    for (int i = 0; i < kTried; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint64_t offset = (state >> 6U) % (kRedBytes / 32) * 32;
      if (offset != 0 && cycles(0, offset, 1).median > limit &&
          cycles(0, offset, 3).median > limit) {
        ++conflicts;
        places.push_back(offset);
      }
    }
    result.name = "slices/conflicts";
    result.parameters = {{"tried", kTried}, {"region_bytes", kRedBytes}, {"seed", 1}};
    result.unit = "addresses that share the ROP of address 0, of those tried";
    const double count = conflicts;
    result.value = summarize({&count, 1});
    result.extra = {{"offsets", places}, {"limit", limit}};
    harness_.report().add(result);

    // Neighbouring sectors, sorted into those that share a ROP.
    constexpr std::uint64_t kStep = 32;
    constexpr int kMapped = 192;
    std::vector<int> group(kMapped, -1);
    std::vector<int> first;
    for (int i = 0; i < kMapped; ++i) {
      for (std::size_t g = 0; g < first.size() && group[i] < 0; ++g) {
        if (cycles(static_cast<std::uint64_t>(first[g]) * kStep,
                   static_cast<std::uint64_t>(i) * kStep, 1)
                .median > limit) {
          group[i] = static_cast<int>(g);
        }
      }
      if (group[i] < 0) {
        group[i] = static_cast<int>(first.size());
        first.push_back(i);
      }
    }
    result.name = "slices/map";
    result.parameters = {{"step_bytes", kStep}, {"sectors", kMapped}};
    result.unit = "ROPs that the sectors in a row use";
    const auto groups = static_cast<double>(first.size());
    result.value = summarize({&groups, 1});
    result.extra = {{"rop_of_sector", group}, {"limit", limit}};
    harness_.report().add(result);
  }

 private:
  void lanes_on(const NamedPattern& named, int lanes, int warps, bool whole_gpu, int subcores = 4) {
    if (warps > harness_.device().max_warps) {
      return;
    }
    NamedPattern some = named;
    some.pattern.active = low_lanes(lanes);
    const std::string name = "red/" + named.name + "/lanes=" + std::to_string(lanes) +
                             "/warps=" + std::to_string(warps) +
                             (subcores < 4 ? "/subcores=" + std::to_string(subcores) : "") +
                             (whole_gpu ? "/gpu" : "/sm");
    measure(name, some, lanes, warps, whole_gpu, subcores,
            {{"pattern", named.name},
             {"lanes", lanes},
             {"warps_per_sm", warps},
             {"subcores", subcores},
             {"whole_gpu", whole_gpu}});
  }

  void measure(const std::string& name, const NamedPattern& named, int lanes, int warps,
               bool whole_gpu, int subcores, Json parameters) {
    const double cost = std::max(2.0, lanes * named.lane_cycles) * (whole_gpu ? 2.6 : 1.0);
    const int iterations = std::clamp(static_cast<int>(120'000 / (cost * warps * kReds)), 6, 1000);
    Harness::attempt(name, [&] {
      run(name, named.pattern, lanes, warps, whole_gpu, subcores, iterations,
          std::move(parameters));
    });
  }

  void hot_pattern(const std::string& kind, int lanes, std::uint32_t n, std::uint32_t stride,
                   std::uint32_t warp_step, std::uint32_t lane_bytes) {
    RedPattern p;
    p.active = low_lanes(lanes);
    p.warp_step = warp_step;
    p.mask = n - 1;
    for (std::uint32_t l = 0; l < 32; ++l) {
      p.lane[l] = l * lane_bytes / 4;
    }
    std::fill_n(p.scale, kReds, stride);
    // One ROP takes some four cycles for an addition.
    const double rate = std::min(60.0, 0.28 * n);
    const double all = 132.0 * 16 * kReds * lanes;
    const int iterations = std::clamp(static_cast<int>(400'000 * rate / all), 2, 400);
    run("red/" + kind + "/lanes=" + std::to_string(lanes) + "/addresses=" + std::to_string(n) +
            "/stride=" + std::to_string(stride),
        p, lanes, 16, true, 4, iterations,
        {{"pattern", kind},
         {"lanes", lanes},
         {"warps_per_sm", 16},
         {"addresses", n},
         {"stride_bytes", stride},
         {"lane_bytes", lane_bytes},
         {"whole_gpu", true}});
  }

  void run(const std::string& name, const RedPattern& pattern, int lanes, int warps, bool whole_gpu,
           int subcores, int iterations, Json parameters) {
    const Placement placement = harness_.place(warps, whole_gpu, subcores);
    const auto samples = harness_.run(placement, [&](const Probe& probe, int grid, int block) {
      red_throughput<<<grid, block>>>(probe, buffer_.data(), pattern, iterations);
    });
    const double reds = static_cast<double>(iterations) * kReds * warps;
    parameters["iterations"] = iterations;
    Result result = window_result("red", name, std::move(parameters), "SM cycles/RED of an SM",
                                  placement, samples, reds);
    const double lane_adds = reds * lanes * samples.front().sms;
    result.extra["lane_additions_per_cycle"] =
        lane_adds / summarize_member(samples, &Sample::drained_window, 1).median;
    harness_.report().add(result);
  }

  Harness& harness_;
  DeviceBuffer<char> buffer_;
};

}  // namespace

void bench_red(Harness& harness) {
  RedBench bench(harness);
  bench.one_sm();
  bench.hot();
}

void bench_slices(Harness& harness) {
  RedBench(harness).slices();
}

}  // namespace warpfold::microbench
