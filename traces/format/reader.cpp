// SPDX-License-Identifier: Apache-2.0
#include "traces/format/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "traces/format/codec.hpp"
#include "traces/format/container.hpp"
#include "traces/format/header.hpp"
#include "traces/format/upgrade.hpp"

namespace warpfold::trace {

using container::Bytes;
using container::ChunkHead;
using container::get_u32;
using container::get_u64;

struct Reader::State {
  State(const std::filesystem::path& path_in, std::uint32_t version_in)
      : path(path_in), shown(path_in.string()), version(version_in), file(path_in.string()) {}

  [[noreturn]] void fail(std::string_view why) const {
    throw TraceError(fmt::format("{}: {}", shown, why));
  }

  // "chunk 3 (CTAs 64..127)"; chunks are counted from the header, which is chunk 0.
  [[nodiscard]] static std::string chunk_name(std::size_t number, const ChunkHead& head) {
    switch (head.kind) {
      case container::kKindHeader:
        return fmt::format("chunk {} (header)", number);
      case container::kKindIndex:
        return fmt::format("chunk {} (index)", number);
      default:
        return fmt::format("chunk {} (CTAs {}..{})", number, head.first_cta, head.last_cta);
    }
  }
  [[nodiscard]] static std::string chunk_name(std::size_t number, const ChunkInfo& info) {
    return fmt::format("chunk {} (CTAs {}..{})", number, info.first_cta, info.last_cta);
  }

  // Next `out.size()` bytes of the pass over the file; `part` is what they belong to.
  void pass(std::span<std::uint8_t> out, std::string_view part) {
    if (out.size() > file.size() - at) {
      fail(fmt::format("truncated: it ends at byte {}, within {}", file.size(), part));
    }
    file.read_at(at, out);
    whole.update(out);
    at += out.size();
  }

  void pass_prelude();
  ChunkHead pass_head(std::size_t number);
  Bytes pass_payload(std::size_t number, const ChunkHead& head, bool keep);
  void take_index(std::size_t number, const ChunkHead& head, const Bytes& raw);
  void pass_trailer(std::uint64_t index_offset);
  void open();
  codec::Decoder load(std::size_t i) const;

  std::filesystem::path path;
  std::string shown;
  std::uint32_t version;  // that it must be of; kEarlierVersion will do for the present one
  std::uint32_t found_version = 0;
  container::InputFile file;
  std::uint64_t at = 0;
  container::Hasher whole;
  std::uint64_t file_hash = 0;

  Header header;
  std::vector<ChunkInfo> chunks;
  std::vector<std::size_t> first_of_chunk;  // position in ids of each chunk's first CTA
  std::vector<std::uint64_t> ids;
  std::uint64_t records = 0, events = 0;

  // The chunk that was read last.
  mutable std::size_t loaded_chunk = 0;
  mutable std::optional<codec::Decoder> loaded;
};

void Reader::State::pass_prelude() {
  if (file.size() == 0) {
    fail("not a warpfold trace: it is empty");
  }
  std::array<std::uint8_t, container::kPreludeBytes> prelude{};
  const std::size_t size = std::min<std::uint64_t>(prelude.size(), file.size());
  file.read_at(0, std::span(prelude).first(size));
  const std::size_t magic = std::min(size, container::kMagic.size());
  if (!std::equal(prelude.begin(), prelude.begin() + static_cast<std::ptrdiff_t>(magic),
                  container::kMagic.begin())) {
    fail("not a warpfold trace");
  }
  pass(prelude, "the magic and the version");
  found_version = get_u32(prelude.data() + 8);
  if (version == kUpgradedVersion && found_version != version) {
    fail(fmt::format("format version {}, what is upgraded is of version {}", found_version,
                     version));
  }
  if (version == kFormatVersion && found_version != version && found_version != kEarlierVersion) {
    fail(fmt::format("format version {}, this build reads versions {} and {}{}", found_version,
                     kEarlierVersion, kFormatVersion,
                     found_version == kUpgradedVersion
                         ? ": `warpfold trace upgrade` makes one of those of it"
                         : ""));
  }
  if (get_u32(prelude.data() + 12) != 0) {
    fail("damaged: the reserved bytes 12..15 are not 0");
  }
}

ChunkHead Reader::State::pass_head(std::size_t number) {
  const std::uint64_t start = at;
  std::array<std::uint8_t, container::kChunkHeadBytes> bytes{};
  if (at == file.size()) {
    fail(fmt::format("truncated: it ends at byte {}, before chunk {}", at, number));
  }
  pass(bytes, fmt::format("the head of chunk {}", number));
  const std::size_t hashed = bytes.size() - 8;
  if (container::xxh64(std::span(bytes).first(hashed), start) != get_u64(bytes.data() + hashed)) {
    fail(fmt::format("the head of chunk {} fails its checksum at byte {}", number, start));
  }
  const ChunkHead head{.kind = get_u32(bytes.data()),
                       .reserved = get_u32(bytes.data() + 4),
                       .stored_bytes = get_u64(bytes.data() + 8),
                       .raw_bytes = get_u64(bytes.data() + 16),
                       .first_cta = get_u64(bytes.data() + 24),
                       .last_cta = get_u64(bytes.data() + 32),
                       .payload_hash = get_u64(bytes.data() + 40)};
  if (head.kind != container::kKindHeader && head.kind != container::kKindCtas &&
      head.kind != container::kKindIndex) {
    fail(fmt::format("chunk {} at byte {} is of unknown kind {:#010x}", number, start, head.kind));
  }
  if (head.reserved != 0) {
    fail(fmt::format("{}: its reserved bytes are not 0", chunk_name(number, head)));
  }
  return head;
}

// Without `keep` the payload is only hashed, piece by piece, and the result is empty.
Bytes Reader::State::pass_payload(std::size_t number, const ChunkHead& head, bool keep) {
  const std::uint64_t start = at;
  const std::string name = chunk_name(number, head);
  if (head.stored_bytes > file.size() - at) {
    fail(fmt::format("truncated: it ends at byte {}, within {}", file.size(), name));
  }
  constexpr std::size_t kPieceBytes = 1U << 20U;
  container::Hasher hasher;
  Bytes payload(keep ? head.stored_bytes : std::min<std::uint64_t>(kPieceBytes, head.stored_bytes));
  for (std::uint64_t done = 0; done < head.stored_bytes;) {
    const auto piece =
        static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, head.stored_bytes - done));
    const std::span<std::uint8_t> out = std::span(payload).subspan(keep ? done : 0, piece);
    pass(out, name);
    hasher.update(out);
    done += piece;
  }
  if (hasher.digest() != head.payload_hash) {
    fail(fmt::format("{} fails its checksum at byte {}", name, start));
  }
  return keep ? payload : Bytes{};
}

// The index must say what the pass found; it adds the CTAs and the counts.
void Reader::State::take_index(std::size_t number, const ChunkHead& head, const Bytes& raw) {
  const auto refuse = [&](std::string_view why) {
    fail(fmt::format("chunk {} (index): {}", number, why));
  };
  constexpr std::size_t kEntryBytes = 48;
  if (raw.size() < 16 || get_u64(raw.data()) != chunks.size()) {
    refuse(fmt::format("it does not list the {} chunks of CTAs", chunks.size()));
  }
  const std::uint64_t count = get_u64(raw.data() + 8);
  const std::size_t rest = raw.size() - 16;
  if (rest < chunks.size() * kEntryBytes || (rest - chunks.size() * kEntryBytes) % 8 != 0 ||
      (rest - chunks.size() * kEntryBytes) / 8 != count) {
    refuse(fmt::format("it does not have the size of {} CTAs", count));
  }
  if (count == 0) {
    refuse("a trace of 0 CTAs");
  }
  ids.reserve(count);
  std::uint64_t id = 0;
  const std::uint8_t* step = raw.data() + 16 + chunks.size() * kEntryBytes;
  for (std::uint64_t i = 0; i < count; ++i, step += 8) {
    const std::uint64_t add = get_u64(step);
    if ((i > 0 && add == 0) || add >= header.total_ctas - id) {
      refuse(fmt::format("CTA {} of the file is out of order or not one of the launch's {}", i,
                         header.total_ctas));
    }
    id += add;
    ids.push_back(id);
  }
  if (head.first_cta != ids.front() || head.last_cta != ids.back()) {
    refuse("its head names other CTAs than it lists");
  }
  std::uint64_t first = 0;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    ChunkInfo& info = chunks[c];
    const std::uint8_t* entry = raw.data() + 16 + c * kEntryBytes;
    info.cta_count = get_u64(entry + 24);
    info.records = get_u64(entry + 32);
    info.events = get_u64(entry + 40);
    if (get_u64(entry) != info.offset || get_u64(entry + 8) != info.stored_bytes ||
        get_u64(entry + 16) != info.raw_bytes) {
      refuse(fmt::format("its entry for {} does not fit the chunk", chunk_name(c + 1, info)));
    }
    if (info.cta_count == 0 || info.cta_count > count - first || ids[first] != info.first_cta ||
        ids[first + info.cta_count - 1] != info.last_cta) {
      refuse(fmt::format("its CTAs for {} do not fit the chunk", chunk_name(c + 1, info)));
    }
    // A record takes a byte or more of the chunk.
    if (info.events > info.records || info.records > info.raw_bytes) {
      refuse(fmt::format("its counts for {} are not possible", chunk_name(c + 1, info)));
    }
    first_of_chunk.push_back(first);
    first += info.cta_count;
    records += info.records;
    events += info.events;
  }
  if (first != count) {
    refuse(fmt::format("it lists {} CTAs, its chunks hold {}", count, first));
  }
  if (const std::string error = sampling_error(header, count); !error.empty()) {
    refuse(error);
  }
}

void Reader::State::pass_trailer(std::uint64_t index_offset) {
  std::array<std::uint8_t, container::kTrailerBytes> trailer{};
  if (at == file.size()) {
    fail(fmt::format("truncated: it ends at byte {}, before the end marker", at));
  }
  pass(trailer, "the end marker");
  if (!std::equal(container::kEndMagic.begin(), container::kEndMagic.end(), trailer.begin() + 24) ||
      container::xxh64(std::span(trailer).first(16), 0) != get_u64(trailer.data() + 16) ||
      get_u64(trailer.data()) != index_offset || get_u64(trailer.data() + 8) != at) {
    fail(fmt::format("the end marker at byte {} is damaged", at - trailer.size()));
  }
  if (at != file.size()) {
    fail(fmt::format("{} bytes behind the end marker", file.size() - at));
  }
}

void Reader::State::open() {
  pass_prelude();
  for (std::size_t number = 0;; ++number) {
    const std::uint64_t start = at;
    const ChunkHead head = pass_head(number);
    const std::string name = chunk_name(number, head);
    if ((number == 0) != (head.kind == container::kKindHeader)) {
      fail(fmt::format("{} at byte {}: the header is chunk 0 and only that", name, start));
    }
    if (number == 0 && (head.first_cta != 0 || head.last_cta != 0)) {
      fail(fmt::format("{} at byte {}: it names CTAs", name, start));
    }
    const Bytes stored = pass_payload(number, head, head.kind != container::kKindCtas);
    if (head.kind == container::kKindCtas) {
      if (head.raw_bytes > container::kMaxRawBytes) {
        fail(fmt::format("{}: {} bytes decompressed, at most {}", name, head.raw_bytes,
                         container::kMaxRawBytes));
      }
      if (head.first_cta > head.last_cta ||
          (!chunks.empty() && head.first_cta <= chunks.back().last_cta)) {
        fail(fmt::format("{}: its CTAs are out of order", name));
      }
      chunks.push_back({.offset = start,
                        .stored_bytes = head.stored_bytes,
                        .raw_bytes = head.raw_bytes,
                        .first_cta = head.first_cta,
                        .last_cta = head.last_cta});
      continue;
    }
    Bytes raw;
    try {
      raw =
          container::decompress(stored, head.raw_bytes,
                                number == 0 ? container::kMaxHeaderBytes : container::kMaxRawBytes);
    } catch (const TraceError& error) {
      fail(fmt::format("{}: {}", name, error.what()));
    }
    if (number == 0) {
      try {
        const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
        header = version == kUpgradedVersion ? header_from_version_3(text)
                                             : header_from_json(text, found_version);
      } catch (const TraceError& error) {
        fail(error.what());
      }
      continue;
    }
    take_index(number, head, raw);
    pass_trailer(start);
    file_hash = whole.digest();
    return;
  }
}

codec::Decoder Reader::State::load(std::size_t i) const {
  const ChunkInfo& info = chunks[i];
  const std::string name = chunk_name(i + 1, info);
  std::array<std::uint8_t, container::kChunkHeadBytes> head{};
  file.read_at(info.offset, head);
  Bytes stored(info.stored_bytes);
  file.read_at(info.offset + head.size(), stored);
  if (container::xxh64(stored, 0) != get_u64(head.data() + 40)) {
    fail(fmt::format("{} fails its checksum at byte {}: the file has changed", name,
                     info.offset + head.size()));
  }
  try {
    return {header, container::decompress(stored, info.raw_bytes, container::kMaxRawBytes),
            info.first_cta, info.cta_count};
  } catch (const TraceError& error) {
    fail(fmt::format("{}: {}", name, error.what()));
  }
}

Reader::Reader(const std::filesystem::path& path) : Reader(path, kFormatVersion) {}

Reader::Reader(const std::filesystem::path& path, std::uint32_t version)
    : state_(std::make_unique<State>(path, version)) {
  try {
    state_->open();
  } catch (const std::bad_alloc&) {
    state_->fail("out of memory");
  }
}

Reader Reader::of_version_3(const std::filesystem::path& path) {
  return {path, kUpgradedVersion};
}

Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const std::filesystem::path& Reader::path() const {
  return state_->path;
}
const Header& Reader::header() const {
  return state_->header;
}
std::uint32_t Reader::format_version() const {
  return state_->found_version;
}
std::size_t Reader::cta_count() const {
  return state_->ids.size();
}
std::uint64_t Reader::cta_id(std::size_t i) const {
  return state_->ids.at(i);
}
std::uint64_t Reader::event_count() const {
  return state_->events;
}
std::uint64_t Reader::record_count() const {
  return state_->records;
}
std::size_t Reader::chunk_count() const {
  return state_->chunks.size();
}
const ChunkInfo& Reader::chunk(std::size_t i) const {
  return state_->chunks.at(i);
}
std::uint64_t Reader::file_bytes() const {
  return state_->file.size();
}
std::string Reader::file_hash() const {
  return fmt::format("{:016x}", state_->file_hash);
}

CtaTrace Reader::read_cta(std::size_t i) const {
  const State& state = *state_;
  if (i >= state.ids.size()) {
    throw std::out_of_range(
        fmt::format("{}: CTA {} of {} in the file", state.shown, i, state.ids.size()));
  }
  const auto chunk = static_cast<std::size_t>(
      std::upper_bound(state.first_of_chunk.begin(), state.first_of_chunk.end(), i) -
      state.first_of_chunk.begin() - 1);
  if (!state.loaded || state.loaded_chunk != chunk) {
    state.loaded.reset();
    try {
      state.loaded.emplace(state.load(chunk));
    } catch (const std::bad_alloc&) {
      state.fail("out of memory");
    }
    state.loaded_chunk = chunk;
  }
  const std::string_view problem = "the index has another CTA in this place";
  try {
    CtaTrace cta = state.loaded->read(i - state.first_of_chunk[chunk]);
    if (cta.cta != state.ids[i]) {
      throw TraceError(fmt::format("CTA {}: {}", cta.cta, problem));
    }
    return cta;
  } catch (const TraceError& error) {
    state.fail(
        fmt::format("{}: {}", State::chunk_name(chunk + 1, state.chunks[chunk]), error.what()));
  } catch (const std::bad_alloc&) {
    state.fail("out of memory");
  }
}

void Reader::check_begin(const std::filesystem::path& path) {
  State(path, kFormatVersion).pass_prelude();
}

void Reader::verify(const Progress& progress) const {
  const State& state = *state_;
  for (std::size_t c = 0; c < state.chunks.size(); ++c) {
    if (progress) {
      progress(share_of(c, state.chunks.size()));
    }
    const ChunkInfo& info = state.chunks[c];
    for (std::size_t i = 0; i < info.cta_count; ++i) {
      static_cast<void>(read_cta(state.first_of_chunk[c] + i));
    }
    try {
      const codec::Decoder::Totals totals = state.loaded->finish();
      if (totals.records != info.records || totals.events != info.events) {
        throw TraceError(fmt::format("{} records and {} events, the index says {} and {}",
                                     totals.records, totals.events, info.records, info.events));
      }
    } catch (const TraceError& error) {
      state.fail(fmt::format("{}: {}", State::chunk_name(c + 1, info), error.what()));
    }
  }
}

}  // namespace warpfold::trace
