// SPDX-License-Identifier: Apache-2.0
// What all blocks of a partition count together: where lane values went. Owned by the GPU.
#pragma once

#include <cstdint>

namespace warpfold {

// Counters of a run that are not one block's own, one for each partition. Incremented by its
// blocks; read at the end.
struct alignas(64) Tally {
  std::uint64_t lanes_issued = 0;       // lane additions that warps asked for in hardware
  std::uint64_t lanes_software = 0;     // lane additions summed by shuffles before their RED
  std::uint64_t lanes_to_unit = 0;      // values that the reduction units read
  std::uint64_t lanes_as_red = 0;       // values that went to the ROPs lane by lane
  std::uint64_t lanes_passed_on = 0;    // of these, for their type: the policy would reduce them
  std::uint64_t software_reduced = 0;   // additions that carry a software sum
  std::uint64_t unit_reduced = 0;       // additions that carry a reduction unit's sum
  std::uint64_t lanes_buffered = 0;     // values that atomic or merge buffers summed
  std::uint64_t sums_buffered = 0;      // reduction units' sums that merge buffers summed
  std::uint64_t buffer_sums_begun = 0;  // sums that they began
  std::uint64_t buffer_reduced = 0;     // additions that carry one of them
  std::uint64_t lanes_added = 0;        // single lane additions done at ROPs
  std::uint64_t sums_added = 0;         // additions of sums done at ROPs

  Tally& operator+=(const Tally& other) {
    lanes_issued += other.lanes_issued;
    lanes_software += other.lanes_software;
    lanes_to_unit += other.lanes_to_unit;
    lanes_as_red += other.lanes_as_red;
    lanes_passed_on += other.lanes_passed_on;
    software_reduced += other.software_reduced;
    unit_reduced += other.unit_reduced;
    lanes_buffered += other.lanes_buffered;
    sums_buffered += other.sums_buffered;
    buffer_sums_begun += other.buffer_sums_begun;
    buffer_reduced += other.buffer_reduced;
    lanes_added += other.lanes_added;
    sums_added += other.sums_added;
    return *this;
  }
};

}  // namespace warpfold
