// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace warpfold::microbench {
namespace {

Result result(const std::string& name) {
  Result r;
  r.group = "red";
  r.name = name;
  r.parameters = {{"lanes", 32}};
  r.unit = "SM cycles/RED of an SM";
  r.value = {
      .median = 2, .min = 1, .max = 3, .quartile_low = 1.5, .quartile_high = 2.5, .count = 11};
  r.grid = 132;
  r.block = 1024;
  return r;
}

Report good() {
  Report report(false);
  report.set("gpu", {{"name", "A GPU"},
                     {"driver", "1"},
                     {"cuda", "13.0"},
                     {"sms", 132},
                     {"compute_capability", 90}});
  report.add(result("a"));
  report.add(result("b"));
  return report;
}

TEST(Report, PassesItsOwnCheck) {
  const Json json = good().json();
  EXPECT_TRUE(check_report(json).empty()) << check_report(json).front();
  EXPECT_EQ(json["schema"], "warpfold.microbench/1");
  EXPECT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["sm_clock_mhz"], nullptr);
  EXPECT_EQ(json["results"][0]["extra"], Json::object());
  EXPECT_TRUE(check_report(Json::parse(json.dump())).empty());
}

TEST(Report, CheckFindsWhatIsWrong) {
  EXPECT_EQ(check_report(Json::array()).front(), "not a warpfold.microbench/1 file");
  EXPECT_EQ(check_report({{"schema", "warpfold.sim/1"}}).size(), 1U);
  Json json = good().json();
  json["gpu"].erase("sms");
  json["results"][0].erase("unit");
  json["results"][0]["median"] = 4;
  json["results"][1]["name"] = "a";
  json["results"][1]["min"] = "one";
  const auto wrong = check_report(json);
  ASSERT_EQ(wrong.size(), 5U);
  EXPECT_EQ(wrong[0], "gpu: no sms");
  EXPECT_EQ(wrong[1], "a: no unit");
  EXPECT_EQ(wrong[2], "a: the median lies outside of the range");
  EXPECT_EQ(wrong[3], "a: twice");
  EXPECT_EQ(wrong[4], "a: min is a string");
}

// JSON has no NaN.
TEST(Report, CheckFindsNotANumber) {
  Report report = good();
  Result r = result("c");
  r.value.median = std::numeric_limits<double>::quiet_NaN();
  report.add(r);
  EXPECT_FALSE(check_report(Json::parse(report.json().dump())).empty());
}

TEST(Report, FileAppearsWhole) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "warpfold_microbench_report.json";
  good().write(file);
  std::ifstream in(file);
  EXPECT_TRUE(check_report(Json::parse(in)).empty());
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".part"));
  std::filesystem::remove(file);
  EXPECT_THROW(good().write("/nowhere/at/all.json"), std::runtime_error);
}

}  // namespace
}  // namespace warpfold::microbench
