// SPDX-License-Identifier: Apache-2.0
// What a report is made from: input that it takes, input that it refuses, text that harms nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "model/report/page.hpp"
#include "model/report/report_data.hpp"

namespace warpfold::report {
namespace {

using Json = nlohmann::ordered_json;

Json made_up_run(const std::string& policy, std::uint64_t cycles) {
  Json run = {{"trace", "data/small.wft"}, {"trace_hash", "0123456789abcdef"},
              {"gpu", "rtx4090"},          {"policy", policy},
              {"unit", "golden"},          {"unit_kind", "serial"},
              {"cycles", cycles},          {"speedup", nullptr},
              {"bounds", nullptr},         {"sums_match", true},
              {"conserved", true},         {"sum_check", "exact"},
              {"max_sum_error", 0.0},      {"wall_seconds", 0.5},
              {"measured", nullptr},       {"gpu_part", 1}};
  for (const char* key :
       {"events", "warp_atomics", "lane_atomics", "rop_ops", "noc_packets", "noc_bytes"}) {
    run[key] = 10;
  }
  run["stalls"] = {{"subcore_cycles", {{"issued", 5}}}, {"warp_cycles", {{"issued", 5}}}};
  run["utilization"] = {{"issue", 0.5}};
  run["activity"] = {{"instructions", 5}};
  run["energy_nj"] = {{"total", 1.5}};
  run["config"] = {{"name", "rtx4090"}, {"sm", {{"count", 128}, {"clock_ghz", 2.24}}}};
  return run;
}

Json made_up_results() {
  return {{"schema", "warpfold.sim/1"},
          {"runs", {made_up_run("baseline", 2000), made_up_run("arc-hw", 1000)}}};
}

Json made_up_timeline() {
  return {{"schema", "warpfold.timeline/1"},
          {"runs",
           {{{"trace", "elsewhere/small.wft"},
             {"gpu", "rtx4090"},
             {"policy", "arc-hw"},
             {"unit", "golden"},
             {"unit_kind", "serial"},
             {"cycles", 1000},
             {"gpu_part", 1},
             {"interval", 500},
             {"units", {{"issue", 2}}},
             {"busy", {{"issue", {10.0, 20.0}}}}}}}};
}

class Report : public ::testing::Test {
 protected:
  Report()
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("report_test.{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Report() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string write(const std::string& name, const Json& json) { return write(name, json.dump()); }

  // The complaint, which begins with the path of the file that is wrong.
  static std::string complaint(const ReportFiles& files, const std::string& path) {
    try {
      read_report(files);
    } catch (const ReportError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find(path), 0U) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text.substr(std::min(text.size(), path.size()));
    }
    return "";
  }
  std::string complaint(const Json& results) {
    const std::string path = write("wrong.json", results);
    return complaint({.results = {path}}, path);
  }

  std::filesystem::path folder_;
};

TEST_F(Report, TakesResultsOfSeveralFiles) {
  const std::string a = write("a.json", made_up_results());
  Json other = made_up_results();
  other["runs"][1]["config"]["sm"]["count"] = 64;
  other["runs"][0]["sums_match"] = false;
  other["runs"][0]["unheard_of"] = {{"deep", {1, 2}}};
  const std::string b = write("b.json", other);
  const ReportData data = read_report({.results = {a, b}});
  EXPECT_EQ(data.runs, 4U);
  EXPECT_EQ(data.failed, 1U);
  EXPECT_EQ(data.title, "small on rtx4090");
  EXPECT_EQ(data.document.at("files"), Json({a, b}));
  EXPECT_EQ(data.document.at("configs").size(), 2U) << "equal configurations stand once";
  EXPECT_EQ(data.document.at("runs")[2].at("file"), 1);
  EXPECT_EQ(data.document.at("runs")[2].at("config"), 0);
  EXPECT_EQ(data.document.at("runs")[3].at("config"), 1);
  EXPECT_FALSE(data.document.at("runs")[2].contains("unheard_of"));
  EXPECT_TRUE(data.document.at("area").is_null());
}

TEST_F(Report, RefusesWhatIsNoResultsFile) {
  const std::string text = write("text.json", std::string("no JSON"));
  EXPECT_EQ(complaint({.results = {text}}, text), ": is no JSON: error at byte 2");
  const std::string cut = write("cut.json", made_up_results().dump().substr(0, 100));
  EXPECT_NE(complaint({.results = {cut}}, cut).find("is no JSON"), std::string::npos);
  const std::string absent = (folder_ / "absent.json").string();
  EXPECT_EQ(complaint({.results = {absent}}, absent),
            ": cannot be read: No such file or directory");
  EXPECT_EQ(complaint({.results = {folder_.string()}}, folder_.string()), ": is a directory");
  EXPECT_EQ(complaint(Json::array()), ": has no schema; warpfold.sim/1 is needed");
  EXPECT_EQ(complaint(made_up_timeline()),
            ": has schema 'warpfold.timeline/1'; warpfold.sim/1 is needed");
  EXPECT_EQ(complaint({{"schema", 1}}), ": schema: is no text");
  EXPECT_EQ(complaint({{"schema", "warpfold.sim/1"}}), ": has no 'runs'");
  EXPECT_EQ(complaint({{"schema", "warpfold.sim/1"}, {"runs", Json::array()}}), ": has no runs");
}

TEST_F(Report, SaysWhichRunLacksWhat) {
  const std::vector<std::pair<Json::json_pointer, std::string>> gone = {
      {"/runs/1/trace"_json_pointer, ": run 2: has no 'trace'"},
      {"/runs/1/stalls/subcore_cycles"_json_pointer, ": run 2: stalls: has no 'subcore_cycles'"},
      {"/runs/0/config"_json_pointer, ": run 1: has no 'config'"}};
  for (const auto& [place, text] : gone) {
    Json results = made_up_results();
    results.at(place.parent_pointer()).erase(place.back());
    EXPECT_EQ(complaint(results), text);
  }
  const std::vector<std::tuple<Json::json_pointer, Json, std::string>> wrong = {
      {"/runs/1"_json_pointer, 7, ": run 2: is no object"},
      {"/runs/1/policy"_json_pointer, 7, ": run 2: policy: is no text"},
      {"/runs/1/cycles"_json_pointer, -7, ": run 2: cycles: is no count"},
      {"/runs/1/cycles"_json_pointer, 0, ": run 2: has no cycles"},
      {"/runs/1/speedup"_json_pointer, "2", ": run 2: speedup: is no number of 0 or more"},
      {"/runs/1/conserved"_json_pointer, 1, ": run 2: conserved: is neither true nor false"},
      {"/runs/1/utilization/issue"_json_pointer, Json::array(),
       ": run 2: utilization: 'issue' is no number"},
      {"/runs/1/config/sm/count"_json_pointer, Json::array(),
       ": run 2: config: 'sm.count' is no value"}};
  for (const auto& [place, value, text] : wrong) {
    Json results = made_up_results();
    results[place] = value;
    EXPECT_EQ(complaint(results), text);
  }
}

TEST_F(Report, RefusesAFileGivenTwice) {
  const std::string path = write("a.json", made_up_results());
  EXPECT_EQ(complaint({.results = {path, path}}, path), ": given twice");
  const std::string link = (folder_ / "link.json").string();
  std::filesystem::create_symlink(path, link);
  EXPECT_EQ(complaint({.results = {path, link}}, link), ": the same file as " + path);
  EXPECT_EQ(complaint({.results = {path}, .timeline = path}, path), ": given twice");
}

TEST_F(Report, TakesATimelineInEitherForm) {
  const std::string results = write("a.json", made_up_results());
  const std::string plain = write("plain.json", made_up_timeline());
  Json second = made_up_timeline();
  second["schema"] = "warpfold.timeline/2";
  second["runs"][0]["held"] = {{"memory_queue", {1, 2}}};
  const Json for_viewer = {{"traceEvents", {{{"ph", "C"}}}}, {"warpfold", second}};
  const std::string viewer = write("viewer.json", for_viewer);
  for (const std::string& path : {plain, viewer}) {
    const Json timelines =
        read_report({.results = {results}, .timeline = path}).document.at("timelines");
    ASSERT_EQ(timelines.size(), 1U);
    EXPECT_EQ(timelines[0].at("run"), 1);
    EXPECT_EQ(timelines[0].at("interval"), 500);
    EXPECT_EQ(timelines[0].at("busy").at("issue"), Json({10, 20}));
  }
}

TEST_F(Report, JoinsIntervalsBeyondWhatAFigureShows) {
  Json timeline = made_up_timeline();
  Json& run = timeline["runs"][0];
  run["interval"] = 1;
  run["busy"]["issue"] = std::vector<int>(1000, 1);
  const std::string results = write("a.json", made_up_results());
  const std::string path = write("t.json", timeline);
  const Json joined =
      read_report({.results = {results}, .timeline = path}).document.at("timelines")[0];
  EXPECT_EQ(joined.at("interval"), 2);
  EXPECT_EQ(joined.at("busy").at("issue"), Json(std::vector<int>(500, 2)));
}

TEST_F(Report, RefusesATimelineOfOtherRuns) {
  const std::string results = write("a.json", made_up_results());
  const auto timeline_complaint = [&](const Json& timeline) {
    const std::string path = write("t.json", timeline);
    return complaint({.results = {results}, .timeline = path}, path);
  };
  Json other = made_up_timeline();
  other["runs"][0]["cycles"] = 999;
  EXPECT_EQ(timeline_complaint(other),
            ": run 1: small on rtx4090 under arc-hw, 999 cycles, is none of the results");
  EXPECT_EQ(timeline_complaint(made_up_results()),
            ": has schema 'warpfold.sim/1'; warpfold.timeline/1 is needed");
  EXPECT_EQ(timeline_complaint(Json{{"warpfold", 7}}),
            ": has no schema; warpfold.timeline/1 is needed");
  other = made_up_timeline();
  other["runs"][0]["busy"]["issue"][1] = "x";
  EXPECT_EQ(timeline_complaint(other), ": run 1: busy: issue: is no list of busy cycles of units");
  other = made_up_timeline();
  other["runs"][0]["interval"] = 0;
  EXPECT_EQ(timeline_complaint(other), ": run 1: has an interval of 0 cycles");
}

TEST_F(Report, TakesAreas) {
  const std::string results = write("a.json", made_up_results());
  const Json area = {{"schema", "warpfold.synth/1"},
                     {"rows", {{{"top", "unit"}, {"transistors", 12}, {"unit", "serial"}}}}};
  const std::string path = write("area.json", area);
  const Json rows =
      read_report({.results = {results}, .area = path}).document.at("area").at("rows");
  EXPECT_EQ(rows[0], Json({{"top", "unit"}, {"transistors", 12}, {"unit", "serial"}}));
  EXPECT_EQ(complaint({.results = {results}, .area = results}, results), ": given twice");
  const std::string empty =
      write("e.json", Json{{"schema", "warpfold.synth/1"}, {"rows", Json::array()}});
  EXPECT_EQ(complaint({.results = {results}, .area = empty}, empty), ": has no rows");
}

TEST_F(Report, TextOfInputIsNoHtml) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  Json results = made_up_results();
  results["runs"][0]["trace"] = "a\\</script><b>{{style}}<!--.wft";
  results["runs"][1]["policy"] = "</script><script>alert(1)</script>";
  const std::string path = write("a.json", results);
  const ReportData data = read_report({.results = {path}});
  const std::string page = report_page(data, "1.2<3");
  const std::size_t begin = page.find("id=\"data\">") + 10;
  const std::string json = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(json), data.document) << "the data is unchanged, {{style}} too";
  EXPECT_NE(page.find("<title>script&gt;&lt;b&gt;{{style}}&lt;!--, small on rtx4090 "),
            std::string::npos);
  EXPECT_EQ(page.find("<b>{{"), std::string::npos);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(page.find("Warpfold 1.2&lt;3"), std::string::npos);
}

}  // namespace
}  // namespace warpfold::report
