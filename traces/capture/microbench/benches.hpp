// SPDX-License-Identifier: Apache-2.0
// The groups of microbenchmarks. Each adds its results to harness.report() and throws CudaError if
// the GPU fails.
#pragma once

#include <filesystem>

#include "traces/capture/microbench/harness.hpp"

namespace warpfold::microbench {

void bench_halves(Harness& harness);         // every sum of two binary16, of two bfloat16 numbers
void bench_red(Harness& harness);            // throughput by lanes, addresses, warps; hot addresses
void bench_vector(Harness& harness);         // REDs of two and four floats, and of one beside them
void bench_bulk(Harness& harness);           // bulk reductions from shared to global memory
void bench_shared_add(Harness& harness);     // atomicAdd(float) in shared memory
void bench_slices(Harness& harness);         // which addresses share a ROP
void bench_slice_classes(Harness& harness);  // all of them, and which slices share a port
void bench_share(Harness& harness);          // how SMs share a slice of the L2
void bench_burst(Harness& harness);          // depth of the queue ahead of a blocked warp
void bench_latency(Harness& harness);        // RED, atomic, fence, loads
void bench_ops(Harness& harness);            // latency and rate of each class of instructions
void bench_memory(Harness& harness);         // shared and global loads
void bench_loads(Harness& harness);          // loads and stores that miss the L1
void bench_mixed(Harness& harness);          // which classes share a pipe
void bench_control(Harness& harness);        // barriers, branches, launches, CTAs
void bench_energy(Harness& harness);         // joules of each class, by NVML

// The record of red.global.add.f32; `vectors` gets the lines of all pairs if not empty.
void bench_arithmetic(Harness& harness, const std::filesystem::path& vectors);

}  // namespace warpfold::microbench
