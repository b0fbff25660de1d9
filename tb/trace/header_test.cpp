// SPDX-License-Identifier: Apache-2.0
// The header as JSON: it comes back as it was, and every change that makes no sense is refused.
#include "traces/format/header.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tb/trace/synthetic.hpp"

namespace warpfold::trace::test {
namespace {

using nlohmann::json;

std::string refusal_of_text(const std::string& text) {
  try {
    static_cast<void>(header_from_json(text));
  } catch (const TraceError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
  return "";
}

// With something in every list.
Header full_header() {
  Header header = small_header(6, 96);
  header.arrays = {{.name = "gradients", .base = 0x7f0000000000, .bytes = 8000}};
  header.omissions = {{.what = "ATOM.CAS", .count = 3}};
  header.remarks = {"a launch of clusters"};
  header.costs_from = CostSource::kCode;
  header.instructions = {.least = 100, .taken = 150, .most = 180};
  return header;
}

// What is said of it after `change`.
std::string refusal_of(const std::function<void(json&)>& change) {
  json header = json::parse(header_to_json(full_header()));
  change(header);
  return refusal_of_text(header.dump());
}

TEST(Header, ComesBackAsItWas) {
  Header header = small_header(6, 96);
  header.sampling = "every other CTA";
  header.values = ValueMode::kOperands;
  header.sites[0].parameters[0].base = UINT64_MAX - 8191;
  header.sites.push_back({.name = "second",
                          .kind = SiteKind::kAtom,
                          .type = ValueType::kF64,
                          .words = 2,
                          .primitive_count = 3,
                          .parameters = {{.name = "z", .base = 64, .stride_bytes = 16},
                                         {.name = "w", .base = 72, .stride_bytes = 16}},
                          .taken_path = ""});
  header.remarks = {"a launch of clusters", "CAS loops"};
  header.costs_from = CostSource::kCounts;
  header.instructions = {.least = 1, .taken = 2, .most = UINT64_MAX};
  header.times.push_back(header.times[0]);
  header.times.back().state = TimeState::kWarm;
  header.omissions = {{.what = "ATOM.CAS", .count = UINT64_MAX}};
  header.costs["sm_89"]["baseline"].reduce.emplace_back();
  header.costs["sm_90"]["skip"].reduce.emplace_back();
  header.costs["sm_90"]["skip"].paths[1].estimated = true;
  const Header read = header_from_json(header_to_json(header));
  EXPECT_EQ(header_to_json(read), header_to_json(header));
  EXPECT_EQ(read.sites[0].parameters[0].base, UINT64_MAX - 8191);
  EXPECT_EQ(read.costs, header.costs);
  EXPECT_EQ(read.sites[1].type, ValueType::kF64);
  EXPECT_EQ(read.sites[1].kind, SiteKind::kAtom);
  EXPECT_EQ(read.sites[1].words, 2U);
  EXPECT_EQ(read.remarks, header.remarks);
  EXPECT_EQ(read.costs_from, CostSource::kCounts);
  EXPECT_EQ(read.instructions, header.instructions);
  EXPECT_EQ(read.times[0].state, TimeState::kUnknown);
  EXPECT_EQ(read.times[1].state, TimeState::kWarm);
  EXPECT_EQ(read.sites[1].taken_path, "");
  EXPECT_EQ(read.times[0].max_ms, 2.0625);
  EXPECT_EQ(read.values, ValueMode::kOperands);
  EXPECT_EQ(read.provenance, header.provenance);
  EXPECT_EQ(header_to_json(header_from_json(header_to_json(header, 2))), header_to_json(header));
}

// Version 4 has neither kinds nor widths, remarks or sources of the costs.
TEST(Header, OfVersion4ComesBackAsOneOfThePresent) {
  Header header = full_header();
  header.remarks.clear();
  header.costs_from = CostSource::kUnsaid;
  header.instructions = {};
  const json present = json::parse(header_to_json(header));
  json earlier = present;
  for (const char* const key : {"remarks", "costs_from", "instructions"}) {
    earlier.erase(key);
  }
  earlier["sites"][0].erase("kind");
  earlier["sites"][0].erase("words");
  const Header read = header_from_json(earlier.dump(), kEarlierVersion);
  EXPECT_EQ(json::parse(header_to_json(read)), present);

  const auto refusal = [&](const char* where, const json& value) -> std::string {
    json changed = earlier;
    changed[json::json_pointer(where)] = value;
    try {
      static_cast<void>(header_from_json(changed.dump(), kEarlierVersion));
    } catch (const TraceError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("/remarks", json::array()).find("unknown key \"remarks\""), std::string::npos);
  EXPECT_NE(refusal("/sites/0/words", 1).find("unknown key \"words\""), std::string::npos);
  EXPECT_NE(refusal("/times/0/state", "warm").find("unknown key \"state\""), std::string::npos);
  EXPECT_NE(refusal("/sites/0/type", "u32").find("\"u32\" is none of f32, f16x2, bf16x2, f64"),
            std::string::npos);
  EXPECT_NE(refusal_of_text(earlier.dump()), "");
}

// Each object of the header, by JSON pointer.
const char* const kObjects[] = {"",
                                "/sites/0",
                                "/sites/0/parameters/0",
                                "/arrays/0",
                                "/omissions/0",
                                "/instructions",
                                "/costs/sm_89/baseline",
                                "/costs/sm_89/baseline/paths/1",
                                "/costs/sm_90/skip/reduce/0/leader",
                                "/times/0"};

TEST(Header, UnknownKeysAreRefused) {
  for (const char* where : kObjects) {
    const std::string why =
        refusal_of([&](json& header) { header[json::json_pointer(where)]["colour"] = 1; });
    EXPECT_NE(why.find("unknown key \"colour\""), std::string::npos) << where << ": " << why;
  }
}

TEST(Header, EveryKeyIsNeededAndSpeltRight) {
  const json good = json::parse(header_to_json(full_header()));
  for (const char* where : kObjects) {
    for (const auto& item : good[json::json_pointer(where)].items()) {
      const std::string missing =
          refusal_of([&](json& header) { header[json::json_pointer(where)].erase(item.key()); });
      EXPECT_NE(missing.find('"' + item.key() + "\" is missing"), std::string::npos)
          << where << " " << item.key() << ": " << missing;
      const std::string misspelt = refusal_of([&](json& header) {
        json& object = header[json::json_pointer(where)];
        object[item.key() + "s"] = object[item.key()];
        object.erase(item.key());
      });
      EXPECT_NE(misspelt, "") << where << " " << item.key();
    }
  }
}

TEST(Header, EveryTypeIsChecked) {
  const json good = json::parse(header_to_json(full_header()));
  const json others[] = {nullptr, true, -1, 1.5, "x", json::array({1}), json{{"a", 1}}};
  const json leaves = good.flatten();
  for (const auto& item : leaves.items()) {
    for (const json& other : others) {
      const bool same_kind = (other.is_string() && item.value().is_string()) ||
                             (other.is_number() && item.value().is_number_float());
      if (!same_kind) {
        EXPECT_NE(refusal_of([&](json& header) { header[json::json_pointer(item.key())] = other; }),
                  "")
            << item.key() << " = " << other;
      }
    }
  }
  for (const auto& item : good.items()) {  // every member of the header
    for (const json& other : others) {
      if (other.type() != item.value().type() && !(other == 1.5 && item.key() == "times")) {
        EXPECT_NE(refusal_of([&](json& header) { header[item.key()] = other; }), "")
            << item.key() << " = " << other;
      }
    }
  }
}

TEST(Header, AbsurdValuesAreRefused) {
  const auto refused = [](const char* where, const json& value, const std::string& part) {
    const std::string why =
        refusal_of([&](json& header) { header[json::json_pointer(where)] = value; });
    EXPECT_NE(why.find(part), std::string::npos) << where << " = " << value << ": " << why;
  };
  refused("/grid/0", 0, "grid[0]: 0 is not in 1..");
  refused("/grid/1", 65536, "grid[1]: 65536 is not in 1..65535");
  refused("/grid", json::array({1, 1}), "grid: has 2 entries, not 3");
  refused("/grid/0", 7, "total_ctas: 6, the grid has 7 CTAs");
  refused("/total_ctas", 0, "total_ctas: 0, the grid has 6 CTAs");
  refused("/sample_every", 0, "sample_every: 0 of 6 CTAs");
  refused("/sample_every", 7, "sample_every: 7 of 6 CTAs");
  refused("/sample_every", 2, "sample_every: 2, but \"sampling\" is empty");
  refused("/block/0", 0, "block[0]: 0 is not in 1..1024");
  refused("/block/0", 1025, "block[0]: 1025 is not in 1..1024");
  refused("/block/1", 11, "block: 1056 threads, at most 1024");
  refused("/block/2", 65, "block[2]: 65 is not in 1..64");
  refused("/registers_per_thread", 0, "registers_per_thread: 0 is not in 1..255");
  refused("/registers_per_thread", 256, "256 is not in 1..255");
  refused("/registers_per_thread", 4294967296, "is not an integer in 0..4294967295");
  refused("/shared_bytes_per_cta", 1000000, "shared_bytes_per_cta");
  refused("/sites", json::array(), "sites: 0 is not in 1..4096");
  refused("/sites/0/name", "", "sites[0].name: is empty");
  refused("/sites/0/type", "f16",
          "sites[0].type: \"f16\" is none of f32, f16x2, bf16x2, f64, u32, u64");
  refused("/sites/0/kind", "cas", "sites[0].kind: \"cas\" is none of red, atom, bulk");
  refused("/sites/0/words", 0, "sites[0].words: 0 is not in 1..2");
  refused("/sites/0/words", 3, "sites[0].words: 3 is not in 1..2");
  EXPECT_NE(refusal_of([](json& header) {
              header["sites"][0]["words"] = 2;
              std::swap(header["sites"][0]["parameters"][0]["base"],
                        header["sites"][0]["parameters"][1]["base"]);
            })
                .find("sites[0].parameters[1]: \"y\" is not right behind \"x\", which the same "
                      "instruction of 2 words adds to"),
            std::string::npos);
  refused("/costs_from", "ncu", "costs_from: \"ncu\" is none of ");
  refused("/instructions/least", 151, "instructions: 151, 150, 180 are not least <= taken <= most");
  refused("/instructions/most", 149, "instructions: 100, 150, 149 are not least <= taken <= most");
  refused("/remarks/0", "", "remarks[0]: is empty");
  refused("/remarks/0", "two\nlines", "remarks[0]: holds a control character");
  refused("/remarks", std::vector<std::string>(65, "x"), "remarks: 65 is not in 0..64");
  refused("/times/0/state", "hot", "times[0].state: \"hot\" is none of ");
  refused("/sites/0/primitives", 0, "sites[0].primitives: 0 is not in");
  refused("/sites/0/primitives", 4294967297, "sites[0].primitives: 4294967297 is not in");
  refused("/sites/0/parameters", json::array(), "parameters: 0 is not in 1..256");
  const std::string parameters = "sites[0].parameters";
  const auto of_parameter = [&](const char* field, const json& value, const std::string& part) {
    refused((std::string("/sites/0/parameters/") + field).c_str(), value, parameters + part);
  };
  of_parameter("0/stride_bytes", 0, "[0].stride_bytes: 0 is not a multiple");
  of_parameter("0/stride_bytes", 6, "[0].stride_bytes: 6 is not a multiple");
  of_parameter("0/base", 2, "[0].base: 0x2 is not a multiple of 4");
  of_parameter("0/base", UINT64_MAX - 7, "[0].base: 0xfffffffffffffff8: the last primitive");
  of_parameter("0/base", 18446744073709551616.0, "[0].base: ");
  of_parameter("1/name", "x", "[1].name: \"x\" comes twice");
  of_parameter("1/name", "", "[1].name: is empty");
  of_parameter("1/base", 0x7f0000000000, "[1]: \"y\" overlaps \"x\" in memory");
  refused("/sites/0/type", "f64", "sites[0].parameters[1].base: 0x7f0000000004 is not a multiple");
  refused("/arrays/0/bytes", 7996, "sites[0].parameters[1]: \"y\" lies within none of the arrays");
  refused("/arrays/0/base", 0x7f0000000004, "\"x\" lies within none of the arrays");
  refused("/arrays/0/bytes", 0, "arrays[0].bytes: 0 bytes at 0x7f0000000000 are none");
  refused("/arrays/0/bytes", UINT64_MAX, "or lie beyond the address space");
  refused("/omissions/0/count", 0, "omissions[0].count: 0 is not in 1..");
  refused("/omissions/0/what", "", "omissions[0].what: is empty");
  refused("/paths", json::array(), "paths: 0 is not in 1..65535");
  refused("/paths/1", "taken", "paths[2]: \"taken\" comes twice");
  refused("/paths/1", 4, "paths[1]: is number, not a text");
  refused("/sites/0/taken_path", "takn", "sites[0].taken_path: \"takn\" is not one of the paths");
  refused("/costs/sm_89/baseline/paths", json::array(), "0 entries for 3 paths");
  refused("/costs/sm_89/baseline/registers", 0, "registers: 0 is not in 1..255");
  refused("/costs/sm_89/baseline/paths/2/alu", 1000001, "paths[2].alu: 1000001 is not in");
  refused("/costs/sm_89/baseline/reduce", json::object(), "is object, not an array");
  refused("/costs/sm_89/baseline/reduce", json::array(), "0 entries for 1 sites");
  refused("/costs/sm_89/baseline/paths/2/estimated", false, "estimated: is not true");
  const char* const waits = "/costs/sm_89/baseline/paths/2/waits";
  const char* const wait = "/costs/sm_89/baseline/paths/2/waits/1";
  refused(wait, json::array({"shared", 8}), "paths[2].waits[1]: is not [class, asked, wanted]");
  refused(wait, json::array({"sharde", 8, 9}), "paths[2].waits[1]: unknown class \"sharde\"");
  refused(wait, json::array({"shared", 10, 9}),
          "paths[2].waits[1]: asked for at 10 and wanted at 9, behind a wait at 9");
  refused(wait, json::array({"shared", 8, 8}),
          "paths[2].waits[1]: asked for at 8 and wanted at 8, behind a wait at 9");
  refused(wait, json::array({"shared", 8, 1000001}), "waits[1]: 1000001 is not in 0..1000000");
  refused(waits, json::array({{"wait_sfu", 1}}), "is not [class, asked, wanted]");
  refused(waits, std::vector<json>(4097, json::array({"sfu", 1, 1})),
          "waits: 4097 is not in 0..4096");
  refused("/times/0/runs", 0, "times[0].runs: 0 is not in");
  refused("/times/0/min_ms", 1.75, "are not 0 < min <= median <= max");
  refused("/times/0/min_ms", 0, "are not 0 < min <= median <= max");
  refused("/times/0/policy", "", "times[0].policy: is empty");
  refused("/times/0/sm_clock_mhz", -1, "sm_clock_mhz: -1 is not in");
  refused("/values", "fp16", "values: \"fp16\" is neither");
  refused("/values", "fp32", "values: \"fp32\" is neither");
  refused("/workload", "two\nlines", "workload: holds a control character");

  const auto moved = [](const char* where, const char* from, const char* to) {
    return refusal_of([&](json& header) {
      json& object = header[json::json_pointer(where)];
      object[to] = object[from];
      object.erase(from);
    });
  };
  EXPECT_NE(moved("/costs", "sm_89", "sm89").find("is not an architecture"), std::string::npos);
  EXPECT_NE(moved("/costs/sm_89", "baseline", "base").find("unknown variant"), std::string::npos);
  EXPECT_NE(moved("/costs/sm_90/skip/reduce/0", "butterfly", "buterfly")
                .find("unknown segment \"buterfly\""),
            std::string::npos);
  EXPECT_NE(refusal_of([](json& header) {
              json& reduce = header["/costs/sm_89/baseline/reduce/0"_json_pointer];
              reduce["leader"] = reduce["plain"];
            }).find("unknown segment \"leader\""),
            std::string::npos);
  // All segments may be missing, but not some of them.
  EXPECT_EQ(refusal_of([](json& header) {
              header["/costs/sm_90/skip/reduce/0"_json_pointer] = json::object();
            }),
            "");
  EXPECT_NE(refusal_of([](json& header) {
              header["/costs/sm_90/skip/reduce/0"_json_pointer].erase("leader");
            }).find("segment \"leader\" is missing"),
            std::string::npos);
  for (const char* const list : {"sites", "arrays", "omissions", "remarks"}) {
    EXPECT_NE(refusal_of([&](json& header) {
                header[list].push_back(header[list][0]);
              }).find("comes twice"),
              std::string::npos)
        << list;
  }
  EXPECT_NE(refusal_of([](json& header) {
              header["times"].push_back(header["times"][0]);
            }).find("times[1].policy: \"baseline\" comes twice"),
            std::string::npos);
}

TEST(Header, TextThatIsNotOneJsonObjectIsRefused) {
  const std::string good = header_to_json(small_header(1, 32));
  EXPECT_EQ(refusal_of_text(good), "");
  EXPECT_NE(refusal_of_text(""), "");
  EXPECT_NE(refusal_of_text("[]"), "");
  EXPECT_NE(refusal_of_text("3"), "");
  EXPECT_NE(refusal_of_text(good + "x"), "");
  EXPECT_NE(refusal_of_text(good.substr(0, good.size() - 1)), "");
  EXPECT_NE(refusal_of_text("{\"workload\": \"\xff\"}"), "");
  EXPECT_NE(refusal_of_text("{\n\n\"workload\": \"a\nb\"}"), "");
  EXPECT_NE(refusal_of_text(std::string(100'000, '[')), "");
  EXPECT_NE(
      refusal_of_text("{\"workload\":\"a\"," + good.substr(1)).find("key \"workload\" comes twice"),
      std::string::npos);
}

}  // namespace
}  // namespace warpfold::trace::test
