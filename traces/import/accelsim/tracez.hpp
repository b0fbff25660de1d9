// SPDX-License-Identifier: Apache-2.0
// Packed traces of Accel-Sim 2.0, .tracez: the header as text up to a byte 0, a zstd dictionary,
// the instructions of each warp as text in zstd frames, and an index of thread blocks and warps at
// the end. The format is that of util/tracer_nvbit/tracer_tool/tracez_format.h in
// accel-sim-framework.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "traces/import/accelsim/input_file.hpp"

namespace warpfold::accelsim {

// By the first bytes of a file.
[[nodiscard]] bool is_tracez(std::string_view first_bytes);

// Gives the text that Accel-Sim's traceDsm prints of it, without what it is handed. `progress` is
// told how many bytes of the file have been read. Throws std::runtime_error with what is wrong with
// the file, which must stay open.
[[nodiscard]] std::unique_ptr<Unpacker> open_tracez(int fd,
                                                    std::function<void(std::uint64_t)> progress);

}  // namespace warpfold::accelsim
