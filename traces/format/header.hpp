// SPDX-License-Identifier: Apache-2.0
// The header of a trace as JSON, and what is refused in it. Used by Reader and Writer alike.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "traces/format/trace.hpp"

namespace warpfold::trace {

// Segments that a variant has in an entry of VariantCost::reduce; empty for an unknown variant.
[[nodiscard]] std::span<const std::string_view> reduce_segments(std::string_view variant);

// Throws TraceError that names the field ("sites[0].parameters[1].stride_bytes: ...") unless every
// field makes sense, alone and against the others.
void validate_header(const Header& header);

// `indent` as in nlohmann::json::dump: -1 is one line.
[[nodiscard]] std::string header_to_json(const Header& header, int indent = -1);

// Of that format version, the present one or the one before. Strict: unknown, missing and duplicate
// keys and wrong types are refused; then validate_header.
[[nodiscard]] Header header_from_json(std::string_view text,
                                      std::uint32_t version = kFormatVersion);

// Whether an element of one parameter may overlap one of the other in memory: interleaved ones of
// one stride lie apart within it, all others must lie apart altogether.
[[nodiscard]] bool may_share_address(const Site& site_a, const Parameter& a, const Site& site_b,
                                     const Parameter& b);

// Whether one of another type may add to an address to which that site adds.
[[nodiscard]] bool shares_with_other_type(const std::vector<Site>& sites, std::size_t site);

// Whether no GPU has memory at that address: in the page at 0, or beyond 57 bits. Tracers write
// such addresses where they take an offset for one, or the upper half of another number.
[[nodiscard]] constexpr bool is_impossible_address(std::uint64_t address) {
  return address < 0x1000U || address >> 57U != 0;
}

// What to warn of where a site adds at such addresses: one line, empty if none does.
[[nodiscard]] std::string address_warning(const Header& header);

// How many of the first `index` CTAs are in a sample of the middle one of each `every`.
[[nodiscard]] std::uint64_t sampled_below(std::uint64_t index, std::uint64_t every);

// What is wrong with a file of `ctas` CTAs under this header; empty if nothing is.
[[nodiscard]] std::string sampling_error(const Header& header, std::size_t ctas);

// Of a file of instruction costs, as python3 python kernel-costs writes it.
inline constexpr std::string_view kCostsSchema = "warpfold.costs/3";

// Gives the header the costs of such a file, whose text this is, in place of its own. `reduce` is
// an object in a file of a kernel with one site, an array of them in one of several. Throws
// TraceError if the file is of another kernel or not sound.
void replace_costs(Header& header, std::string_view text);

// Of a file of kernel times, as the `time` commands of the capture programs write it.
inline constexpr std::string_view kTimesSchema = "warpfold.times/1";

// Gives the header the times of such a file in place of those that it has of the same GPU; times of
// others stay. Throws TraceError if the file is of another scene, or not sound.
void replace_times(Header& header, std::string_view text);

}  // namespace warpfold::trace
