// SPDX-License-Identifier: Apache-2.0
// Traces of kernels that add at several places, through writer, reader and the trace commands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tb/trace/synthetic.hpp"
#include "tb/trace/trace_files.hpp"
#include "traces/format/codec.hpp"
#include "traces/format/commands.hpp"
#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::trace::test {
namespace {

using nlohmann::json;

// Sites of FP32, pairs of halves and FP64 with 1000, 20 and 70,000 primitives; the third without a
// path of its own and without code of the skip variant.
Header three_sites(std::uint32_t ctas, std::uint32_t threads) {
  Header header = small_header(ctas, threads);
  header.sites.push_back({.name = "halves",
                          .type = ValueType::kF16x2,
                          .primitive_count = 20,
                          .parameters = {{.name = "h", .base = 0x1000, .stride_bytes = 4}},
                          .taken_path = "skipped"});
  header.sites.push_back({.name = "doubles",
                          .kind = SiteKind::kAtom,
                          .type = ValueType::kF64,
                          .words = 2,
                          .primitive_count = 70'000,
                          .parameters = {{.name = "d", .base = 0x100000, .stride_bytes = 16},
                                         {.name = "e", .base = 0x100008, .stride_bytes = 16}},
                          .taken_path = ""});
  VariantCost& baseline = header.costs["sm_89"]["baseline"];
  baseline.reduce.resize(3, baseline.reduce[0]);
  VariantCost& skip = header.costs["sm_90"]["skip"];
  skip.reduce.resize(2, skip.reduce[0]);
  skip.reduce.emplace_back();
  skip.paths[1].estimated = true;
  skip.reduce[1]["leader"].estimated = true;
  return header;
}

Record event(std::uint16_t site, std::uint32_t mask, std::uint32_t primitive,
             std::uint64_t values = 0) {
  return {.kind = RecordKind::kEvent,
          .site = site,
          .mask = mask,
          .primitive = primitive,
          .values = values};
}

TEST(Sites, RandomTracesComeBackAsTheyWere) {
  const TempFolder folder;
  const auto path = folder / "t.wft";
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Header header = three_sites(5, 33 + static_cast<std::uint32_t>(seed) * 31);
    header.values = seed % 2 == 0 ? ValueMode::kOperands : ValueMode::kNone;
    const std::vector<CtaTrace> written = write_random(path, header, seed, 2);
    const Reader reader(path);
    EXPECT_EQ(header_to_json(reader.header()), header_to_json(header));
    for (std::size_t i = written.size(); i-- > 0;) {
      EXPECT_EQ(reader.read_cta(i), written[i]);
    }
    reader.verify();
  }
}

// FORMAT.md, 4: 2 s and 2 s + 1 for events of site s, then a barrier, then work by path.
TEST(Sites, OpsAreNumberedBySite) {
  const Header header = three_sites(1, 32);
  codec::Encoder encoder(header);
  CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  WarpTrace& warp = cta.warps[0];
  warp.lane_primitives.assign(32, 5);
  warp.records = {event(0, 1, 5),
                  event(2, 1, 5),
                  event(2, 1, 0),
                  {.kind = RecordKind::kBarrier},
                  {.kind = RecordKind::kWork, .path = 2, .count = 1}};
  warp.records[2].lane_primitives = 0;
  encoder.add(cta);
  const Bytes raw = encoder.take();
  std::size_t at = 4 + 4 * (codec::kCounts + header.paths.size());
  for (std::size_t column = 0; column < codec::kOps; ++column) {
    at += container::get_u32(raw.data() + 4 + 4 * column);
  }
  EXPECT_EQ(Bytes(raw.begin() + static_cast<std::ptrdiff_t>(at),
                  raw.begin() + static_cast<std::ptrdiff_t>(at) + 5),
            (Bytes{0, 4, 5, 6, 9}));
}

TEST(Sites, ThousandsOfPathsComeBackInAnyOrder) {
  const TempFolder folder;
  Header header = small_header(40, 32);
  header.costs.clear();
  const auto set_paths = [&](int count) {
    header.paths.clear();
    for (int p = 0; p < count; ++p) {
      header.paths.push_back(fmt::format("p{}", p));
    }
    header.sites[0].taken_path = header.paths.back();
  };
  for (const int count : {1000, 65535}) {
    set_paths(count);
    const std::vector<CtaTrace> written = write_random(folder / "t.wft", header, 7, 40);
    const Reader reader(folder / "t.wft");
    for (const std::size_t i : {0U, 39U, 3U, 17U, 16U, 38U, 39U, 0U}) {
      EXPECT_EQ(reader.read_cta(i), written[i]) << i;
    }
    reader.verify();
  }
  header.paths.emplace_back("one more");
  EXPECT_THROW(validate_header(header), TraceError);
}

TEST(Sites, TheWriterHoldsAnEventToItsSite) {
  const TempFolder folder;
  const auto why = [&](const Record& record, ValueMode values = ValueMode::kNone) {
    Header header = three_sites(1, 32);
    header.values = values;
    CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
    cta.warps[0].records = {record};
    cta.warps[0].values.assign(values == ValueMode::kNone ? 0 : 7, 0);
    Writer writer(folder / "t.wft", header);
    try {
      writer.add(cta);
    } catch (const TraceError& error) {
      const std::string what = error.what();
      return what.substr(what.find("record 0: ") + 10);
    }
    return std::string();
  };
  EXPECT_EQ(why(event(3, 1, 0)), "site 3, the header has 3");
  EXPECT_EQ(why(event(1, 1, 20)), "primitive 20, the header has 20");
  EXPECT_EQ(why(event(0, 1, 999)), "");
  EXPECT_EQ(why(event(2, 1, 69'999)), "");
  // Two parameters of two words for each of two lanes.
  EXPECT_EQ(why(event(2, 3, 0), ValueMode::kOperands),
            "its 8 values lie outside the list of its warp");
  EXPECT_EQ(why(event(0, 3, 0), ValueMode::kOperands), "");
}

// A dictionary is shared by the sites: a file may name a primitive that its event's site has not.
TEST(Sites, TheReaderHoldsAnEventToItsSite) {
  const TempFolder folder;
  const Header header = three_sites(1, 32);
  Bytes raw;
  std::vector<Bytes> content(codec::kCounts + 3);
  content[codec::kCtas] = {0, 1};
  content[codec::kWarps] = {1};
  content[codec::kOps] = {2};  // site 1
  content[codec::kDictionary] = {40, 0, 0, 0};
  content[codec::kSteps] = {0};
  content[codec::kMasks] = {1, 0, 1, 0};
  container::put_u32(raw, static_cast<std::uint32_t>(content.size()));
  for (const Bytes& column : content) {
    container::put_u32(raw, static_cast<std::uint32_t>(column.size()));
  }
  for (const Bytes& column : content) {
    raw.insert(raw.end(), column.begin(), column.end());
  }
  FileBuilder()
      .header(header_to_json(header))
      .chunk(container::kKindCtas, raw)
      .index({0}, 1, 1, 1)
      .end()
      .write(folder / "t.wft");
  EXPECT_NE(refusal(folder / "t.wft", true).find("primitive 20, site 1 has 20"), std::string::npos);
}

// Two events of site 0 and one of site 2, with values.
void write_few(const std::filesystem::path& path) {
  Header header = three_sites(1, 32);
  header.values = ValueMode::kOperands;
  header.arrays = {{.name = "all", .base = 0, .bytes = 0x800000000000}};
  header.omissions = {{.what = "ATOM.CAS", .count = 12}};
  CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  WarpTrace& warp = cta.warps[0];
  warp.records = {event(0, 1, 7, 0), event(1, 3, 7, 2), event(2, 1, 8, 4)};
  const auto words = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  warp.values = {std::bit_cast<std::uint32_t>(1.5F),
                 std::bit_cast<std::uint32_t>(-2.0F),
                 0xc0003c00U,  // 1 and -2
                 0x000103ffU,  // just below the least normal half, and the least half
                 static_cast<std::uint32_t>(words(0.1)),
                 static_cast<std::uint32_t>(words(0.1) >> 32U),
                 static_cast<std::uint32_t>(words(3)),
                 static_cast<std::uint32_t>(words(3) >> 32U)};
  Writer writer(path, header);
  writer.add(cta);
  writer.finish();
}

TEST(Sites, StatsAreBySite) {
  const TempFolder folder;
  write_few(folder / "t.wft");
  const TraceStats stats = collect_stats(Reader(folder / "t.wft"));
  EXPECT_EQ(stats.events, 3U);
  EXPECT_EQ(stats.active_lanes, 4U);
  EXPECT_EQ(stats.lane_atomics, 2U + 2 + 2);
  EXPECT_EQ(stats.distinct_primitives, 3U);  // 7 of two sites, 8
  ASSERT_EQ(stats.sites.size(), 3U);
  EXPECT_EQ(stats.sites[1].events, 1U);
  EXPECT_EQ(stats.sites[1].mean_active_lanes(), 2.0);
  EXPECT_EQ(stats.sites[2].distinct_primitives, 1U);
}

TEST(Sites, DumpNamesThemAndPrintsOperandsByType) {
  const TempFolder folder;
  write_few(folder / "t.wft");
  std::ostringstream out;
  trace_dump(folder / "t.wft", {.values = true}, out);
  EXPECT_EQ(out.str(),
            "CTA 0\n  warp 0: 3 records\n"
            "         0 event   mask 0x00000001 lanes  1 site site primitive 7\n"
            "             x: 1.5\n             y: -2\n"
            "         1 event   mask 0x00000003 lanes  2 site halves primitive 7\n"
            "             h: (1, -2) (6.097555e-05, 5.9604645e-08)\n"
            "         2 event   mask 0x00000001 lanes  1 site doubles primitive 8\n"
            "             d: 0.1\n             e: 3\n");
}

TEST(Sites, InfoListsWhatATraceIsOfAndWhatItLacks) {
  const TempFolder folder;
  write_few(folder / "t.wft");
  std::ostringstream out;
  trace_info({folder / "t.wft"}, false, out);
  const std::string text = out.str();
  for (const char* const part :
       {"  values                operands\n",
        "  site 0                site: f32, 1 events, mean 1.00 lanes, pass taken\n",
        "  site 1                halves: f16x2, 1 events, mean 2.00 lanes, pass skipped\n"
        "  primitives            20, 1 with an event\n"
        "  parameters            1: h\n",
        "  site 2                doubles: atom of f64 x 2, 1 events, mean 1.00 lanes, reached by "
        "passes without event\n",
        "  array                 all: 140737488355328 bytes at 0x0\n",
        "  left out              12 x ATOM.CAS\n",
        "skipped 20 taken 20, site/butterfly 20, site/check 20, site/leader 20, halves/butterfly "
        "20, halves/check 20, halves/leader 20 issue slots; estimated: skipped, halves/leader\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  out.str("");
  trace_info({folder / "t.wft"}, true, out);
  const json info = json::parse(out.str())["traces"][0];
  EXPECT_EQ(info["format_version"], 5);
  EXPECT_EQ(info["stats"]["sites"][1]["name"], "halves");
  EXPECT_EQ(info["stats"]["sites"][1]["active_lanes"], 2);
  EXPECT_EQ(info["header"]["omissions"][0]["count"], 12);
}

// Costs of a kernel of one site have an object, of several an array.
TEST(Sites, CostsComeWithAnArrayOfSegments) {
  const TempFolder folder;
  write_few(folder / "t.wft");
  json costs;
  costs["schema"] = kCostsSchema;
  costs["paths"] = {"prologue", "skipped", "taken"};
  costs["costs"] = json::parse(header_to_json(three_sites(1, 32)))["costs"];
  costs["costs"]["sm_89"]["baseline"]["reduce"][1]["plain"]["alu"] = 77;
  std::ofstream(folder / "c.json") << costs;
  std::ostringstream out;
  trace_recost(folder / "t.wft", folder / "c.json", folder / "new.wft", {}, out);
  const Reader reader(folder / "new.wft");
  EXPECT_EQ(reader.header().costs.at("sm_89").at("baseline").reduce[1].at("plain").alu, 77U);
  EXPECT_EQ(reader.read_cta(0), Reader(folder / "t.wft").read_cta(0));

  const json one = costs["costs"]["sm_89"]["baseline"]["reduce"][0];
  costs["costs"]["sm_89"]["baseline"]["reduce"] = one;
  std::ofstream(folder / "c.json") << costs;
  try {
    trace_recost(folder / "t.wft", folder / "c.json", folder / "new.wft", {}, out);
    ADD_FAILURE() << "taken";
  } catch (const TraceError& error) {
    EXPECT_NE(std::string(error.what()).find("its costs are of one site, the trace has 3"),
              std::string::npos);
  }
}

TEST(Sites, SlicesKeepThemAndDropValues) {
  const TempFolder folder;
  write_few(folder / "t.wft");
  std::ostringstream out;
  trace_slice(folder / "t.wft", folder / "s.wft", {.drop_values = true, .step = nullptr}, out);
  const Reader reader(folder / "s.wft");
  EXPECT_EQ(reader.header().values, ValueMode::kNone);
  EXPECT_EQ(reader.read_cta(0).warps[0].records[2].site, 2U);
}

// Sites may add to the same addresses, parameters of one site not: those of FP64 reach further.
TEST(Sites, OnlyParametersOfOneSiteMayNotShareAddresses) {
  Header header = three_sites(1, 32);
  header.sites[1].parameters[0].base = header.sites[0].parameters[0].base;
  EXPECT_NO_THROW(validate_header(header));
  header.sites[2].parameters[1].base = 0x100010;
  EXPECT_THROW(validate_header(header), TraceError);
  const Site wide = header.sites[2];
  const Site narrow = header.sites[0];
  EXPECT_TRUE(may_share_address(wide, {"", 0, 16}, narrow, {"", 4, 16}));
  EXPECT_FALSE(may_share_address(wide, {"", 0, 16}, narrow, {"", 8, 16}));
  EXPECT_TRUE(may_share_address(wide, {"", 12, 16}, narrow, {"", 16, 16}));
  EXPECT_TRUE(may_share_address(narrow, {"", 4, 16}, wide, {"", 16, 16}));  // its next one
  EXPECT_FALSE(may_share_address(narrow, {"", 0, 4}, wide, {"", 4000, 8}));
  EXPECT_TRUE(may_share_address(narrow, {"", 0, 4}, wide, {"", 3996, 8}));
}

}  // namespace
}  // namespace warpfold::trace::test
