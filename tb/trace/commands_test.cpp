// SPDX-License-Identifier: Apache-2.0
// Statistics against a trace counted by hand, and what the trace commands print and write.
#include "traces/format/commands.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tb/trace/synthetic.hpp"
#include "tb/trace/trace_files.hpp"
#include "traces/format/header.hpp"
#include "traces/format/manifest.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::trace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Record event(std::uint32_t mask, std::uint32_t primitive) {
  return {.kind = RecordKind::kEvent, .mask = mask, .primitive = primitive};
}

Record work(std::uint16_t path, std::uint32_t count) {
  return {.kind = RecordKind::kWork, .path = path, .count = count};
}

// Two CTAs of two warps:
//   CTA 0 warp 0: 3 passes of path 0, all lanes on 7, barrier, lanes 0..3 on 8
//   CTA 0 warp 1: barrier, 2 passes of path 1, lane 5 on 7, lanes 0 and 1 on 9 and 8
//   CTA 1 warp 0: empty
//   CTA 1 warp 1: lanes 2 and 3, each with its own entry, both on 7; again all lanes on 7
void write_counted(const fs::path& path) {
  const Header header = small_header(2, 64);
  CtaTrace first{.cta = 0, .warps = std::vector<WarpTrace>(2)};
  const Record barrier{.kind = RecordKind::kBarrier};
  first.warps[0].records = {work(0, 3), event(0xffffffffU, 7), barrier, event(0xf, 8)};
  first.warps[1].records = {barrier, work(1, 2), event(0x20, 7), event(0x3, 0)};
  first.warps[1].records[3].lane_primitives = 0;
  first.warps[1].lane_primitives.assign(32, 0);
  first.warps[1].lane_primitives[0] = 9;
  first.warps[1].lane_primitives[1] = 8;
  CtaTrace second{.cta = 1, .warps = std::vector<WarpTrace>(2)};
  second.warps[1].records = {event(0xc, 0), event(0xffffffffU, 7)};
  second.warps[1].records[0].lane_primitives = 0;
  second.warps[1].lane_primitives.assign(32, 0);
  second.warps[1].lane_primitives[2] = second.warps[1].lane_primitives[3] = 7;
  Writer writer(path, header);
  writer.add(first);
  writer.add(second);
  writer.finish();
}

TEST(Stats, MatchACountByHand) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  const TraceStats stats = collect_stats(Reader(folder / "t.wft"));
  EXPECT_EQ(stats.ctas, 2U);
  EXPECT_EQ(stats.warps, 4U);
  EXPECT_EQ(stats.warps_with_events, 3U);
  EXPECT_EQ(stats.barriers, 2U);
  EXPECT_EQ(stats.work_records, 2U);
  EXPECT_EQ(stats.work_passes, (std::vector<std::uint64_t>{3, 2, 0}));
  EXPECT_EQ(stats.events, 6U);
  EXPECT_EQ(stats.active_lanes, 32U + 4 + 1 + 2 + 2 + 32);
  EXPECT_EQ(stats.lane_atomics, 2 * stats.active_lanes);  // two parameters
  EXPECT_EQ(stats.full_events, 2U);
  EXPECT_EQ(stats.one_address_events, 5U);
  std::array<std::uint64_t, 33> histogram{};
  histogram[32] = histogram[2] = 2;
  histogram[4] = histogram[1] = 1;
  EXPECT_EQ(stats.active_histogram, histogram);
  EXPECT_EQ(stats.distinct_primitives, 3U);   // 7 8 9
  EXPECT_EQ(stats.cta_primitive_pairs, 4U);   // CTA 0: 7 8 9, CTA 1: 7
  EXPECT_EQ(stats.warp_primitive_pairs, 6U);  // warp 0: 7 8, warp 1: 7 8 9; warp 1: 7
  EXPECT_DOUBLE_EQ(stats.mean_active_lanes(), 73.0 / 6.0);
  EXPECT_DOUBLE_EQ(stats.one_address_share(), 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(stats.mean_warps_per_pair(), 1.5);
}

json info(const fs::path& path) {
  std::ostringstream out;
  EXPECT_EQ(trace_info({path}, true, out), 0);
  return json::parse(out.str());
}

TEST(Info, JsonHasTheStatsAndTheHeader) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  const json all = info(folder / "t.wft");
  EXPECT_EQ(all["schema"], "warpfold.trace-info/1");
  const json& trace = all["traces"].at(0);
  EXPECT_EQ(trace["xxh64"], Reader(folder / "t.wft").file_hash());
  EXPECT_EQ(trace["bytes"], fs::file_size(folder / "t.wft"));
  EXPECT_EQ(trace["stats"]["events"], 6);
  EXPECT_EQ(trace["stats"]["work_passes"]["prologue"], 3);
  EXPECT_EQ(trace["stats"]["active_histogram"][32], 2);
  EXPECT_EQ(trace["header"], json::parse(header_to_json(small_header(2, 64))));
}

TEST(Info, TextNamesWhatMatters) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  std::ostringstream out;
  EXPECT_EQ(trace_info({folder / "t.wft", folder / "t.wft"}, false, out), 0);
  for (const char* part : {"6\n", "mean 12.17", "83.3 % of events", "4 pairs, mean 1.50",
                           "whole launch", "NVIDIA Test", "sm_90 skip: 50 registers"}) {
    EXPECT_NE(out.str().find(part), std::string::npos) << part << "\n" << out.str();
  }
  EXPECT_THROW(trace_info({folder / "none.wft"}, false, out), TraceError);
}

TEST(Dump, PrintsEachRecord) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  std::ostringstream out;
  EXPECT_EQ(trace_dump(folder / "t.wft", {.first_cta = 0, .last_cta = 0, .warp = 1}, out), 0);
  EXPECT_EQ(out.str(),
            "CTA 0\n"
            "  warp 1: 4 records\n"
            "         0 barrier\n"
            "         1 work    skipped x 2\n"
            "         2 event   mask 0x00000020 lanes  1 primitive 7\n"
            "         3 event   mask 0x00000003 lanes  2 primitives 0:9 1:8\n");
  EXPECT_THROW(trace_dump(folder / "t.wft", {.first_cta = 2}, out), TraceError);
  EXPECT_THROW(trace_dump(folder / "t.wft", {.warp = 2}, out), TraceError);
}

TEST(Dump, PrintsValues) {
  const TempFolder folder;
  Header header = small_header(1, 32);
  header.values = ValueMode::kOperands;
  CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  cta.warps[0].records = {event(0x3, 1)};
  cta.warps[0].values = {0x3fc00000, 0xbf800000, 0, 0x40000000};
  Writer writer(folder / "t.wft", header);
  writer.add(cta);
  writer.finish();
  std::ostringstream out;
  trace_dump(folder / "t.wft", {.values = true}, out);
  EXPECT_NE(out.str().find("x: 1.5 -1\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("y: 0 2\n"), std::string::npos) << out.str();
}

TEST(Slice, KeepsTheChosenCtas) {
  const TempFolder folder;
  Header header = small_header(50, 96);
  header.values = ValueMode::kOperands;
  const auto written = write_random(folder / "all.wft", header, 9, 8);
  std::ostringstream out;
  EXPECT_EQ(trace_slice(folder / "all.wft", folder / "part.wft",
                        {.first_cta = 10, .last_cta = 30, .every = 4}, out),
            0);
  const Reader part(folder / "part.wft");
  part.verify();
  ASSERT_EQ(part.cta_count(), 6U);
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const CtaTrace& cta = written[10 + 4 * i];
    EXPECT_EQ(part.read_cta(i), cta);
    for (const WarpTrace& warp : cta.warps) {
      for (const Record& record : warp.records) {
        events += record.kind == RecordKind::kEvent ? 1U : 0U;
      }
    }
  }
  EXPECT_EQ(part.header().sampling, "CTAs 10..30, 1 of every 4");
  EXPECT_EQ(part.header().total_ctas, 50U);
  EXPECT_EQ(part.header().provenance.at("sliced_from"),
            "xxh64 " + Reader(folder / "all.wft").file_hash());
  EXPECT_EQ(info(folder / "part.wft")["traces"][0]["stats"]["events"], events);

  // A slice of a slice.
  trace_slice(folder / "part.wft", folder / "part.wft", {.first_cta = 15, .last_cta = 22}, out);
  const Reader again(folder / "part.wft");
  ASSERT_EQ(again.cta_count(), 2U);
  EXPECT_EQ(again.cta_id(0), 18U);
  EXPECT_EQ(again.header().sampling, "CTAs 10..30, 1 of every 4; of these CTAs 18..22");
}

TEST(Sample, KeepsTheMiddleOfEveryFew) {
  const TempFolder folder;
  const auto written = write_random(folder / "all.wft", small_header(50, 64), 1);
  std::ostringstream out;
  const auto ids_of = [&](std::uint32_t every) {
    trace_sample(folder / "all.wft", folder / "out.wft", every, nullptr, out);
    const Reader reader(folder / "out.wft");
    reader.verify();
    EXPECT_EQ(reader.header().sample_every, every);
    EXPECT_EQ(reader.header().sampling, fmt::format("the middle one of every {} CTAs", every));
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < reader.cta_count(); ++i) {
      ids.push_back(reader.cta_id(i));
      EXPECT_EQ(reader.read_cta(i), written[reader.cta_id(i)]);
    }
    return ids;
  };
  EXPECT_EQ(ids_of(16), (std::vector<std::uint64_t>{8, 24, 40}));
  EXPECT_EQ(ids_of(11), (std::vector<std::uint64_t>{5, 16, 27, 38, 49}));
  EXPECT_EQ(ids_of(12), (std::vector<std::uint64_t>{6, 18, 30, 42}));
  EXPECT_EQ(ids_of(2).size(), 25U);

  // Of a sample an odd part, which is that of the launch.
  EXPECT_THROW(trace_sample(folder / "out.wft", folder / "again.wft", 2, nullptr, out), TraceError);
  for (const auto& [first, then] : {std::pair{2U, 3U}, std::pair{4U, 3U}, std::pair{2U, 5U}}) {
    const std::vector<std::uint64_t> at_once = ids_of(first * then);
    ids_of(first);
    trace_sample(folder / "out.wft", folder / "again.wft", then, nullptr, out);
    const Reader again(folder / "again.wft");
    again.verify();
    EXPECT_EQ(again.header().sample_every, first * then);
    EXPECT_EQ(again.header().sampling,
              fmt::format("the middle one of every {} CTAs", first * then));
    ASSERT_EQ(again.cta_count(), at_once.size());
    for (std::size_t i = 0; i < at_once.size(); ++i) {
      EXPECT_EQ(again.cta_id(i), at_once[i]);
    }
  }
  // More in a row than there are, of the launch and of a sample of it.
  const auto refusal = [&](const char* in, std::uint32_t every) {
    try {
      trace_sample(folder / in, folder / "none.wft", every, nullptr, out);
    } catch (const TraceError& error) {
      EXPECT_FALSE(std::filesystem::exists(folder / "none.wft"));
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(refusal("all.wft", 51), fmt::format("{}: is of a launch of 50 CTAs, which has no 51 in "
                                                "a row",
                                                (folder / "all.wft").string()));
  ids_of(10);
  EXPECT_EQ(refusal("out.wft", 7), fmt::format("{}: is of a launch of 50 CTAs, which has no 70 in "
                                               "a row",
                                               (folder / "out.wft").string()));
  trace_slice(folder / "out.wft", folder / "again.wft", {.last_cta = 20}, out);
  EXPECT_EQ(Reader(folder / "again.wft").header().sample_every, 1U);  // stands for itself
  EXPECT_THROW(trace_sample(folder / "again.wft", folder / "none.wft", 3, nullptr, out),
               TraceError);
}

TEST(Slice, DropsValuesOnly) {
  const TempFolder folder;
  Header header = small_header(12, 96);
  header.values = ValueMode::kOperands;
  auto written = write_random(folder / "all.wft", header, 10);
  std::ostringstream out;
  trace_slice(folder / "all.wft", folder / "none.wft", {.drop_values = true}, out);
  const Reader reader(folder / "none.wft");
  EXPECT_EQ(reader.header().values, ValueMode::kNone);
  EXPECT_EQ(reader.header().sampling, "");
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (WarpTrace& warp : written[i].warps) {
      warp.values.clear();
      for (Record& record : warp.records) {
        record.values = 0;
      }
    }
    EXPECT_EQ(reader.read_cta(i), written[i]);
  }
}

TEST(Slice, RefusesWhatIsNotThere) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  std::ostringstream out;
  const auto slice = [&](const SliceSpec& spec) {
    trace_slice(folder / "t.wft", folder / "out.wft", spec, out);
  };
  const auto refusal = [&](const SliceSpec& spec) -> std::string {
    try {
      slice(spec);
    } catch (const TraceError& error) {
      return error.what();
    }
    return "";
  };
  const std::string file = (folder / "t.wft").string();
  EXPECT_THROW(slice({.every = 0}), TraceError);
  EXPECT_EQ(refusal({.first_cta = 2}), file + ": no CTA from 2 on: the file has 2 from 0 to 1");
  EXPECT_EQ(refusal({.first_cta = 2, .last_cta = 5}),
            file + ": no CTA in 2..5: the file has 2 from 0 to 1");
  EXPECT_THROW(slice({.first_cta = 1, .last_cta = 0}), TraceError);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"t.wft"});
}

class Manifest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_random(folder_ / "a.wft", small_header(3, 32), 1);
    write_random(folder_ / "b.wft", small_header(4, 32), 2);
    for (const char* name : {"a.wft", "b.wft"}) {
      const Reader reader(folder_ / name);
      entries_.push_back({.file = name,
                          .xxh64 = reader.file_hash(),
                          .bytes = reader.file_bytes(),
                          .workload = "test",
                          .scene = "scene",
                          .gpu = "NVIDIA Test",
                          .date = "2025-01-31",
                          .command = "capture"});
    }
  }
  int verify() {
    out_.str("");
    std::ofstream(folder_ / "MANIFEST.json") << manifest_to_json(entries_);
    return trace_verify({folder_ / "MANIFEST.json"}, out_);
  }
  std::string refused(const std::string& text) {
    std::ofstream(folder_ / "MANIFEST.json") << text;
    try {
      trace_verify({folder_ / "MANIFEST.json"}, out_);
    } catch (const TraceError& error) {
      const std::string what = error.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      return what;
    }
    return "";
  }
  TempFolder folder_;
  std::vector<ManifestEntry> entries_;
  std::ostringstream out_;
};

TEST_F(Manifest, SoundTracesPass) {
  EXPECT_EQ(verify(), 0);
  EXPECT_NE(out_.str().find("b.wft: ok, 4 CTAs"), std::string::npos) << out_.str();
}

TEST_F(Manifest, EveryDifferenceIsReported) {
  const auto good = entries_;
  const auto expect = [&](const std::string& part) {
    EXPECT_EQ(verify(), 1);
    EXPECT_NE(out_.str().find("FAIL " + (folder_ / "b.wft").string() + ": " + part),
              std::string::npos)
        << out_.str();
    EXPECT_NE(out_.str().find("a.wft: ok"), std::string::npos);  // the other one is still checked
    entries_ = good;
  };
  entries_[1].xxh64 = "0123456789abcdef";
  expect("its xxh64 is");
  entries_[1].bytes += 1;
  expect("its size is");
  entries_[1].workload = "other";
  expect("its workload is test, the manifest says other");
  entries_[1].scene = "other";
  expect("its scene is");
  entries_[1].gpu = "other";
  expect("its gpu is");
  entries_.pop_back();
  expect("not listed in");
  Bytes bytes = read_bytes(folder_ / "b.wft");
  bytes[100] ^= 1;
  write_bytes(folder_ / "b.wft", bytes);
  expect("chunk 0 (header) fails its checksum at byte 72");
  fs::remove(folder_ / "b.wft");
  expect("cannot open: No such file or directory");
}

TEST_F(Manifest, BadManifestsAreRefused) {
  const json good = json::parse(manifest_to_json(entries_));
  EXPECT_EQ(refused(good.dump()), "");
  EXPECT_NE(refused(""), "");
  EXPECT_NE(refused("[]"), "");
  for (const auto& item : good["traces"][0].items()) {
    json bad = good;
    bad["traces"][0].erase(item.key());
    EXPECT_NE(refused(bad.dump()).find("is missing"), std::string::npos) << item.key();
    bad["traces"][0][item.key()] = json::array();
    EXPECT_NE(refused(bad.dump()), "") << item.key();
  }
  const auto changed = [&](const char* where, const json& value) {
    json bad = good;
    bad[json::json_pointer(where)] = value;
    return refused(bad.dump());
  };
  EXPECT_NE(changed("/schema", "warpfold.manifest/2").find("this build reads"), std::string::npos);
  EXPECT_NE(changed("/traces/0/xxh65", "").find("unknown key"), std::string::npos);
  EXPECT_NE(changed("/traces/0/xxh64", "ABCDEF0123456789"), "");
  EXPECT_NE(changed("/traces/0/file", "../a.wft"), "");
  EXPECT_NE(changed("/traces/0/file", "b.wft").find("comes twice"), std::string::npos);
  EXPECT_NE(changed("/traces", 3), "");
}

TEST_F(Manifest, VerifyRefusesWhatIsNoTraceBeforeItChecksAny) {
  write_bytes(folder_ / "text.wft", Bytes{'t', 'e', 'x', 't'});
  for (const char* name : {"text.wft", "none.wft", "none.json"}) {
    EXPECT_THROW(trace_verify({folder_ / "a.wft", folder_ / name}, out_), TraceError) << name;
    EXPECT_EQ(out_.str(), "") << name;
  }
}

TEST_F(Manifest, StoppedSliceLeavesNothing) {
  int asked = 0;
  const SliceSpec spec{.step = [&asked](double done) {
    EXPECT_GE(done, 0);
    EXPECT_LT(done, 1);
    return ++asked > 2;
  }};
  EXPECT_THROW(trace_slice(folder_ / "b.wft", folder_ / "c.wft", spec, out_), TraceError);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(folder_.names().size(), 2U);  // a.wft and b.wft
}

TEST_F(Manifest, VerifyTakesTracesAsWell) {
  std::vector<double> shares;
  EXPECT_EQ(trace_verify({folder_ / "a.wft", folder_ / "b.wft"}, out_,
                         [&shares](double done) { shares.push_back(done); }),
            0);
  EXPECT_GE(shares.size(), 4U);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.front(), 0);
  EXPECT_NEAR(shares.back(), 1, 0.01);
  fs::resize_file(folder_ / "a.wft", 200);
  out_.str("");
  EXPECT_EQ(trace_verify({folder_ / "a.wft", folder_ / "b.wft"}, out_), 1);
  EXPECT_NE(out_.str().find("a.wft: truncated"), std::string::npos);
  EXPECT_NE(out_.str().find("b.wft: ok"), std::string::npos);
}

// A file of costs for the small header, after `change`.
void write_costs(const fs::path& path, const std::function<void(json&)>& change) {
  const json header = json::parse(header_to_json(small_header(2, 64)));
  json costs = {{"schema", "warpfold.costs/3"},
                {"paths", header["paths"]},
                {"compiler", "release 99"},
                {"costs", {{"sm_90", header["costs"]["sm_90"]}}}};
  costs["costs"]["sm_90"]["skip"]["paths"][1]["alu"] = 77;
  change(costs);
  std::ofstream(path) << costs;
}

std::string recost_refusal(const std::function<void(json&)>& change) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  write_costs(folder / "costs.json", change);
  std::ostringstream out;
  try {
    trace_recost(folder / "t.wft", folder / "costs.json", folder / "new.wft", {}, out);
  } catch (const TraceError& error) {
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"costs.json", "t.wft"}));
    const std::string what = error.what();
    const std::string start = (folder / "costs.json").string() + ": ";
    EXPECT_TRUE(what.starts_with(start)) << what;
    return what.substr(start.size());
  }
  return "";
}

TEST(Recost, ChangesTheCostsAlone) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  write_costs(folder / "costs.json", [](json&) {});
  std::ostringstream out;
  EXPECT_EQ(trace_recost(folder / "t.wft", folder / "costs.json", folder / "new.wft", {}, out), 0);
  EXPECT_EQ(out.str(), (folder / "new.wft").string() + ": 2 CTAs\n");
  const Reader old(folder / "t.wft");
  const Reader reader(folder / "new.wft");
  reader.verify();
  for (std::size_t i = 0; i < old.cta_count(); ++i) {
    EXPECT_EQ(reader.read_cta(i), old.read_cta(i));
  }
  Header expected = old.header();
  expected.costs.erase("sm_89");
  expected.costs["sm_90"]["skip"].paths[1].alu = 77;
  expected.provenance["compiler"] = "release 99";
  expected.provenance["recosted_from"] = "xxh64 " + old.file_hash();
  EXPECT_EQ(header_to_json(reader.header()), header_to_json(expected));
}

TEST(Recost, RefusesCostsOfOtherKernels) {
  EXPECT_EQ(recost_refusal([](json& costs) { costs["schema"] = "warpfold.costs/1"; }),
            "is not warpfold.costs/3");
  EXPECT_EQ(recost_refusal([](json& costs) { costs = json::array(); }), "is not warpfold.costs/3");
  EXPECT_EQ(recost_refusal([](json& costs) { costs["paths"].push_back("further"); }),
            "its paths are not those of the trace");
  EXPECT_EQ(recost_refusal([](json& costs) { costs.erase("costs"); }),
            "header: costs: is null, not an object");
  EXPECT_EQ(recost_refusal(
                [](json& costs) { costs["costs"]["sm_90"]["skip"]["paths"][0].erase("waits"); }),
            "header: costs[\"sm_90\"][\"skip\"].paths[0]: \"waits\" is missing");
}

TEST(Recost, StopsWithoutAFile) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  write_costs(folder / "costs.json", [](json&) {});
  std::ostringstream out;
  EXPECT_THROW(trace_recost(
                   folder / "t.wft", folder / "costs.json", folder / "new.wft",
                   [](double) { return true; }, out),
               TraceError);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"costs.json", "t.wft"}));
}

json small_times() {
  const Header header = small_header(2, 64);
  return {{"schema", "warpfold.times/1"},
          {"scene", header.scene},
          {"gpu", header.gpu},
          {"times",
           {{{"policy", "sw-b:8"},
             {"median_ms", 0.5},
             {"min_ms", 0.25},
             {"max_ms", 1.0},
             {"runs", 300},
             {"sm_clock_mhz", 1980.0}}}}};
}

TEST(Retime, ChangesTheTimesAlone) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  std::ofstream(folder / "times.json") << small_times();
  std::ostringstream out;
  EXPECT_EQ(trace_retime(folder / "t.wft", folder / "times.json", folder / "new.wft", {}, out), 0);
  EXPECT_EQ(out.str(), (folder / "new.wft").string() + ": 2 CTAs\n");
  const Reader old(folder / "t.wft");
  const Reader reader(folder / "new.wft");
  reader.verify();
  for (std::size_t i = 0; i < old.cta_count(); ++i) {
    EXPECT_EQ(reader.read_cta(i), old.read_cta(i));
  }
  Header expected = old.header();
  expected.times = {{.policy = "sw-b:8",
                     .median_ms = 0.5,
                     .min_ms = 0.25,
                     .max_ms = 1.0,
                     .runs = 300,
                     .sm_clock_mhz = 1980.0}};
  expected.provenance["retimed_from"] = "xxh64 " + old.file_hash();
  EXPECT_EQ(header_to_json(reader.header()), header_to_json(expected));
}

TEST(Retime, TimesOfAnotherGpuComeBesideThem) {
  const TempFolder folder;
  write_counted(folder / "t.wft");
  json times = small_times();
  std::ostringstream out;
  const auto retime = [&](const char* gpu, double median, const char* from, const char* to) {
    times["gpu"] = gpu;
    times["times"][0]["median_ms"] = median;
    std::ofstream(folder / "times.json") << times;
    EXPECT_EQ(trace_retime(folder / from, folder / "times.json", folder / to, {}, out), 0);
  };
  const std::string own = Reader(folder / "t.wft").header().gpu;
  retime("NVIDIA H100", 0.75, "t.wft", "two.wft");
  retime(own.c_str(), 0.5, "two.wft", "three.wft");
  retime("NVIDIA H100", 0.875, "three.wft", "four.wft");
  const std::vector<VariantTime> all = Reader(folder / "four.wft").header().times;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].gpu, "");
  EXPECT_EQ(all[0].median_ms, 0.5);
  EXPECT_EQ(all[1].gpu, "NVIDIA H100");
  EXPECT_EQ(all[1].median_ms, 0.875);
}

TEST(Retime, RefusesTimesOfOtherLaunches) {
  const auto refusal_of = [](const std::function<void(json&)>& change) -> std::string {
    const TempFolder folder;
    write_counted(folder / "t.wft");
    json times = small_times();
    change(times);
    std::ofstream(folder / "times.json") << times;
    std::ostringstream out;
    try {
      trace_retime(folder / "t.wft", folder / "times.json", folder / "new.wft", {}, out);
    } catch (const TraceError& error) {
      EXPECT_EQ(folder.names(), (std::vector<std::string>{"t.wft", "times.json"}));
      const std::string what = error.what();
      const std::string start = (folder / "times.json").string() + ": ";
      EXPECT_TRUE(what.starts_with(start)) << what;
      return what.substr(start.size());
    }
    return "";
  };
  EXPECT_EQ(refusal_of([](json& times) { times["schema"] = "warpfold.times/2"; }),
            "is not warpfold.times/1");
  EXPECT_EQ(refusal_of([](json& times) { times.erase("gpu"); }), "does not say of which GPU it is");
  EXPECT_EQ(refusal_of([](json& times) { times["gpu"] = 7; }), "does not say of which GPU it is");
  EXPECT_EQ(refusal_of([](json& times) { times.erase("scene"); }),
            "is of another scene than the trace");
  EXPECT_EQ(refusal_of([](json& times) { times["times"].push_back(times["times"][0]); }),
            "header: times[1].policy: \"sw-b:8\" comes twice");
  EXPECT_EQ(refusal_of([](json& times) { times.erase("times"); }),
            "header: times: is null, not an array");
  EXPECT_EQ(refusal_of([](json& times) { times["times"][0].erase("runs"); }),
            "header: times[0]: \"runs\" is missing");
  EXPECT_EQ(refusal_of([](json&) {}), "");
}

}  // namespace
}  // namespace warpfold::trace::test
