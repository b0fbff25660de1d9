// SPDX-License-Identifier: Apache-2.0
// The header of a trace as JSON, and what is refused in it. Used by Reader and Writer alike.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "traces/format/trace.hpp"

namespace warpfold::trace {

// Segments of VariantCost::reduce that a variant must have; empty for an unknown variant.
[[nodiscard]] std::span<const std::string_view> reduce_segments(std::string_view variant);

// Throws TraceError that names the field ("parameters[1].stride_bytes: ...") unless every field
// makes sense, alone and against the others.
void validate_header(const Header& header);

// `indent` as in nlohmann::json::dump: -1 is one line.
[[nodiscard]] std::string header_to_json(const Header& header, int indent = -1);

// Strict: unknown, missing and duplicate keys and wrong types are refused; then validate_header.
[[nodiscard]] Header header_from_json(std::string_view text);

}  // namespace warpfold::trace
