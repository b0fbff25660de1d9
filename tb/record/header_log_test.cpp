// SPDX-License-Identifier: Apache-2.0
// What <warpfold/record.cuh> leaves becomes a trace, lane by lane, or is refused: files made by
// hand, and the ring that a program empties into them.
#include "traces/record/host/header_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "traces/format/reader.hpp"
#include "traces/record/header/warpfold/record_log.cuh"

namespace warpfold::record::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kAll = 0xffffffffU;

// Records of one CTA's warp, as a kernel makes them.
struct Words {
  std::vector<std::uint32_t> words;
  std::uint32_t cta = 0, warp = 0;

  void mark(std::uint32_t marker, std::uint32_t lanes, std::uint32_t flags = 0,
            std::uint32_t number = 0) {
    words.insert(words.end(),
                 {marker | flags | warp << layout::kWarpShift, number + 1, cta + 1, lanes});
  }
  void pair(std::uint64_t value) {
    words.push_back(static_cast<std::uint32_t>(value));
    words.push_back(static_cast<std::uint32_t>((value | layout::kTag) >> 32U));
  }
  void add(std::uint32_t site, std::uint32_t parameter, std::uint32_t lanes,
           const std::vector<std::uint64_t>& addresses, layout::Type type = layout::kF32,
           const std::vector<std::uint32_t>& operands = {}) {
    const std::size_t begin = words.size();
    const std::uint32_t flags =
        layout::kAddresses | static_cast<std::uint32_t>(type) << layout::kTypeShift |
        (addresses.size() == 1 ? layout::kUniform : 0) | (operands.empty() ? 0 : layout::kOperands);
    mark(layout::kAddition, lanes, flags, site << layout::kParameterShift | parameter);
    for (const std::uint64_t address : addresses) {
      pair(address);
    }
    for (const std::uint32_t operand : operands) {
      pair(operand);
    }
    words.resize(begin + (words.size() - begin + 3) / 4 * 4, 0);
  }
};

class HeaderLog : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("header-log-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    text_ = {{"kernel", "ns::adds<float>"},
             {"launch", 3},
             {"grid", {2, 1, 1}},
             {"block", {20, 2, 1}},
             {"registers", 24},
             {"shared", 512},
             {"arch", "sm_90"},
             {"gpu", "a GPU"},
             {"driver", "a driver"},
             {"cuda", "13.0"},
             {"every", 1},
             {"sites", {{7, "colour"}}},
             {"arrays", {{"sums", 0x1000, 0x100}}},
             {"milliseconds", {3.0, 1.0, 2.0}}};
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The file's bytes.
  [[nodiscard]] std::string file_of(const Words& all) const {
    std::string bytes = layout::kMagic;
    bytes.resize(layout::kMagicBytes, '\n');
    const std::string text = text_.dump();
    std::vector<std::uint32_t> words = all.words;
    words.insert(words.end(), {0, static_cast<std::uint32_t>(text.size()),
                               static_cast<std::uint32_t>(all.words.size()), 0});
    return bytes.append(reinterpret_cast<const char*>(words.data()),
                        words.size() * sizeof words[0]) +
           text;
  }
  void convert(const std::string& bytes) {
    std::ofstream(folder_ / "adds.wfrec", std::ios::binary) << bytes;
    said_.clear();
    traces_of_logs({.files = {folder_ / "adds.wfrec"}, .out = folder_, .workload = {}, .scene = {}},
                   nlohmann::json::object(),
                   [this](const std::string& line) { said_ += line + "\n"; });
  }
  [[nodiscard]] trace::Reader traced(const std::string& bytes) {
    convert(bytes);
    trace::Reader reader(folder_ / "adds.wft");
    reader.verify();
    return reader;
  }
  // Why the file is refused; no trace may be there then.
  [[nodiscard]] std::string refusal(const std::string& bytes) {
    try {
      convert(bytes);
    } catch (const trace::TraceError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with((folder_ / "adds.wfrec: ").string())) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos);
      EXPECT_FALSE(fs::exists(folder_ / "adds.wft"));
      return what;
    }
    return "";
  }

  fs::path folder_;
  nlohmann::json text_;
  std::string said_;
};

// Both CTAs, with a first warp of 32 lanes and a second one of 8.
Words whole_launch() {
  Words all;
  for (all.cta = 0; all.cta < 2; ++all.cta) {
    all.warp = 0;
    all.mark(layout::kEnter, kAll);
    all.add(7, 0, 0x5U, {0x1000, 0x1018});
    all.add(7, 1, 0x5U, {0x1004, 0x101c});
    all.warp = 1;
    all.mark(layout::kEnter, 0xffU);
    all.mark(layout::kBarrier, 0xffU, layout::kWholeBarrier);
    all.warp = 0;
    all.mark(layout::kBarrier, kAll, layout::kWholeBarrier);
    all.mark(layout::kExit, kAll);
    all.warp = 1;
    all.add(2, 0, 0xf0U, {0x1044});
    all.mark(layout::kExit, 0xffU);
  }
  return all;
}

TEST_F(HeaderLog, BecomesATrace) {
  const trace::Reader reader = traced(file_of(whole_launch()));
  const trace::Header& header = reader.header();
  EXPECT_EQ(header.kernel, "ns::adds<float>");
  EXPECT_EQ(header.registers_per_thread, 24U);
  EXPECT_EQ(header.shared_bytes_per_cta, 512U);
  EXPECT_EQ(header.values, trace::ValueMode::kNone);
  ASSERT_EQ(header.times.size(), 1U);
  EXPECT_DOUBLE_EQ(header.times[0].median_ms, 2.0);
  ASSERT_EQ(header.arrays.size(), 1U);
  EXPECT_EQ(header.arrays[0].name, "sums");
  ASSERT_EQ(header.sites.size(), 2U);
  const std::size_t colour = header.sites[0].name == "colour" ? 0 : 1;
  EXPECT_EQ(header.sites[colour].name, "colour");
  EXPECT_EQ(header.sites[1 - colour].name, "site 2");
  ASSERT_EQ(header.sites[colour].parameters.size(), 2U);
  EXPECT_EQ(header.sites[colour].parameters[1].base, 0x1004U);
  EXPECT_EQ(header.sites[colour].parameters[1].stride_bytes, 0x18U);
  for (const trace::InstructionCost& cost : header.costs.at("sm_90").at("baseline").paths) {
    EXPECT_EQ(cost.issue_slots(), 0U);
    EXPECT_TRUE(cost.estimated);
  }
  EXPECT_NE(
      said_.find(
          "ns::adds<float>, launch 3: 4 events at 2 sites, 16 lane additions, without operands"),
      std::string::npos)
      << said_;
  EXPECT_NE(said_.find("the work between them is not known"), std::string::npos);

  const trace::CtaTrace cta = reader.read_cta(1);
  ASSERT_EQ(cta.warps.size(), 2U);
  std::vector<trace::RecordKind> kinds;
  for (const trace::Record& record : cta.warps[0].records) {
    if (record.kind == trace::RecordKind::kEvent) {
      EXPECT_EQ(record.mask, 0x5U);
      ASSERT_NE(record.lane_primitives, trace::Record::kUniform);
      EXPECT_EQ(cta.warps[0].lane_primitives[record.lane_primitives], 0U);
      EXPECT_EQ(cta.warps[0].lane_primitives[record.lane_primitives + 2], 1U);
    }
    if (record.kind != trace::RecordKind::kWork) {
      kinds.push_back(record.kind);
    }
  }
  EXPECT_EQ(kinds, (std::vector{trace::RecordKind::kEvent, trace::RecordKind::kBarrier}));
}

TEST_F(HeaderLog, OperandsComeByParameterThenByLane) {
  Words all;
  text_["grid"] = {1, 1, 1};
  text_["block"] = {32, 1, 1};
  all.mark(layout::kEnter, kAll);
  all.add(7, 0, 0x3U, {0x1000}, layout::kF64, {1, 2, 3, 4});
  all.add(7, 1, 0x3U, {0x1010, 0x1018}, layout::kF64, {5, 6, 0, 0});
  all.add(9, 0, 0x9U, {0x1080}, layout::kF16x2, {0x3c003c00U, 0});
  all.mark(layout::kExit, kAll);
  const trace::Reader reader = traced(file_of(all));
  ASSERT_EQ(reader.header().values, trace::ValueMode::kOperands);
  EXPECT_NE(said_.find("with their operands"), std::string::npos);
  const trace::WarpTrace warp = reader.read_cta(0).warps[0];
  std::map<std::string, std::vector<std::uint32_t>> values;
  for (const trace::Record& record : warp.records) {
    if (record.kind == trace::RecordKind::kEvent) {
      const trace::Site& site = reader.header().sites[record.site];
      const auto begin = warp.values.begin() + static_cast<std::ptrdiff_t>(record.values);
      values[site.name].assign(begin, begin + 2 * trace::words_of(site.type));
    }
  }
  // Its two parameters lie on no line, so they are sites by themselves.
  EXPECT_EQ(values.at("colour"), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(values.at("colour[1]"), (std::vector<std::uint32_t>{5, 6, 0, 0}));
  EXPECT_EQ(values.at("site 9"), (std::vector<std::uint32_t>{0x3c003c00U, 0}));
}

TEST_F(HeaderLog, WithoutTheOperandsOfSomeEventsTheTraceHasNone) {
  Words all;
  text_["grid"] = {1, 1, 1};
  all.mark(layout::kEnter, kAll);
  all.add(7, 0, 0x3U, {0x1000}, layout::kF32, {1, 2});
  all.add(8, 0, 0x3U, {0x1010});
  all.mark(layout::kExit, kAll);
  EXPECT_EQ(traced(file_of(all)).header().values, trace::ValueMode::kNone);
}

TEST_F(HeaderLog, OfASampleTheMiddleCtasAreThere) {
  Words all;
  text_["grid"] = {9, 1, 1};
  text_["every"] = 3;
  for (const std::uint32_t cta : {1U, 4U, 7U}) {
    all.cta = cta;
    all.mark(layout::kEnter, kAll);
    all.add(7, 0, kAll, {0x1000});
    all.mark(layout::kExit, kAll);
  }
  const trace::Reader reader = traced(file_of(all));
  EXPECT_EQ(reader.header().sample_every, 3U);
  EXPECT_EQ(reader.cta_id(2), 7U);
}

TEST_F(HeaderLog, CutOffAnywhereItIsRefused) {
  const std::string bytes = file_of(whole_launch());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string why = refusal(bytes.substr(0, length));
    ASSERT_NE(why.find(length < layout::kMagicBytes ? "no recording" : "cut off"),
              std::string::npos)
        << length << ": " << why;
  }
  EXPECT_NE(refusal(bytes + " ").find("goes on behind its end"), std::string::npos);
}

TEST_F(HeaderLog, WhatMakesNoSenseIsRefused) {
  const auto refused = [&](const std::function<void(Words&)>& change) {
    Words all = whole_launch();
    all.cta = 0;
    all.warp = 0;
    change(all);
    return refusal(file_of(all));
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      has(refused([](Words& all) { all.mark(layout::kEnter, 1); }), "did not come to its end"));
  EXPECT_TRUE(has(refused([](Words& all) { all.add(7, 0, 1, {0x1000}); }), "before they begin"));
  EXPECT_TRUE(
      has(refused([](Words& all) { all.add(7, 0, 1, {0x1000}, layout::kF64); }), "two types"));
  EXPECT_TRUE(has(refused([](Words& all) { all.mark(4, 1); }), "makes no sense"));
  EXPECT_TRUE(has(refused([](Words& all) { all.mark(layout::kEnter, 0); }), "makes no sense"));
  EXPECT_TRUE(has(refused([](Words& all) { all.words[2] = 4; }), "makes no sense"));  // CTA 3 of 2
  EXPECT_TRUE(has(refused([](Words& all) { all.words.clear(); }), "added nothing"));
  EXPECT_TRUE(
      has(refused([](Words& all) {
            all = {};
            all.warp = 1;
            all.mark(layout::kEnter, kAll);
            all.add(2, 0, 0x100U, {0x1044});
            all.mark(layout::kExit, kAll);
          }),
          "CTA 0, warp 1, record 1: mask 0x00000100 has lanes that the block does not have"));
  text_["grid"] = {1U << 30U, 1, 1};
  EXPECT_TRUE(has(refused([](Words&) {}), "far more warps"));
  text_["grid"] = {2, 1, 1};
  text_["block"] = {64, 64, 1};
  EXPECT_TRUE(has(refused([](Words&) {}), "no GPU makes"));
  text_.erase("block");
  EXPECT_TRUE(has(refused([](Words&) {}), "does not say what launch"));
}

TEST_F(HeaderLog, NumbersThatAreNoneAreRefused) {
  const nlohmann::json whole = text_;
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    text_ = whole;
    text_[key] = value;
    return refusal(file_of(whole_launch()));
  };
  for (const char* key : {"launch", "registers", "shared", "every"}) {
    for (const nlohmann::json& value :
         {nlohmann::json(1.5), nlohmann::json(-1), nlohmann::json(1e300), nlohmann::json("1"),
          nlohmann::json(nullptr)}) {
      EXPECT_NE(refused(key, value).find("does not say what launch"), std::string::npos)
          << key << " " << value;
    }
    EXPECT_NE(refused(key, 4294967297).find("4294967297 is too large a number"), std::string::npos)
        << key;
  }
  EXPECT_NE(refused("grid", {2.5, 1, 1}).find("does not say"), std::string::npos);
  EXPECT_NE(refused("arrays", {{"sums", 1e300, 4}}).find("does not say"), std::string::npos);
  EXPECT_NE(refused("arrays", {{"sums", 4096, 4.5}}).find("does not say"), std::string::npos);
  EXPECT_NE(refused("sites", {{7.5, "color"}}).find("does not say"), std::string::npos);
}

TEST_F(HeaderLog, TwoFilesOfOneNameAreRefused) {
  const std::string bytes = file_of(whole_launch());
  fs::create_directory(folder_ / "other");
  for (const char* name : {"adds.wfrec", "other/adds.wfrec"}) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  EXPECT_THROW(traces_of_logs({.files = {folder_ / "adds.wfrec", folder_ / "other/adds.wfrec"},
                               .out = folder_,
                               .workload = {},
                               .scene = {}},
                              nlohmann::json::object(), [](const std::string&) {}),
               trace::TraceError);
}

constexpr std::uint64_t kCapacity = 1U << 12U;

// Fills a ring as a kernel does, waiting where it is full; the words in their order.
std::vector<std::uint32_t> fill(std::vector<std::uint32_t>& ring,
                                const volatile unsigned long long& tail) {
  std::mt19937 random(7);
  Words all;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::size_t begin = all.words.size();
    const auto lanes = static_cast<std::uint32_t>(random()) | 1U;
    if (i % 3 == 0) {
      all.mark(layout::kBarrier, lanes, layout::kWholeBarrier);
    } else {
      const auto count = static_cast<std::size_t>(std::popcount(lanes));
      all.add(i, 0, lanes, std::vector<std::uint64_t>(i % 2 == 0 ? 1 : count, 0x1000), layout::kF64,
              std::vector<std::uint32_t>(2 * count, 0));
    }
    while (all.words.size() > tail + kCapacity) {
      std::this_thread::yield();
    }
    // The head of a record last to first, with its payload before or after it.
    for (std::size_t k = all.words.size(); k-- > begin;) {
      const std::size_t at = i % 2 == 0 ? k : all.words.size() - 1 - (k - begin);
      std::atomic_ref(ring[at % kCapacity]).store(all.words[at]);
    }
  }
  return all.words;
}

TEST_F(HeaderLog, ARingComesIntoTheFileWholeAndInOrder) {
  std::vector<std::uint32_t> ring(kCapacity, 0);
  volatile unsigned long long tail = 0;
  std::FILE* file = std::fopen((folder_ / "ring").c_str(), "wb");
  std::vector<std::uint32_t> written;
  {
    RingFile reader(file, ring.data(), kCapacity, &tail);
    written = fill(ring, tail);
    EXPECT_EQ(reader.finish(written.size()), "");
  }
  std::fclose(file);
  EXPECT_GT(written.size(), 20 * kCapacity);
  std::vector<std::uint32_t> read(written.size());
  std::ifstream in(folder_ / "ring", std::ios::binary);
  in.read(reinterpret_cast<char*>(read.data()),
          static_cast<std::streamsize>(read.size() * sizeof read[0]));
  EXPECT_TRUE(in.good() && in.peek() == EOF);
  EXPECT_EQ(read, written);
}

TEST_F(HeaderLog, AKernelGoesOnWhereTheDiskIsFull) {
  std::vector<std::uint32_t> ring(kCapacity, 0);
  volatile unsigned long long tail = 0;
  std::FILE* full = std::fopen("/dev/full", "wb");
  ASSERT_NE(full, nullptr);
  {
    RingFile reader(full, ring.data(), kCapacity, &tail);
    const std::size_t words = fill(ring, tail).size();
    EXPECT_EQ(reader.finish(words), "cannot be written");
  }
  std::fclose(full);
}

TEST_F(HeaderLog, WhatNeverCameIsTold) {
  std::vector<std::uint32_t> ring(kCapacity, 0);
  volatile unsigned long long tail = 0;
  std::FILE* file = std::fopen((folder_ / "ring").c_str(), "wb");
  {
    RingFile reader(file, ring.data(), kCapacity, &tail);
    EXPECT_EQ(reader.finish(4), "records were lost");
  }
  std::fclose(file);
}

}  // namespace
}  // namespace warpfold::record::test
