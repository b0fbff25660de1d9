// SPDX-License-Identifier: Apache-2.0
// What is packed in a trace file: the header's text and the columns of the records, in a container
// that is sound. What is read must also be written again, and be the same then.
#include <algorithm>

#include "tb/fuzz/fuzz.hpp"
#include "tb/fuzz/made_trace.hpp"
#include "tb/trace/file_builder.hpp"
#include "traces/format/commands.hpp"
#include "traces/format/container.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::fuzz {

namespace {

using trace::TraceError;
namespace container = trace::container;

constexpr std::size_t kMostCtas = 64;

// Input: 4 bytes of the header's size with the version in the highest, 1 of CTAs, 4 of records, 4
// of events, a byte for each step of a CTA's index; then the header and the columns.
struct Parts {
  std::uint32_t version = 4;
  std::string_view header;
  std::vector<std::uint64_t> ctas;
  std::uint64_t records = 0, events = 0;
  container::Bytes columns;
};

Parts parts_of(std::string_view input) {
  Parts parts;
  Front front(input);
  const auto header_bytes = front.number(3);
  parts.version = front.number(1) % 2 == 0 ? 4 : 3;
  const std::uint64_t ctas = 1 + front.number(1) % kMostCtas;
  parts.records = front.number(4);
  parts.events = front.number(4);
  std::uint64_t cta = 0;
  for (std::uint64_t i = 0; i < ctas; ++i) {
    parts.ctas.push_back(cta += front.number(1));
  }
  parts.header = front.bytes(header_bytes);
  parts.columns.assign(front.rest().begin(), front.rest().end());
  return parts;
}

std::string bytes_of(const Parts& parts) {
  trace::test::FileBuilder file(parts.version);
  const container::Bytes bytes =
      file.header(std::string(parts.header))
          .chunk(container::kKindCtas, parts.columns, parts.ctas.front(), parts.ctas.back())
          .index(parts.ctas, parts.ctas.size(), parts.records, parts.events)
          .end()
          .bytes();
  return {bytes.begin(), bytes.end()};
}

std::vector<trace::CtaTrace> all_of(const trace::Reader& reader) {
  std::vector<trace::CtaTrace> ctas;
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    ctas.push_back(reader.read_cta(i));
  }
  return ctas;
}

void check_rewritten(const trace::Reader& reader) {
  const std::vector<trace::CtaTrace> ctas = all_of(reader);
  const std::filesystem::path path = folder() / "again.wft";
  trace::Writer writer(path, reader.header(), {.zstd_level = 1, .ctas_per_chunk = 256});
  for (const trace::CtaTrace& cta : ctas) {
    writer.add(cta);
  }
  writer.finish();
  const trace::Reader again(path);
  again.verify();
  if (all_of(again) != ctas) {
    finding("written again, the trace is another");
  }
}

}  // namespace

void run(std::string_view input) {
  const Parts parts = parts_of(input);
  const std::filesystem::path path = file("parts.wft", bytes_of(parts));
  takes<TraceError>(
      [&] {
        const trace::Reader reader =
            parts.version == 3 ? trace::Reader::of_version_3(path) : trace::Reader(path);
        reader.verify();
        try {
          check_rewritten(reader);
        } catch (const TraceError& error) {
          finding(std::string("what was read is not written: ") + error.what());
        }
      },
      path);
}

namespace {

std::string seed_of(const MadeTrace& made, bool old) {
  const std::filesystem::path path = file("seed.wft", made.file);
  const trace::Reader reader(path);
  const std::string text = old ? header_of_version_3(made.header) : [&] {
    container::Bytes stored(made.file.begin() + 16 + 56, made.file.end());
    stored.resize(
        container::get_u64(reinterpret_cast<const std::uint8_t*>(made.file.data()) + 16 + 8));
    const container::Bytes raw = container::decompress(
        stored,
        container::get_u64(reinterpret_cast<const std::uint8_t*>(made.file.data()) + 16 + 16),
        container::kMaxHeaderBytes);
    return std::string(raw.begin(), raw.end());
  }();
  const trace::ChunkInfo& chunk = reader.chunk(0);
  const container::Bytes stored(
      made.file.begin() + static_cast<std::ptrdiff_t>(chunk.offset + container::kChunkHeadBytes),
      made.file.begin() + static_cast<std::ptrdiff_t>(chunk.offset + container::kChunkHeadBytes +
                                                      chunk.stored_bytes));
  const container::Bytes columns =
      container::decompress(stored, chunk.raw_bytes, container::kMaxRawBytes);
  std::string seed;
  put_number(seed, text.size(), 3);
  put_number(seed, old ? 1 : 0, 1);
  put_number(seed, reader.cta_count() - 1, 1);
  put_number(seed, reader.record_count(), 4);
  put_number(seed, reader.event_count(), 4);
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    put_number(seed, i == 0 ? 0 : 1, 1);
  }
  return seed + text + std::string(columns.begin(), columns.end());
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const MadeTrace& made : made_traces(kMostCtas)) {
    all.push_back(seed_of(made, false));
    if (made.header.sites.size() == 1) {
      all.push_back(seed_of(made, true));
    }
  }
  return all;
}

}  // namespace warpfold::fuzz
