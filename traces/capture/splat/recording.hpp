// SPDX-License-Identifier: Apache-2.0
// What the backward render kernel did, warp by warp, and how that becomes a trace. Host only; the
// recorder kernel and the CPU reference both fill a Recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "traces/capture/splat/scene.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::capture {

inline constexpr int kWarpsPerTile = kTilePixels / trace::kWarpLanes;
inline constexpr int kBatch = kTilePixels;  // Gaussians fetched between two barriers: one a thread

// What an event adds to, in the order in which the kernel adds.
inline constexpr int kParameters = 9;
struct GradientSlot {
  const char* name;
  int array;             // index into GradientArray
  std::uint32_t offset;  // floats from the start of the primitive's element
};
enum GradientArray : int { kMean2d = 0, kConic = 1, kOpacity = 2, kColor = 3 };
inline constexpr int kGradientArrays = 4;
inline constexpr const char* kGradientArrayNames[kGradientArrays] = {"dL_dmean2D", "dL_dconic",
                                                                     "dL_dopacity", "dL_dcolors"};
// The layout of the original kernel: mean2D is a float3 whose z stays unused, conic a float4 whose
// z stays unused (x, y and w are the entries a, b and c of the symmetric matrix [a b; b c]).
inline constexpr std::uint32_t kGradientFloats[kGradientArrays] = {3, 4, 1, 3};
inline constexpr GradientSlot kGradientSlots[kParameters] = {
    {"dL_dmean2D.x", kMean2d, 0}, {"dL_dmean2D.y", kMean2d, 1}, {"dL_dconic.x", kConic, 0},
    {"dL_dconic.y", kConic, 1},   {"dL_dconic.w", kConic, 3},   {"dL_dopacity", kOpacity, 0},
    {"dL_dcolors.r", kColor, 0},  {"dL_dcolors.g", kColor, 1},  {"dL_dcolors.b", kColor, 2}};

// Gaussians of each tile, front to back.
struct TileRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
struct TileLists {
  int tiles_x = 0;
  int tiles_y = 0;
  std::vector<std::uint32_t> primitives;
  std::vector<TileRange> ranges;  // by tile, row by row

  // The Gaussian of pass `pass` of the backward loop, which runs back to front.
  [[nodiscard]] std::uint32_t backward(std::size_t tile, std::uint32_t pass) const {
    return primitives[ranges[tile].end - 1 - pass];
  }
  [[nodiscard]] std::uint32_t length(std::size_t tile) const {
    return ranges[tile].end - ranges[tile].begin;
  }
};

// The furthest that any lane of a warp came in one pass of the loop.
enum class Stage : std::uint8_t {
  kPosition = 0,  // every lane lies beyond its last contributor
  kPower = 1,     // a lane evaluated the Gaussian and left at power > 0
  kAlpha = 2,     // a lane evaluated alpha and left at alpha < 1/255
  kTaken = 3,     // a lane added its gradients
};

// One entry for each warp and pass, at (ranges[tile].begin + pass) * kWarpsPerTile + warp.
struct Recording {
  std::vector<std::uint32_t> masks;  // lanes that added
  std::vector<Stage> stages;
};

// Path classes of the traces, in the order of Header::paths.
enum Path : std::uint16_t {
  kPathPrologue = 0,
  kPathBatch = 1,
  kPathSkipPosition = 2,
  kPathSkipPower = 3,
  kPathSkipAlpha = 4,
  kPathTaken = 5,
  kPathEpilogue = 6,
};
inline constexpr int kPaths = 7;
inline constexpr const char* kPathNames[kPaths] = {
    "prologue", "batch", "skip_position", "skip_power", "skip_alpha", "taken", "epilogue"};

// The values of sampled tiles: those of warp w of the i-th tile start at offsets[i * kWarpsPerTile
// + w] and lie in program order, each event as trace::Record::values describes.
struct SampledValues {
  std::vector<std::uint32_t> tiles;    // increasing
  std::vector<std::uint64_t> offsets;  // one more than tiles * kWarpsPerTile: the last is the total
  std::vector<std::uint32_t> values;
};

// One CTA as a trace has it. Barriers: one in front of each batch fetch and one behind it. `values`
// may be null; if not, `sample` is the tile's index in it.
[[nodiscard]] trace::CtaTrace make_cta(const TileLists& lists, const Recording& recording,
                                       std::size_t tile, const SampledValues* values,
                                       std::size_t sample);

// Whole tiles, evenly spaced over all tiles ranked by (events, index), as many as keep the raw
// values within `budget_bytes`: the k-th of n is the one at rank floor((k + 1/2) tiles / n).
// Filled: tiles and offsets.
[[nodiscard]] SampledValues choose_sample(const TileLists& lists, const Recording& recording,
                                          std::uint64_t budget_bytes);

struct RecordingStats {
  std::uint64_t tile_pairs = 0;
  std::uint64_t passes[4] = {};  // warp passes by stage
  std::uint64_t batches = 0;     // over all warps
  std::uint64_t warps = 0;
  std::uint64_t events = 0;
  std::uint64_t active_lanes = 0;
  std::uint64_t full_events = 0;       // all 32 lanes
  std::uint64_t pairs_with_event = 0;  // (tile, Gaussian)
  std::uint64_t events_by_lanes[trace::kWarpLanes + 1] = {};
};
[[nodiscard]] RecordingStats collect(const TileLists& lists, const Recording& recording);
void print(const RecordingStats& stats, std::uint64_t visible, std::ostream& out);
// {"schema": "warpfold.path-counts/1", ...}: what a prediction of issued instructions needs.
[[nodiscard]] std::string to_json(const RecordingStats& stats);

}  // namespace warpfold::capture
