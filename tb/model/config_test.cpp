// SPDX-License-Identifier: Apache-2.0
// GPU files: the built-in ones are as published, and every mistake in a file is one line that names
// the file and the key.
#include "model/machine/config.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/gpus/builtin.hpp"
#include "model/results/json.hpp"

namespace warpfold {
namespace {

// A good GPU file whose text a test spoils.
class GpuFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("warpfold-config-{}-{}", test->name(), ::getpid());
    std::filesystem::create_directories(folder_);
    text_ = std::string(builtin_gpus().front().toml);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Puts `line` in place of the line of `section` that sets `key`; nothing in its place if empty.
  void set_line(const std::string& section, const std::string& key, const std::string& line) {
    const std::size_t table = section.empty() ? 0 : text_.find("\n[" + section + "]\n");
    const std::size_t begin = text_.find("\n" + key + " = ", table);
    ASSERT_NE(begin, std::string::npos) << section << "." << key;
    const std::size_t end = text_.find('\n', begin + 1);
    text_.replace(begin, end - begin, "\n" + line);
  }

  [[nodiscard]] std::string path() const { return (folder_ / "my.toml").string(); }

  // What load_gpu says about the text, without the path in front of it; empty if it is accepted.
  std::string error() {
    std::ofstream(path(), std::ios::binary) << text_;
    return error_of(path());
  }
  static std::string error_of(const std::string& name) {
    try {
      load_gpu(name);
    } catch (const ConfigError& error) {
      std::string what = error.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      if (what.starts_with(name + ": ")) {
        what.erase(0, name.size() + 2);
      }
      return what;
    }
    return "";
  }
  std::string error_with(const std::string& section, const std::string& key,
                         const std::string& value) {
    set_line(section, key, fmt::format("{} = {}", key, value));
    return error();
  }

  std::filesystem::path folder_;
  std::string text_;
};

TEST(BuiltinGpus, AreListedInOrder) {
  EXPECT_EQ(gpu_names(), (std::vector<std::string>{"rtx4090", "rtx3060", "h200", "h100",
                                                   "arc-4090-sim", "arc-3060-sim"}));
}

TEST(BuiltinGpus, AreAsPublished) {
  const GpuConfig ada = load_gpu("rtx4090");
  EXPECT_EQ(ada.name, "rtx4090");
  EXPECT_EQ(ada.sass_arch, "sm_89");
  EXPECT_EQ(ada.sm.count, 128U);
  EXPECT_EQ(ada.sm.subcores, 4U);
  EXPECT_EQ(ada.sm.clock_ghz, 2.24);
  EXPECT_EQ(ada.sm.max_warps, 48U);
  EXPECT_EQ(ada.l2.slices * 2, 176U);  // ROP units
  EXPECT_EQ(ada.l2.bytes, 72U << 20U);

  const GpuConfig ampere = load_gpu("rtx3060");
  EXPECT_EQ(ampere.sass_arch, "sm_86");
  EXPECT_EQ(ampere.sm.count, 28U);
  EXPECT_EQ(ampere.sm.clock_ghz, 1.32);
  EXPECT_EQ(ampere.l2.slices * 2, 48U);
  EXPECT_EQ(ampere.l2.bytes, 3U << 20U);

  const GpuConfig hopper = load_gpu("h200");
  EXPECT_EQ(hopper.sass_arch, "sm_90");
  EXPECT_EQ(hopper.sm.count, 132U);
  EXPECT_EQ(hopper.sm.clock_ghz, 1.98);
  EXPECT_EQ(hopper.sm.max_warps, 64U);
  EXPECT_EQ(hopper.l2.bytes, 60U << 20U);
}

TEST(PartOfGpu, HasFewerSmsAndASlowerL2) {
  const GpuConfig gpu = load_gpu("rtx4090");
  const GpuConfig part = part_of_gpu(gpu, 4);
  EXPECT_EQ(part.sm.count, 32U);
  EXPECT_EQ(part.sms_each, 4U);
  EXPECT_EQ(part.l2.slices, gpu.l2.slices);
  EXPECT_EQ(part.l2.port_cycles, 4 * gpu.l2.port_cycles);
  EXPECT_EQ(part.l2.load_cycles, 4 * gpu.l2.load_cycles);
  EXPECT_EQ(part.l2.read_cycles, 4 * gpu.l2.read_cycles);
  EXPECT_EQ(part.l2.flit_cycles, 4 * gpu.l2.flit_cycles);
  EXPECT_EQ(part.l2.rop_cycles, 4 * gpu.l2.rop_cycles);
  EXPECT_EQ(part.l2.line_cycles, 4 * gpu.l2.line_cycles);
  EXPECT_EQ(part.l2.sector_cycles, 4 * gpu.l2.sector_cycles);
  EXPECT_EQ(part.l2.dram_bytes_per_cycle, gpu.l2.dram_bytes_per_cycle / 4);
  EXPECT_EQ(part.l2.ingress_flits, gpu.l2.ingress_flits);
  EXPECT_EQ(part.l2.input_sms, 32U);
  GpuConfig hopper = load_gpu("h200");
  hopper.l2.input_sms = 36;
  EXPECT_EQ(part_of_gpu(hopper, 11).l2.input_sms, 4U);  // 36 / 11, up
  EXPECT_EQ(part.l2.bytes, gpu.l2.bytes);
  EXPECT_EQ(part.energy.active_watts, gpu.energy.active_watts / 4);
  EXPECT_EQ(part.energy.idle_watts, gpu.energy.idle_watts / 4);
  EXPECT_EQ(part.energy.rop_pj, gpu.energy.rop_pj);
  EXPECT_EQ(part.sm.max_warps, gpu.sm.max_warps);
  for (const std::string& name : gpu_names()) {  // by which shipped traces are sampled
    EXPECT_NO_THROW(part_of_gpu(load_gpu(name), 4)) << name;
  }
  EXPECT_THROW(part_of_gpu(gpu, 0), ConfigError);
  EXPECT_THROW(part_of_gpu(gpu, 3), ConfigError);
}

// What was measured on one sector, on one slice, and on a slice and its partner, in operations per
// clock. The 48 ports together could do 53.9; the whole GPU did 53 with one lane a RED.
TEST(BuiltinGpus, RopsMeetTheMeasurement) {
  const GpuConfig gpu = load_gpu("h200");
  EXPECT_NEAR(1 / gpu.l2.sector_cycles, 0.2863, 0.001);
  EXPECT_NEAR(gpu.l2.rop_cycles, 1.47, 0.02);  // a clock on 16 sectors: 0.674
  EXPECT_NEAR(1 / gpu.l2.port_cycles, 1.12, 0.01);
  EXPECT_EQ(gpu.l2.ports(), 48U);
  EXPECT_NEAR(gpu.l2.ports() / gpu.l2.port_cycles, 53.9, 0.1);
}

// One of the sources that the head of a GPU file defines.
bool names_a_source(std::string comment) {
  std::transform(comment.begin(), comment.end(), comment.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string> sources{"paper",    "data sheet", "cuda guide", "measured",
                                         "luo 2024", "calibrated", "estimate",   "gpgpu-sim"};
  return std::any_of(sources.begin(), sources.end(), [&comment](const std::string& source) {
    return comment.find(source) != std::string::npos;
  });
}

// Lines of a GPU file that set a parameter and name no source, neither behind it nor in the comment
// directly above it.
std::vector<std::string> lines_without_a_source(const std::string& toml) {
  std::vector<std::string> found;
  std::istringstream lines(toml);
  std::string above;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) {
      above += line;
      continue;
    }
    const std::size_t comment = line.find('#');
    if (line.find(" = ") != std::string::npos && !line.starts_with("name = ") &&
        !names_a_source(above + (comment == std::string::npos ? "" : line.substr(comment)))) {
      found.push_back(line);
    }
    above.clear();
  }
  return found;
}

TEST(BuiltinGpus, EveryParameterNamesItsSource) {
  for (const BuiltinGpu& gpu : builtin_gpus()) {
    EXPECT_EQ(lines_without_a_source(std::string(gpu.toml)), std::vector<std::string>{});
  }
  // What the check takes, and what it does not.
  EXPECT_TRUE(lines_without_a_source("# Measured: x\n# y\na = 1\nb = 2  # estimate\n").empty());
  EXPECT_EQ(lines_without_a_source("# paper\n\na = 1  # two\n[paper]\nestimate = 2\n").size(), 2U);
}

TEST(BuiltinGpus, UnknownNameListsTheKnownOnes) {
  try {
    load_gpu("rtx5090");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown GPU 'rtx5090': known are rtx4090, rtx3060, h200, h100, arc-4090-sim, "
                 "arc-3060-sim, or a file that ends in .toml");
  }
}

// What load_gpu says about an override of the first built-in machine; empty if it is accepted.
std::string override_error(const std::string& setting) {
  try {
    load_gpu("rtx4090", {setting});
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(Overrides, TakeThePlaceOfTheFile) {
  const GpuConfig gpu =
      load_gpu("rtx4090", {"lab.bytes=16_384", "sm.clock_ghz=2", "sm.issue_order=gto",
                           "name=\"mine\"", "lsu.queue_depth=3", "lsu.queue_depth=5"});
  EXPECT_EQ(gpu.lab.bytes, 16384U);
  EXPECT_EQ(gpu.sm.clock_ghz, 2.0);
  EXPECT_EQ(gpu.sm.issue_order, IssueOrder::kGreedyThenOldest);
  EXPECT_EQ(gpu.name, "mine");
  EXPECT_EQ(gpu.lsu.queue_depth, 5U);
  EXPECT_EQ(gpu.l2.bytes, load_gpu("rtx4090").l2.bytes);
}

TEST(Overrides, MistakesAreOneLineThatNamesThem) {
  EXPECT_EQ(override_error("lab.byte=4096"),
            "--set lab.byte=4096: unknown key (did you mean lab.bytes?)");
  EXPECT_EQ(override_error("lab.bytes=0"), "--set lab.bytes=0: is 0, must be 128 to 16777216");
  EXPECT_EQ(override_error("lab.bytes=2.5"),
            "--set lab.bytes=2.5: is a floating-point number, must be an integer");
  EXPECT_EQ(override_error("lab.bytes=abc"),
            "--set lab.bytes=abc: is a string, must be an integer");
  EXPECT_EQ(override_error("sm.count=1025"), "--set sm.count=1025: is 1025, must be 1 to 1024");
  EXPECT_EQ(override_error("sm.issue_order=fifo"),
            "--set sm.issue_order=fifo: is \"fifo\", must be \"lrr\" or \"gto\"");
  EXPECT_EQ(override_error("lab.bytes=131072"),
            "--set lab.bytes=131072: is 131072, must be less than l1.bytes = 131072");
  EXPECT_EQ(override_error("lap.bytes=1"), "--set lap.bytes=1: the machine has no section 'lap'");
  EXPECT_EQ(override_error("lab=1"), "--set lab=1: is an integer, must be a table");
  EXPECT_EQ(override_error("lab.bytes"),
            "--set lab.bytes: has no '=', must be KEY=VALUE such as lab.bytes=65536");
  EXPECT_EQ(override_error("lab.bytes="),
            "--set lab.bytes=: must be KEY=VALUE such as lab.bytes=65536");
  EXPECT_EQ(override_error("lab.bytes=1\nx=2"), "--set lab.bytes=1?x=2: must be one value");
  EXPECT_EQ(override_error("name=\u03cf"), "--set name=\u03cf: has a character that is not ASCII");
}

// Elsewhere they led toml++ into code that must not be reached.
TEST(GpuFiles, OtherCharactersThanAsciiStandInCommentsAlone) {
  const std::string path = ::testing::TempDir() + "letters-" + std::to_string(getpid()) + ".toml";
  const std::string text(builtin_gpus().front().toml);
  const auto error_of = [&](const std::string& before) -> std::string {
    std::ofstream(path, std::ios::binary) << before << text;
    try {
      (void)load_gpu(path);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("# \u03cf\n"), "");
  for (const char* line : {"\u03cf = 1\n", "a\u03cf = 1\n", "\u00a0\n", "\xff\n"}) {
    EXPECT_EQ(error_of(std::string("# \u03cf\n") + line),
              path + ": line 2: has a character that is not ASCII");
  }
  std::filesystem::remove(path);
}

// As some editors write it; in the middle of a file it is none.
TEST_F(GpuFile, MayBeginWithAByteOrderMark) {
  const std::string path = ::testing::TempDir() + "warpfold_bom.toml";
  std::string text;
  for (const BuiltinGpu& gpu : builtin_gpus()) {
    text = gpu.name == "rtx4090" ? std::string(gpu.toml) : text;
  }
  std::ofstream(path, std::ios::binary) << "\xef\xbb\xbf" << text;
  EXPECT_EQ(load_gpu(path).sm.count, load_gpu("rtx4090").sm.count);
  std::ofstream(path, std::ios::binary) << "\xef\xbb\xbf\xef\xbb\xbf" << text;
  EXPECT_THROW((void)load_gpu(path), ConfigError);
  std::filesystem::remove(path);
}

TEST(ConfigToJson, HoldsEveryParameterOfTheFile) {
  const GpuConfig gpu = load_gpu("rtx4090");
  const auto json = config_to_json(gpu);
  std::string expected_order;
  for (const auto& [key, value] : json.items()) {
    expected_order += key + " ";
  }
  EXPECT_EQ(expected_order, "name sass_arch sm pipe latency lsu arc l1 lab buffer noc l2 energy ");
  // As many as lines of the file that set one, and twelve that it leaves out: lsu.red_word, what
  // compare-and-swaps, fences and launches take, arc.merge_rows, and six of loads with addresses.
  std::size_t in_file = 0;
  std::istringstream lines{std::string(builtin_gpus().front().toml)};
  for (std::string line; std::getline(lines, line);) {
    in_file += line.find(" = ") != std::string::npos && !line.starts_with("#") ? 1U : 0U;
  }
  std::size_t in_json = 0;
  for (const auto& [key, value] : json.items()) {
    in_json += value.is_object() ? value.size() : 1;
  }
  EXPECT_EQ(in_json, in_file + 12);
  EXPECT_EQ(json["sm"]["issue_order"], "lrr");
  EXPECT_EQ(json["l2"]["sector_cycles"], 3.49);
  EXPECT_EQ(json["l2"]["bytes"], 75497472);
}

TEST_F(GpuFile, GoodOneIsRead) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(error_with("", "name", "\"mine\""), "");
  EXPECT_EQ(error_with("sm", "count", "1"), "");
  EXPECT_EQ(error_with("sm", "issue_order", "\"gto\""), "");
  EXPECT_EQ(error_with("lsu", "red_min", "3"), "");  // an integer where a float may stand
  const GpuConfig gpu = load_gpu(path());
  EXPECT_EQ(gpu.name, "mine");
  EXPECT_EQ(gpu.sm.count, 1U);
  EXPECT_EQ(gpu.sm.issue_order, IssueOrder::kGreedyThenOldest);
  EXPECT_EQ(gpu.lsu.red_min, 3.0);
}

TEST_F(GpuFile, MisspeltKeyIsNamedWithTheOneThatIsMeant) {
  set_line("sm", "max_warps", "max_wraps = 48");
  EXPECT_EQ(error(), "sm.max_wraps: unknown key (did you mean sm.max_warps?)");
}

TEST_F(GpuFile, MisspeltTableIsNamed) {
  text_.replace(text_.find("[latency]"), 9, "[latnecy]");
  EXPECT_EQ(error(), "latnecy: unknown key (did you mean latency?)");
}

TEST_F(GpuFile, KeyInTheWrongTableIsNamed) {
  set_line("sm", "max_ctas", "slices = 3\nmax_ctas = 24");
  EXPECT_EQ(error(), "sm.slices: unknown key (did you mean l2.slices?)");
}

TEST_F(GpuFile, UnknownKeyWithoutANeighbourIsNamed) {
  set_line("", "name", "name = \"x\"\ncolour_of_the_box = \"green\"");
  EXPECT_EQ(error(), "colour_of_the_box: unknown key");
}

TEST_F(GpuFile, EveryKeyMustBeThere) {
  const std::string good = text_;
  std::istringstream lines(good);
  std::string section;
  std::size_t keys = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[")) {
      section = line.substr(1, line.find(']') - 1);
    } else if (const std::size_t end = line.find(" = ");
               end != std::string::npos && !line.starts_with("#")) {
      const std::string key = line.substr(0, end);
      text_ = good;
      set_line(section, key, "");
      EXPECT_EQ(error(), (section.empty() ? key : section + "." + key) + ": is missing");
      ++keys;
    }
  }
  EXPECT_EQ(keys, 89U);
}

TEST_F(GpuFile, WhatAWordMoreTakesMayBeLeftOut) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).lsu.red_word, 1.01);
  EXPECT_EQ(load_gpu(path(), {"lsu.red_word=2.5"}).lsu.red_word, 2.5);
  set_line("lsu", "red_change", "red_change = 0.12\nred_word = 0.5");
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).lsu.red_word, 0.5);
  EXPECT_EQ(error_with("lsu", "red_word", "-1.0"), "lsu.red_word: is -1, must be 0 to 1000");
}

TEST_F(GpuFile, WhatACompareAndSwapTakesMayBeLeftOut) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).latency.shared_cas, 43U);
  EXPECT_EQ(load_gpu(path()).lsu.shared_cas, 2.44);
  set_line("latency", "cta_launch", "cta_launch = 360\nshared_cas = 50");
  set_line("lsu", "shared_wide", "shared_wide = 2.0\nshared_cas = 3.5");
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).latency.shared_cas, 50U);
  EXPECT_EQ(load_gpu(path()).lsu.shared_cas, 3.5);
  EXPECT_EQ(error_with("lsu", "shared_cas", "0.0"), "lsu.shared_cas: is 0, must be 0.01 to 10000");
}

TEST_F(GpuFile, WhatAFenceAndALaunchTakeMayBeLeftOut) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).latency.fence, 302U);
  EXPECT_EQ(load_gpu(path()).latency.launch, 740U);
  set_line("latency", "cta_launch", "cta_launch = 360\nfence = 50\nlaunch = 0");
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).latency.fence, 50U);
  EXPECT_EQ(load_gpu(path()).latency.launch, 0U);
}

TEST_F(GpuFile, RowsOfTheMergeBufferAreTwoSetsAtLeast) {
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).arc.merge_rows, 512U);
  set_line("arc", "queue_depth", "queue_depth = 1\nmerge_rows = 8");
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu(path()).arc.merge_rows, 8U);
  EXPECT_EQ(error_with("arc", "merge_rows", "4"), "arc.merge_rows: is 4, must be 8 to 65536");
  EXPECT_EQ(error_with("arc", "merge_rows", "12"), "arc.merge_rows: is 12, must be a power of two");
}

TEST_F(GpuFile, MissingTableIsNamedByItsFirstKey) {
  text_.erase(text_.find("\n[l2]\n"));
  EXPECT_EQ(error(), "l2.slices: is missing");
}

TEST_F(GpuFile, EmptyFileMissesItsFirstKey) {
  text_ = "";
  EXPECT_EQ(error(), "name: is missing");
}

TEST_F(GpuFile, WrongTypeIsNamed) {
  EXPECT_EQ(error_with("sm", "count", "\"128\""), "sm.count: is a string, must be an integer");
  EXPECT_EQ(error_with("sm", "count", "128.0"),
            "sm.count: is a floating-point number, must be an integer");
  EXPECT_EQ(error_with("sm", "count", "[128]"), "sm.count: is an array, must be an integer");
  EXPECT_EQ(error_with("sm", "count", "{a = 1}"), "sm.count: is a table, must be an integer");
  EXPECT_EQ(error_with("sm", "count", "true"), "sm.count: is a boolean, must be an integer");
  EXPECT_EQ(error_with("sm", "count", "2025-01-01"),
            "sm.count: is a date or time, must be an integer");
}

TEST_F(GpuFile, WrongTypeOfOtherKeysIsNamed) {
  EXPECT_EQ(error_with("", "name", "3"), "name: is an integer, must be a string");
  set_line("", "name", "name = \"x\"");
  EXPECT_EQ(error_with("sm", "clock_ghz", "true"), "sm.clock_ghz: is a boolean, must be a number");
  set_line("sm", "clock_ghz", "clock_ghz = 2.0");
  EXPECT_EQ(error_with("sm", "issue_order", "1"),
            "sm.issue_order: is an integer, must be \"lrr\" or \"gto\"");
  EXPECT_EQ(error_with("sm", "issue_order", "\"fifo\""),
            "sm.issue_order: is \"fifo\", must be \"lrr\" or \"gto\"");
}

TEST_F(GpuFile, TableThatIsNoTableIsNamed) {
  text_.erase(text_.find("\n[l2]\n"));
  text_ = "l2 = 3\n" + text_;
  EXPECT_EQ(error(), "l2: is an integer, must be a table");
}

TEST_F(GpuFile, AbsurdValuesAreRefused) {
  EXPECT_EQ(error_with("sm", "count", "0"), "sm.count: is 0, must be 1 to 1024");
  EXPECT_EQ(error_with("sm", "count", "-1"), "sm.count: is -1, must be 1 to 1024");
  EXPECT_EQ(error_with("sm", "count", "1_000_000_000"),
            "sm.count: is 1000000000, must be 1 to 1024");
  // Would be 1 in 32 bits.
  EXPECT_EQ(error_with("sm", "count", "4294967297"), "sm.count: is 4294967297, must be 1 to 1024");
  EXPECT_NE(error_with("sm", "count", "99999999999999999999"), "");  // not even an integer of TOML
  set_line("sm", "count", "count = 128");
  EXPECT_EQ(error_with("l2", "bytes", "-1"), "l2.bytes: is -1, must be 4096 to 1073741824");
}

TEST_F(GpuFile, AbsurdFloatsAreRefused) {
  for (const std::string value : {"0.0", "0", "-1.0", "1e9", "nan", "-nan", "inf", "-inf"}) {
    const std::string what = error_with("l2", "rop_cycles", value);
    EXPECT_TRUE(what.starts_with("l2.rop_cycles: is ")) << what;
    EXPECT_TRUE(what.ends_with(", must be 0.01 to 10000")) << what;
  }
}

TEST_F(GpuFile, ValuesThatDoNotGoTogetherAreRefused) {
  EXPECT_EQ(error_with("l2", "interleave_bytes", "500"),
            "l2.interleave_bytes: is 500, must be a power of two");
  EXPECT_EQ(error_with("l2", "interleave_bytes", "64"),
            "l2.interleave_bytes: is 64, less than l2.slice_bytes = 256");
  set_line("l2", "interleave_bytes", "interleave_bytes = 1024");
  EXPECT_EQ(error_with("l2", "slice_bytes", "200"),
            "l2.slice_bytes: is 200, must be a power of two");
  EXPECT_EQ(error_with("l2", "slice_bytes", "64"),
            "l2.slice_bytes: is 64, less than l2.line_bytes = 128");
  set_line("l2", "slice_bytes", "slice_bytes = 256");
  EXPECT_EQ(error_with("l2", "slices_per_port", "3"),
            "l2.slices: is 88, no multiple of l2.slices_per_port = 3");
  set_line("l2", "slices_per_port", "slices_per_port = 2");
  EXPECT_EQ(error_with("l2", "sector_cycles", "1.25"),
            "l2.sector_cycles: is 1.25, less than l2.rop_cycles = 1.47");
  set_line("l2", "sector_cycles", "sector_cycles = 3.49");
  EXPECT_EQ(error_with("l2", "line_bytes", "96"), "l2.line_bytes: is 96, must be a power of two");
  EXPECT_EQ(error_with("l2", "line_bytes", "64"),
            "l2.line_bytes: is 64, less than l1.line_bytes = 128");
  set_line("l2", "line_bytes", "line_bytes = 128");
  EXPECT_EQ(error_with("l2", "bytes", "65536"),
            "l2.bytes: is 65536, must be at least slices x ways x line_bytes = 180224");
  set_line("l2", "bytes", "bytes = 75497472");
  EXPECT_EQ(error_with("l2", "slice_bytes", "384"),
            "l2.slice_bytes: is 384, must be a power of two");
  EXPECT_EQ(error_with("l2", "slice_bytes", "64"),
            "l2.slice_bytes: is 64, less than l2.line_bytes = 128");
  set_line("l2", "slice_bytes", "slice_bytes = 256");
  EXPECT_EQ(error_with("l2", "slices_per_port", "3"),
            "l2.slices: is 88, no multiple of l2.slices_per_port = 3");
  set_line("l2", "slices_per_port", "slices_per_port = 2");
  EXPECT_EQ(error_with("l2", "sector_cycles", "1.25"),
            "l2.sector_cycles: is 1.25, less than l2.rop_cycles = 1.47");
  set_line("l2", "sector_cycles", "sector_cycles = 3.49");
  EXPECT_EQ(error_with("sm", "max_warps", "3"), "sm.max_warps: is 3, less than sm.subcores = 4");
  set_line("sm", "max_warps", "max_warps = 48");
  EXPECT_EQ(error_with("", "sass_arch", "\"gfx90a\""),
            "sass_arch: is \"gfx90a\", must start with \"sm_\"");
}

TEST_F(GpuFile, SubcoreHoldsAsManyWarpsAsTheModelCan) {
  EXPECT_EQ(error_with("sm", "max_warps", "50"),
            "sm.max_warps: is 50, must be a multiple of sm.subcores = 4");
  EXPECT_EQ(error_with("sm", "max_warps", "132"),
            "sm.max_warps: is 132, that is 33 in each of sm.subcores = 4; a sub-core of the model "
            "holds 32 at most");
  EXPECT_EQ(error_with("sm", "max_warps", "128"), "");
}

TEST_F(GpuFile, BufferFitsTheSram) {
  EXPECT_EQ(error_with("lab", "bytes", "131072"),
            "lab.bytes: is 131072, must be less than l1.bytes = 131072");
  EXPECT_EQ(error_with("lab", "bytes", "255"),
            "lab.bytes: is 255, must be at least ways x entry_bytes = 256");
  EXPECT_EQ(error_with("lab", "bytes", "256"), "");
  EXPECT_EQ(error_with("lab", "entry_bytes", "48"),
            "lab.entry_bytes: is 48, must be a power of two");
  EXPECT_EQ(error_with("lab", "entry_bytes", "32"), "");
  EXPECT_EQ(error_with("l1", "line_bytes", "48"), "l1.line_bytes: is 48, must be a power of two");
  EXPECT_EQ(error_with("l1", "line_bytes", "128"), "");
  EXPECT_EQ(error_with("buffer", "victims", "3"),
            "buffer.victims: is 3, less than the 4 sectors of a line");
  EXPECT_EQ(error_with("buffer", "victims", "4"), "");
  EXPECT_EQ(error_with("l1", "ways", "512"), "");
  EXPECT_EQ(error_with("l1", "bytes", "65535"),
            "l1.bytes: is 65535, must be at least ways x line_bytes = 65536");
}

TEST_F(GpuFile, WholeTransactionFitsInFrontOfASlice) {
  EXPECT_EQ(error_with("l2", "ingress_flits", "63"),
            "l2.ingress_flits: is 63, less than the 64 flits that one transaction can have");
  EXPECT_EQ(error_with("l2", "ingress_flits", "64"), "");
}

TEST_F(GpuFile, PacketTakesACycleOrMore) {
  const std::string what = ", must be 1 to 1000";
  EXPECT_EQ(error_with("noc", "flit_cycles", "0.99"), "noc.flit_cycles: is 0.99" + what);
  EXPECT_EQ(error_with("noc", "flit_cycles", "1001"), "noc.flit_cycles: is 1001" + what);
  EXPECT_EQ(error_with("noc", "flit_cycles", "1000"), "");
}

TEST_F(GpuFile, SizesThatNoMemoryHoldsAreRefused) {
  EXPECT_EQ(error_with("l2", "bytes", "1_073_741_825"),
            "l2.bytes: is 1073741825, must be 4096 to 1073741824");
  EXPECT_EQ(error_with("l2", "bytes", "1_073_741_824"), "");
  EXPECT_EQ(error_with("l2", "slices", "1025"), "l2.slices: is 1025, must be 1 to 1024");
  EXPECT_EQ(error_with("sm", "count", "1025"), "sm.count: is 1025, must be 1 to 1024");
}

TEST_F(GpuFile, NamesArePlain) {
  const std::string what = "name: must be 1 to 64 letters, digits and _-.";
  EXPECT_EQ(error_with("", "name", "\"\""), what);
  EXPECT_EQ(error_with("", "name", "\"a b\""), what);
  EXPECT_EQ(error_with("", "name", "\"a\\nb\""), what);
  EXPECT_EQ(error_with("", "name", '"' + std::string(65, 'a') + '"'), what);
}

TEST_F(GpuFile, SyntaxErrorsNameTheLine) {
  text_ = "name = \"x\"\nsass_arch = \n";
  EXPECT_TRUE(error().starts_with("line 2, column ")) << error();
  text_ = "name = \"x\"\nname = \"y\"\n";
  EXPECT_TRUE(error().starts_with("line 2, column ")) << error();
  text_ = "name = \"\xff\"\n";
  EXPECT_NE(error(), "");
  text_ = std::string(1, '\0');
  EXPECT_NE(error(), "");
}

TEST_F(GpuFile, ControlCharactersOfAKeyDoNotBreakTheLine) {
  text_ = "\"a\\nb\" = 1\n" + text_;
  EXPECT_EQ(error(), "a?b: unknown key");
}

TEST_F(GpuFile, MissingFileFolderAndTraceAreRefused) {
  EXPECT_EQ(error_of((folder_ / "none.toml").string()),
            "cannot be opened: No such file or directory");
  std::filesystem::create_directory(folder_ / "folder.toml");
  EXPECT_EQ(error_of((folder_ / "folder.toml").string()), "is a folder, not a GPU file");
  text_ = std::string(2U << 20U, '#');
  EXPECT_EQ(error(), "is too large for a GPU file");
}

}  // namespace
}  // namespace warpfold
