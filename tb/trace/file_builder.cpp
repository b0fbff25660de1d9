// SPDX-License-Identifier: Apache-2.0
#include "tb/trace/file_builder.hpp"

#include <fstream>

namespace warpfold::trace::test {

using container::put_u32;
using container::put_u64;

FileBuilder::FileBuilder(std::uint32_t version)
    : bytes_(container::kMagic.begin(), container::kMagic.end()) {
  put_u32(bytes_, version);
  put_u32(bytes_, 0);
}

FileBuilder& FileBuilder::chunk(std::uint32_t kind, const Bytes& raw, std::uint64_t first_cta,
                                std::uint64_t last_cta, std::uint64_t claimed_raw) {
  const Bytes stored = container::compress(raw, 3);
  last_chunk_ = bytes_.size();
  const std::uint64_t raw_bytes = claimed_raw != 0 ? claimed_raw : raw.size();
  if (kind == container::kKindCtas) {
    offsets_.push_back(last_chunk_);
    stored_.push_back(stored.size());
    raw_.push_back(raw_bytes);
  }
  Bytes head;
  put_u32(head, kind);
  put_u32(head, 0);
  put_u64(head, stored.size());
  put_u64(head, raw_bytes);
  put_u64(head, first_cta);
  put_u64(head, last_cta);
  put_u64(head, container::xxh64(stored, 0));
  put_u64(head, container::xxh64(head, last_chunk_));
  bytes_.insert(bytes_.end(), head.begin(), head.end());
  bytes_.insert(bytes_.end(), stored.begin(), stored.end());
  return *this;
}

FileBuilder& FileBuilder::header(const std::string& json) {
  return chunk(container::kKindHeader, Bytes(json.begin(), json.end()));
}

FileBuilder& FileBuilder::index(const std::vector<std::uint64_t>& ids,
                                std::uint64_t cta_count_of_each, std::uint64_t records,
                                std::uint64_t events) {
  Bytes raw;
  put_u64(raw, offsets_.size());
  put_u64(raw, ids.size());
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    for (const std::uint64_t value :
         {offsets_[i], stored_[i], raw_[i], cta_count_of_each, records, events}) {
      put_u64(raw, value);
    }
  }
  std::uint64_t previous = 0;
  for (const std::uint64_t id : ids) {
    put_u64(raw, id - previous);
    previous = id;
  }
  return chunk(container::kKindIndex, raw, ids.empty() ? 0 : ids.front(),
               ids.empty() ? 0 : ids.back());
}

FileBuilder& FileBuilder::end() {
  Bytes trailer;
  put_u64(trailer, last_chunk_);
  put_u64(trailer, bytes_.size() + container::kTrailerBytes);
  put_u64(trailer, container::xxh64(trailer, 0));
  trailer.insert(trailer.end(), container::kEndMagic.begin(), container::kEndMagic.end());
  bytes_.insert(bytes_.end(), trailer.begin(), trailer.end());
  return *this;
}

void FileBuilder::write(const std::filesystem::path& path) const {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes_.data()),
            static_cast<std::streamsize>(bytes_.size()));
}

}  // namespace warpfold::trace::test
