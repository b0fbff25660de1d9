// SPDX-License-Identifier: Apache-2.0
// Units from shared objects, and units with a slower clock.
#include "model/unit/unit_library.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "model/unit/contract_run.hpp"
#include "model/unit/slow_unit.hpp"

namespace warpfold {
namespace {

TEST(UnitLibrary, GivesTheUnitThatIsInIt) {
  const UnitLibrary library(EVALUATE_GOLDEN);
  EXPECT_EQ(library.declaration().name, "serial");
  const std::unique_ptr<ArcUnit> unit = library.make();
  const std::unique_ptr<ArcUnit> golden = make_unit(UnitModel::kGolden, UnitKind::kSerial);
  Lockstep lockstep(*unit, *golden, {});
  SplitMix64 random(5);
  for (int i = 0; i < 300; ++i) {
    AtomredRequest request;
    request.mask = static_cast<LaneMask>(random.next());
    request.addresses.fill(random.below(3));
    ASSERT_TRUE(lockstep.send(request)) << lockstep.message();
  }
  EXPECT_TRUE(lockstep.drain()) << lockstep.message();
}

TEST(UnitLibrary, RefusesWhatIsNone) {
  EXPECT_THROW(UnitLibrary("no such file.so"), std::runtime_error);
  EXPECT_THROW(UnitLibrary{NO_UNIT}, std::runtime_error);
  EXPECT_THROW(UnitLibrary("libz.so.1"), std::runtime_error) << "not looked for in the system";
}

TEST(SlowUnit, IsClockedInEveryNthCycle) {
  SlowUnit slow(make_unit(UnitModel::kGolden, UnitKind::kSerial), 3);
  UnitInputs inputs;
  inputs.req_valid = true;
  inputs.req_mask = 3;
  int accepted = 0;
  int reads = 0;
  for (int cycle = 0; cycle < 9; ++cycle) {
    const UnitOutputs out = slow.tick(inputs);
    EXPECT_TRUE(cycle % 3 == 0 || (!out.req_ready && !out.rf_valid && !out.lsu_valid)) << cycle;
    inputs.rf_ready = true;
    accepted += out.req_ready ? 1 : 0;
    reads += out.rf_valid ? 1 : 0;
    inputs.req_valid = inputs.req_valid && !out.req_ready;
  }
  EXPECT_EQ(accepted, 1);
  EXPECT_EQ(reads, 3) << "the first is refused";
  EXPECT_TRUE(slow.busy());
}

}  // namespace
}  // namespace warpfold
