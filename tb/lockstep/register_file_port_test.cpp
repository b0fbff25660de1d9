// SPDX-License-Identifier: Apache-2.0
// What rtl/README.md says of the register-file port, for every kind, on the golden unit and the
// RTL.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/request_shapes.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/lockstep/units_of_rtl.hpp"

namespace warpfold {
namespace {

constexpr int kCycles = 20'000;

class RegisterFilePort : public testing::TestWithParam<std::tuple<UnitKind, UnitModel>> {
 protected:
  // One cycle: requests always wait, the memory queue often has no room.
  UnitOutputs step(bool rf_ready) {
    if (!in_.req_valid) {
      request_ = with_words(random_request(random_, Shape::kAny), kind_, random_);
      in_.req_valid = true;
      in_.req_mask = request_.mask;
      in_.req_addr = request_.addresses;
      in_.req_tag = next_tag_++ & kTagMask;
      in_.req_words = request_.words();
      requests_[in_.req_tag] = request_;
    }
    in_.lsu_room = random_.chance(0.2);
    in_.rf_ready = rf_ready;
    const UnitOutputs out = unit_->tick(in_);
    if (out.req_ready) {
      in_.req_valid = false;
    }
    if (out.rf_valid && rf_ready) {
      answer_read(in_, kind_, out.rf_mask, requests_[out.rf_tag].operand(out.rf_word));
      ++granted_;
    }
    return out;
  }

  const UnitKind kind_ = std::get<0>(GetParam());
  const std::unique_ptr<ArcUnit> unit_ = make_unit(std::get<1>(GetParam()), kind_);
  SplitMix64 random_{test_seed()};
  AtomredRequest request_;
  UnitInputs in_;
  std::uint32_t next_tag_ = 0;
  std::map<Tag, AtomredRequest> requests_;
  int granted_ = 0;
};

TEST_P(RegisterFilePort, ARefusedReadIsHeld) {
  UnitOutputs refused;
  int came_again = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const bool rf_ready = random_.chance(0.5);
    const UnitOutputs out = step(rf_ready);
    if (refused.rf_valid) {
      ASSERT_TRUE(out.rf_valid) << "cycle " << cycle;
      ASSERT_EQ(out.rf_mask, refused.rf_mask) << "cycle " << cycle;
      ASSERT_EQ(out.rf_tag, refused.rf_tag) << "cycle " << cycle;
      ASSERT_EQ(out.rf_word, refused.rf_word) << "cycle " << cycle;
      ++came_again;
    }
    refused = rf_ready ? UnitOutputs{} : out;
  }
  EXPECT_GT(came_again, kCycles / 10);
  EXPECT_GT(granted_, kCycles / 10);
}

// The arbiter grants what is asked for in the fourth cycle after a refusal, and nothing else.
TEST_P(RegisterFilePort, GrantsInTheFourthCycleAfterARefusalAreEnough) {
  constexpr int kBound = 4;
  std::deque<bool> refused(4);  // in the last cycles, the oldest in front
  std::map<std::tuple<Tag, std::uint32_t, LaneMask>, int> refusals;  // of each read, so far
  int most = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const bool rf_ready = refused.front();
    const UnitOutputs out = step(rf_ready);
    refused.pop_front();
    refused.push_back(out.rf_valid && !rf_ready);
    if (!out.rf_valid) {
      continue;
    }
    if (rf_ready) {
      refusals.erase({out.rf_tag, out.rf_word, out.rf_mask});
    } else {
      int& count = refusals[{out.rf_tag, out.rf_word, out.rf_mask}];
      ++count;
      ASSERT_LE(count, kBound) << "cycle " << cycle;
      most = std::max(most, count);
    }
  }
  EXPECT_EQ(most, kBound);
  EXPECT_GT(granted_, kCycles / 10);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RegisterFilePort,
                         testing::Combine(testing::ValuesIn(unit_kinds()),
                                          testing::Values(UnitModel::kGolden, UnitModel::kRtl)),
                         [](const testing::TestParamInfo<RegisterFilePort::ParamType>& parameter) {
                           return kind_test_name(std::get<0>(parameter.param)) + "_" +
                                  std::string(unit_model_name(std::get<1>(parameter.param)));
                         });

}  // namespace
}  // namespace warpfold
