// SPDX-License-Identifier: Apache-2.0
// What all recorders share on the way to a trace file: costs and times in the header, the choice of
// CTAs, the manifest. Host only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/format/manifest.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::capture {

// Throws InputError if it is not JSON of that schema.
[[nodiscard]] nlohmann::json read_json(const std::filesystem::path& path, std::string_view schema);
void write_text(const std::filesystem::path& path, const std::string& text);
[[nodiscard]] std::string today();  // YYYY-MM-DD, UTC

// The header with what the files hold; an empty path leaves it as it is. Costs must have the
// header's paths, times must be of its scene and GPU, and both of `kernel`, which is empty for the
// kernels of 3DGS.
[[nodiscard]] trace::Header with_costs_and_times(const trace::Header& header,
                                                 const std::filesystem::path& costs,
                                                 const std::filesystem::path& times,
                                                 const std::string& kernel = {});

// Makes `next_word` of the `global_load` that the path of events and the reduction wait for.
void mark_next_words(trace::Header& header);

// `count` CTAs, evenly spaced over all ranked by (events, index): the k-th is the one at rank
// floor((k + 1/2) n / count). Increasing.
[[nodiscard]] std::vector<std::uint64_t> choose_ctas(std::span<const std::uint64_t> events,
                                                     std::size_t count);
// As many as keep the sum of their `bytes` within the budget, one at least.
[[nodiscard]] std::vector<std::uint64_t> choose_ctas(std::span<const std::uint64_t> events,
                                                     std::span<const std::uint64_t> bytes,
                                                     std::uint64_t budget);
// For Header::sampling; empty if all are there.
[[nodiscard]] std::string describe_sampling(std::size_t chosen, std::size_t all);

// Puts `entries` into the manifest at `path`, in place of older ones of the same files.
void renew_manifest(const std::filesystem::path& path,
                    const std::vector<trace::ManifestEntry>& entries);

}  // namespace warpfold::capture
