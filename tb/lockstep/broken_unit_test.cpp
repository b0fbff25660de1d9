// SPDX-License-Identifier: Apache-2.0
// Lockstep must find units that are wrong, in the cycle in which they are, and name the port.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "model/unit/arc_unit.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/request_shapes.hpp"

namespace warpfold {
namespace {

// A golden unit whose ports are tampered with. Either function may be empty.
class BrokenUnit final : public ArcUnit {
 public:
  using SpoilInputs = std::function<void(UnitInputs&)>;
  using SpoilOutputs = std::function<void(UnitOutputs&, const UnitInputs&)>;

  BrokenUnit(SpoilInputs inputs, SpoilOutputs outputs, const UnitKind& kind = UnitKind::kSerial)
      : unit_(make_unit(UnitModel::kGolden, kind)),
        spoil_inputs_(std::move(inputs)),
        spoil_outputs_(std::move(outputs)) {}
  void reset() override { unit_->reset(); }
  UnitOutputs tick(const UnitInputs& inputs) override {
    UnitInputs spoiled = inputs;
    if (spoil_inputs_) {
      spoil_inputs_(spoiled);
    }
    UnitOutputs outputs = unit_->tick(spoiled);
    if (spoil_outputs_) {
      spoil_outputs_(outputs, inputs);
    }
    return outputs;
  }
  [[nodiscard]] Ports ports() const override { return unit_->ports(); }
  [[nodiscard]] bool busy() const override { return unit_->busy(); }

 private:
  std::unique_ptr<ArcUnit> unit_;
  SpoilInputs spoil_inputs_;
  SpoilOutputs spoil_outputs_;
};

std::string run(ArcUnit& unit, ArcUnit& golden, LockstepOptions options = {.seed = 3}) {
  Lockstep lockstep(unit, golden, options);
  SplitMix64 random(11);
  for (int i = 0; i < 400; ++i) {
    if (!lockstep.send(
            with_words(random_request(random, Shape::kFewGroups), options.kind, random))) {
      return lockstep.message();
    }
  }
  return lockstep.drain() ? "" : lockstep.message();
}

std::string message_for(BrokenUnit::SpoilInputs inputs, BrokenUnit::SpoilOutputs outputs) {
  BrokenUnit broken(std::move(inputs), std::move(outputs));
  const auto golden = make_unit(UnitModel::kGolden, UnitKind::kSerial);
  return run(broken, *golden);
}

std::string port_of(const std::string& message) {
  const std::size_t first = message.find(": ");
  if (first == std::string::npos) {
    return message;
  }
  const std::size_t second = message.find(": ", first + 2);
  return message.substr(first + 2, second - first - 2);
}

TEST(BrokenUnit, AWrapperThatChangesNothingPasses) {
  EXPECT_EQ(message_for({}, {}), "");
}

TEST(BrokenUnit, EveryOutputPortIsCompared) {
  // Each flips one bit in the 20th cycle in which the port carries something.
  struct Fault {
    const char* port;
    bool (*carries)(const UnitOutputs&);
    void (*flip)(UnitOutputs&);
  };
  const Fault faults[] = {
      {"busy_o", [](const UnitOutputs& o) { return o.busy; },
       [](UnitOutputs& o) { o.busy = false; }},
      {"rf_valid_o", [](const UnitOutputs& o) { return o.rf_valid; },
       [](UnitOutputs& o) { o.rf_valid = false; }},
      {"rf_mask_o", [](const UnitOutputs& o) { return o.rf_valid; },
       [](UnitOutputs& o) { o.rf_mask ^= 0x10000; }},
      {"rf_tag_o", [](const UnitOutputs& o) { return o.rf_valid; },
       [](UnitOutputs& o) { o.rf_tag ^= 0x800; }},
      {"rf_word_o", [](const UnitOutputs& o) { return o.rf_valid; },
       [](UnitOutputs& o) { o.rf_word ^= 8; }},
      {"lsu_word_o", [](const UnitOutputs& o) { return o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_word ^= 8; }},
      {"lsu_last_o", [](const UnitOutputs& o) { return o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_last = false; }},
      {"lsu_valid_o", [](const UnitOutputs& o) { return o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_valid = false; }},
      {"lsu_reduced_o", [](const UnitOutputs& o) { return o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_reduced = !o.lsu_reduced; }},
      {"lsu_addr_o", [](const UnitOutputs& o) { return o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_addr ^= Address{1} << 47; }},
      {"lsu_mask_o", [](const UnitOutputs& o) { return o.lsu_valid && !o.lsu_reduced; },
       [](UnitOutputs& o) { o.lsu_mask ^= 0x80000000U; }},
      {"lsu_tag_o", [](const UnitOutputs& o) { return o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_tag ^= 1; }},
      {"lsu_data_o", [](const UnitOutputs& o) { return o.lsu_valid && o.lsu_reduced; },
       [](UnitOutputs& o) { o.lsu_data ^= 1; }},
      {"req_ready_o", [](const UnitOutputs& o) { return o.req_ready; },
       [](UnitOutputs& o) { o.req_ready = false; }},
      // Payload of an idle port.
      {"lsu_data_o", [](const UnitOutputs& o) { return !o.lsu_valid; },
       [](UnitOutputs& o) { o.lsu_data = 1; }},
  };
  for (const Fault& fault : faults) {
    int carried = 0;
    const std::string message = message_for({}, [&](UnitOutputs& outputs, const UnitInputs&) {
      if (fault.carries(outputs) && ++carried == 20) {
        fault.flip(outputs);
      }
    });
    EXPECT_EQ(port_of(message), fault.port) << message;
    EXPECT_EQ(carried, 20) << "it went on after the difference";
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(BrokenUnit, MessageHasTheCycleAndBothValues) {
  int cycle = 0;
  const std::string message = message_for({}, [&](UnitOutputs& outputs, const UnitInputs& inputs) {
    // Requests come without gaps here until the first one is accepted, so every cycle is a tick.
    if (inputs.req_valid && cycle++ == 0) {
      outputs.busy = true;
    }
  });
  EXPECT_NE(message.find("busy_o: unit 0x1, golden 0x0"), std::string::npos) << message;
  EXPECT_EQ(message.rfind("cycle ", 0), 0U) << message;
}

TEST(BrokenUnit, AResultOneCycleLateIsFound) {
  // The unit under test sees the memory queue full for one more cycle and hides its result in it.
  int results = 0;
  bool delay = false;
  const std::string message = message_for(
      [&](UnitInputs& inputs) {
        if (delay) {
          inputs.lsu_room = false;
        }
      },
      [&](UnitOutputs& outputs, const UnitInputs&) {
        if (outputs.lsu_valid && outputs.lsu_reduced && ++results == 30) {
          delay = true;
          outputs.lsu_valid = false;
          outputs.lsu_reduced = false;
          outputs.lsu_last = false;
          outputs.lsu_addr = outputs.lsu_mask = outputs.lsu_data = outputs.lsu_tag = 0;
        }
      });
  EXPECT_EQ(port_of(message), "lsu_valid_o") << message;
}

TEST(BrokenUnit, AllOutputsOneCycleLateAreFound) {
  UnitOutputs late;
  const std::string message =
      message_for({}, [&](UnitOutputs& outputs, const UnitInputs&) { std::swap(outputs, late); });
  EXPECT_NE(message, "");
}

TEST(BrokenUnit, AnIgnoredStallIsFound) {
  const std::string message = message_for([](UnitInputs& inputs) { inputs.lsu_room = true; }, {});
  EXPECT_NE(message, "");
}

TEST(BrokenUnit, AStuckInputBitIsFound) {
  const std::string message =
      message_for([](UnitInputs& inputs) { inputs.rf_data[0] &= ~0x00400000U; }, {});
  EXPECT_EQ(port_of(message), "lsu_data_o") << message;
}

TEST(BrokenUnit, IdleWorkIsFound) {
  // A state that moves on clock edges without work: every fifth idle tick swallows a lane later.
  int idle_ticks = 0;
  const std::string message = message_for(
      [&](UnitInputs& inputs) {
        if (!inputs.req_valid) {
          ++idle_ticks;
        } else if (idle_ticks > 100) {
          inputs.req_mask &= inputs.req_mask - 1;
        }
      },
      {});
  EXPECT_NE(message, "");
}

// Both units wrong in the same way: the check against the request finds it.
std::string message_for_common_fault(const BrokenUnit::SpoilInputs& inputs,
                                     const BrokenUnit::SpoilOutputs& outputs) {
  BrokenUnit one(inputs, outputs);
  BrokenUnit other(inputs, outputs);
  return run(one, other, {.seed = 3, .gate_idle = false});
}

TEST(BrokenUnit, ACommonlyWrongSumIsFound) {
  const std::string message =
      message_for_common_fault({}, [](UnitOutputs& outputs, const UnitInputs&) {
        if (outputs.lsu_reduced) {
          outputs.lsu_data ^= 1;
        }
      });
  EXPECT_EQ(port_of(message), "lsu_data_o") << message;
  EXPECT_NE(message.find(", reference sum 0x"), std::string::npos) << message;
}

TEST(BrokenUnit, ACommonlyLostLaneIsFound) {
  const std::string message = message_for_common_fault(
      [](UnitInputs& inputs) {
        if (lane_count(inputs.req_mask) > 8) {
          inputs.req_mask &= ~0x80000000U;
        }
      },
      {});
  EXPECT_NE(message, "");
}

TEST(BrokenUnit, ACommonlyWrongAddressOfASumIsFound) {
  const std::string message =
      message_for_common_fault({}, [](UnitOutputs& outputs, const UnitInputs&) {
        if (outputs.lsu_reduced) {
          outputs.lsu_addr ^= 2;
        }
      });
  EXPECT_EQ(message.substr(message.find("lsu_addr_o")),
            "lsu_addr_o is the address of no lane that is to leave");
}

TEST(BrokenUnit, ACommonlyWrongAddressOfARedIsFound) {
  const std::string message =
      message_for_common_fault({}, [](UnitOutputs& outputs, const UnitInputs&) {
        if (outputs.lsu_valid && !outputs.lsu_reduced) {
          outputs.lsu_addr ^= 2;
        }
      });
  EXPECT_EQ(port_of(message), "lsu_addr_o") << message;
  EXPECT_NE(message.find(", address of the lanes 0x"), std::string::npos) << message;
}

// Lanes of one address that leave in two REDs: both units see other addresses than the record.
TEST(BrokenUnit, ACommonlyDividedAddressIsFound) {
  const std::string message = message_for_common_fault(
      [](UnitInputs& inputs) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          inputs.req_addr[lane] += lane;
        }
      },
      {});
  EXPECT_NE(message, "");
}

TEST(BrokenUnit, ACommonlyRepeatedReadIsFound) {
  const std::string message =
      message_for_common_fault([](UnitInputs& inputs) { inputs.rf_ready = false; }, {});
  EXPECT_EQ(port_of(message), "rf_mask_o has lanes that are not to be read") << message;
}

// The same of two vector units.
std::string message_for_common_vector_fault(const BrokenUnit::SpoilInputs& inputs,
                                            const BrokenUnit::SpoilOutputs& outputs) {
  BrokenUnit one(inputs, outputs, UnitKind::kVector);
  BrokenUnit other(inputs, outputs, UnitKind::kVector);
  return run(one, other, {.kind = UnitKind::kVector, .seed = 3, .gate_idle = false});
}

TEST(BrokenUnit, ACommonlyLostWordIsFound) {
  const std::string message = message_for_common_vector_fault(
      [](UnitInputs& inputs) { inputs.req_words -= inputs.req_words > 2 ? 1 : 0; }, {});
  EXPECT_NE(message.find(", last word of the request 0x"), std::string::npos) << message;
}

TEST(BrokenUnit, ACommonlyWrongWordIsFound) {
  const std::string sums =
      message_for_common_vector_fault({}, [](UnitOutputs& outputs, const UnitInputs&) {
        outputs.lsu_word ^= outputs.lsu_reduced ? 1U : 0U;
      });
  EXPECT_NE(sums.find(", next word 0x"), std::string::npos) << sums;
  const std::string reads =
      message_for_common_vector_fault({}, [](UnitOutputs& outputs, const UnitInputs&) {
        outputs.rf_word += outputs.rf_valid ? 1U : 0U;
      });
  // Of one word: there is no other. Of more: the sum is of another word.
  EXPECT_TRUE(port_of(reads) == "rf_word_o" || port_of(reads) == "lsu_data_o") << reads;
}

TEST(BrokenUnit, AGroupThatPassesOnIsFound) {
  const auto one = make_unit(UnitModel::kGolden, UnitKind::kVector, "greedy");
  const auto other = make_unit(UnitModel::kGolden, UnitKind::kVector, "greedy");
  const std::string message = run(*one, *other, {.kind = UnitKind::kVector, .seed = 3});
  EXPECT_NE(message.find("a plain RED of a group that pays"), std::string::npos) << message;
}

TEST(BrokenUnit, ACommonHangIsFound) {
  const std::string message = message_for_common_fault(
      [](UnitInputs& inputs) {
        inputs.lsu_room = false;
        inputs.rf_ready = false;
      },
      [](UnitOutputs& outputs, const UnitInputs&) {
        outputs.rf_valid = false;
        outputs.rf_mask = 1;
        outputs.rf_tag = 0;
      });
  EXPECT_NE(message.find("hangs"), std::string::npos) << message;
}

}  // namespace
}  // namespace warpfold
