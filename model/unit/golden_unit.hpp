// SPDX-License-Identifier: Apache-2.0
// The golden unit: what arc_subcore does, cycle by cycle, in plain C++ with the same state
// registers: coalescer, scheduler and output select here, the reduction unit as a template
// argument. Owned by one SM sub-core through ArcUnit; tick() is one clock cycle, called while the
// unit is busy or a request is valid.
#pragma once

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

// A Reduction has
//   void reset();
//   bool busy() const;
//   bool step(const UnitInputs&, UnitOutputs&);  settles its read and result ports and takes the
//                                                edge; true if it can take a transaction with it
//   void load(Address, LaneMask, Tag);           the transaction that the same edge brings
template <class Reduction>
class GoldenUnit final : public ArcUnit {
 public:
  void reset() override {
    done_ = 0;
    reduction_.reset();
  }
  UnitOutputs tick(const UnitInputs& inputs) override;
  [[nodiscard]] bool busy() const override { return done_ != 0 || reduction_.busy(); }

 private:
  // Coalescer: lanes of the held request that have been sent.
  LaneMask done_ = 0;
  Reduction reduction_;
};

// Serial: one lane a cycle, the chain of additions in lane order.
class GoldenSerial {
 public:
  void reset() {
    mask_ = 0;
    add_valid_ = false;
  }
  [[nodiscard]] bool busy() const { return mask_ != 0 || add_valid_; }
  bool step(const UnitInputs& inputs, UnitOutputs& outputs);
  void load(Address address, LaneMask mask, Tag tag) {
    mask_ = mask;
    addr_ = address;
    tag_ = tag;
    fetch_first_ = true;
  }

 private:
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
