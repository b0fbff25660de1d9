// SPDX-License-Identifier: Apache-2.0
// Text that xz or zstd has packed, or Accel-Sim as a .tracez.
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

namespace {

// Two warps of a thread block, of a frame each.
std::string tracez_of(const std::string& text) {
  const std::string dictionary = "ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f2ab4a00000 4 0";
  std::string file = std::string("-kernel name = a\n\n#traces format\n") + '\0';
  put_number(file, dictionary.size(), 4);
  put_number(file, 2048, 4);
  file += dictionary;
  std::string index;
  put_number(index, 1, 4);
  for (int i = 0; i < 10; ++i) {
    put_number(index, 0, 4);
  }
  put_number(index, 2, 4);
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  for (int warp = 0; warp < 2; ++warp) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress_usingDict(context, packed.data(), packed.size(), text.data(),
                                          text.size(), dictionary.data(), dictionary.size(), 3));
    put_number(index, 200, 4);
    put_number(index, 1, 4);
    put_number(index, file.size(), 8);
    put_number(index, 200, 4);
    put_number(file, 200, 4);
    put_number(file, 1, 4);
    put_number(file, packed.size(), 4);
    file += packed;
  }
  ZSTD_freeCCtx(context);
  const std::uint64_t index_at = file.size();
  file += index;
  put_number(file, index_at, 8);
  return file;
}

}  // namespace

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
  return {text.substr(0, 300), zstd, xz, zstd + zstd, xz + xz, tracez_of(text)};
}

}  // namespace warpfold::fuzz
