// SPDX-License-Identifier: Apache-2.0
// A unit whose clock is a fraction of the SM's: it is clocked in every so many cycles, and in those
// between nothing is handed over. Owned by a sub-core, as the unit in it is by it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "model/unit/arc_unit.hpp"

namespace warpfold {

class SlowUnit final : public ArcUnit {
 public:
  // divider: cycles of the SM in one of the unit, from 1 on.
  SlowUnit(std::unique_ptr<ArcUnit> unit, std::uint32_t divider)
      : unit_(std::move(unit)), divider_(divider) {}

  void reset() override {
    unit_->reset();
    left_ = 0;
  }
  UnitOutputs tick(const UnitInputs& inputs) override {
    if (left_ > 0) {
      --left_;
      UnitOutputs outputs;
      outputs.busy = unit_->busy();
      return outputs;
    }
    left_ = divider_ - 1;
    return unit_->tick(inputs);
  }
  // It shows a waiting sum in some of its cycles alone, so that it never rests.
  [[nodiscard]] Ports ports() const override {
    Ports ports = unit_->ports();
    ports.cycles_to_rest = kNeverRests;
    return ports;
  }
  [[nodiscard]] bool busy() const override { return unit_->busy(); }

 private:
  std::unique_ptr<ArcUnit> unit_;
  std::uint32_t divider_;
  std::uint32_t left_ = 0;  // cycles in which it is not clocked
};

}  // namespace warpfold
