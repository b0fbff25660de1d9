// SPDX-License-Identifier: Apache-2.0
// Pieces of interleave_bytes go to groups of slices, each group once in as many pieces in a row as
// there are groups, in an order that changes from one such run to the next; within a piece the
// slices of the group take turns of slice_bytes. Measured on an H200 as which addresses slow each
// other down: scripts and figures in traces/capture/microbench. A port serves slices of different
// groups.
#include <numeric>
#include <vector>

#include "model/base/divider.hpp"
#include "model/gpu/noc/slice_map.hpp"

namespace warpfold {

namespace {

// The numbers from 1 to `number` that have no divisor in common with it.
std::vector<std::uint32_t> coprime_to(std::uint32_t number) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t step = 1; step <= number; ++step) {
    if (std::gcd(step, number) == 1) {
      found.push_back(step);
    }
  }
  return found;
}

class Hashed final : public SliceMap {
 public:
  explicit Hashed(const GpuConfig& config)
      : ports_(config.l2.ports()),
        slices_per_port_(config.l2.slices_per_port),
        interleave_(config.l2.interleave_bytes),
        slice_bytes_(config.l2.slice_bytes),
        steps_(coprime_to(config.l2.ports())),
        step_count_(steps_.size()),
        apart_(steps_[steps_.size() / 3]) {}
  [[nodiscard]] Place place(Address address) const override;

 private:
  Divider ports_;
  Divider slices_per_port_;
  Divider interleave_;
  Divider slice_bytes_;
  std::vector<std::uint32_t> steps_;  // coprime to the number of ports
  Divider step_count_;
  std::uint64_t apart_;  // what the slices of a group lie apart, in ports
};

SliceMap::Place Hashed::place(Address address) const {
  const std::uint64_t piece = interleave_.quotient(address);
  const std::uint64_t run = ports_.quotient(piece);
  std::uint64_t hash = run;
  hash = (hash ^ (hash >> 31U)) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 29U)) * 0xbf58476d1ce4e5b9ULL;
  hash ^= hash >> 32U;
  const std::uint64_t step = steps_[step_count_.remainder(hash)];
  const std::uint64_t group =
      ports_.remainder((piece - run * ports_.divisor()) * step + (hash >> 8U));
  const std::uint64_t turn =
      slices_per_port_.remainder(slice_bytes_.quotient(address) + (hash >> 40U));
  // The slices of a group lie behind different ports.
  return {static_cast<std::uint32_t>(ports_.remainder(group + turn * apart_)),
          static_cast<std::uint32_t>(turn)};
}

}  // namespace

extern const SliceMapRule hashed_slice_map;
const SliceMapRule hashed_slice_map{
    .name = "hashed",
    .source = "docs/fidelity.md",
    .description =
        "Pieces of l2.interleave_bytes on groups of slices in an order that a hash "
        "picks, the slices of a group in turn.",
    .make = [](const GpuConfig& config) -> std::unique_ptr<SliceMap> {
      return std::make_unique<Hashed>(config);
    }};

}  // namespace warpfold
