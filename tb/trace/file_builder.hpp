// SPDX-License-Identifier: Apache-2.0
// Containers of traces put together by hand around any payload.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traces/format/container.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::trace::test {

using container::Bytes;

// A container with sound checksums, whatever is in it.
class FileBuilder {
 public:
  explicit FileBuilder(std::uint32_t version = kFormatVersion);
  // A chunk with `raw` compressed. `claimed_raw`, if not 0, is the size that the chunk's head
  // claims.
  FileBuilder& chunk(std::uint32_t kind, const Bytes& raw, std::uint64_t first_cta = 0,
                     std::uint64_t last_cta = 0, std::uint64_t claimed_raw = 0);
  FileBuilder& header(const std::string& json);
  // An index of the chunks of CTAs so far.
  FileBuilder& index(const std::vector<std::uint64_t>& ids, std::uint64_t cta_count_of_each,
                     std::uint64_t records, std::uint64_t events);
  FileBuilder& end();
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  void write(const std::filesystem::path& path) const;

 private:
  Bytes bytes_;
  std::uint64_t last_chunk_ = 0;
  std::vector<std::uint64_t> offsets_, stored_, raw_;
};

}  // namespace warpfold::trace::test
