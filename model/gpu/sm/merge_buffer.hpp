// SPDX-License-Identifier: Apache-2.0
// The merge buffer of an SM as rtl/arc_merge_buffer.sv has it: the golden model of that between the
// load-store unit and the injection port. Owned by its SM.
//
//   input --> a request for each turn on a sector --> golden model --> injection port
//
// A transaction of the load-store unit is a line; its turns on each sector are requests, of which
// one may be accepted in a cycle. Loads, and additions that it cannot sum, go on to the injection
// port in their turn. After the end of the kernel sums leave as soon as nothing else is there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "model/gpu/sm/outlet.hpp"
#include "model/gpu/sm/sum_buffer.hpp"
#include "model/unit/golden_merge.hpp"

namespace warpfold {

class MergeBuffer : public SumBuffer {
 public:
  MergeBuffer(const sc_core::sc_module_name& name, Domain& domain, const SmContext& context,
              Outlet& injection);

  [[nodiscard]] bool empty() const override {
    return input.empty() && requests_.empty() && !flushing_ && !golden_.busy() && words_ == 0;
  }
  [[nodiscard]] std::string waits() const override;
  // It adds in no cycle after that in which it was clocked last.
  [[nodiscard]] Ticks busy_until() const override { return 0; }

 private:
  void tick() override;
  bool take();
  void make_requests(Transaction& transaction);
  void add(Address address, Fp32Bits value);
  void clock(bool passed);
  void send(const MergeOutputs& out);

  const SmContext& context_;
  Outlet& injection_;
  GoldenMergeBuffer golden_;
  std::deque<MergeInputs> requests_;  // of the transaction in hand
  bool ended_ = false;                // the kernel
  bool flushing_ = false;
  std::uint64_t words_ = 0;  // sums that it holds, and those begun by requests on their way
};

}  // namespace warpfold
