// SPDX-License-Identifier: Apache-2.0
// Waves of the unit's ports, opened by a reader: what the model's units had at their ports stands
// in the file, whichever unit it is and however it is clocked.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "model/unit/lockstep.hpp"
#include "model/unit/port_window.hpp"
#include "model/unit/wave_file.hpp"
#include "tb/model/cli_fixture.hpp"
#include "tb/model/fst_reader.hpp"

namespace warpfold {
namespace {

using test::FstContents;
using test::FstSignal;
using test::read_fst;

constexpr std::uint64_t kCycle = 10;  // units of time

std::string bits_of(std::uint64_t value, std::uint32_t width) {
  std::string bits;
  for (std::uint32_t bit = width; bit-- > 0;) {
    bits += (value >> bit & 1U) != 0 ? '1' : '0';
  }
  return bits;
}

class Waves : public Cli {
 protected:
  [[nodiscard]] FstContents contents(const std::string& name) const {
    return read_fst((folder_ / name).string());
  }
  // Runs the command, which must do it.
  Outcome done(const Words& words) {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  }
};

TEST_F(Waves, ShowWhatTheyWereGiven) {
  for (const UnitKind kind : unit_kinds()) {
    WaveFile file(unit_declaration(kind).ports, {"a", "b"});
    PortValues a, b;
    a.inputs.req_valid = true;
    a.inputs.req_mask = 0x80000001;
    a.inputs.req_addr[0] = 0x123456789abc;
    a.inputs.req_addr[31] = 0xfedcba987654;
    a.inputs.req_tag = 0xabc;
    a.inputs.req_words = 16;
    a.inputs.rf_data = {0x11111111, 0x22222222, 0x33333333, 0x44444444};
    a.inputs.rf_bins[1] = 0x15;
    file.add(7, {&a, &b});
    a.inputs.req_valid = false;
    b.outputs.lsu_valid = true;
    b.outputs.lsu_addr = 0xf00000000001;
    b.outputs.lsu_data = 0x3f800000;
    b.outputs.lsu_word = 9;
    b.outputs.busy = true;
    file.add(8, {&a, &b});
    file.add(9, {&a, &b});
    file.add(20, {&a, &b});
    EXPECT_EQ(file.cycles(), 4U);
    write_file("w.fst", file.finish());
    const FstContents read = contents("w.fst");
    EXPECT_EQ(read.timescale, -10);
    EXPECT_EQ(read.signals.size(), 50U);
    EXPECT_EQ(read.begin, 7 * kCycle);
    EXPECT_EQ(read.end, 21 * kCycle);
    EXPECT_EQ(read.of("top.a.req_valid_i").changes,
              (std::vector<std::pair<std::uint64_t, std::string>>{
                  {70, "1"}, {80, "0"}, {100, "x"}, {200, "0"}}));
    EXPECT_EQ(read.of("top.b.lsu_valid_o").at(79), "0");
    EXPECT_EQ(read.of("top.b.lsu_valid_o").at(80), "1");
    EXPECT_EQ(read.of("top.b.lsu_addr_o").at(80), bits_of(0xf00000000001, 48));
    EXPECT_EQ(read.of("top.b.lsu_data_o").at(95), bits_of(0x3f800000, 32));
    EXPECT_EQ(read.of("top.a.req_tag_i").at(70), bits_of(0xabc, 12));
    EXPECT_EQ(read.of("top.a.req_words_i").at(70), bits_of(15, 4));
    EXPECT_EQ(read.of("top.b.lsu_word_o").at(80), bits_of(9, 4));
    const std::string addresses = read.of("top.a.req_addr_i").at(70);
    EXPECT_EQ(addresses.size(), 1536U);
    EXPECT_EQ(addresses.substr(1536 - 48), bits_of(0x123456789abc, 48));
    EXPECT_EQ(addresses.substr(0, 48), bits_of(0xfedcba987654, 48));
    const std::string data = read.of("top.a.rf_data_i").at(70);
    ASSERT_EQ(data.size(), 32 * read_lanes(kind));
    for (std::uint32_t bank = 0; bank < read_lanes(kind); ++bank) {
      EXPECT_EQ(data.substr(data.size() - 32 * (bank + 1), 32),
                bits_of(0x11111111 * (bank + 1), 32));
    }
    EXPECT_EQ(read.of("top.a.rf_bin_i").at(70).substr(150), bits_of(0x15, 5) + "00000");
    EXPECT_EQ(read.of("top.a.clk_i").at(70), "1");
    EXPECT_EQ(read.of("top.a.clk_i").at(75), "0");
    EXPECT_EQ(read.of("top.a.clk_i").at(80), "1");
    EXPECT_EQ(read.of("top.a.rst_ni").at(85), "1");
    EXPECT_TRUE(read.of("top.a.lsu_room_i").is_input);
    EXPECT_FALSE(read.of("top.a.lsu_valid_o").is_input);
  }
}

TEST_F(Waves, OfARunAreTheSameForEveryUnitAndClocking) {
  write_trace("t.wft");
  for (const std::string kind : {"serial", "paired", "fused", "vector"}) {
    const Words common{
        "sim",   "t.wft",      "--policy",      "arc-hw", "--unit-kind",    kind, "--gpu", "h200",
        "--set", "sm.count=1", "--wave-cycles", "1:6000", "--wave-subcore", "1",  "--wave"};
    std::vector<FstContents> files;
    for (const Words& more : {Words{"g.fst", "--unit", "golden"}, Words{"r.fst", "--unit", "rtl"},
                              Words{"c.fst", "--unit", "golden", "--reference"},
                              Words{"n.fst", "--unit", "golden", "--threads", "2"}}) {
      Words words = common;
      words.insert(words.end(), more.begin(), more.end());
      done(words);
      files.push_back(contents(more.front()));
    }
    for (std::size_t i = 1; i < files.size(); ++i) {
      EXPECT_TRUE(files[i].signals == files[0].signals) << kind << " " << i;
    }
    const FstContents& file = files[0];
    EXPECT_EQ(file.signals.size(), 25U);
    // Every cycle up to the end of the kernel.
    EXPECT_EQ(file.of("top.arc_subcore.clk_i").changes.size(), 2 * (file.end / kCycle - 1));
    EXPECT_GT(file.end, 1000 * kCycle);
    // Something goes in and comes out, and the LSU path is stalled at times.
    for (const std::string port :
         {"req_valid_i", "lsu_valid_o", "lsu_room_i", "rf_valid_o", "lsu_reduced_o", "busy_o"}) {
      EXPECT_GT(file.of("top.arc_subcore." + port).changes.size(), 5U) << kind << " " << port;
    }
  }
}

TEST_F(Waves, LeaveTheResultsAsTheyAre) {
  write_trace("t.wft");
  const Words words{"sim", "t.wft", "--policy", "arc-hw", "--unit", "golden"};
  Words with_wave = words;
  with_wave.insert(with_wave.end(), {"--wave", "w.fst", "--wave-cycles", "10:20000"});
  EXPECT_EQ(done(words).out, done(with_wave).out);
}

TEST_F(Waves, OfARegressionShowBothUnits) {
  write_trace("t.wft");
  done({"regress", "t.wft", "--max-events", "20", "--wave", "w.fst"});
  const FstContents file = contents("w.fst");
  EXPECT_EQ(file.signals.size(), 50U);
  EXPECT_EQ(file.begin, 0U);
  for (const auto& [name, signal] : file.signals) {
    const std::string rtl = "top.rtl.";
    if (name.starts_with(rtl)) {
      EXPECT_TRUE(signal == file.of("top.golden." + name.substr(rtl.size()))) << name;
    }
  }
  EXPECT_GT(file.of("top.rtl.lsu_data_o").changes.size(), 5U);
  done({"regress", "t.wft", "--wave", "some.fst", "--wave-cycles", "100:150"});
  EXPECT_EQ(contents("some.fst").begin, 100 * kCycle);
  EXPECT_EQ(contents("some.fst").end, 150 * kCycle);
}

// A unit that is wrong once.
class WrongOnce : public ArcUnit {
 public:
  void reset() override { unit_->reset(); }
  UnitOutputs tick(const UnitInputs& inputs) override {
    UnitOutputs outputs = unit_->tick(inputs);
    sums_ += outputs.lsu_valid && outputs.lsu_reduced ? 1 : 0;
    outputs.lsu_data ^= sums_ == 30 ? 1U : 0U;
    return outputs;
  }
  [[nodiscard]] Ports ports() const override { return unit_->ports(); }
  [[nodiscard]] bool busy() const override { return unit_->busy(); }

 private:
  std::unique_ptr<ArcUnit> unit_ = make_unit(UnitModel::kGolden, UnitKind::kSerial);
  int sums_ = 0;
};

TEST_F(Waves, OfARegressionEndWithTheDifference) {
  write_trace("t.wft");
  WrongOnce unit;
  PortWindow last(50);
  const RegressResult result = regress_trace(
      trace::Reader(folder_ / "t.wft"),
      {.unit = &unit,
       .watch = [&](Cycle cycle, const UnitInputs& inputs, const UnitOutputs& rtl,
                    const UnitOutputs& golden) { last.add(cycle, inputs, rtl, golden); }});
  ASSERT_FALSE(result.passed);
  WaveFile file(unit_declaration(UnitKind::kSerial).ports, {"rtl", "golden"});
  last.write(file);
  write_file("w.fst", file.finish());
  const FstContents read = contents("w.fst");
  const std::uint64_t cycle = result.counts.cycles;
  EXPECT_EQ(read.begin, (cycle - 49) * kCycle);
  EXPECT_EQ(read.end, (cycle + 1) * kCycle);
  const FstSignal& rtl = read.of("top.rtl.lsu_data_o");
  const FstSignal& golden = read.of("top.golden.lsu_data_o");
  EXPECT_NE(rtl.at(cycle * kCycle), golden.at(cycle * kCycle));
  EXPECT_EQ(rtl.at(cycle * kCycle - 1), golden.at(cycle * kCycle - 1));
}

TEST_F(Waves, OfNoOneRunAreRefused) {
  write_trace("t.wft");
  write_trace("u.wft");
  const std::string one = "--wave is of one run: one trace, one GPU and --policy arc-hw";
  EXPECT_EQ(refusal({"sim", "t.wft", "--wave", "w.fst"}), one);
  EXPECT_EQ(refusal({"sim", "t.wft", "--wave", "w.fst", "--policy", "baseline"}), one);
  EXPECT_EQ(refusal({"sim", "t.wft", "u.wft", "--wave", "w.fst", "--policy", "arc-hw"}), one);
  const auto refused = [this](const Words& more) {
    Words words{"sim", "t.wft", "--policy", "arc-hw", "--unit", "golden", "--wave", "w.fst"};
    words.insert(words.end(), more.begin(), more.end());
    return refusal(words);
  };
  EXPECT_EQ(refused({"--gpu", "h200,rtx4090"}), one);
  EXPECT_EQ(refused({"--wave-cycles", "9:9"}),
            "--wave-cycles 9:9: must be A:B, two cycles of which A is the lower");
  EXPECT_EQ(refused({"--wave-cycles", "-1:9"}),
            "--wave-cycles -1:9: must be A:B, two cycles of which A is the lower");
  EXPECT_EQ(refused({"--wave-cycles", "0:1000001"}),
            "--wave-cycles 0:1000001: is more than 1000000 cycles");
  EXPECT_EQ(refused({"--wave-sm", "128"}), "--wave-sm 128: rtx4090 has SMs 0 to 127 for t.wft");
  EXPECT_EQ(refused({"--wave-subcore", "4"}),
            "--wave-subcore 4: rtx4090 has sub-cores 0 to 3 for t.wft");
  // A window in which nothing happens.
  EXPECT_NE(refused({"--wave-sm", "100"})
                .find("sub-core 0 of SM 100 has nothing for its unit then, nor in the whole run"),
            std::string::npos);
  EXPECT_NE(refused({"--wave-cycles", "0:1"})
                .find("sub-core 0 of SM 0 has nothing for its unit then, but in cycles "),
            std::string::npos);
  EXPECT_NE(refused({"--wave-cycles", "50000000:50000001"}).find("the run ended after "),
            std::string::npos);
  EXPECT_EQ(refused({"--json", "w.fst"}), "--wave w.fst: is the file of --json");
  EXPECT_EQ(refusal({"sim", "t.wft", "--policy", "arc-hw", "--wave", "t.wft"}),
            "--wave t.wft: is an input of this simulation");
  EXPECT_EQ(refusal({"sim", "t.wft", "--policy", "arc-hw", "--wave", "none/w.fst"}),
            "none/w.fst: cannot be written: No such file or directory");
  EXPECT_EQ(refusal({"regress", "t.wft", "u.wft", "--wave", "w.fst"}),
            "--wave is of one trace, not of 2");
  EXPECT_EQ(refusal({"regress", "t.wft", "--wave", "t.wft"}),
            "--wave t.wft: is an input of this regression");
  EXPECT_NE(refusal({"regress", "t.wft", "--wave", "w.fst", "--wave-cycles", "90000000:90000001"})
                .find("the run ended after "),
            std::string::npos);
  EXPECT_EQ(refusal({"regress", "t.wft", "--wave-cycles", "1:2"}),
            "--wave-cycles requires --wave (see 'warpfold regress --help')");
}

}  // namespace
}  // namespace warpfold
