// SPDX-License-Identifier: Apache-2.0
// A small scene, projected, binned and rendered once.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/capture/splat/reference.hpp"

namespace warpfold::capture {

struct SmallFrame {
  Camera camera;
  std::vector<SceneGaussian> scene;
  std::vector<reference::Projected> projected;
  std::vector<reference::Gaussian> gaussians;
  TileLists lists;
  reference::Frame frame;
  std::vector<float> target;
  std::vector<float> dl_dimage;
  Recording recording;
  std::vector<double> gradients;

  SmallFrame(std::size_t count, int width, int height, std::uint64_t seed)
      : camera(random_camera(width, height)), scene(decode(random_splats(count, seed))) {
    projected = reference::project(scene, camera);
    for (const reference::Projected& p : projected) {
      gaussians.push_back(p.gaussian);
    }
    lists = reference::make_lists(projected, camera);
    frame = reference::render(gaussians, lists, camera);
    target = target_image(width, height);
    const std::vector<float> image(frame.image.begin(), frame.image.end());
    dl_dimage = loss_gradient(image, target);
    gradients = reference::backward(gaussians, lists, camera, frame, dl_dimage, &recording);
  }
};

}  // namespace warpfold::capture
