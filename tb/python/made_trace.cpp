// SPDX-License-Identifier: Apache-2.0
// Writes the trace that trace_test.py knows by heart: sites of every type, events of either kind,
// values.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <utility>
#include <vector>

#include "traces/format/writer.hpp"

namespace {

using namespace warpfold::trace;

Header header() {
  Header made;
  made.workload = "made";
  made.kernel = "up";
  made.grid[0] = 2;
  made.block[0] = 40;
  made.registers_per_thread = 32;
  made.sites = {{.name = "blend",
                 .primitive_count = 100,
                 .parameters = {{"r", 0x1000, 12}, {"g", 0x1004, 12}, {"b", 0x1008, 12}},
                 .taken_path = "taken"},
                {.name = "sum",
                 .type = ValueType::kF64,
                 .primitive_count = 10,
                 .parameters = {{"s", 0x8000, 8}},
                 .taken_path = ""},
                {.name = "halves",
                 .type = ValueType::kF16x2,
                 .primitive_count = 10,
                 .parameters = {{"h", 0x9000, 4}},
                 .taken_path = ""},
                {.name = "brains",
                 .type = ValueType::kBf16x2,
                 .primitive_count = 10,
                 .parameters = {{"h", 0xa000, 4}},
                 .taken_path = ""}};
  made.arrays = {{"colors", 0x1000, 1200}, {"sums", 0x8000, 80}, {"pairs", 0x9000, 0x1100}};
  made.paths = {"entry", "taken"};
  made.values = ValueMode::kOperands;
  made.total_ctas = 2;
  return made;
}

Record work(std::uint16_t path, std::uint32_t count) {
  return {.kind = RecordKind::kWork, .path = path, .count = count};
}

void add_event(WarpTrace& warp, std::uint16_t site, std::uint32_t mask, std::uint32_t primitive,
               const std::vector<std::uint32_t>& words) {
  warp.records.push_back({.kind = RecordKind::kEvent,
                          .site = site,
                          .mask = mask,
                          .primitive = primitive,
                          .values = warp.values.size()});
  warp.values.insert(warp.values.end(), words.begin(), words.end());
}

void add_lane_event(WarpTrace& warp, std::uint16_t site,
                    std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> lanes,
                    const std::vector<std::uint32_t>& words) {
  const std::size_t start = warp.lane_primitives.size();
  warp.lane_primitives.resize(start + kWarpLanes);
  std::uint32_t mask = 0;
  for (const auto& [lane, primitive] : lanes) {
    mask |= 1U << lane;
    warp.lane_primitives[start + lane] = primitive;
  }
  add_event(warp, site, mask, 0, words);
  warp.records.back().lane_primitives = static_cast<std::uint32_t>(start);
}

std::vector<std::uint32_t> floats(std::initializer_list<float> values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) {
    words.push_back(std::bit_cast<std::uint32_t>(value));
  }
  return words;
}

std::vector<std::uint32_t> doubles(std::initializer_list<double> values) {
  std::vector<std::uint32_t> words;
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    words.push_back(static_cast<std::uint32_t>(bits));
    words.push_back(static_cast<std::uint32_t>(bits >> 32U));
  }
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: made_trace FILE\n", stderr);
    return 2;
  }
  const Record barrier{.kind = RecordKind::kBarrier};
  CtaTrace first{.cta = 0, .warps = std::vector<WarpTrace>(2)};
  first.warps[0].records = {work(0, 1)};
  add_event(first.warps[0], 0, 0xf, 7, floats({1, 2, 3, 4, 10, 20, 30, 40, -1, -2, -3, -4}));
  first.warps[0].records.push_back(barrier);
  add_lane_event(first.warps[0], 1, {{0, 5}, {31, 6}}, doubles({1.1, -2.25}));
  first.warps[1].records = {barrier};
  add_event(first.warps[1], 2, 0x3, 2, {0x40003c00, 0xb4003800});
  CtaTrace second{.cta = 1, .warps = std::vector<WarpTrace>(2)};
  second.warps[0].records = {work(0, 2)};
  add_lane_event(second.warps[0], 0, {{1, 9}, {2, 9}}, floats({5, 6, 50, 60, -5, -6}));
  add_event(second.warps[0], 3, 0x4, 3, {0xc0403f80});
  Writer writer(argv[1], header(), {.ctas_per_chunk = 1});
  writer.add(first);
  writer.add(second);
  writer.finish();
  return 0;
}
