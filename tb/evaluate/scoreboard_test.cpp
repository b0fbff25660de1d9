// SPDX-License-Identifier: Apache-2.0
// The scoreboard finds what a unit does wrong, by the rule that it breaks, and a replay does it
// again.
#include "model/unit/scoreboard.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "model/unit/contract_run.hpp"
#include "model/unit/unit_declaration.hpp"

namespace warpfold {
namespace {

using Spoil = std::function<void(UnitOutputs&, std::uint64_t cycle)>;

// A golden unit whose outputs are tampered with.
class Spoiled final : public ArcUnit {
 public:
  explicit Spoiled(Spoil spoil, const UnitKind& kind = UnitKind::kSerial)
      : unit_(make_unit(UnitModel::kGolden, kind)), spoil_(std::move(spoil)) {}
  void reset() override {
    unit_->reset();
    cycle_ = 0;
  }
  UnitOutputs tick(const UnitInputs& inputs) override {
    UnitOutputs outputs = unit_->tick(inputs);
    spoil_(outputs, cycle_++);
    return outputs;
  }
  [[nodiscard]] Ports ports() const override { return unit_->ports(); }
  [[nodiscard]] bool busy() const override { return unit_->busy(); }

 private:
  std::unique_ptr<ArcUnit> unit_;
  Spoil spoil_;
  std::uint64_t cycle_ = 0;
};

ContractOptions options_for(std::function<std::unique_ptr<ArcUnit>()> make) {
  ContractOptions options;
  options.declaration = unit_declaration(UnitKind::kSerial);
  options.make_unit = std::move(make);
  options.random_requests = 4000;
  return options;
}

std::string rule_broken_by(const Spoil& spoil, UnitKind kind = UnitKind::kSerial) {
  ContractOptions options = options_for([&] { return std::make_unique<Spoiled>(spoil, kind); });
  options.declaration = unit_declaration(kind);
  const ContractResult result = run_contract(options);
  if (!result.failure) {
    return "";
  }
  EXPECT_NE(run_replay(options, result.failure->replay, nullptr), nullptr) << "not again";
  return result.failure->rule;
}

TEST(Scoreboard, KnowsNothingWrongOfTheGoldenUnits) {
  for (const UnitKind kind : unit_kinds()) {
    ContractOptions options = options_for([kind] { return make_unit(UnitModel::kGolden, kind); });
    options.declaration = unit_declaration(kind);
    options.random_requests = 6000;  // many add to sectors that gain nothing by a sum
    const ContractResult result = run_contract(options);
    EXPECT_EQ(result.failure, nullptr) << unit_kind_name(kind) << ": " << result.failure->message;
    EXPECT_EQ(result.parts.size(), pressures().size());
    std::uint64_t summed = 0;
    for (const ContractPart& part : result.parts) {
      summed += part.counts.summed_lanes;
    }
    EXPECT_GT(summed, 10'000U);
  }
}

TEST(Scoreboard, FindsWhatIsWrong) {
  EXPECT_EQ(rule_broken_by([](UnitOutputs&, std::uint64_t) {}), "");
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_data ^= out.lsu_reduced && (out.lsu_data & 0x700U) == 0x300U ? 1U : 0U;
            }),
            "sum");
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_addr ^= out.lsu_reduced ? Address{1} << 45 : 0;
            }),
            "lane once");
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t cycle) {
              if (!out.lsu_reduced && cycle % 64 == 0 && lane_count(out.lsu_mask) > 1) {
                out.lsu_mask &= ~std::bit_floor(out.lsu_mask);
              }
            }).empty(),
            false);
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t) { out.busy = false; }), "busy");
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t cycle) {
              if (cycle % 97 == 0) {
                out.rf_tag ^= 1;
              }
            }).empty(),
            false);
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_tag |= out.lsu_valid ? Tag{0} : Tag{1};
            }),
            "payload");
  EXPECT_EQ(rule_broken_by([](UnitOutputs& out, std::uint64_t cycle) {
              if (out.lsu_reduced && cycle % 5 == 0) {
                out = {.busy = out.busy};
              }
            }),
            "hold");
}

std::string vector_rule_broken_by(const Spoil& spoil) {
  return rule_broken_by(spoil, UnitKind::kVector);
}

TEST(Scoreboard, FindsWhatIsWrongWithWords) {
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs&, std::uint64_t) {}), "");
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_word ^= out.lsu_reduced && out.lsu_word == 5 ? 1U : 0U;
            }),
            "packet");
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_last = out.lsu_last && !(out.lsu_reduced && out.lsu_word == 3);
            }),
            "packet");
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_addr ^= out.lsu_reduced && out.lsu_word == 7 ? Address{4} : 0;
            }),
            "packet");
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_data ^= out.lsu_reduced && out.lsu_word == 9 ? 0x40000000U : 0U;
            }),
            "sum");
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.rf_word ^= out.rf_valid && out.rf_word == 2 ? 1U : 0U;
            }).empty(),
            false);
  EXPECT_EQ(vector_rule_broken_by([](UnitOutputs& out, std::uint64_t) {
              out.lsu_last = out.lsu_last && out.lsu_reduced;
            }),
            "payload");
  EXPECT_EQ(vector_rule_broken_by(
                [](UnitOutputs& out, std::uint64_t) { out.lsu_word |= out.lsu_valid ? 0U : 1U; }),
            "payload");
}

// Two requests wait in front of the golden unit: that it takes one says nothing of the one in it.
class Queued final : public ArcUnit {
 public:
  void reset() override {
    unit_->reset();
    waiting_.clear();
  }
  UnitOutputs tick(const UnitInputs& inputs) override {
    const bool ready = waiting_.size() < 2;
    const bool busy = !waiting_.empty();
    UnitInputs front = busy ? waiting_.front() : UnitInputs{};
    front.lsu_room = inputs.lsu_room;
    front.rf_ready = inputs.rf_ready;
    front.rf_data = inputs.rf_data;
    UnitOutputs outputs = unit_->tick(front);
    if (busy && outputs.req_ready) {
      waiting_.pop_front();
    }
    if (inputs.req_valid && ready) {
      waiting_.push_back(inputs);
    }
    outputs.req_ready = ready;
    outputs.busy = outputs.busy || busy;
    return outputs;
  }
  [[nodiscard]] Ports ports() const override { return unit_->ports(); }
  [[nodiscard]] bool busy() const override { return unit_->busy() || !waiting_.empty(); }

 private:
  std::unique_ptr<ArcUnit> unit_ = make_unit(UnitModel::kGolden, UnitKind::kSerial);
  std::deque<UnitInputs> waiting_;
};

// Two lanes of a request add to a word and all others to its neighbour. While there is no room the
// others are summed; then the two are the rest, which leaves without an address, though it has one.
TEST(Scoreboard, KnowsTheRestOfARequestBehindAQueue) {
  std::string text = "warpfold-replay 1\n";
  for (int request = 1; request <= 6; ++request) {
    text += "r " + std::to_string(request) + " ffffffff 1000 3f800000 1000 3f800000";
    for (std::size_t lane = 2; lane < kLanes; ++lane) {
      text += " 1004 3f800000";
    }
    text += "\nc g\n";
  }
  text += "c " + std::string(40, 'g') + std::string(400, 'h') + "\n";
  std::istringstream stream(text);
  const ContractOptions options = options_for([] { return std::make_unique<Queued>(); });
  const auto failure = run_replay(options, Replay::read(stream), nullptr);
  EXPECT_EQ(failure, nullptr) << failure->message;
  EXPECT_EQ(run_contract(options).failure, nullptr);
}

// A unit that never takes a request.
class Deaf final : public ArcUnit {
 public:
  void reset() override {}
  UnitOutputs tick(const UnitInputs&) override { return {}; }
  [[nodiscard]] Ports ports() const override { return {}; }
  [[nodiscard]] bool busy() const override { return false; }
};

TEST(Scoreboard, FindsAUnitThatStandsStill) {
  const ContractResult result = run_contract(options_for([] { return std::make_unique<Deaf>(); }));
  ASSERT_NE(result.failure, nullptr);
  EXPECT_EQ(result.failure->rule, "deadlock");
}

TEST(Replay, IsTheSameFromItsText) {
  const Spoil spoil = [](UnitOutputs& out, std::uint64_t) {
    out.lsu_data ^= out.lsu_reduced && (out.lsu_data & 0x7f0U) == 0x310U ? 1U : 0U;
  };
  const ContractOptions options = options_for([&] { return std::make_unique<Spoiled>(spoil); });
  const ContractResult result = run_contract(options);
  ASSERT_NE(result.failure, nullptr);
  const std::string text = result.failure->replay.text();
  std::istringstream stream(text);
  const Replay again = Replay::read(stream);
  EXPECT_EQ(again.text(), text);
  // From the last place where the unit was idle: a few requests of some hundred.
  EXPECT_LE(again.requests(), 8U);
  const auto failure = run_replay(options, again, nullptr);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->rule, "sum");
  const ContractOptions right =
      options_for([] { return make_unit(UnitModel::kGolden, UnitKind::kSerial); });
  EXPECT_EQ(run_replay(right, again, nullptr), nullptr);
}

TEST(Replay, KeepsAllWords) {
  const Spoil spoil = [](UnitOutputs& out, std::uint64_t) {
    out.lsu_data ^= out.lsu_reduced && out.lsu_word == 6 ? 0x40000000U : 0U;
  };
  ContractOptions options =
      options_for([&] { return std::make_unique<Spoiled>(spoil, UnitKind::kVector); });
  options.declaration = unit_declaration(UnitKind::kVector);
  const ContractResult result = run_contract(options);
  ASSERT_NE(result.failure, nullptr);
  const std::string text = result.failure->replay.text();
  std::istringstream stream(text);
  const Replay again = Replay::read(stream);
  EXPECT_EQ(again.text(), text);
  const auto failure = run_replay(options, again, nullptr);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->rule, "sum");
  // A unit of one word has no place for it.
  const auto refused = run_replay(
      options_for([] { return make_unit(UnitModel::kGolden, UnitKind::kSerial); }), again, nullptr);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->rule, "operands");
}

TEST(Replay, RefusesOtherFiles) {
  for (const char* text :
       {"", "something else\n", "warpfold-replay 1\nx 1\n", "warpfold-replay 1\nr 1\n",
        "warpfold-replay 1\nc az\n", "warpfold-replay 1\nw 1\n",
        "warpfold-replay 1\nr 1 1 0 0\nc h\nw 1\n", "warpfold-replay 1\nr 1 1 0 0\nw\n"}) {
    std::istringstream stream(text);
    EXPECT_THROW((void)Replay::read(stream), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace warpfold
