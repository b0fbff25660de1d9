// SPDX-License-Identifier: Apache-2.0
// The fused reduction unit in plain C++, with the state registers of arc_reduction_fused: a
// Reduction for GoldenUnit. Owned by its GoldenUnit; step() is one clock cycle.
#pragma once

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"
#include "model/unit/golden_unit.hpp"
#include "model/unit/window_sum.hpp"

namespace warpfold {

// Up to four lanes a cycle, cut to a window below the largest exponent, added as integers, rounded
// once.
class GoldenFused {
 public:
  void reset() { *this = {}; }
  [[nodiscard]] bool busy() const { return front_.valid || back_.valid; }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs);
  void load(const Reduce& transaction, const UnitInputs&, UnitOutputs&) {
    back_ = {.valid = true, .transaction = transaction};
    mask_ = transaction.mask;
    fetch_first_ = true;
  }

 private:
  // A transaction in the unit.
  struct Entry {
    bool valid = false;
    Reduce transaction;
  };
  // One granted read on its way from the register file to the running sum.
  struct Step {
    bool valid = false;
    bool first = false;  // of its transaction
    bool last = false;
  };

  Entry front_;  // its sum is next
  Entry back_;   // the younger one

  LaneMask mask_ = 0;  // lanes of the younger one that are still to be read
  bool fetch_first_ = false;

  Step unpack_, align_, add_;
  LaneMask unpack_mask_ = 0;   // lanes left when the words were read that are now on rf_data
  LaneMask unpack_lanes_ = 0;  // lanes that were read
  std::uint32_t bin_ = 0;
  WindowSum align_sum_, add_sum_;  // of some lanes of a transaction

  WindowSum sum_;
  bool done_ = false;
  bool norm_valid_ = false;
  WindowSum norm_sum_;
  bool result_valid_ = false;
  Fp32Bits result_ = 0;
};

}  // namespace warpfold
