// SPDX-License-Identifier: Apache-2.0
// The golden unit: what arc_subcore does, cycle by cycle, in plain C++ with the same state
// registers. Owned by one SM sub-core through ArcUnit; tick() is one clock cycle, called while the
// unit is busy or a request is valid.
#pragma once

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

class GoldenUnit final : public ArcUnit {
 public:
  void reset() override;
  UnitOutputs tick(const UnitInputs& inputs) override;
  [[nodiscard]] bool busy() const override { return done_ != 0 || mask_ != 0 || add_valid_; }

 private:
  // Coalescer: lanes of the held request that have been sent.
  LaneMask done_ = 0;

  // Fetch stage: lanes of the transaction that are still to be read.
  LaneMask mask_ = 0;
  Address addr_ = 0;
  Tag tag_ = 0;
  bool fetch_first_ = false;  // none of its lanes has been read

  // Add stage: one granted read whose value is now on rf_data.
  bool add_valid_ = false;
  bool add_first_ = false;
  bool add_last_ = false;
  Tag add_tag_ = 0;
  Address add_addr_ = 0;
  Fp32Bits acc_ = 0;
};

}  // namespace warpfold
