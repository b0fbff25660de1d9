// SPDX-License-Identifier: Apache-2.0
// The container of a trace file: sizes, marks and limits, and the byte-level helpers that Reader
// and Writer share. FORMAT.md has the layout. Not for use outside this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/format/trace.hpp"

namespace warpfold::trace::container {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

// The first byte is not ASCII and the last four catch line-end translation, as in PNG.
inline constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'W', 'F', 'T', '\r', '\n', 0x1a, '\n'};
inline constexpr std::array<std::uint8_t, 8> kEndMagic = {'W', 'F', 'T', ' ', 'E', 'N', 'D', '\n'};
inline constexpr std::size_t kPreludeBytes = 16;
inline constexpr std::size_t kChunkHeadBytes = 56;
inline constexpr std::size_t kTrailerBytes = 32;

// Chunk kinds: four ASCII letters, read as a little-endian number.
inline constexpr std::uint32_t kKindHeader = 0x44414548;  // "HEAD"
inline constexpr std::uint32_t kKindCtas = 0x53415443;    // "CTAS"
inline constexpr std::uint32_t kKindIndex = 0x58444e49;   // "INDX"

// Limits that a file must keep, so that no count in it can make a reader allocate without bound.
inline constexpr std::uint64_t kMaxRawBytes = 64U << 20U;      // of a chunk, decompressed
inline constexpr std::uint64_t kMaxHeaderBytes = 64U << 20U;   // of the header, decompressed
inline constexpr std::uint64_t kMaxCtaRecords = 1U << 22U;     // of one CTA
inline constexpr std::uint64_t kMaxCtaSectors = 1U << 24U;     // that its accesses name
inline constexpr std::uint64_t kChunkTargetBytes = 8U << 20U;  // a writer ends a chunk here

// The fixed part in front of each chunk's payload.
struct ChunkHead {
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t first_cta = 0;
  std::uint64_t last_cta = 0;
  std::uint64_t payload_hash = 0;  // XXH64 of the stored payload, seed 0
  // Then: XXH64 of the 48 bytes above, seed = byte offset of the chunk in the file.
};

void put_u32(Bytes& out, std::uint32_t value);
void put_u64(Bytes& out, std::uint64_t value);
[[nodiscard]] std::uint32_t get_u32(const std::uint8_t* at);
[[nodiscard]] std::uint64_t get_u64(const std::uint8_t* at);

[[nodiscard]] std::uint64_t xxh64(ByteSpan data, std::uint64_t seed);

// XXH64 with seed 0 of data that come in pieces.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void update(ByteSpan data);
  void reset();
  [[nodiscard]] std::uint64_t digest() const;

 private:
  void* state_;
};

[[nodiscard]] Bytes compress(ByteSpan raw, int level);

// Refuses, before it allocates, a size above `limit` or one that the payload cannot expand to.
// Throws TraceError without a path.
[[nodiscard]] Bytes decompress(ByteSpan stored, std::uint64_t raw_bytes, std::uint64_t limit);

// A file that is open for reading.
class InputFile {
 public:
  explicit InputFile(const std::string& path);  // throws TraceError that starts with the path
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Fills `out` from `offset`; throws TraceError if the file ends before.
  void read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace warpfold::trace::container
