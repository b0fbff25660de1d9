// SPDX-License-Identifier: Apache-2.0
// What ArcUnit::Ports says of rest, for every kind and scheduler: a unit that is not clocked while
// it rests, but for what is left of a period at its end, does the same as one that always is.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/request_shapes.hpp"
#include "tb/lockstep/test_seed.hpp"
#include "tb/lockstep/units_of_rtl.hpp"

namespace warpfold {
namespace {

class Rest : public testing::TestWithParam<UnitOfRtl> {
 protected:
  // The next request, if none is held.
  void request() {
    if (in_.req_valid || random_.chance(0.3)) {
      return;
    }
    const Tag tag = next_tag_++ & kTagMask;
    AtomredRequest& next = requests_[tag];
    next = with_words(random_request(random_, Shape::kAny), GetParam().kind, random_);
    in_.req_valid = true;
    in_.req_mask = next.mask;
    in_.req_addr = next.addresses;
    in_.req_tag = tag;
    in_.req_words = next.words();
  }

  // A cycle of the unit that is always clocked, and of the other one unless that rests.
  void cycle() {
    const UnitOutputs out = always_->tick(in_);
    const bool rests = still_ >= ports_.cycles_to_rest + kLanes;  // lanes may be gathered first
    if (rests && !in_.lsu_room) {
      ++rested_;
      ASSERT_FALSE(out.rf_valid || out.req_ready) << "it was not at rest";
      return;
    }
    if (rested_ > 0) {
      UnitInputs resting = in_;
      resting.lsu_room = false;
      for (auto left = rested_ % ports_.rest_period; left > 0; --left) {
        sometimes_->tick(resting);
      }
      all_rested_ += rested_;
      rested_ = 0;
      still_ = 0;
    }
    ASSERT_EQ(sometimes_->tick(in_), out);
    const bool still = !in_.lsu_room && !out.req_ready && !out.rf_valid;
    still_ = !still ? 0 : out.lsu_valid == sum_waits_ ? still_ + 1 : 1;
    sum_waits_ = out.lsu_valid;
    if (out.rf_valid) {
      answer_read(in_, GetParam().kind, out.rf_mask, requests_.at(out.rf_tag).operand(out.rf_word));
    }
    in_.req_valid = in_.req_valid && !out.req_ready;
  }

  const std::unique_ptr<ArcUnit> always_ = GetParam().make(UnitModel::kGolden);
  const std::unique_ptr<ArcUnit> sometimes_ = GetParam().make(UnitModel::kGolden);
  const ArcUnit::Ports ports_ = always_->ports();
  SplitMix64 random_{test_seed()};
  UnitInputs in_{.rf_ready = true};
  std::map<Tag, AtomredRequest> requests_;
  std::uint32_t next_tag_ = 0;
  std::uint32_t still_ = 0;  // cycles of stillness behind it, a sum waiting in all or in none
  bool sum_waits_ = false;
  std::uint64_t rested_ = 0;
  std::uint64_t all_rested_ = 0;
};

TEST_P(Rest, AUnitAtRestNeedNotBeClocked) {
  for (int phase = 0; phase < 4'000; ++phase) {
    in_.lsu_room = phase % 2 == 0;
    // Room for a few cycles, then none for long enough to come to rest.
    for (auto cycles = 1 + random_.below(in_.lsu_room ? 40 : 400); cycles > 0; --cycles) {
      if (rested_ == 0) {  // a request ends a rest
        request();
      }
      ASSERT_NO_FATAL_FAILURE(cycle()) << "phase " << phase;
    }
  }
  EXPECT_GT(all_rested_, 50'000U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Rest, testing::ValuesIn(units_of_rtl()), unit_test_name);

}  // namespace
}  // namespace warpfold
