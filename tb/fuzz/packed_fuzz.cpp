// SPDX-License-Identifier: Apache-2.0
// Text that xz or zstd has packed.
#include <lzma.h>
#include <zstd.h>

#include "tb/fuzz/fuzz.hpp"
#include "traces/format/trace.hpp"
#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::fuzz {

void run(std::string_view input) {
  const std::filesystem::path path = file("packed", input);
  takes<trace::TraceError>(
      [&] {
        accelsim::InputFile text(path);
        std::string_view line;
        while (text.next(line)) {
          if (line.find('\n') != std::string_view::npos) {
            finding("a line with an end in it");
          }
        }
      },
      path);
}

std::vector<std::string> seeds() {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += "0010 ffffffff 1 R" + std::to_string(i) + " LDG.E 1 R2 4 1 0x7f2ab4a00000 4 0\n";
  }
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 1));
  std::string xz(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t at = 0;
  lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                          reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                          reinterpret_cast<std::uint8_t*>(xz.data()), &at, xz.size());
  xz.resize(at);
  return {text.substr(0, 300), zstd, xz, zstd + zstd, xz + xz};
}

}  // namespace warpfold::fuzz
