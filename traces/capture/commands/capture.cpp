// SPDX-License-Identifier: Apache-2.0
// Records a frame on the GPU and writes its traces.
#include "traces/capture/commands/commands.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/splat/rasterizer.hpp"

namespace warpfold::capture {

int capture_command(const CaptureOptions& options) {
  const Scene scene = load_scene(options.scene, options.cameras, options.name, options.tiles);
  Rasterizer rasterizer(scene.gaussians, scene.camera, scene.loss_gradient, scene.tiles);
  const Recording recording = rasterizer.record();

  const GpuInfo gpu = gpu_info();
  const KernelInfo kernel = kernel_info(Variant::kBaseline);
  Recorder recorder;
  recorder.program = "warpfold_capture record";
  recorder.gpu = gpu.name;
  recorder.driver = gpu.driver;
  recorder.cuda = gpu.cuda;
  recorder.registers = kernel.registers;
  recorder.shared_bytes = kernel.shared_bytes;
  for (int p = 0; p < kParameters; ++p) {
    recorder.addresses[p] = rasterizer.address(p);
  }
  const RecordedFrame frame{rasterizer.lists(), recording, scene.gaussians.size(),
                            rasterizer.visible(),
                            [&](SampledValues& sample) { rasterizer.record_values(sample); }};
  return write_output(options, recorder, scene, frame) ? 0 : 1;
}

}  // namespace warpfold::capture
