// SPDX-License-Identifier: Apache-2.0
// What a policy does. Each policy is one class behind this interface, in a file of its own in
// model/policy/rules, and a line in rules.cpp. A rule has no state: one object serves all runs,
// warps and threads.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/machine/config.hpp"
#include "model/policy/buffer_shape.hpp"
#include "model/policy/code_part.hpp"
#include "model/policy/event_steps.hpp"
#include "model/policy/group_sizes.hpp"
#include "traces/format/trace.hpp"

namespace warpfold {

// Where the lanes go that software has not summed.
enum class AdditionPath : std::uint8_t {
  kRops,     // to the L2
  kUnit,     // as atomreds, through the ARC scheduler to the reduction unit or on to the L2
  kBuffer,   // to the SM's atomic buffer
  kNowhere,  // they are left out
};

// Where sums and REDs to one sector are merged, if they are.
enum class MergePlace : std::uint8_t {
  kNowhere,
  kSm,      // on their way out of an SM
  kL2Port,  // behind a port of the L2, in front of its slices
};

class PolicyRule {
 public:
  struct Facts {
    std::string_view name;         // on the command line and in results
    std::string_view source;       // paper and section
    std::string_view description;  // one sentence
    // Key of VariantCost in Header::costs. What is done in hardware runs the baseline's code.
    std::string_view variant = "baseline";
    bool has_threshold = false;  // whether NAME:X has a balancing threshold
    AdditionPath path = AdditionPath::kRops;
    bool compared = true;  // one of `all`
    MergePlace merge = MergePlace::kNowhere;
    // Neighbouring words of a struct that one RED of its code adds to at most. Those of an atomred
    // follow from the unit.
    std::uint32_t words = 1;
    bool every_pass = false;  // whether its code sums in passes without an event, too: zeros
  };

  explicit PolicyRule(const Facts& facts) : facts_(facts) {}
  virtual ~PolicyRule() = default;
  PolicyRule(const PolicyRule&) = delete;
  PolicyRule& operator=(const PolicyRule&) = delete;

  [[nodiscard]] const Facts& facts() const { return facts_; }

  // The parts of the variant's code that an event may run. Asked once for a run.
  [[nodiscard]] virtual std::vector<CodePart> parts() const = 0;
  // What becomes of an event, after the instructions of its pass outside the reduce call. Called
  // for every event of a run, so it must not allocate. `threshold`: 0 unless the policy has one.
  virtual void expand(const WarpEvent& event, std::uint32_t threshold, EventSteps& steps) const = 0;

  // The lowest threshold under which a launch with these sizes takes the same steps as under
  // `threshold`.
  [[nodiscard]] virtual std::uint32_t lowest_alike(const GroupSizes& sizes,
                                                   std::uint32_t threshold) const;

  // Bytes of shared memory that its code takes for a CTA beside those of the trace.
  [[nodiscard]] virtual std::uint32_t shared_bytes(const trace::Header& header) const;

  // With AdditionPath::kBuffer: bytes of the L1's SRAM that the buffer keeps from shared memory.
  [[nodiscard]] virtual std::uint64_t kept_from_shared(const GpuConfig& gpu) const;
  // The same: the buffer. `shared_bytes`: what the resident CTAs use of the SRAM as shared memory.
  // Throws std::invalid_argument with one line when they leave none.
  [[nodiscard]] virtual BufferShape buffer(const GpuConfig& gpu, std::uint64_t shared_bytes) const;

 private:
  const Facts facts_;
};

}  // namespace warpfold
