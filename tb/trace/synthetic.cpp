// SPDX-License-Identifier: Apache-2.0
#include "tb/trace/synthetic.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace warpfold::trace::test {

namespace {

constexpr std::uint32_t kTileEdge = 16;
constexpr std::uint32_t kPixels = kTileEdge * kTileEdge;
constexpr std::uint32_t kWarps = kPixels / kWarpLanes;
constexpr std::uint32_t kBatch = 256;  // Gaussians fetched between two barriers
constexpr std::uint32_t kGaussians = 2'541'226;
enum Path : std::uint16_t { kPrologue, kFetch, kSkipDone, kSkipAlpha, kTaken, kEpilogue };

void add_work(WarpTrace& warp, std::uint16_t path, std::uint32_t count) {
  if (!warp.records.empty() && warp.records.back().kind == RecordKind::kWork &&
      warp.records.back().path == path) {
    warp.records.back().count += count;
    return;
  }
  warp.records.push_back({.kind = RecordKind::kWork, .path = path, .count = count});
}

}  // namespace

Header small_header(std::uint32_t ctas, std::uint32_t threads) {
  Header header;
  header.workload = "test";
  header.scene = "scene";
  header.kernel = "kernel";
  header.gpu = "NVIDIA Test";
  header.driver = "1.0";
  header.cuda = "13.0";
  header.grid[0] = ctas;
  header.block[0] = threads;
  header.registers_per_thread = 48;
  header.shared_bytes_per_cta = 1024;
  header.sites = {{.name = "site",
                   .primitive_count = 1000,
                   .parameters = {{.name = "x", .base = 0x7f0000000000, .stride_bytes = 8},
                                  {.name = "y", .base = 0x7f0000000004, .stride_bytes = 8}},
                   .taken_path = "taken"}};
  header.paths = {"prologue", "skipped", "taken"};
  const InstructionCost cost{.alu = 11,
                             .integer = 4,
                             .sfu = 2,
                             .shared = 3,
                             .stall_cycles = 40,
                             .branches = 1,
                             .waits = {{ResultClass::kSfu, 3, 9}, {ResultClass::kShared, 8, 9}}};
  header.costs["sm_89"]["baseline"] = {
      .paths = {cost, cost, cost}, .reduce = {{{"plain", cost}}}, .registers = 48};
  header.costs["sm_90"]["skip"] = {
      .paths = {cost, cost, cost},
      .reduce = {{{"check", cost}, {"butterfly", cost}, {"leader", cost}}},
      .registers = 50};
  header.times = {{.policy = "baseline",
                   .median_ms = 1.5,
                   .min_ms = 1.25,
                   .max_ms = 2.0625,
                   .runs = 20,
                   .sm_clock_mhz = 1980}};
  header.total_ctas = ctas;
  header.provenance = {{"command", "capture --scene scene"}, {"date", "2025-01-31"}};
  return header;
}

// Most of one site follow each other in equal steps.
static void add_access(const Header& header, std::uint32_t lanes, WarpTrace& warp,
                       std::mt19937_64& random) {
  const auto site = static_cast<std::uint16_t>(random() % header.memory.size());
  if (random() % 3 == 0) {
    warp.records.push_back({.kind = RecordKind::kWait, .site = site});
    return;
  }
  Record access{.kind = RecordKind::kAccess, .site = site};
  access.mask = random() % 4 != 0
                    ? ~0U >> (kWarpLanes - lanes)
                    : std::max(static_cast<std::uint32_t>(random() >> (64 - lanes)), 1U);
  access.count = 1 + static_cast<std::uint32_t>(
                         random() % static_cast<std::uint64_t>(std::popcount(access.mask)));
  access.values = warp.sectors.size();
  std::uint64_t sector = random() >> (random() % 2 == 0 ? 5 : 40);
  const std::uint64_t step = 1 + random() % 3;
  for (std::uint32_t i = 0; i < access.count; ++i, sector += step) {
    warp.sectors.push_back(sector & UINT64_MAX / kSectorBytes);
  }
  warp.records.push_back(access);
}

CtaTrace random_cta(const Header& header, std::uint64_t cta, std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const std::uint32_t threads = header.block[0] * header.block[1] * header.block[2];
  CtaTrace out;
  out.cta = cta;
  out.warps.resize(header.warps_per_cta());
  for (std::uint32_t w = 0; w < out.warps.size(); ++w) {
    WarpTrace& warp = out.warps[w];
    const std::uint32_t lanes = std::min<std::uint32_t>(kWarpLanes, threads - w * kWarpLanes);
    const std::uint64_t count = below(4) == 0 ? 0 : below(40);
    for (std::uint64_t r = 0; r < count; ++r) {
      if (!header.memory.empty() && below(2) == 0) {
        add_access(header, lanes, warp, random);
        continue;
      }
      const std::uint64_t kind = below(8);
      if (kind == 0) {
        warp.records.push_back({.kind = RecordKind::kBarrier});
        continue;
      }
      if (kind < 3) {
        const auto path = static_cast<std::uint16_t>(below(header.paths.size()));
        if (!warp.records.empty() && warp.records.back().kind == RecordKind::kWork &&
            warp.records.back().path == path) {
          continue;  // would be merged
        }
        const auto passes = static_cast<std::uint32_t>(1 + (random() >> (32 + below(32))));
        warp.records.push_back(
            {.kind = RecordKind::kWork, .path = path, .count = std::max(passes, 1U)});
        continue;
      }
      Record event{.kind = RecordKind::kEvent};
      event.site =
          static_cast<std::uint16_t>(header.sites.size() == 1 ? 0 : below(header.sites.size()));
      const Site& site = header.sites[event.site];
      while (event.mask == 0) {
        event.mask = static_cast<std::uint32_t>(random() >> (64 - lanes));
      }
      if (kind < 6) {
        event.primitive = static_cast<std::uint32_t>(below(site.primitive_count));
      } else {
        event.lane_primitives = static_cast<std::uint32_t>(warp.lane_primitives.size());
        for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
          const auto primitive = static_cast<std::uint32_t>(below(site.primitive_count));
          warp.lane_primitives.push_back((event.mask >> lane & 1U) != 0 ? primitive : 0);
        }
      }
      if (header.values == ValueMode::kOperands) {
        event.values = warp.values.size();
        const auto words = static_cast<std::size_t>(std::popcount(event.mask)) *
                           site.parameters.size() * words_of(site.type);
        for (std::size_t i = 0; i < words; ++i) {
          warp.values.push_back(static_cast<std::uint32_t>(random()));
        }
      }
      warp.records.push_back(event);
    }
  }
  return out;
}

Header SyntheticFrame::header() {
  Header header = small_header(1, 1);
  header.workload = "3D-synthetic";
  header.grid[0] = kTilesX;
  header.grid[1] = kTilesY;
  header.total_ctas = kTilesX * kTilesY;
  header.block[0] = header.block[1] = kTileEdge;
  header.sites[0].primitive_count = kGaussians;
  header.paths = {"prologue", "fetch", "skip_done", "skip_alpha", "taken", "epilogue"};
  header.costs.clear();
  return header;
}

CtaTrace SyntheticFrame::cta(std::uint64_t index) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::normal_distribution<double> normal;
  // Gaussians of the tile, front to back.
  const auto listed = static_cast<std::uint32_t>(325.0 * std::exp(0.5 * normal(random_) - 0.125));
  std::vector<std::uint32_t> ids(listed);
  std::vector<std::array<double, kPixels>> alpha(listed);
  std::array<double, kPixels> transmittance;
  std::array<std::uint32_t, kPixels> last{};  // one past the last Gaussian of the pixel
  transmittance.fill(1.0);
  for (std::uint32_t g = 0; g < listed; ++g) {
    ids[g] = static_cast<std::uint32_t>(random_() % kGaussians);
    const double size = 2.55 * std::exp(1.15 * normal(random_));
    const double along = size * std::exp(0.5 * normal(random_));
    const double reach = 6.2 * std::max(size, along);
    const double x = -reach + unit(random_) * (kTileEdge + 2 * reach);
    const double y = -reach + unit(random_) * (kTileEdge + 2 * reach);
    const double angle = 3.14159265 * unit(random_);
    const double opacity = 0.02 + 0.97 * std::pow(unit(random_), 1.9);
    for (std::uint32_t p = 0; p < kPixels; ++p) {
      const double dx = (p % kTileEdge) - x;
      const double dy = (p / kTileEdge) - y;
      const double u = (std::cos(angle) * dx + std::sin(angle) * dy) / along;
      const double v = (std::cos(angle) * dy - std::sin(angle) * dx) / size;
      const double a = std::min(0.99, opacity * std::exp(-0.5 * (u * u + v * v)));
      alpha[g][p] = a < 1.0 / 255.0 ? 0.0 : a;
      if (alpha[g][p] != 0.0 && transmittance[p] >= 1e-4) {
        transmittance[p] *= 1.0 - a;
        last[p] = g + 1;
      }
    }
  }
  CtaTrace out;
  out.cta = index;
  out.warps.resize(kWarps);
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    WarpTrace& warp = out.warps[w];
    add_work(warp, kPrologue, 1);
    for (std::uint32_t i = 0; i < listed; ++i) {
      if (i % kBatch == 0) {
        warp.records.push_back({.kind = RecordKind::kBarrier});
        add_work(warp, kFetch, 1);
        warp.records.push_back({.kind = RecordKind::kBarrier});
      }
      const std::uint32_t g = listed - 1 - i;  // back to front
      std::uint32_t mask = 0;
      bool reached = false;
      for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
        const std::uint32_t p = w * kWarpLanes + lane;
        reached = reached || g < last[p];
        mask |= g < last[p] && alpha[g][p] != 0.0 ? 1U << lane : 0U;
      }
      if (mask == 0) {
        add_work(warp, reached ? kSkipAlpha : kSkipDone, 1);
      } else {
        warp.records.push_back({.kind = RecordKind::kEvent, .mask = mask, .primitive = ids[g]});
      }
    }
    add_work(warp, kEpilogue, 1);
  }
  return out;
}

}  // namespace warpfold::trace::test
