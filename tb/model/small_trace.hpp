// SPDX-License-Identifier: Apache-2.0
// Small made-up traces and machines for the tests of the GPU model. Instruction costs are zero
// unless a test sets them, so that cycles can be worked out by hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "model/machine/config.hpp"
#include "model/types.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/trace.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::test {

// A trace being put together: `warps` warps a CTA, `parameters` parameters. Path 0 is "work", path
// 1 "taken". The parameters of a primitive are neighbours: primitive i starts at kBase + i *
// stride.
struct SmallTrace {
  static constexpr std::uint64_t kBase = 0x7f0000000000;

  SmallTrace(std::uint32_t ctas, std::uint32_t warps, std::uint32_t parameters,
             std::uint64_t primitives, std::uint32_t stride_bytes);

  trace::WarpTrace& warp(std::size_t cta, std::size_t index) { return ctas[cta].warps[index]; }
  // Appends to a warp.
  void work(std::size_t cta, std::size_t warp, std::uint32_t passes);
  void barrier(std::size_t cta, std::size_t warp);
  void event(std::size_t cta, std::size_t warp, std::uint32_t mask, std::uint32_t primitive);
  // One primitive for each lane, 32 of them.
  void event(std::size_t cta, std::size_t warp, std::uint32_t mask,
             const std::vector<std::uint32_t>& lane_primitives);

  // The same cost for that path or reduce segment of all variants of all architectures.
  void path_cost(std::size_t path, const trace::InstructionCost& cost);
  void reduce_cost(const std::string& segment, const trace::InstructionCost& cost);

  // Gives every event random values: normal floats of all sizes within 2^-20 .. 2^20.
  void add_values(std::uint64_t seed);
  // Makes pairs of binary16 of all sites, and of their values.
  void make_halves();

  // Writes it to a temporary file, which is gone when the process ends normally or not, and reads
  // it.
  [[nodiscard]] trace::Reader read() const;

  trace::Header header;
  std::vector<trace::CtaTrace> ctas;
};

// Random work, barriers and events, the same number of barriers in every warp of a CTA. `shared`:
// the share of events whose lanes all have one primitive.
SmallTrace random_trace(std::uint64_t seed, std::uint32_t ctas, std::uint32_t warps,
                        std::uint32_t parameters, double shared, bool values);

// The built-in H200 with fewer SMs.
GpuConfig small_h200(std::uint32_t sms);

}  // namespace warpfold::test
