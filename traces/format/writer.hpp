// SPDX-License-Identifier: Apache-2.0
// Writes a warp atomic trace (.wft). It writes to a temporary file beside the target and renames it
// in finish(), so that a trace under its name is always whole. On any error a method throws
// TraceError with one line and nothing is left behind; an existing target stays as it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "traces/format/trace.hpp"

namespace warpfold::trace {

struct WriterOptions {
  int zstd_level = 6;                  // 1..22; 19: 1 to 14 % smaller, ten times slower
  std::uint32_t ctas_per_chunk = 256;  // a chunk also ends when its data are large
};

class Writer {
 public:
  // Checks the header (validate_header) and opens the temporary file.
  Writer(const std::filesystem::path& path, const Header& header,
         const WriterOptions& options = {});
  // Without finish() the temporary file is removed.
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // CTAs come in increasing order of `cta`, each with header.warps_per_cta() warps. Neighbouring
  // work records of one path are merged and those of count 0 are dropped. Lane primitives of
  // inactive lanes are not kept (they read as 0), nor are entries of lane_primitives and values
  // that no event names. The records are checked here: what add() takes, Reader gives back.
  void add(const CtaTrace& cta);

  // Writes the index and the end marker, then gives the file its name. Call once, last.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpfold::trace
