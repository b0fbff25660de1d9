// SPDX-License-Identifier: Apache-2.0
// The merge buffer of an SM: model/unit/golden_merge.hpp between the load-store unit and the
// injection port. Owned by its SM.
//
//   input --> a request for each turn on a sector --> golden model --> injection port
//
// A transaction of the load-store unit is a line; its turns on each sector are requests, of which
// one may be accepted in a cycle. Loads, and additions that it cannot sum, go on to the injection
// port in their turn. After the end of the kernel sums leave as soon as nothing else is there.
#pragma once

#include <string>

#include "model/gpu/sm/outlet.hpp"
#include "model/gpu/sm/sum_buffer.hpp"
#include "model/gpu/traffic/merger.hpp"

namespace warpfold {

class MergeBuffer : public SumBuffer {
 public:
  MergeBuffer(std::string name, Domain& domain, const SmContext& context, Outlet& injection);

  [[nodiscard]] bool empty() const override {
    return input.empty() && !merger_.busy() && merger_.words() == 0;
  }
  [[nodiscard]] std::string waits() const override;
  [[nodiscard]] const BufferStats& stats() const override { return merger_.stats(); }
  // It adds in no cycle after that in which it was clocked last.
  [[nodiscard]] Ticks busy_until() const override { return 0; }

 private:
  void tick() override;
  bool take();
  void clock(bool passed);

  const SmContext& context_;
  Outlet& injection_;
  Merger merger_;
  bool ended_ = false;  // the kernel
};

}  // namespace warpfold
