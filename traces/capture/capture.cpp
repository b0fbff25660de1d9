// SPDX-License-Identifier: Apache-2.0
// Records a frame and writes its traces.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "traces/capture/commands.hpp"
#include "traces/capture/rasterizer.hpp"
#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::capture {
namespace {

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

trace::Header make_header(const CaptureOptions& options, const Viewpoint& viewpoint,
                          const Camera& camera, const Rasterizer& rasterizer, std::size_t gaussians) {
  const GpuInfo gpu = gpu_info();
  const KernelInfo kernel = kernel_info(Variant::kBaseline);
  trace::Header header;
  header.workload = options.workload;
  header.scene = options.scene.name;
  header.kernel = "3DGS backward render, one thread a pixel, 16x16 tiles";
  header.gpu = gpu.name;
  header.driver = gpu.driver;
  header.cuda = gpu.cuda;
  header.grid[0] = static_cast<std::uint32_t>(camera.tiles_x());
  header.grid[1] = static_cast<std::uint32_t>(camera.tiles_y());
  header.block[0] = kTileSize;
  header.block[1] = kTileSize;
  header.registers_per_thread = kernel.registers;
  header.shared_bytes_per_cta = kernel.shared_bytes;
  header.primitive_count = gaussians;
  for (int p = 0; p < kParameters; ++p) {
    const std::uint32_t floats = kGradientFloats[kGradientSlots[p].array];
    header.parameters.push_back({kGradientSlots[p].name, rasterizer.address(p),
                                 floats * static_cast<std::uint32_t>(sizeof(float))});
  }
  header.paths.assign(std::begin(kPathNames), std::end(kPathNames));
  header.taken_path = kPathNames[kPathTaken];
  header.total_ctas = static_cast<std::uint64_t>(camera.tiles());
  header.provenance["program"] = "warpfold_capture";
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
  }
  if (!options.times.empty()) {
    const auto times = read_json(options.times, "warpfold.times/1");
    if (times.value("gpu", "") != gpu.name || times.value("scene", "") != options.scene.name) {
      throw InputError(options.times.string() + ": is of another GPU or scene");
    }
    json["times"] = times.value("times", nlohmann::json());
  }
  return trace::header_from_json(json.dump());
}

// Reads a trace back and holds it against what was recorded. `full` if it must hold the whole frame.
bool verify(const std::filesystem::path& path, const RecordingStats& expected, bool full) {
  const trace::Reader reader(path);
  reader.verify();
  const trace::TraceStats stats = trace::collect_stats(reader);
  std::printf("%s: %llu bytes, %llu CTAs, %llu events, %.2f active lanes\n", path.c_str(),
              static_cast<unsigned long long>(reader.file_bytes()),
              static_cast<unsigned long long>(stats.ctas),
              static_cast<unsigned long long>(stats.events), stats.mean_active_lanes());
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

int capture_command(const CaptureOptions& options) {
  const auto splats = load_splats(options.scene.scene);
  const Viewpoint viewpoint = load_viewpoint(options.scene.cameras, options.scene.name);
  const Camera camera = make_camera(viewpoint);
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    throw InputError(options.out.string() + ": cannot be made: " + error.message());
  }
  Rasterizer rasterizer(splats, camera);
  const TileLists& lists = rasterizer.lists();
  const Recording recording = rasterizer.record();
  const RecordingStats stats = collect(lists, recording);
  std::cout << options.scene.name << ":\n";
  print(stats, rasterizer.visible(), std::cout);
  std::cout.flush();

  trace::Header header = make_header(options, viewpoint, camera, rasterizer, splats.size());
  const auto file = [&](const char* ending) { return options.out / (options.scene.name + ending); };
  {
    std::ofstream counts(file("-counts.json"));
    counts << to_json(stats);
    if (!counts.flush()) {
      throw InputError(file("-counts.json").string() + ": cannot be written");
    }
  }
  {
    trace::Writer writer(file(".wft"), header);
    for (std::size_t tile = 0; tile < lists.ranges.size(); ++tile) {
      writer.add(make_cta(lists, recording, tile, nullptr, 0));
    }
    writer.finish();
  }
  SampledValues sample = choose_sample(lists, recording, options.value_bytes);
  rasterizer.record_values(sample);
  header.values = trace::ValueMode::kFp32;
  header.sampling = std::to_string(sample.tiles.size()) + " of " +
                    std::to_string(lists.ranges.size()) +
                    " CTAs, whole, evenly spaced over the CTAs ranked by (events, index)";
  {
    trace::Writer writer(file("-values.wft"), header);
    for (std::size_t s = 0; s < sample.tiles.size(); ++s) {
      writer.add(make_cta(lists, recording, sample.tiles[s], &sample, s));
    }
    writer.finish();
  }
  const bool whole = verify(file(".wft"), stats, true);
  const bool sampled = verify(file("-values.wft"), stats, false);
  return whole && sampled ? 0 : 1;
}

}  // namespace warpfold::capture
