// SPDX-License-Identifier: Apache-2.0
// A file of format version 3, put together here byte by byte, and what becomes of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tb/trace/trace_files.hpp"
#include "traces/format/commands.hpp"
#include "traces/format/reader.hpp"

namespace warpfold::trace::test {
namespace {

using nlohmann::json;

json header_of_version_3() {
  json cost = {{"alu", 11},        {"integer", 4},     {"sfu", 2},      {"shared", 3},
               {"shared_wide", 0}, {"global_load", 0}, {"shuffle", 0},  {"shuffle_index", 0},
               {"match", 0},       {"redux", 0},       {"branches", 1}, {"stall_cycles", 40}};
  cost["waits"] = json::array({json::array({"sfu", 3, 9})});
  json header = {{"workload", "test"},
                 {"scene", "scene"},
                 {"kernel", "a kernel"},
                 {"gpu", "NVIDIA Test"},
                 {"driver", "1.0"},
                 {"cuda", "13.0"},
                 {"grid", {1, 1, 1}},
                 {"block", {32, 1, 1}},
                 {"registers_per_thread", 48},
                 {"shared_bytes_per_cta", 1024},
                 {"primitive_count", 1000},
                 {"paths", {"prologue", "skipped", "taken"}},
                 {"taken_path", "taken"},
                 {"times", json::array()},
                 {"values", "fp32"},
                 {"sampling", ""},
                 {"sample_every", 1},
                 {"total_ctas", 1},
                 {"provenance", {{"date", "2025-01-31"}}}};
  header["parameters"] = json::array();
  header["parameters"].push_back({{"name", "x"}, {"base", 4096}, {"stride_bytes", 8}});
  header["parameters"].push_back({{"name", "y"}, {"base", 4100}, {"stride_bytes", 8}});
  header["costs"]["sm_89"]["baseline"] = {
      {"paths", {cost, cost, cost}}, {"reduce", {{"plain", cost}}}, {"registers", 48}};
  return header;
}

// One warp: 5 passes of path 2, lanes 0 to 3 on 7, a barrier, lane 0 on 9 and lane 1 on 7.
void write_version_3(const std::filesystem::path& path, const json& header) {
  std::vector<Bytes> columns = {{0, 2},        // CTA 0, two primitives
                                {4},           // records
                                {5, 0, 2, 1},  // work on path 2, event, barrier, lane event
                                {14, 4, 0, 0, 0, 0, 0, 0},  // zigzag of 7 and of 9 - 7, four planes
                                {0},                        // the first primitive of the list
                                {0x0f, 0x03, 0, 0, 0x0f, 0x03, 0, 0},  // folded masks 0xf and 0x3
                                {2, 1},                                // from 7 to 9, and back
                                {},  // twelve values 1 + k 2^-23, below
                                {},
                                {},
                                {5}};
  for (std::uint8_t k = 0; k < 12; ++k) {
    columns[7].push_back(k);
  }
  for (const int byte : {0x00, 0x80, 0x3f}) {
    columns[7].insert(columns[7].end(), 12, static_cast<std::uint8_t>(byte));
  }
  Bytes raw;
  container::put_u32(raw, static_cast<std::uint32_t>(columns.size()));
  for (const Bytes& column : columns) {
    container::put_u32(raw, static_cast<std::uint32_t>(column.size()));
  }
  for (const Bytes& column : columns) {
    raw.insert(raw.end(), column.begin(), column.end());
  }
  FileBuilder(3)
      .header(header.dump())
      .chunk(container::kKindCtas, raw)
      .index({0}, 1, 4, 2)
      .end()
      .write(path);
}

TEST(Upgrade, MakesOneSiteOfVersion3) {
  const TempFolder folder;
  write_version_3(folder / "old.wft", header_of_version_3());
  std::ostringstream out;
  EXPECT_EQ(trace_upgrade(folder / "old.wft", folder / "new.wft", {}, out), 0);
  EXPECT_EQ(out.str(), (folder / "new.wft").string() + ": 1 CTAs\n");

  const Reader reader(folder / "new.wft");
  reader.verify();
  const Header& header = reader.header();
  ASSERT_EQ(header.sites.size(), 1U);
  const Site& site = header.sites[0];
  EXPECT_EQ(site.name, "a kernel");
  EXPECT_EQ(site.type, ValueType::kF32);
  EXPECT_EQ(site.primitive_count, 1000U);
  ASSERT_EQ(site.parameters.size(), 2U);
  EXPECT_EQ(site.parameters[1].base, 4100U);
  EXPECT_EQ(site.taken_path, "taken");
  EXPECT_TRUE(header.arrays.empty());
  EXPECT_TRUE(header.omissions.empty());
  EXPECT_EQ(header.values, ValueMode::kOperands);
  EXPECT_EQ(header.costs.at("sm_89").at("baseline").reduce.at(0).at("plain").alu, 11U);
  EXPECT_EQ(header.provenance.at("date"), "2025-01-31");
  EXPECT_TRUE(header.provenance.at("upgraded_from").starts_with("version 3, xxh64 "));

  const WarpTrace warp = reader.read_cta(0).warps[0];
  ASSERT_EQ(warp.records.size(), 4U);
  EXPECT_EQ(warp.records[0], (Record{.kind = RecordKind::kWork, .path = 2, .count = 5}));
  EXPECT_EQ(warp.records[1], (Record{.kind = RecordKind::kEvent, .mask = 0xf, .primitive = 7}));
  EXPECT_EQ(warp.records[2], (Record{.kind = RecordKind::kBarrier}));
  EXPECT_EQ(warp.records[3].mask, 3U);
  EXPECT_EQ(warp.lane_primitives[0], 9U);
  EXPECT_EQ(warp.lane_primitives[1], 7U);
  ASSERT_EQ(warp.values.size(), 12U);
  EXPECT_EQ(warp.values[11], 0x3f80000bU);
}

TEST(Upgrade, NothingElseReadsVersion3) {
  const TempFolder folder;
  const auto old = folder / "old.wft";
  write_version_3(old, header_of_version_3());
  const std::string why =
      "format version 3, this build reads versions 4 and 5: `warpfold trace upgrade` makes one of "
      "those of it";
  EXPECT_EQ(refusal(old), why);
  std::ostringstream out;
  const auto says_so = [&](auto command) {
    try {
      command();
      ADD_FAILURE() << "read";
    } catch (const TraceError& error) {
      EXPECT_EQ(error.what(), old.string() + ": " + why);
    }
  };
  says_so([&] { trace_info({old}, false, out); });
  says_so([&] { trace_verify({old}, out); });
  says_so([&] { trace_dump(old, {}, out); });
  says_so([&] { trace_slice(old, folder / "n.wft", {.step = nullptr}, out); });
  says_so([&] { trace_sample(old, folder / "n.wft", 2, {}, out); });
  says_so([&] { trace_recost(old, folder / "c.json", folder / "n.wft", {}, out); });
  says_so([&] { trace_retime(old, folder / "t.json", folder / "n.wft", {}, out); });
  EXPECT_EQ(folder.names(), std::vector<std::string>{"old.wft"});
}

std::string upgrade_refusal(const json& header, std::uint8_t version = 3) {
  const TempFolder folder;
  const auto old = folder / "old.wft";
  write_version_3(old, header);
  Bytes bytes = read_bytes(old);
  bytes[8] = version;
  write_bytes(old, bytes);
  std::ostringstream out;
  try {
    trace_upgrade(old, folder / "new.wft", {}, out);
  } catch (const TraceError& error) {
    EXPECT_EQ(folder.names(), std::vector<std::string>{"old.wft"});
    return std::string(error.what()).substr(old.string().size() + 2);
  }
  return "";
}

TEST(Upgrade, RefusesWhatIsNotVersion3) {
  const json good = header_of_version_3();
  EXPECT_EQ(upgrade_refusal(good), "");
  EXPECT_EQ(upgrade_refusal(good, 2), "format version 2, what is upgraded is of version 3");
  EXPECT_EQ(upgrade_refusal(good, 4), "format version 4, what is upgraded is of version 3");
  for (const char* const key : {"primitive_count", "parameters", "taken_path", "values", "grid"}) {
    json header = good;
    header.erase(key);
    EXPECT_NE(upgrade_refusal(header).find(std::string(key) + "\" is missing"), std::string::npos)
        << key;
  }
  for (const char* const key : {"sites", "arrays", "omissions", "colour"}) {
    json header = good;
    header[key] = json::array();
    EXPECT_NE(upgrade_refusal(header).find("unknown key \"" + std::string(key)), std::string::npos)
        << key;
  }
  json header = good;
  header["values"] = "operands";
  EXPECT_EQ(upgrade_refusal(header), "header: values: is neither \"none\" nor \"fp32\"");
  header = good;
  header["taken_path"] = "";
  EXPECT_NE(upgrade_refusal(header).find("is not one of the paths"), std::string::npos);
  header = good;
  header["costs"]["sm_89"]["baseline"]["reduce"] = json::object();
  EXPECT_NE(upgrade_refusal(header).find("is not an object with its segments"), std::string::npos);
}

}  // namespace
}  // namespace warpfold::trace::test
