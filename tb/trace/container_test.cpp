// SPDX-License-Identifier: Apache-2.0
// What goes in comes out, and nothing else comes out: damage, truncation and hostile counts are
// refused.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tb/trace/allocation_watch.hpp"
#include "tb/trace/file_builder.hpp"
#include "tb/trace/synthetic.hpp"
#include "tb/trace/trace_files.hpp"
#include "traces/format/codec.hpp"
#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::trace::test {
namespace {

std::string hash_of(const Bytes& bytes) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(container::xxh64(bytes, 0)));
  return text;
}

TEST(RoundTrip, RandomTracesComeBackAsTheyWere) {
  const TempFolder folder;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto ctas = static_cast<std::uint32_t>(1 + random() % 30);
    const auto threads = static_cast<std::uint32_t>(1 + random() % 300);
    Header header = small_header(ctas, threads);
    header.values = seed % 2 == 0 ? ValueMode::kOperands : ValueMode::kNone;
    header.sites[0].primitive_count = seed % 5 == 0 ? std::uint64_t{1} << 32U : 1 + random() % 2000;
    const auto path = folder / "t.wft";
    const auto chunk = static_cast<std::uint32_t>(1 + random() % 9);
    const std::vector<CtaTrace> written = write_random(path, header, seed, chunk);

    const Reader reader(path);
    EXPECT_EQ(header_to_json(reader.header()), header_to_json(header));
    EXPECT_EQ(reader.header().costs, header.costs);
    EXPECT_EQ(reader.path(), path);
    EXPECT_EQ(reader.file_hash(), hash_of(read_bytes(path)));
    EXPECT_EQ(reader.file_bytes(), std::filesystem::file_size(path));
    EXPECT_EQ(reader.chunk_count(), (ctas + chunk - 1) / chunk);
    ASSERT_EQ(reader.cta_count(), ctas);
    for (std::size_t i = 0; i < ctas; ++i) {
      EXPECT_EQ(reader.cta_id(i), i);
      EXPECT_EQ(reader.read_cta(i), written[i]);
    }
    for (int k = 0; k < 60; ++k) {  // any order
      const std::size_t i = random() % ctas;
      EXPECT_EQ(reader.read_cta(i), written[i]);
    }
    reader.verify();
    EXPECT_THROW(static_cast<void>(reader.read_cta(ctas)), std::out_of_range);
  }
}

TEST(RoundTrip, ExtremesComeBack) {
  const TempFolder folder;
  Header header = small_header(2, 1024);
  header.sites[0].primitive_count = std::uint64_t{1} << 32U;
  header.values = ValueMode::kOperands;
  CtaTrace first{.cta = 0, .warps = std::vector<WarpTrace>(32)};
  WarpTrace& warp = first.warps[7];
  warp.records = {
      {.kind = RecordKind::kWork, .path = 2, .count = UINT32_MAX},
      {.kind = RecordKind::kWork, .path = 2, .count = UINT32_MAX},  // their sum has no room
      {.kind = RecordKind::kEvent, .mask = 0x80000000U, .primitive = UINT32_MAX, .values = 0},
      {.kind = RecordKind::kEvent, .mask = 1, .primitive = 0, .values = 2},
      {.kind = RecordKind::kEvent, .mask = 1, .primitive = UINT32_MAX, .values = 4},
      {.kind = RecordKind::kBarrier}};
  warp.values = {0, 0x80000000U, 0x7fc00000U, 0xffffffffU, 0x00000001U, 0x7f800000U};
  const CtaTrace empty{.cta = 1, .warps = std::vector<WarpTrace>(32)};
  Writer writer(folder / "t.wft", header);
  writer.add(first);
  writer.add(empty);
  writer.finish();
  const Reader reader(folder / "t.wft");
  EXPECT_EQ(reader.read_cta(0), first);
  EXPECT_EQ(reader.read_cta(1), empty);
  EXPECT_EQ(reader.event_count(), 3U);
  EXPECT_EQ(reader.record_count(), 6U);
}

Header header_with_memory(std::uint32_t ctas, std::uint32_t threads) {
  Header header = small_header(ctas, threads);
  header.memory = {{.name = "row", .bytes = 16, .cache = CacheUse::kReadOnly},
                   {.name = "out", .kind = AccessKind::kStore, .bytes = 1, .cache = CacheUse::kL2}};
  return header;
}

TEST(RoundTrip, AccessesComeBackInAnyOrder) {
  const TempFolder folder;
  const Header header = header_with_memory(12, 72);
  std::mt19937_64 random(63);
  std::vector<CtaTrace> written;
  Writer writer(folder / "t.wft", header, {.zstd_level = 1, .ctas_per_chunk = 5});
  std::uint64_t accesses = 0;
  for (std::uint64_t cta = 0; cta < 12; ++cta) {
    written.push_back(random_cta(header, cta, random));
    writer.add(written.back());
    for (const WarpTrace& warp : written.back().warps) {
      accesses += static_cast<std::uint64_t>(
          std::count_if(warp.records.begin(), warp.records.end(),
                        [](const Record& r) { return r.kind == RecordKind::kAccess; }));
    }
  }
  writer.finish();
  EXPECT_GT(accesses, 50U);
  const Reader reader(folder / "t.wft");
  EXPECT_EQ(header_to_json(reader.header()), header_to_json(header));
  for (std::size_t i = 12; i-- > 0;) {
    EXPECT_EQ(reader.read_cta(i), written[i]);
  }
  reader.verify();
}

// Loads of rows, one behind the other: a byte for the step of each, and none for its shape.
TEST(RoundTrip, AffineAccessesTakeTwoBytes) {
  const TempFolder folder;
  const Header header = header_with_memory(1, 32);
  CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  WarpTrace& warp = cta.warps[0];
  constexpr std::size_t kAccesses = 4000;
  for (std::size_t i = 0; i < kAccesses; ++i) {
    warp.records.push_back({.kind = RecordKind::kAccess,
                            .site = 0,
                            .count = 4,
                            .mask = 0xffffffffU,
                            .values = warp.sectors.size()});
    for (std::uint64_t s = 0; s < 4; ++s) {
      warp.sectors.push_back((std::uint64_t{1} << 40U) + 4 * i + s);
    }
  }
  codec::Encoder encoder(header);
  encoder.add(cta);
  EXPECT_LT(encoder.raw_bytes(), 2 * kAccesses + 200);
  codec::Decoder decoder(header, encoder.take(), 0, 1);
  EXPECT_EQ(decoder.read(0), cta);
  static_cast<void>(decoder.finish());
}

TEST(RoundTrip, AccessesThatCannotBeAreRefused) {
  const Header header = header_with_memory(1, 32);
  const auto refused = [&](Record record, std::vector<std::uint64_t> sectors) -> std::string {
    CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
    record.kind = record.count == 0 && record.mask == 0 ? RecordKind::kWait : RecordKind::kAccess;
    cta.warps[0].records = {record};
    cta.warps[0].sectors = std::move(sectors);
    try {
      codec::Encoder(header).add(cta);
    } catch (const TraceError& error) {
      return error.what();
    }
    return "";
  };
  const std::string where = "CTA 0, warp 0, record 0: ";
  EXPECT_EQ(refused({.count = 2, .mask = 3}, {8, 9}), "");
  EXPECT_EQ(refused({.site = 2, .count = 1, .mask = 1}, {8}),
            where + "memory instruction 2, the header has 2");
  EXPECT_EQ(refused({.site = 2}, {}), where + "memory instruction 2, the header has 2");
  EXPECT_EQ(refused({.count = 0, .mask = 1}, {8}), where + "access of 0 sectors by 1 lanes");
  EXPECT_EQ(refused({.count = 2, .mask = 1}, {8, 9}), where + "access of 2 sectors by 1 lanes");
  EXPECT_EQ(refused({.count = 2, .mask = 3}, {8}),
            where + "its 2 sectors lie outside the list of its warp");
  EXPECT_EQ(refused({.count = 2, .mask = 3}, {8, 8}), where + "an access names sector 0x8 twice");
  EXPECT_EQ(refused({.count = 1, .mask = 1}, {UINT64_MAX}),
            where + "sector 0xffffffffffffffff lies beyond 64 bits");
}

// The header alone says whether there are columns of accesses.
TEST(RoundTrip, ATraceWithoutAccessesHasNoColumnsForThem) {
  const CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  const auto columns = [&](const Header& header) {
    codec::Encoder encoder(header);
    encoder.add(cta);
    return container::get_u32(encoder.take().data());
  };
  const Header without = small_header(1, 32);
  EXPECT_EQ(columns(without), 8 + without.paths.size());
  EXPECT_EQ(columns(header_with_memory(1, 32)), 11 + without.paths.size());
  EXPECT_EQ(header_to_json(without).find("memory"), std::string::npos);
}

TEST(RoundTrip, WorkRecordsAreMergedAndListsPacked) {
  const TempFolder folder;
  Header header = small_header(1, 32);
  header.values = ValueMode::kOperands;
  CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  WarpTrace& warp = cta.warps[0];
  warp.lane_primitives.assign(40, 999'999);  // of lanes that are not active: not looked at
  warp.lane_primitives[8] = 5;
  warp.lane_primitives[8 + 31] = 6;
  warp.values = {9, 9, 1, 2, 3, 4};
  warp.records = {
      {.kind = RecordKind::kWork, .path = 1, .count = 2},
      {.kind = RecordKind::kWork, .path = 0, .count = 0},
      {.kind = RecordKind::kWork, .path = 1, .count = 3},
      {.kind = RecordKind::kEvent, .mask = 0x80000001U, .lane_primitives = 8, .values = 2},
      {.kind = RecordKind::kWork, .path = 0, .count = 0}};
  Writer writer(folder / "t.wft", header);
  writer.add(cta);
  writer.finish();

  const CtaTrace read = Reader(folder / "t.wft").read_cta(0);
  WarpTrace expected;
  expected.records = {{.kind = RecordKind::kWork, .path = 1, .count = 5},
                      {.kind = RecordKind::kEvent, .mask = 0x80000001U, .lane_primitives = 0}};
  expected.lane_primitives.assign(32, 0);
  expected.lane_primitives[0] = 5;
  expected.lane_primitives[31] = 6;
  expected.values = {1, 2, 3, 4};
  EXPECT_EQ(read.warps[0], expected);
}

TEST(RoundTrip, SampledCtasKeepTheirNumbers) {
  const TempFolder folder;
  Header header = small_header(1000, 64);
  header.sampling = "three of them";
  std::mt19937_64 random(3);
  std::vector<CtaTrace> ctas;
  Writer writer(folder / "t.wft", header, {.zstd_level = 3, .ctas_per_chunk = 2});
  for (const std::uint64_t id : {7U, 500U, 999U}) {
    ctas.push_back(random_cta(header, id, random));
    writer.add(ctas.back());
  }
  writer.finish();
  const Reader reader(folder / "t.wft");
  ASSERT_EQ(reader.cta_count(), 3U);
  EXPECT_EQ(reader.cta_id(2), 999U);
  EXPECT_EQ(reader.read_cta(2), ctas[2]);
  EXPECT_EQ(reader.read_cta(0), ctas[0]);
  EXPECT_EQ(reader.chunk(0).first_cta, 7U);
  EXPECT_EQ(reader.chunk(0).last_cta, 500U);
}

TEST(RoundTrip, SameInputGivesTheSameBytes) {
  const TempFolder folder;
  write_random(folder / "a.wft", small_header(9, 96), 5);
  write_random(folder / "b.wft", small_header(9, 96), 5);
  EXPECT_EQ(read_bytes(folder / "a.wft"), read_bytes(folder / "b.wft"));
}

TEST(Dictionary, FollowsEveryWarp) {
  // Each warp walks a part of one list: the dictionary is such a list again.
  std::mt19937_64 random(11);
  std::vector<std::uint32_t> list(50);
  for (std::uint32_t& primitive : list) {
    primitive = static_cast<std::uint32_t>(random());
  }
  CtaTrace cta{.cta = 0, .warps = std::vector<WarpTrace>(8)};
  for (WarpTrace& warp : cta.warps) {
    for (const std::uint32_t primitive : list) {
      if (random() % 2 == 0) {
        warp.records.push_back({.kind = RecordKind::kEvent, .mask = 1, .primitive = primitive});
      }
    }
  }
  const std::vector<std::uint32_t> order = codec::order_primitives(cta);
  for (const WarpTrace& warp : cta.warps) {
    auto from = order.begin();
    for (const Record& record : warp.records) {
      from = std::find(from, order.end(), record.primitive);
      ASSERT_NE(from, order.end());
    }
  }
}

class DamagedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    Header header = small_header(5, 48);
    header.values = ValueMode::kOperands;
    write_random(path_, header, 7, 2);
    bytes_ = read_bytes(path_);
    ASSERT_EQ(refusal(path_, true), "");
  }
  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "t.wft";
  Bytes bytes_;
};

TEST_F(DamagedFile, EveryFlippedByteIsRefused) {
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, std::uint8_t byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte));
    file.flush();
  };
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      put(at, static_cast<std::uint8_t>(bytes_[at] ^ flip));
      ASSERT_NE(refusal(path_), "") << "byte " << at << " flip " << flip;
    }
    put(at, bytes_[at]);
  }
  EXPECT_EQ(refusal(path_, true), "");
}

TEST_F(DamagedFile, EveryTruncationIsRefused) {
  for (std::size_t size = bytes_.size(); size-- > 0;) {
    std::filesystem::resize_file(path_, size);
    const std::string why = refusal(path_);
    ASSERT_EQ(why.rfind(size == 0 ? "not a warpfold trace: it is empty" : "truncated: ", 0), 0U)
        << size << " bytes: " << why;
  }
}

TEST_F(DamagedFile, BytesBehindTheEndAreRefused) {
  bytes_.push_back(0);
  write_bytes(path_, bytes_);
  EXPECT_EQ(refusal(path_), "1 bytes behind the end marker");
}

TEST_F(DamagedFile, TheLineSaysWhichChunk) {
  const ChunkInfo second = Reader(path_).chunk(1);
  const std::size_t at = second.offset + container::kChunkHeadBytes;
  bytes_[at + 5] ^= std::uint8_t{1};
  write_bytes(path_, bytes_);
  EXPECT_EQ(refusal(path_), "chunk 2 (CTAs 2..3) fails its checksum at byte " + std::to_string(at));
}

TEST_F(DamagedFile, OtherVersionsAreRefused) {
  bytes_[8] = 7;
  write_bytes(path_, bytes_);
  EXPECT_EQ(refusal(path_), "format version 7, this build reads versions 4 and 5");
}

// All but the version and the header's keys is the same in both.
TEST_F(DamagedFile, FilesOfVersion4AreRead) {
  EXPECT_EQ(Reader(path_).format_version(), 5U);
  nlohmann::json header = nlohmann::json::parse(header_to_json(Reader(path_).header()));
  const std::vector<CtaTrace> ctas = [&] {
    const Reader reader(path_);
    std::vector<CtaTrace> all;
    for (std::size_t i = 0; i < reader.cta_count(); ++i) {
      all.push_back(reader.read_cta(i));
    }
    return all;
  }();
  const auto build = [&](const std::string& text) {
    codec::Encoder encoder(Reader(path_).header());
    std::uint64_t records = 0, events = 0;
    for (const CtaTrace& cta : ctas) {
      encoder.add(cta);
      for (const WarpTrace& warp : cta.warps) {
        records += warp.records.size();
        events += static_cast<std::uint64_t>(
            std::count_if(warp.records.begin(), warp.records.end(),
                          [](const Record& r) { return r.kind == RecordKind::kEvent; }));
      }
    }
    std::vector<std::uint64_t> ids;
    for (const CtaTrace& cta : ctas) {
      ids.push_back(cta.cta);
    }
    FileBuilder(4)
        .header(text)
        .chunk(container::kKindCtas, encoder.take(), ids.front(), ids.back())
        .index(ids, ids.size(), records, events)
        .end()
        .write(folder_ / "earlier.wft");
  };
  build(header.dump());
  EXPECT_NE(refusal(folder_ / "earlier.wft"), "");  // with keys of version 5
  for (const char* const key : {"remarks", "costs_from", "instructions"}) {
    header.erase(key);
  }
  for (nlohmann::json& site : header["sites"]) {
    site.erase("kind");
    site.erase("words");
  }
  build(header.dump());
  const Reader reader(folder_ / "earlier.wft");
  EXPECT_EQ(reader.format_version(), 4U);
  EXPECT_EQ(header_to_json(reader.header()), header_to_json(Reader(path_).header()));
  for (std::size_t i = 0; i < ctas.size(); ++i) {
    EXPECT_EQ(reader.read_cta(i), ctas[i]);
  }
  reader.verify();
}

TEST_F(DamagedFile, SwappedChunksAreRefused) {
  // Two chunks of the same size change places: each is sound, but not where it is.
  const Header header = small_header(2, 32);
  const CtaTrace empty{.cta = 0, .warps = std::vector<WarpTrace>(1)};
  Writer writer(path_, header, {.zstd_level = 3, .ctas_per_chunk = 1});
  writer.add(empty);
  writer.add({.cta = 1, .warps = std::vector<WarpTrace>(1)});
  writer.finish();
  Bytes bytes = read_bytes(path_);
  ChunkInfo one, two;
  {
    const Reader reader(path_);
    one = reader.chunk(0);
    two = reader.chunk(1);
  }
  ASSERT_EQ(one.stored_bytes, two.stored_bytes);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(one.offset);
  const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(two.offset);
  std::swap_ranges(begin, middle, middle);
  write_bytes(path_, bytes);
  EXPECT_NE(refusal(path_).find("the head of chunk 1 fails its checksum"), std::string::npos);
}

TEST_F(DamagedFile, AChangeBehindTheReadersBackIsSeen) {
  const Reader reader(path_);
  const std::size_t at = reader.chunk(2).offset + container::kChunkHeadBytes + 3;
  bytes_[at] ^= 1;
  write_bytes(path_, bytes_);
  EXPECT_NO_THROW(static_cast<void>(reader.read_cta(0)));
  EXPECT_THROW(static_cast<void>(reader.read_cta(4)), TraceError);
}

TEST(NotATrace, IsSaidSo) {
  const TempFolder folder;
  const auto path = folder / "x.wft";
  write_bytes(path, Bytes(1000, 'a'));
  EXPECT_EQ(refusal(path), "not a warpfold trace");
  write_bytes(path, {'h', 'i'});
  EXPECT_EQ(refusal(path), "not a warpfold trace");
  write_bytes(path, {});
  EXPECT_EQ(refusal(path), "not a warpfold trace: it is empty");
  EXPECT_EQ(refusal(folder.path()), "not a warpfold trace: it is a directory");
  EXPECT_EQ(refusal(folder / "none.wft"), "cannot open: No such file or directory");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder / "pipe"), "not a warpfold trace: it is not a regular file");
}

// Files with sound checksums and bad content.
class HostileFile : public ::testing::Test {
 protected:
  // The columns of a chunk of CTAs for small_header.
  static Bytes columns(const std::vector<Bytes>& content) {
    Bytes raw;
    container::put_u32(raw, static_cast<std::uint32_t>(content.size()));
    for (const Bytes& column : content) {
      container::put_u32(raw, static_cast<std::uint32_t>(column.size()));
    }
    for (const Bytes& column : content) {
      raw.insert(raw.end(), column.begin(), column.end());
    }
    return raw;
  }
  // One CTA of one warp with one event on primitive 3 by lane 0.
  static std::vector<Bytes> one_event() {
    std::vector<Bytes> content(codec::kCounts + 3);
    content[codec::kCtas] = {0, 1};
    content[codec::kWarps] = {1};
    content[codec::kOps] = {0};
    content[codec::kDictionary] = {6, 0, 0, 0};
    content[codec::kSteps] = {0};
    content[codec::kMasks] = {1, 0, 1, 0};
    return content;
  }
  void write(const Bytes& raw, std::uint64_t records = 1, std::uint64_t events = 1) {
    FileBuilder()
        .header(header_to_json(small_header(1, 32)))
        .chunk(container::kKindCtas, raw)
        .index({0}, 1, records, events)
        .end()
        .write(path_);
  }
  // The refusal, which must come without a large allocation.
  std::string frugal_refusal() {
    reset_largest_allocation();
    const std::string why = refusal(path_, true);
    EXPECT_LT(largest_allocation(), std::size_t{8} << 20U) << why;
    return why;
  }
  void expect(const std::string& part) {
    const std::string why = frugal_refusal();
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }
  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "t.wft";
};

TEST_F(HostileFile, TheSoundOneIsRead) {
  write(columns(one_event()));
  EXPECT_EQ(frugal_refusal(), "");
  const Record record = Reader(path_).read_cta(0).warps[0].records[0];
  EXPECT_EQ(record.mask, 1U);
  EXPECT_EQ(record.primitive, 3U);
}

TEST_F(HostileFile, ClaimedSizesAreRefused) {
  const std::string header = header_to_json(small_header(1, 32));
  for (const std::uint64_t claim :
       {std::uint64_t{1} << 60U, std::uint64_t{63} << 20U, std::uint64_t{100'000}}) {
    FileBuilder()
        .header(header)
        .chunk(container::kKindCtas, columns(one_event()), 0, 0, claim)
        .index({0}, 1, 1, 1)
        .end()
        .write(path_);
    EXPECT_NE(frugal_refusal(), "") << claim;
    FileBuilder()
        .chunk(container::kKindHeader, Bytes(header.begin(), header.end()), 0, 0, claim)
        .write(path_);
    EXPECT_NE(frugal_refusal(), "") << claim;
  }
}

TEST_F(HostileFile, ABombIsNotUnpacked) {
  FileBuilder().chunk(container::kKindHeader, Bytes(std::size_t{100} << 20U, ' ')).write(path_);
  expect("claims 104857600 bytes decompressed");
}

TEST_F(HostileFile, CountsInColumnsAreRefused) {
  const Bytes huge = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
  for (const std::size_t column :
       {codec::kCtas, codec::kWarps, codec::kOps, codec::kSteps, codec::kDictionary}) {
    std::vector<Bytes> content = one_event();
    content[column] = huge;
    if (column == codec::kCtas) {
      content[column].insert(content[column].begin(), 0);
    }
    write(columns(content));
    EXPECT_NE(frugal_refusal(), "") << column;
  }
}

TEST_F(HostileFile, ColumnsThatDoNotFitAreRefused) {
  Bytes raw = columns(one_event());
  raw[4] = 200;
  write(raw);
  expect("column 0 runs past the end of the chunk");
  raw = columns(one_event());
  raw.push_back(0);
  write(raw);
  expect("1 bytes behind its last column");
  raw = columns(one_event());
  raw[0] = 9;
  write(raw);
  expect("does not have the 11 columns");
  write({}, 0, 0);
  expect("does not have the 11 columns");
  std::vector<Bytes> content = one_event();
  content[codec::kMasks].push_back(0);
  write(columns(content));
  expect("column 5 does not consist of four planes");
  for (std::size_t c = 0; c < content.size(); ++c) {
    content = one_event();
    const std::size_t more =
        c == codec::kDictionary || c == codec::kMasks || c == codec::kValues ? 4 : 1;
    content[c].insert(content[c].end(), more, 0);
    write(columns(content));
    EXPECT_NE(frugal_refusal(), "") << "longer column " << c;
    if (!one_event()[c].empty()) {
      content = one_event();
      content[c].clear();
      write(columns(content));
      EXPECT_NE(frugal_refusal(), "") << "empty column " << c;
    }
  }
}

TEST_F(HostileFile, BadRecordsAreRefused) {
  std::vector<Bytes> content = one_event();
  content[codec::kMasks] = {0, 0, 0, 0};
  write(columns(content));
  expect("chunk 1 (CTAs 0..0): CTA 0, warp 0: event with mask 0x00000000");
  content = one_event();
  content[codec::kDictionary] = {0xd0, 0x07, 0, 0};  // zigzag of 1000
  write(columns(content));
  expect("primitive 1000, the header has 1000");
  content = one_event();
  content[codec::kSteps] = {2};
  write(columns(content));
  expect("lies outside the dictionary");
  content = one_event();
  content[codec::kOps] = {3 + 3};
  write(columns(content));
  expect("path 3, the header has 3");
  content = one_event();
  content[codec::kOps] = {3};
  content[codec::kCounts] = {0};
  write(columns(content));
  expect("work record of 0 passes");
  write(columns(one_event()), 1, 0);
  expect("1 records and 1 events, the index says 1 and 0");
  content = one_event();
  content[codec::kCtas] = {1, 1};
  write(columns(content));
  expect("CTA 1: the index has another CTA in this place");
}

TEST_F(HostileFile, LanesBeyondTheBlockAreRefused) {
  std::vector<Bytes> content = one_event();
  content[codec::kMasks] = {0, 1, 0, 1};  // lane 8
  FileBuilder()
      .header(header_to_json(small_header(1, 8)))
      .chunk(container::kKindCtas, columns(content))
      .index({0}, 1, 1, 1)
      .end()
      .write(path_);
  expect("event with mask 0x00000100");
}

TEST_F(HostileFile, BadStructureIsRefused) {
  const std::string json = header_to_json(small_header(2, 32));
  const Bytes raw = columns(one_event());
  FileBuilder().chunk(container::kKindCtas, raw).write(path_);
  expect("the header is chunk 0");
  FileBuilder().header(json).header(json).write(path_);
  expect("the header is chunk 0");
  FileBuilder().header(json).chunk(0x21212121, raw).write(path_);
  expect("chunk 1 at byte");
  FileBuilder().chunk(container::kKindHeader, Bytes(json.begin(), json.end()), 0, 1).write(path_);
  expect("it names CTAs");
  FileBuilder().header("{}").write(path_);
  expect("header: the header: \"workload\" is missing");
  FileBuilder().header(json).index({}, 0, 0, 0).end().write(path_);
  expect("a trace of 0 CTAs");
  FileBuilder()
      .header(json)
      .chunk(container::kKindCtas, raw, 1, 1)
      .chunk(container::kKindCtas, raw, 0, 0)
      .write(path_);
  expect("its CTAs are out of order");
  FileBuilder().header(json).chunk(container::kKindCtas, raw, 1, 0).write(path_);
  expect("its CTAs are out of order");
  const auto with_index = [&](const std::vector<std::uint64_t>& ids, std::uint64_t each,
                              std::uint64_t records, std::uint64_t events) {
    FileBuilder()
        .header(json)
        .chunk(container::kKindCtas, raw, 0, 1)
        .index(ids, each, records, events)
        .end()
        .write(path_);
  };
  with_index({0, 1}, 3, 1, 1);
  expect("do not fit the chunk");
  with_index({0}, 1, 1, 1);
  expect("do not fit the chunk");
  with_index({0, 1}, 2, 1, 2);
  expect("are not possible");
  with_index({0, 1}, 2, 1'000'000'000, 1);
  expect("are not possible");
  with_index({0, 2}, 2, 1, 1);
  expect("not one of the launch's 2");
  with_index({1, 0}, 2, 1, 1);
  expect("not one of the launch's 2");
  with_index({0, 0}, 2, 1, 1);
  expect("out of order");
  Bytes index;
  container::put_u64(index, 1);
  container::put_u64(index, UINT64_MAX / 8 + 2);
  index.resize(16 + 48 + 8);
  FileBuilder()
      .header(json)
      .chunk(container::kKindCtas, raw, 0, 1)
      .chunk(container::kKindIndex, index)
      .end()
      .write(path_);
  expect("does not have the size of");
  FileBuilder()
      .header(json)
      .chunk(container::kKindCtas, raw, 0, 0)
      .index({0}, 1, 1, 1)
      .end()
      .write(path_);
  expect("1 of 2 CTAs, but the header names no sampling");
}

}  // namespace
}  // namespace warpfold::trace::test
