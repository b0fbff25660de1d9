// SPDX-License-Identifier: Apache-2.0
// warpfold_capture_host: writes the traces that warpfold_capture writes, from the CPU. Needs no
// GPU.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "traces/capture/commands/output_options.hpp"
#include "traces/capture/splat/host_frame.hpp"

namespace {

using namespace warpfold::capture;

constexpr int kBadInput = 2;

// Two float4 and one float2 for each Gaussian of a batch.
constexpr std::uint32_t kSharedBytes = kBatch * 40;

Recorder host_recorder(std::uint64_t gaussians) {
  Recorder recorder;
  recorder.program = "warpfold_capture_host";
  recorder.gpu = "none (host reference)";
  recorder.driver = "none";
  recorder.cuda = "none";
  recorder.shared_bytes = kSharedBytes;
  choose_addresses(gaussians, recorder.addresses);
  recorder.provenance["method"] =
      "host reference: pixels evaluated in single precision on a CPU in the kernel's order";
  recorder.provenance["addresses"] = "chosen: the arrays one behind the other";
  return recorder;
}

int run(int argc, char** argv) {
  CLI::App app("Records warp atomic traces of 3D Gaussian Splatting's backward pass without a GPU");
  OutputOptions options;
  options.workload = "3D";
  add_output_options(app, options);
  app.get_option("--costs")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  const Scene scene = load_scene(options.scene, options.cameras, options.name, options.tiles);
  const HostFrame host(scene.gaussians, scene.camera, scene.loss_gradient, scene.tiles);
  const Recording recording = host.record();
  const RecordedFrame frame{host.lists(), recording, scene.gaussians.size(), host.visible(),
                            [&](SampledValues& sample) { host.record_values(sample); }};
  return write_output(options, host_recorder(scene.gaussians.size()), scene, frame) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpfold_capture_host: %s\n", error.what());
    return kBadInput;
  }
}
