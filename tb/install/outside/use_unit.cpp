// SPDX-License-Identifier: Apache-2.0
// One request of 32 ones at one address, in both bodies of the unit: prints cycle and sum.
#include <bit>
#include <iostream>

#include "model/unit/arc_unit.hpp"

using namespace warpfold;

int main() {
  for (const UnitModel model : {UnitModel::kGolden, UnitModel::kRtl}) {
    const std::unique_ptr<ArcUnit> unit = make_unit(model, UnitKind::kSerial);
    UnitInputs inputs;
    inputs.req_valid = true;
    inputs.req_mask = 0xffffffffU;
    inputs.req_addr.fill(0x1000);
    inputs.rf_ready = true;
    inputs.rf_data[0] = std::bit_cast<Fp32Bits>(1.0F);
    for (int cycle = 0; cycle < 100; ++cycle) {
      const UnitOutputs outputs = unit->tick(inputs);
      if (outputs.lsu_valid) {
        std::cout << unit_model_name(model) << ": cycle " << cycle << ", sum "
                  << std::bit_cast<float>(outputs.lsu_data) << '\n';
        break;
      }
      inputs.req_valid = inputs.req_valid && !outputs.req_ready;
    }
  }
}
