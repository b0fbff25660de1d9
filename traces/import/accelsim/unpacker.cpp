// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/unpacker.hpp"

#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace warpfold::accelsim {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kXzMagic =
    "\xfd"
    "7zXZ\0"sv;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd"sv;
// What a file may ask for while it is unpacked: xz -9 takes 65 MiB, zstd --ultra -22 128 MiB.
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20U;
constexpr int kMostWindowLog = 27;

class Plain : public Unpacker {
 public:
  std::size_t unpack(std::string_view& in, char* out, std::size_t room, bool /*last*/) override {
    const std::size_t count = std::min(in.size(), room);
    std::memcpy(out, in.data(), count);
    in.remove_prefix(count);
    return count;
  }
};

class Xz : public Unpacker {
 public:
  Xz() {
    if (lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::runtime_error("xz cannot be set up");
    }
  }
  ~Xz() override { lzma_end(&stream_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  std::size_t unpack(std::string_view& in, char* out, std::size_t room, bool last) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
    stream_.avail_out = room;
    const bool at_end = last && in.empty();
    const lzma_ret result =
        done_ ? LZMA_STREAM_END : lzma_code(&stream_, at_end ? LZMA_FINISH : LZMA_RUN);
    in.remove_prefix(in.size() - stream_.avail_in);
    done_ = result == LZMA_STREAM_END;
    const std::size_t count = room - stream_.avail_out;
    if (result == LZMA_MEMLIMIT_ERROR) {
      throw std::runtime_error("its xz stream takes more than 256 MiB to unpack");
    }
    if (at_end && !done_ && count == 0) {
      throw std::runtime_error("its xz stream is cut off");
    }
    if (result != LZMA_OK && !done_) {
      throw std::runtime_error("its xz stream is damaged");
    }
    return count;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool done_ = false;
};

class Zstd : public Unpacker {
 public:
  Zstd() : context_(ZSTD_createDCtx()) {
    if (context_ == nullptr ||
        ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMostWindowLog)) != 0U) {
      throw std::runtime_error("zstd cannot be set up");
    }
  }
  ~Zstd() override { ZSTD_freeDCtx(context_); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  std::size_t unpack(std::string_view& in, char* out, std::size_t room, bool last) override {
    ZSTD_outBuffer to = {out, room, 0};
    ZSTD_inBuffer from = {in.data(), in.size(), 0};
    const bool had_input = !in.empty();
    // Called without input, it would begin a frame that is not there.
    if (had_input || open_) {
      const std::size_t result = ZSTD_decompressStream(context_, &to, &from);
      if (ZSTD_isError(result) != 0U) {
        throw std::runtime_error(std::string("its zstd stream is damaged: ") +
                                 ZSTD_getErrorName(result));
      }
      open_ = result != 0;
    }
    in.remove_prefix(from.pos);
    if (last && open_ && to.pos == 0 && in.empty() && !had_input) {
      throw std::runtime_error("its zstd stream is cut off");
    }
    return to.pos;
  }

 private:
  ZSTD_DCtx* context_;
  bool open_ = false;  // within a frame
};

}  // namespace

std::unique_ptr<Unpacker> unpacker_for(std::string_view first_bytes) {
  if (first_bytes.starts_with(kXzMagic)) {
    return std::make_unique<Xz>();
  }
  if (first_bytes.starts_with(kZstdMagic)) {
    return std::make_unique<Zstd>();
  }
  return std::make_unique<Plain>();
}

}  // namespace warpfold::accelsim
