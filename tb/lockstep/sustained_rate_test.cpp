// SPDX-License-Identifier: Apache-2.0
// Lanes a cycle that each kind of unit sustains over back-to-back events of nine parameters, as
// 3DGS has them: every event is a full warp and nine requests, each with an address and an operand
// of its own. On the golden unit and on the RTL; the rate is counted and compared exactly.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "model/unit/arc_unit.hpp"
#include "model/unit/fp32.hpp"
#include "model/unit/lockstep.hpp"
#include "tb/lockstep/units_of_rtl.hpp"

namespace warpfold {
namespace {

constexpr std::uint32_t kEvents = 8;
constexpr std::uint32_t kParameters = 9;
constexpr std::uint32_t kRequests = kEvents * kParameters;
constexpr LaneMask kFullWarp = 0xffffffffU;

// What rtl/README.md says of one kind, for full warps back to back.
struct Rate {
  UnitKind kind;
  std::uint32_t lanes_a_cycle;
  // Cycles from a request's acceptance to its result, and those of them in which a result is due.
  std::uint32_t first_result;
  std::uint32_t period;
  std::uint32_t results_in_period;
};

constexpr Rate kRates[] = {
    // Read from the cycle of the acceptance on; the next is accepted as the result leaves.
    {UnitKind::kSerial, 1, 32, 32, 1},
    {UnitKind::kHalves, 1, 32, 32, 1},
    // Eight reads, from the cycle after the acceptance on; the result is there six after the last.
    {UnitKind::kFused, 4, 14, 8, 1},
    // Sixteen reads likewise; five after the last.
    {UnitKind::kPaired, 2, 21, 16, 1},
};

class SustainedRate : public testing::TestWithParam<std::tuple<Rate, UnitModel>> {};

TEST_P(SustainedRate, OverEventsOfNineParameters) {
  const auto& [rate, model] = GetParam();
  const std::unique_ptr<ArcUnit> unit = make_unit(model, rate.kind);
  std::vector<std::array<Fp32Bits, kLanes>> operands(kRequests);
  for (std::uint32_t request = 0; request < kRequests; ++request) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      operands[request][lane] =
          synthetic_value(5, 0, request / kParameters, request % kParameters, lane);
    }
  }
  const auto address = [](std::uint32_t request) {
    return Address{0x7f00'0000'0000} + 64 * (request / kParameters) + 4 * (request % kParameters);
  };

  UnitInputs in;
  in.rf_ready = true;
  std::uint32_t accepted = 0;
  std::uint32_t results = 0;
  std::uint32_t lanes_read = 0;
  std::uint32_t first_read = 0;
  std::uint32_t last_read = 0;
  for (std::uint32_t cycle = 0; results < kRequests; ++cycle) {
    ASSERT_LT(cycle, 2 * kRequests * kLanes) << "the unit stops";
    in.req_valid = accepted < kRequests;
    if (in.req_valid) {
      in.req_mask = kFullWarp;
      in.req_addr.fill(address(accepted));
      in.req_tag = static_cast<Tag>(accepted);
    }
    // The memory queue has room for results only, so that no request leaves as a plain RED.
    in.lsu_room = cycle >= rate.first_result &&
                  (cycle - rate.first_result) % rate.period < rate.results_in_period;
    const UnitOutputs out = unit->tick(in);
    ASSERT_EQ(out.lsu_valid, in.lsu_room) << "cycle " << cycle;
    if (out.lsu_valid) {
      ASSERT_TRUE(out.lsu_reduced);
      ASSERT_EQ(out.lsu_tag, results) << "cycle " << cycle;
      ASSERT_EQ(out.lsu_addr, address(results));
      ASSERT_EQ(out.lsu_data, sum_reference(rate.kind, kFullWarp, operands[results]));
      ++results;
    }
    if (out.rf_valid) {
      const auto lanes = static_cast<std::uint32_t>(lane_count(out.rf_mask));
      ASSERT_EQ(lanes, rate.lanes_a_cycle) << "cycle " << cycle;
      first_read = lanes_read == 0 ? cycle : first_read;
      last_read = cycle;
      lanes_read += lanes;
      answer_read(in, rate.kind, out.rf_mask, operands[out.rf_tag]);
    }
    accepted += out.req_ready ? 1 : 0;
  }
  EXPECT_EQ(lanes_read, kRequests * kLanes);
  // From the first read to the last no cycle is lost, within an event and between events.
  EXPECT_EQ(lanes_read, rate.lanes_a_cycle * (last_read - first_read + 1));
  EXPECT_FALSE(unit->busy());
  RecordProperty("lanes_a_cycle", std::to_string(rate.lanes_a_cycle));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SustainedRate,
                         testing::Combine(testing::ValuesIn(kRates),
                                          testing::Values(UnitModel::kGolden, UnitModel::kRtl)),
                         [](const testing::TestParamInfo<SustainedRate::ParamType>& parameter) {
                           const Rate& rate = std::get<0>(parameter.param);
                           return kind_test_name(rate.kind) + "_" +
                                  std::to_string(rate.lanes_a_cycle) + "_" +
                                  std::string(unit_model_name(std::get<1>(parameter.param)));
                         });

}  // namespace
}  // namespace warpfold
