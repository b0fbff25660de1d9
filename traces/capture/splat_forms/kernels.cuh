// SPDX-License-Identifier: Apache-2.0
// What the kernels of the forms take, and where they are.
#pragma once

#include "traces/capture/splat/backward.cuh"
#include "traces/capture/splat_forms/buckets.cuh"
#include "traces/capture/splat_forms/gradient_storage.cuh"
#include "traces/capture/workload/variant.hpp"

namespace warpfold::capture::splat_forms {

inline constexpr unsigned kTileWarpPixels = kTilePixels / trace::kWarpLanes;  // of a thread
inline constexpr unsigned kTileWarpThreadsX = kTileSize / kTileWarpPixels;

template <class Out>
struct PerSplatArgs {
  BackwardArgs frame;
  BucketState state;
  Out out;
};

struct HalvedArgs {
  BackwardArgs frame;
  float* gradient;  // of structs
  FixedWords fixed;
};

struct StructArgs {
  BackwardArgs frame;
  GradientStructs out;
};

// CTAs of a warp, as many as there are buckets. PerSplatArgs<GradientPointers>.
[[nodiscard]] workload::Kernels per_splat_kernels();
// The same. PerSplatArgs<FixedStructs>.
[[nodiscard]] workload::Kernels per_splat_struct_kernels();
// A CTA a tile, kTileSize x kTileSize threads. HalvedArgs.
[[nodiscard]] workload::Kernels halved_kernels();
[[nodiscard]] workload::Kernels halved_vector_kernels();
[[nodiscard]] workload::Kernels block_reduced_kernels();
[[nodiscard]] workload::Kernels block_reduced_struct_kernels();
// The same. StructArgs.
[[nodiscard]] workload::Kernels gradient_struct_kernels();
// A CTA a tile, kTileWarpThreadsX x kTileSize threads. StructArgs.
[[nodiscard]] workload::Kernels tile_warp_kernels();
[[nodiscard]] workload::Kernels tile_warp_halved_kernels();

}  // namespace warpfold::capture::splat_forms
