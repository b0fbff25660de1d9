// SPDX-License-Identifier: Apache-2.0
#include "tb/trace/trace_files.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "tb/trace/synthetic.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::trace::test {

namespace fs = std::filesystem;
using container::put_u32;
using container::put_u64;

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "warpfold-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TempFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Bytes read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

std::vector<CtaTrace> write_random(const fs::path& path, const Header& header, std::uint64_t seed,
                                   std::uint32_t ctas_per_chunk) {
  std::mt19937_64 random(seed);
  std::vector<CtaTrace> ctas;
  Writer writer(path, header, {.zstd_level = 5, .ctas_per_chunk = ctas_per_chunk});
  for (std::uint64_t i = 0; i < header.total_ctas; ++i) {
    ctas.push_back(random_cta(header, i, random));
    writer.add(ctas.back());
  }
  writer.finish();
  return ctas;
}

std::string refusal(const fs::path& path, bool verify) {
  try {
    const Reader reader(path);
    if (verify) {
      reader.verify();
    }
  } catch (const TraceError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_EQ(what.rfind(path.string() + ": ", 0), 0U) << what;
    return what.substr(std::min(what.size(), path.string().size() + 2));
  }
  return "";
}

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

}  // namespace warpfold::trace::test
