// SPDX-License-Identifier: Apache-2.0
#include "traces/format/container.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace warpfold::trace::container {

void put_u32(Bytes& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

void put_u64(Bytes& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

std::uint32_t get_u32(const std::uint8_t* at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(at[i]) << (8 * i);
  }
  return value;
}

std::uint64_t get_u64(const std::uint8_t* at) {
  return get_u32(at) | (static_cast<std::uint64_t>(get_u32(at + 4)) << 32U);
}

std::uint64_t xxh64(ByteSpan data, std::uint64_t seed) {
  return XXH64(data.data(), data.size(), seed);
}

Hasher::Hasher() : state_(XXH64_createState()) {
  if (state_ == nullptr) {
    throw std::bad_alloc();
  }
  reset();
}

Hasher::~Hasher() {
  XXH64_freeState(static_cast<XXH64_state_t*>(state_));
}

void Hasher::reset() {
  XXH64_reset(static_cast<XXH64_state_t*>(state_), 0);
}

void Hasher::update(ByteSpan data) {
  XXH64_update(static_cast<XXH64_state_t*>(state_), data.data(), data.size());
}

std::uint64_t Hasher::digest() const {
  return XXH64_digest(static_cast<const XXH64_state_t*>(state_));
}

Bytes compress(ByteSpan raw, int level) {
  Bytes stored(ZSTD_compressBound(raw.size()));
  const std::size_t written =
      ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), level);
  if (ZSTD_isError(written) != 0) {
    throw TraceError(fmt::format("zstd: {}", ZSTD_getErrorName(written)));
  }
  stored.resize(written);
  return stored;
}

Bytes decompress(ByteSpan stored, std::uint64_t raw_bytes, std::uint64_t limit) {
  // A zstd block takes at least 3 bytes and gives at most 128 KiB.
  const std::uint64_t most = (stored.size() / 3 + 1) * ZSTD_BLOCKSIZE_MAX;
  if (raw_bytes > limit || raw_bytes > most) {
    throw TraceError(fmt::format("claims {} bytes decompressed, at most {} are possible", raw_bytes,
                                 std::min(limit, most)));
  }
  // One frame and nothing behind it, which says its own size.
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_bytes ||
      ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) {
    throw TraceError("its zstd frame is not of the size that the chunk says");
  }
  Bytes raw(raw_bytes);
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0) {
    throw TraceError(fmt::format("zstd: {}", ZSTD_getErrorName(got)));
  }
  if (got != raw_bytes) {
    throw TraceError("its zstd frame is shorter than it says");
  }
  return raw;
}

InputFile::InputFile(const std::string& path) : path_(path) {
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    throw TraceError(fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  }
  struct stat info = {};
  const char* problem = nullptr;
  if (::fstat(fd_, &info) != 0) {
    problem = std::strerror(errno);
  } else if (S_ISDIR(info.st_mode)) {
    problem = "it is a directory";
  } else if (!S_ISREG(info.st_mode)) {
    problem = "it is not a regular file";
  }
  if (problem != nullptr) {
    ::close(fd_);
    throw TraceError(fmt::format("{}: not a warpfold trace: {}", path, problem));
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() {
  ::close(fd_);
}

void InputFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw TraceError(fmt::format("{}: cannot read: {}", path_, std::strerror(errno)));
    }
    if (got == 0) {
      throw TraceError(fmt::format("{}: truncated: it ends at byte {}", path_, offset + done));
    }
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace warpfold::trace::container
