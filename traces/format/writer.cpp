// SPDX-License-Identifier: Apache-2.0
#include "traces/format/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "traces/format/codec.hpp"
#include "traces/format/container.hpp"
#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/whole_file.hpp"

namespace warpfold::trace {

namespace fs = std::filesystem;
using container::Bytes;
using container::ByteSpan;
using container::put_u32;
using container::put_u64;

struct Writer::State {
  State(const fs::path& path, const Header& header_in, const WriterOptions& options_in)
      : shown(path.string()),
        target(path),
        header(header_in),
        options(options_in),
        encoder(header_in) {}
  ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void fail(std::string_view why) const {
    throw TraceError(fmt::format("{}: cannot write: {}", shown, why));
  }

  void open() {
    std::error_code ignored;
    // A link stays a link: what it names is replaced.
    const Destination destination = destination_of(target);
    if (destination.held_open) {
      fail("it is not a regular file");  // but one that somebody has open
    }
    const fs::file_status status = fs::status(target, ignored);
    if (!fs::exists(status) && fs::is_symlink(fs::symlink_status(target, ignored))) {
      fail("it is a symbolic link to nothing");
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      fail(fs::is_directory(status) ? "it is a directory" : "it is not a regular file");
    }
    if (is_standard_stream(target)) {
      fail("standard output or standard error goes there");
    }
    target = destination.target;
    if (!file.create(target) || !take_permissions(file.fd(), target)) {
      fail(std::strerror(errno));
    }
  }

  void write(ByteSpan data) {
    std::size_t done = 0;
    while (done < data.size()) {
      const ssize_t put = ::write(file.fd(), data.data() + done, data.size() - done);
      if (put < 0 && errno == EINTR) {
        continue;
      }
      if (put <= 0) {
        fail(put < 0 ? std::strerror(errno) : "the disk takes no more");
      }
      done += static_cast<std::size_t>(put);
    }
    offset += data.size();
  }

  // Compresses and writes one chunk; returns the bytes of its payload.
  std::uint64_t write_chunk(std::uint32_t kind, ByteSpan raw, std::uint64_t first,
                            std::uint64_t last) {
    const Bytes stored = container::compress(raw, options.zstd_level);
    Bytes head;
    put_u32(head, kind);
    put_u32(head, 0);
    put_u64(head, stored.size());
    put_u64(head, raw.size());
    put_u64(head, first);
    put_u64(head, last);
    put_u64(head, container::xxh64(stored, 0));
    put_u64(head, container::xxh64(head, offset));
    write(head);
    write(stored);
    return stored.size();
  }

  void write_start() {
    Bytes prelude(container::kMagic.begin(), container::kMagic.end());
    put_u32(prelude, kFormatVersion);
    put_u32(prelude, 0);
    write(prelude);
    const std::string text = header_to_json(header);
    if (text.size() > container::kMaxHeaderBytes) {
      throw TraceError(fmt::format("{}: header: {} bytes of JSON, at most {}", shown, text.size(),
                                   container::kMaxHeaderBytes));
    }
    const Bytes raw(text.begin(), text.end());
    write_chunk(container::kKindHeader, raw, 0, 0);
  }

  void flush() {
    if (encoder.ctas() == 0) {
      return;
    }
    ChunkInfo info{.offset = offset,
                   .stored_bytes = 0,
                   .raw_bytes = encoder.raw_bytes(),
                   .first_cta = encoder.first_cta(),
                   .last_cta = encoder.last_cta(),
                   .cta_count = encoder.ctas(),
                   .records = encoder.records(),
                   .events = encoder.events()};
    const Bytes raw = encoder.take();
    if (raw.size() > container::kMaxRawBytes) {
      throw TraceError(fmt::format("{}: CTAs {}..{}: {} bytes, at most {}", shown, info.first_cta,
                                   info.last_cta, raw.size(), container::kMaxRawBytes));
    }
    info.stored_bytes = write_chunk(container::kKindCtas, raw, info.first_cta, info.last_cta);
    chunks.push_back(info);
  }

  void write_end() {
    const std::uint64_t index_offset = offset;
    Bytes raw;
    put_u64(raw, chunks.size());
    put_u64(raw, ids.size());
    for (const ChunkInfo& info : chunks) {
      put_u64(raw, info.offset);
      put_u64(raw, info.stored_bytes);
      put_u64(raw, info.raw_bytes);
      put_u64(raw, info.cta_count);
      put_u64(raw, info.records);
      put_u64(raw, info.events);
    }
    std::uint64_t previous = 0;
    for (const std::uint64_t id : ids) {
      put_u64(raw, id - previous);
      previous = id;
    }
    if (raw.size() > container::kMaxRawBytes) {
      throw TraceError(fmt::format("{}: {} CTAs are too many for one file", shown, ids.size()));
    }
    write_chunk(container::kKindIndex, raw, ids.front(), ids.back());

    Bytes trailer;
    put_u64(trailer, index_offset);
    put_u64(trailer, offset + container::kTrailerBytes);
    put_u64(trailer, container::xxh64(trailer, 0));
    trailer.insert(trailer.end(), container::kEndMagic.begin(), container::kEndMagic.end());
    write(trailer);
  }

  std::string shown;  // the path as the caller gave it
  fs::path target;
  UnnamedFile file;
  std::uint64_t offset = 0;
  Header header;
  WriterOptions options;
  codec::Encoder encoder;
  std::vector<ChunkInfo> chunks;
  std::vector<std::uint64_t> ids;
};

namespace {

// Errors that do not know the file get its name in front.
[[noreturn]] void rethrow_with_path(const std::string& path, const TraceError& error) {
  const std::string_view what = error.what();
  if (what.starts_with(path + ": ")) {
    throw error;
  }
  throw TraceError(fmt::format("{}: {}", path, what));
}

}  // namespace

Writer::Writer(const fs::path& path, const Header& header, const WriterOptions& options) {
  try {
    validate_header(header);
    if (options.ctas_per_chunk == 0 || options.zstd_level < 1 || options.zstd_level > 22) {
      throw TraceError("writer options: ctas_per_chunk is at least 1, zstd_level 1..22");
    }
    state_ = std::make_unique<State>(path, header, options);
    state_->open();
    state_->write_start();
  } catch (const TraceError& error) {
    rethrow_with_path(path.string(), error);
  }
}

Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

void Writer::add(const CtaTrace& cta) {
  State& state = *state_;
  if (!state.file.is_open()) {
    throw TraceError(fmt::format("{}: cannot write: it is finished or has failed", state.shown));
  }
  try {
    if (cta.cta >= state.header.total_ctas) {
      throw TraceError(fmt::format("CTA {}: the launch has {}", cta.cta, state.header.total_ctas));
    }
    if (!state.ids.empty() && cta.cta <= state.ids.back()) {
      throw TraceError(fmt::format("CTA {} comes behind CTA {}", cta.cta, state.ids.back()));
    }
    state.encoder.add(cta);
    state.ids.push_back(cta.cta);
    if (state.encoder.ctas() >= state.options.ctas_per_chunk ||
        state.encoder.raw_bytes() >= container::kChunkTargetBytes) {
      state.flush();
    }
  } catch (const TraceError& error) {
    state.file.discard();
    rethrow_with_path(state.shown, error);
  }
}

void Writer::finish() {
  State& state = *state_;
  if (!state.file.is_open()) {
    throw TraceError(fmt::format("{}: cannot write: it is finished or has failed", state.shown));
  }
  try {
    if (state.ids.empty()) {
      throw TraceError("a trace of 0 CTAs");
    }
    if (const std::string error = sampling_error(state.header, state.ids.size()); !error.empty()) {
      throw TraceError(error);
    }
    state.flush();
    state.write_end();
    if (!state.file.take_place()) {
      state.fail(std::strerror(errno));
    }
  } catch (const TraceError& error) {
    state.file.discard();
    rethrow_with_path(state.shown, error);
  }
}

}  // namespace warpfold::trace
