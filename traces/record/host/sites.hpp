// SPDX-License-Identifier: Apache-2.0
// From addresses to sites: which array, stride and primitives the additions of a run walk.
//
// A run of k instructions is one site of k parameters where the address of each is a straight line
// in that of the first: then one primitive stands for all k addresses of a lane. Instructions that
// are not become sites of their own, one behind the other; so do vectors of another width, but for
// a narrower one at the end. Of a reduction of a row each element is a primitive.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/kernel_code.hpp"
#include "traces/record/host/launch_tracker.hpp"

namespace warpfold::record {

inline constexpr std::uint64_t kRowUnit = 16;  // bytes, of Run::row

// Additions of a run by the same rule.
struct RunSite {
  std::vector<std::size_t> instructions;  // their places in the run, from the lowest
  std::uint64_t base = 0;                 // lowest address of the first
  std::uint64_t stride_bytes = 0;         // of the first
  std::uint16_t site = 0;                 // in Sites::sites

  // Of an address of the first instruction.
  [[nodiscard]] std::uint32_t primitive(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - base) / stride_bytes);
  }
};

struct Sites {
  std::vector<trace::Site> sites;
  std::vector<std::vector<RunSite>> runs;  // for each run, in the order of issue
};

// Of all events of a launch. Throws trace::TraceError where the addresses of one instruction lie
// too far apart for a trace.
[[nodiscard]] Sites find_sites(const KernelCode& code, const LaunchTracker& launch,
                               std::span<const LogRecord> events);

}  // namespace warpfold::record
