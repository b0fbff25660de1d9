// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/splat/output.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iostream>

#include "traces/capture/common/input.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/format/manifest.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::capture {
namespace {

constexpr const char* kRegistersOf = "sm_90";  // where the recorder ran on no GPU

// The command that records again, with the names of the files and without their folders.
std::string command(const OutputOptions& options, const Recorder& recorder) {
  std::string text = recorder.program + " --scene " + options.scene.filename().string();
  if (!options.cameras.empty()) {
    text += " --camera " + options.cameras.filename().string();
  }
  if (!options.name.empty()) {
    text += " --name " + options.name;
  }
  if (options.tiles == TileRule::kTight) {
    text += " --tiles tight";
  }
  text +=
      " --workload " + options.workload + " --value-bytes " + std::to_string(options.value_bytes);
  if (!options.costs.empty()) {
    text += " --costs " + options.costs.filename().string();
  }
  if (!options.times.empty()) {
    text += " --times " + options.times.filename().string();
  }
  return text;
}

trace::Header make_header(const OutputOptions& options, const Recorder& recorder,
                          const Scene& scene, const RecordedFrame& frame) {
  trace::Header header;
  header.workload = options.workload;
  header.scene = scene.name;
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
  trace::Site site{.name = header.kernel,
                   .primitive_count = frame.gaussians,
                   .parameters = {},
                   .taken_path = kPathNames[kPathTaken]};
  for (std::size_t p = 0; p < kParameters; ++p) {
    const std::uint32_t floats = kGradientFloats[kGradientSlots[p].array];
    site.parameters.push_back({kGradientSlots[p].name, recorder.addresses[p],
                               floats * static_cast<std::uint32_t>(sizeof(float))});
  }
  header.sites.push_back(std::move(site));
  header.paths.assign(std::begin(kPathNames), std::end(kPathNames));
  header.total_ctas = frame.lists.ranges.size();
  header.provenance = recorder.provenance;
  header.provenance["program"] = recorder.program;
  header.provenance["command"] = command(options, recorder);
  header.provenance["date"] = today();
  header.provenance["camera"] = scene.view;
  header.provenance["gaussians"] = scene.state;
  header.provenance["loss"] = scene.loss;
  if (scene.tiles == TileRule::kTight) {
    header.provenance["tiles"] = kTightTiles;
  }

  header = with_costs_and_times(header, options.costs, options.times);
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

bool write_output(const OutputOptions& options, const Recorder& recorder, const Scene& scene,
                  const RecordedFrame& frame) {
  check_file_name(options.name.empty() ? scene.name : options.name);
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    throw InputError(options.out.string() + ": cannot be made: " + error.message());
  }
  const RecordingStats stats = collect(frame.lists, frame.recording);
  const std::string stem =
      options.name.empty() ? scene.name : options.name + name_ending(scene.tiles);
  std::cout << stem << ":\n";
  print(stats, frame.visible, std::cout);
  std::cout.flush();

  trace::Header header = make_header(options, recorder, scene, frame);
  const auto file = [&](const char* ending) { return options.out / (stem + ending); };
  write_text(file("-counts.json"), to_json(stats));
  {
    trace::Writer writer(file(".wft"), header);
    for (std::size_t tile = 0; tile < frame.lists.ranges.size(); ++tile) {
      writer.add(make_cta(frame.lists, frame.recording, tile, nullptr, 0));
    }
    writer.finish();
  }
  SampledValues sample = choose_sample(frame.lists, frame.recording, options.value_bytes);
  frame.values(sample);
  header.values = trace::ValueMode::kOperands;
  header.sampling = describe_sampling(sample.tiles.size(), frame.lists.ranges.size());
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
