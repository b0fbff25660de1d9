// SPDX-License-Identifier: Apache-2.0
// What is behind `warpfold trace info|verify|dump|slice|sample|recost|retime|upgrade`. Each returns
// an exit code: 0 done, 1 a check failed. Input that cannot be worked with throws TraceError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <vector>

#include "traces/format/progress.hpp"

namespace warpfold::trace {

// Header and statistics of each trace, as text or as
// {"schema":"warpfold.trace-info/1","traces":[..]}.
int trace_info(const std::vector<std::filesystem::path>& paths, bool json, std::ostream& out,
               const Progress& progress = nullptr);

// Checks every record of each trace. A path that ends in .json is a manifest: each trace that it
// lists, beside it, must be sound and match its entry, and no other .wft may lie there.
// One line per trace; 1 if any failed. Throws TraceError, before it checks any, for a path that
// cannot be opened or that is no trace of this version or no manifest.
int trace_verify(const std::vector<std::filesystem::path>& paths, std::ostream& out,
                 const Progress& progress = nullptr);

// CTAs are chosen by their linear block index, as the trace has it.
struct DumpSpec {
  std::uint64_t first_cta = 0;
  std::uint64_t last_cta = UINT64_MAX;
  std::optional<std::uint32_t> warp = std::nullopt;  // all warps if absent
  bool values = false;                               // print the operands of each event
};
int trace_dump(const std::filesystem::path& path, const DumpSpec& spec, std::ostream& out);

struct SliceSpec {
  std::uint64_t first_cta = 0;
  std::uint64_t last_cta = UINT64_MAX;
  std::uint64_t every = 1;  // keeps the 1st, (1+every)th, .. CTA of the range, counted in the file
  bool drop_values = false;
  // If it gives the work up, TraceError is thrown and nothing is left.
  Step step = nullptr;
};
// Writes the chosen CTAs of `in` to `out_path`; header.sampling says how they were chosen.
int trace_slice(const std::filesystem::path& in, const std::filesystem::path& out_path,
                const SliceSpec& spec, std::ostream& out);

// Writes `in` to `out_path` with the instruction costs of the file `costs` in its header. Records
// and times stay as they are. `step` as in SliceSpec.
int trace_recost(const std::filesystem::path& in, const std::filesystem::path& costs,
                 const std::filesystem::path& out_path, const Step& step, std::ostream& out);

// Writes `in` to `out_path` with the kernel times of the file `times` in its header.
int trace_retime(const std::filesystem::path& in, const std::filesystem::path& times,
                 const std::filesystem::path& out_path, const Step& step, std::ostream& out);

// Writes `in`, a trace of version 3, to `out_path` in the present one.
int trace_upgrade(const std::filesystem::path& in, const std::filesystem::path& out_path,
                  const Step& step, std::ostream& out);

// Writes a sample that stands for the launch on a part of a GPU: of each `every` CTAs the middle
// one (Header::sample_every). `in` must have the whole launch or, where `every` is odd, such a
// sample of it: what is written is then what the product would have given of the launch.
int trace_sample(const std::filesystem::path& in, const std::filesystem::path& out_path,
                 std::uint32_t every, const Step& step, std::ostream& out);

}  // namespace warpfold::trace
