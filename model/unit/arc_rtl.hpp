// SPDX-License-Identifier: Apache-2.0
// The RTL unit: the Verilated arc_subcore behind ArcUnit. Owned by one SM sub-core; tick() is one
// clock cycle of the RTL, called while the unit is busy or a request is valid. Instances share
// nothing, so that a GPU may hold hundreds of them.
#pragma once

#include <memory>

#include "model/unit/arc_unit.hpp"

namespace warpfold {

class RtlUnit final : public ArcUnit {
 public:
  RtlUnit();
  ~RtlUnit() override;

  void reset() override;
  // A request that was not ready is held by contract, so its mask, addresses and tag are written to
  // the RTL only in the first cycle in which it is valid.
  UnitOutputs tick(const UnitInputs& inputs) override;
  [[nodiscard]] bool busy() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpfold
