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

}  // namespace warpfold::trace::test
