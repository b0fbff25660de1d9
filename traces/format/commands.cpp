// SPDX-License-Identifier: Apache-2.0
#include "traces/format/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <fstream>
#include <functional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include "traces/format/header.hpp"
#include "traces/format/header_fields.hpp"
#include "traces/format/manifest.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/trace.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::trace {

namespace {

namespace fs = std::filesystem;

std::string sound(const Reader& reader) {
  return fmt::format("ok, {} CTAs, {} events, {} bytes, xxh64 {}", reader.cta_count(),
                     reader.event_count(), reader.file_bytes(), reader.file_hash());
}

// Verifies one trace of a manifest; throws at the first difference.
std::string verify_entry(const fs::path& file, const ManifestEntry& entry,
                         const FileShares& shares) {
  const Reader reader(file);
  const auto expect = [&](std::string_view what, const std::string& got, const std::string& want) {
    if (got != want) {
      throw TraceError(
          fmt::format("{}: {} is {}, the manifest says {}", file.string(), what, got, want));
    }
  };
  expect("its size", std::to_string(reader.file_bytes()), std::to_string(entry.bytes));
  expect("its xxh64", reader.file_hash(), entry.xxh64);
  expect("its workload", reader.header().workload, entry.workload);
  expect("its scene", reader.header().scene, entry.scene);
  expect("its gpu", reader.header().gpu, entry.gpu);
  reader.verify([&](double share) { shares.at(file, share); });
  return sound(reader);
}

// Runs one check and prints its line. Returns whether it passed.
template <typename Check>
bool report(const fs::path& file, std::ostream& out, Check check) {
  try {
    out << fmt::format("{}: {}\n", file.string(), check());
    return true;
  } catch (const TraceError& error) {
    out << fmt::format("FAIL {}\n", error.what());
    return false;
  }
}

bool verify_manifest(const fs::path& path, std::ostream& out, FileShares& shares) {
  const std::vector<ManifestEntry> entries = read_manifest(path);
  bool passed = true;
  std::set<fs::path> listed;
  for (const ManifestEntry& entry : entries) {
    const fs::path file = path.parent_path() / entry.file;
    listed.insert(entry.file);
    passed = report(file, out, [&] { return verify_entry(file, entry, shares); }) && passed;
    shares.finished(file);
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::set<fs::path> strangers;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".wft" && !listed.contains(it->path().filename())) {
      strangers.insert(it->path());
    }
  }
  if (error) {
    throw TraceError(fmt::format("{}: cannot list: {}", folder.string(), error.message()));
  }
  for (const fs::path& stranger : strangers) {
    out << fmt::format("FAIL {}: not listed in {}\n", stranger.string(), path.string());
    passed = false;
  }
  return passed;
}

// IEEE 754 binary16.
float half_value(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffU;
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  if (magnitude >= 0x7c00U) {
    return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13U);
  }
  // As a number of binary32 whose exponent is too small by as much as the formats' biases differ.
  return std::bit_cast<float>(sign | magnitude << 13U) * 0x1p112F;
}

std::string operand_text(ValueType type, const std::uint32_t* words) {
  switch (type) {
    case ValueType::kF32:
      return fmt::format("{}", std::bit_cast<float>(words[0]));
    case ValueType::kF16x2:
      return fmt::format("({}, {})", half_value(words[0] & 0xffffU), half_value(words[0] >> 16U));
    case ValueType::kBf16x2:
      return fmt::format("({}, {})", std::bit_cast<float>(words[0] << 16U),
                         std::bit_cast<float>(words[0] & 0xffff0000U));
    case ValueType::kU32:
      return fmt::format("{:#x}", words[0]);
    case ValueType::kU64:
      return fmt::format("{:#x}", std::uint64_t{words[1]} << 32U | words[0]);
    case ValueType::kF64:
      return fmt::format("{}", std::bit_cast<double>(words[0] | std::uint64_t{words[1]} << 32U));
  }
  return "";
}

std::string dump_values(const Site& site, const WarpTrace& warp, const Record& record,
                        std::size_t active) {
  std::string text;
  const std::uint32_t* words = warp.values.data() + record.values;
  for (const Parameter& parameter : site.parameters) {
    text += fmt::format("             {}:", parameter.name);
    for (std::size_t k = 0; k < active; ++k, words += words_of(site.type)) {
      text += " " + operand_text(site.type, words);
    }
    text += '\n';
  }
  return text;
}

std::string dump_record(const Header& header, const WarpTrace& warp, const Record& record,
                        bool values) {
  if (record.kind == RecordKind::kBarrier) {
    return "barrier\n";
  }
  if (record.kind == RecordKind::kWork) {
    return fmt::format("work    {} x {}\n", header.paths[record.path], record.count);
  }
  if (record.kind == RecordKind::kWait) {
    return fmt::format("wait    for {}\n", header.memory[record.site].name);
  }
  if (record.kind == RecordKind::kAccess) {
    std::string text =
        fmt::format("{:<7} mask {:#010x} lanes {:>2} at {}, sectors",
                    kAccessKinds.at(static_cast<std::size_t>(header.memory[record.site].kind)),
                    record.mask, std::popcount(record.mask), header.memory[record.site].name);
    for (std::uint32_t i = 0; i < record.count; ++i) {
      text += fmt::format(" {:#x}", warp.sectors[record.values + i] * kSectorBytes);
    }
    return text + '\n';
  }
  const Site& site = header.sites[record.site];
  const auto active = static_cast<std::size_t>(std::popcount(record.mask));
  std::string text = fmt::format("event   mask {:#010x} lanes {:>2} ", record.mask, active);
  if (header.sites.size() > 1) {
    text += fmt::format("site {} ", site.name);
  }
  if (record.lane_primitives == Record::kUniform) {
    text += fmt::format("primitive {}\n", record.primitive);
  } else {
    text += "primitives";
    for (std::uint32_t lanes = record.mask; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
      text += fmt::format(" {}:{}", lane, warp.lane_primitives[record.lane_primitives + lane]);
    }
    text += '\n';
  }
  if (values && header.values == ValueMode::kOperands) {
    text += dump_values(site, warp, record, active);
  }
  return text;
}

// Writes a trace of some CTAs of another, by their position in it. Values are left out if the
// header has none.
void copy_ctas(const Reader& reader, const std::vector<std::size_t>& chosen, const Header& header,
               const fs::path& out_path, const Step& step, std::ostream& out) {
  Writer writer(out_path, header);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (step && step(share_of(i, chosen.size()))) {
      throw TraceError(fmt::format("{}: not written: interrupted", out_path.string()));
    }
    CtaTrace cta = reader.read_cta(chosen[i]);
    if (header.values == ValueMode::kNone) {
      for (WarpTrace& warp : cta.warps) {
        warp.values.clear();
      }
    }
    writer.add(cta);
  }
  writer.finish();
  out << fmt::format("{}: {} of {} CTAs\n", out_path.string(), chosen.size(), reader.cta_count());
}

// Positions of the CTAs first..last in the file.
struct Positions {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Positions positions(const Reader& reader, std::uint64_t first, std::uint64_t last) {
  Positions found;
  std::size_t length = reader.cta_count();
  while (length > 0) {  // lower bound of `first`
    const std::size_t half = length / 2;
    if (reader.cta_id(found.begin + half) < first) {
      found.begin += half + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  found.end = found.begin;
  while (found.end < reader.cta_count() && reader.cta_id(found.end) <= last) {
    ++found.end;
  }
  if (found.begin == found.end) {
    const std::string range = last == UINT64_MAX ? fmt::format("from {} on", first)
                                                 : fmt::format("in {}..{}", first, last);
    throw TraceError(fmt::format("{}: no CTA {}: the file has {} from {} to {}",
                                 reader.path().string(), range, reader.cta_count(),
                                 reader.cta_id(0), reader.cta_id(reader.cta_count() - 1)));
  }
  return found;
}

}  // namespace

int trace_verify(const std::vector<fs::path>& paths, std::ostream& out, const Progress& progress) {
  // What is no trace or no manifest at all is said before anything is checked.
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (path.extension() == ".json") {
      for (const ManifestEntry& entry : read_manifest(path)) {
        files.push_back(path.parent_path() / entry.file);
      }
    } else {
      Reader::check_begin(path);
      files.push_back(path);
    }
  }
  FileShares shares(files, progress);
  bool passed = true;
  for (const fs::path& path : paths) {
    if (path.extension() == ".json") {
      passed = verify_manifest(path, out, shares) && passed;
      continue;
    }
    passed = report(path, out,
                    [&] {
                      const Reader reader(path);
                      reader.verify([&](double share) { shares.at(path, share); });
                      return sound(reader);
                    }) &&
             passed;
    shares.finished(path);
  }
  return passed ? 0 : 1;
}

int trace_dump(const fs::path& path, const DumpSpec& spec, std::ostream& out) {
  const Reader reader(path);
  const Header& header = reader.header();
  if (spec.warp && *spec.warp >= header.warps_per_cta()) {
    throw TraceError(fmt::format("{}: no warp {}: a CTA has {}", path.string(), *spec.warp,
                                 header.warps_per_cta()));
  }
  const Positions range = positions(reader, spec.first_cta, spec.last_cta);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const CtaTrace cta = reader.read_cta(i);
    std::string text = fmt::format("CTA {}\n", cta.cta);
    for (std::uint32_t w = 0; w < cta.warps.size(); ++w) {
      if (spec.warp && *spec.warp != w) {
        continue;
      }
      const WarpTrace& warp = cta.warps[w];
      text += fmt::format("  warp {}: {} records\n", w, warp.records.size());
      for (std::size_t r = 0; r < warp.records.size(); ++r) {
        text +=
            fmt::format("    {:>6} {}", r, dump_record(header, warp, warp.records[r], spec.values));
      }
    }
    out << text;
  }
  return 0;
}

int trace_slice(const fs::path& in, const fs::path& out_path, const SliceSpec& spec,
                std::ostream& out) {
  if (spec.every == 0) {
    throw TraceError("every 0th CTA cannot be kept: the step is at least 1");
  }
  const Reader reader(in);
  Header header = reader.header();
  const Positions range = positions(reader, spec.first_cta, spec.last_cta);
  const std::uint64_t step = std::min<std::uint64_t>(spec.every, range.end - range.begin);
  const std::size_t kept = (range.end - range.begin + step - 1) / step;
  if (kept != reader.cta_count()) {
    std::string how =
        fmt::format("CTAs {}..{}", reader.cta_id(range.begin), reader.cta_id(range.end - 1));
    if (step > 1) {
      how += fmt::format(", 1 of every {}", spec.every);
    }
    header.sampling = header.sampling.empty() ? how : header.sampling + "; of these " + how;
    header.sample_every = 1;
    header.instructions = {};  // of other CTAs
  }
  if (spec.drop_values) {
    header.values = ValueMode::kNone;
  }
  header.provenance["sliced_from"] = fmt::format("xxh64 {}", reader.file_hash());

  std::vector<std::size_t> chosen;
  for (std::size_t i = range.begin; i < range.end; i += step) {
    chosen.push_back(i);
  }
  copy_ctas(reader, chosen, header, out_path, spec.step, out);
  return 0;
}

int trace_sample(const fs::path& in, const fs::path& out_path, std::uint32_t every,
                 const Step& step, std::ostream& out) {
  const Reader reader(in);
  Header header = reader.header();
  const std::uint32_t sampled = header.sample_every;
  if (!header.sampling.empty() && (sampled == 1 || every % 2 == 0)) {
    // The middle one of some has the middle one of an odd number of such groups among them.
    throw TraceError(fmt::format("{}: is no whole launch: {}{}", in.string(), header.sampling,
                                 sampled == 1 ? "" : "; of a sample only odd parts are samples"));
  }
  if (std::uint64_t{sampled} * every > header.total_ctas) {
    throw TraceError(fmt::format("{}: is of a launch of {} CTAs, which has no {} in a row",
                                 in.string(), header.total_ctas, std::uint64_t{sampled} * every));
  }
  header.sample_every *= every;
  header.instructions = {};
  header.sampling = fmt::format("the middle one of every {} CTAs", header.sample_every);
  header.provenance["sampled_from"] = fmt::format("xxh64 {}", reader.file_hash());
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    if (sampled_below(i + 1, every) > sampled_below(i, every)) {
      chosen.push_back(i);
    }
  }
  copy_ctas(reader, chosen, header, out_path, step, out);
  return 0;
}

namespace {
// Writes the whole trace of `reader` to `out_path` with that header.
void rewrite(const Reader& reader, const Header& header, const fs::path& out_path, const Step& step,
             std::ostream& out) {
  Writer writer(out_path, header);
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    if (step && step(share_of(i, reader.cta_count()))) {
      throw TraceError(fmt::format("{}: not written: interrupted", out_path.string()));
    }
    writer.add(reader.read_cta(i));
  }
  writer.finish();
  out << fmt::format("{}: {} CTAs\n", out_path.string(), reader.cta_count());
}

// The same with what `change` makes of the trace's header and of the text of the file `input`; that
// it was changed stands in the provenance as `changed`.
int rewrite_header(const fs::path& in, const fs::path& input,
                   const std::function<void(Header&, std::string_view)>& change,
                   const std::string& changed, const fs::path& out_path, const Step& step,
                   std::ostream& out) {
  const Reader reader(in);
  Header header = reader.header();
  std::ifstream file(input, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw TraceError(fmt::format("{}: cannot be read", input.string()));
  }
  try {
    change(header, text.str());
  } catch (const TraceError& error) {
    throw TraceError(fmt::format("{}: {}", input.string(), error.what()));
  }
  header.provenance[changed] = fmt::format("xxh64 {}", reader.file_hash());
  rewrite(reader, header, out_path, step, out);
  return 0;
}
}  // namespace

int trace_recost(const fs::path& in, const fs::path& costs, const fs::path& out_path,
                 const Step& step, std::ostream& out) {
  return rewrite_header(in, costs, replace_costs, "recosted_from", out_path, step, out);
}

int trace_retime(const fs::path& in, const fs::path& times, const fs::path& out_path,
                 const Step& step, std::ostream& out) {
  return rewrite_header(in, times, replace_times, "retimed_from", out_path, step, out);
}

int trace_upgrade(const fs::path& in, const fs::path& out_path, const Step& step,
                  std::ostream& out) {
  const Reader reader = Reader::of_version_3(in);
  Header header = reader.header();
  header.provenance["upgraded_from"] = fmt::format("version 3, xxh64 {}", reader.file_hash());
  rewrite(reader, header, out_path, step, out);
  return 0;
}

}  // namespace warpfold::trace
