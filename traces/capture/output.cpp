// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/output.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "traces/format/header.hpp"
#include "traces/format/manifest.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::capture {
namespace {

constexpr const char* kRegistersOf = "sm_90";  // where the recorder ran on no GPU

nlohmann::json read_json(const std::filesystem::path& path, const char* schema) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot be read");
  }
  try {
    nlohmann::json json = nlohmann::json::parse(file);
    if (json.at("schema") != schema) {
      throw InputError(path.string() + ": is not " + schema);
    }
    return json;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 11> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

// The command that records again, with the names of the files and without their folders.
std::string command(const OutputOptions& options, const Recorder& recorder) {
  std::string text = recorder.program + " --scene " + options.scene.filename().string() +
                     " --camera " + options.cameras.filename().string() + " --name " +
                     options.name + " --workload " + options.workload + " --value-bytes " +
                     std::to_string(options.value_bytes);
  if (!options.costs.empty()) {
    text += " --costs " + options.costs.filename().string();
  }
  if (!options.times.empty()) {
    text += " --times " + options.times.filename().string();
  }
  return text;
}

trace::Header make_header(const OutputOptions& options, const Recorder& recorder,
                          const Viewpoint& viewpoint, const RecordedFrame& frame) {
  trace::Header header;
  header.workload = options.workload;
  header.scene = options.name;
  header.kernel = "3DGS backward render, one thread a pixel, 16x16 tiles";
  header.gpu = recorder.gpu;
  header.driver = recorder.driver;
  header.cuda = recorder.cuda;
  header.grid[0] = static_cast<std::uint32_t>(frame.lists.tiles_x);
  header.grid[1] = static_cast<std::uint32_t>(frame.lists.tiles_y);
  header.block[0] = kTileSize;
  header.block[1] = kTileSize;
  header.registers_per_thread = std::max(1U, recorder.registers);
  header.shared_bytes_per_cta = recorder.shared_bytes;
  header.primitive_count = frame.gaussians;
  for (std::size_t p = 0; p < kParameters; ++p) {
    const std::uint32_t floats = kGradientFloats[kGradientSlots[p].array];
    header.parameters.push_back({kGradientSlots[p].name, recorder.addresses[p],
                                 floats * static_cast<std::uint32_t>(sizeof(float))});
  }
  header.paths.assign(std::begin(kPathNames), std::end(kPathNames));
  header.taken_path = kPathNames[kPathTaken];
  header.total_ctas = frame.lists.ranges.size();
  header.provenance = recorder.provenance;
  header.provenance["program"] = recorder.program;
  header.provenance["command"] = command(options, recorder);
  header.provenance["date"] = today();
  header.provenance["camera"] = describe(viewpoint);
  header.provenance["loss"] = "mean squared error against a fixed picture of waves";

  // Costs and times come as JSON in the header's own form: its parser takes and checks them.
  auto json = nlohmann::json::parse(trace::header_to_json(header));
  if (!options.costs.empty()) {
    const auto costs = read_json(options.costs, "warpfold.costs/1");
    if (costs.value("paths", nlohmann::json()) != json.at("paths")) {
      throw InputError(options.costs.string() + ": its paths are not those of this program");
    }
    json["costs"] = costs.value("costs", nlohmann::json());
    json["provenance"]["compiler"] = costs.value("compiler", "unknown");
  }
  if (!options.times.empty()) {
    const auto times = read_json(options.times, "warpfold.times/1");
    if (times.value("gpu", "") != recorder.gpu || times.value("scene", "") != options.name) {
      throw InputError(options.times.string() + ": is of another GPU or scene");
    }
    json["times"] = times.value("times", nlohmann::json());
  }
  header = trace::header_from_json(json.dump());
  if (recorder.registers == 0) {
    const auto machine = header.costs.find(kRegistersOf);
    if (machine == header.costs.end() || !machine->second.contains("baseline")) {
      throw InputError(options.costs.string() + ": has no costs of " + kRegistersOf +
                       "'s baseline, whose registers the trace names");
    }
    header.registers_per_thread = machine->second.at("baseline").registers;
  }
  return header;
}

// Reads a trace back and holds it against what was recorded. `full` if it must hold the whole
// frame.
bool verify(const std::filesystem::path& path, const RecordingStats& expected, bool full,
            trace::ManifestEntry& entry) {
  const trace::Reader reader(path);
  reader.verify();
  const trace::TraceStats stats = trace::collect_stats(reader);
  std::printf("%s: %llu bytes, %llu CTAs, %llu events, %.2f active lanes\n", path.c_str(),
              static_cast<unsigned long long>(reader.file_bytes()),
              static_cast<unsigned long long>(stats.ctas),
              static_cast<unsigned long long>(stats.events), stats.mean_active_lanes());
  entry.file = path.filename().string();
  entry.xxh64 = reader.file_hash();
  entry.bytes = reader.file_bytes();
  if (!full) {
    return stats.ctas > 0;
  }
  bool good = stats.events == expected.events && stats.active_lanes == expected.active_lanes &&
              stats.full_events == expected.full_events &&
              stats.cta_primitive_pairs == expected.pairs_with_event &&
              stats.barriers == 2 * expected.batches;
  for (std::size_t stage = 0; stage < 3; ++stage) {
    good = good && stats.work_passes[kPathSkipPosition + stage] == expected.passes[stage];
  }
  if (!good) {
    std::printf("%s: does not hold what was recorded\n", path.c_str());
  }
  return good;
}

// Puts `entries` into the manifest at `path`, in place of older ones of the same files.
void renew_manifest(const std::filesystem::path& path,
                    const std::vector<trace::ManifestEntry>& entries) {
  std::vector<trace::ManifestEntry> all;
  if (std::filesystem::exists(path)) {
    all = trace::read_manifest(path);
  }
  for (const trace::ManifestEntry& entry : entries) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const trace::ManifestEntry& other) {
      return other.file == entry.file;
    });
    if (same == all.end()) {
      all.push_back(entry);
    } else {
      *same = entry;
    }
  }
  std::ofstream file(path);
  file << trace::manifest_to_json(all);
  if (!file.flush()) {
    throw InputError(path.string() + ": cannot be written");
  }
}

}  // namespace

void choose_addresses(std::uint64_t gaussians, std::uint64_t (&addresses)[kParameters]) {
  constexpr std::uint64_t kFirst = 0x7f0000000000;
  constexpr std::uint64_t kAlignment = 512;
  std::uint64_t arrays[kGradientArrays] = {};
  std::uint64_t next = kFirst;
  for (int i = 0; i < kGradientArrays; ++i) {
    arrays[i] = next;
    const std::uint64_t bytes = gaussians * kGradientFloats[i] * sizeof(float);
    next += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  for (int p = 0; p < kParameters; ++p) {
    addresses[p] = arrays[kGradientSlots[p].array] + kGradientSlots[p].offset * sizeof(float);
  }
}

bool write_output(const OutputOptions& options, const Recorder& recorder,
                  const Viewpoint& viewpoint, const RecordedFrame& frame) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    throw InputError(options.out.string() + ": cannot be made: " + error.message());
  }
  const RecordingStats stats = collect(frame.lists, frame.recording);
  std::cout << options.name << ":\n";
  print(stats, frame.visible, std::cout);
  std::cout.flush();

  trace::Header header = make_header(options, recorder, viewpoint, frame);
  const auto file = [&](const char* ending) { return options.out / (options.name + ending); };
  {
    std::ofstream counts(file("-counts.json"));
    counts << to_json(stats);
    if (!counts.flush()) {
      throw InputError(file("-counts.json").string() + ": cannot be written");
    }
  }
  {
    trace::Writer writer(file(".wft"), header);
    for (std::size_t tile = 0; tile < frame.lists.ranges.size(); ++tile) {
      writer.add(make_cta(frame.lists, frame.recording, tile, nullptr, 0));
    }
    writer.finish();
  }
  SampledValues sample = choose_sample(frame.lists, frame.recording, options.value_bytes);
  frame.values(sample);
  header.values = trace::ValueMode::kFp32;
  header.sampling = std::to_string(sample.tiles.size()) + " of " +
                    std::to_string(frame.lists.ranges.size()) +
                    " CTAs, whole, evenly spaced over the CTAs ranked by (events, index)";
  {
    trace::Writer writer(file("-values.wft"), header);
    for (std::size_t s = 0; s < sample.tiles.size(); ++s) {
      writer.add(make_cta(frame.lists, frame.recording, sample.tiles[s], &sample, s));
    }
    writer.finish();
  }
  trace::ManifestEntry entry;
  entry.workload = header.workload;
  entry.scene = header.scene;
  entry.gpu = header.gpu;
  entry.date = header.provenance.at("date");
  entry.command = header.provenance.at("command");
  std::vector<trace::ManifestEntry> entries(2, entry);
  const bool whole = verify(file(".wft"), stats, true, entries[0]);
  const bool sampled = verify(file("-values.wft"), stats, false, entries[1]);
  if (whole && sampled && !options.manifest.empty()) {
    renew_manifest(options.manifest, entries);
  }
  return whole && sampled;
}

}  // namespace warpfold::capture
