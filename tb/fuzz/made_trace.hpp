// SPDX-License-Identifier: Apache-2.0
// Small traces as seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"

namespace warpfold::fuzz {

struct MadeTrace {
  trace::Header header;
  std::string file;  // its bytes
};

// With and without operands, of one site and several of all kinds, of one chunk and several.
std::vector<MadeTrace> made_traces(std::uint32_t ctas_per_chunk = 1);

std::string header_of_version_4(const trace::Header& header);
// The header as version 3 of the format had it; of one site, without arrays and omissions.
std::string header_of_version_3(const trace::Header& header);

}  // namespace warpfold::fuzz
