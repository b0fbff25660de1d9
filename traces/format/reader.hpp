// SPDX-License-Identifier: Apache-2.0
// Reads a warp atomic trace (.wft). The constructor passes over the whole file once and refuses it
// unless its structure is sound: magic, version, every checksum, index, end marker. Records are
// decoded when their CTA is asked for. Not for use by two threads at once: give each its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "traces/format/progress.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::trace {

// One chunk of CTAs, as the index has it.
struct ChunkInfo {
  std::uint64_t offset = 0;        // of the chunk in the file
  std::uint64_t stored_bytes = 0;  // its compressed payload
  std::uint64_t raw_bytes = 0;     // after decompression
  std::uint64_t first_cta = 0;
  std::uint64_t last_cta = 0;
  std::uint64_t cta_count = 0;
  std::uint64_t records = 0;
  std::uint64_t events = 0;
};

class Reader {
 public:
  // Throws TraceError with one line that starts with the path.
  explicit Reader(const std::filesystem::path& path);
  // Of the file: kFormatVersion or kEarlierVersion, whose header is as one of the present.
  [[nodiscard]] std::uint32_t format_version() const;
  // Reads a file of version 3, and no other, as if it were of the present one (upgrade.hpp).
  static Reader of_version_3(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const;
  [[nodiscard]] const Header& header() const;

  // Throws TraceError if the file cannot be opened or does not begin as a trace of this version.
  static void check_begin(const std::filesystem::path& path);

  // CTAs of this file, in launch order. A sampled trace has fewer than header().total_ctas.
  [[nodiscard]] std::size_t cta_count() const;
  // Linear block index of the i-th CTA of the file.
  [[nodiscard]] std::uint64_t cta_id(std::size_t i) const;
  // The i-th CTA of the file. Fast for increasing i: each chunk is decompressed once. Lane
  // primitives and values of a warp lie in the order of its events, without gaps.
  [[nodiscard]] CtaTrace read_cta(std::size_t i) const;

  // Totals that the index claims; verify() holds them against the records.
  [[nodiscard]] std::uint64_t event_count() const;
  [[nodiscard]] std::uint64_t record_count() const;

  [[nodiscard]] std::size_t chunk_count() const;  // chunks of CTAs
  [[nodiscard]] const ChunkInfo& chunk(std::size_t i) const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  // XXH64 of the whole file, 16 lower-case hexadecimal digits.
  [[nodiscard]] std::string file_hash() const;

  // Decodes every record of every chunk; throws TraceError at the first that is wrong.
  void verify(const Progress& progress = nullptr) const;

 private:
  struct State;
  Reader(const std::filesystem::path& path, std::uint32_t version);
  std::unique_ptr<State> state_;
};

}  // namespace warpfold::trace
