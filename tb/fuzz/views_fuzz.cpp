// SPDX-License-Identifier: Apache-2.0
// Cameras, in the four forms that the capture programs take.
#include "tb/fuzz/fuzz.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/hexplane/samples.hpp"
#include "traces/capture/splat/scene.hpp"
#include "traces/capture/training/model.hpp"
#include "traces/capture/training/views.hpp"

namespace warpfold::fuzz {

namespace {

using namespace warpfold::capture;

void use(const std::vector<training::View>& views) {
  std::vector<Camera> cameras;
  for (const training::View& view : views) {
    cameras.push_back(view.camera);
  }
  if (!cameras.empty()) {
    static_cast<void>(training::extent_of(cameras));
  }
}

}  // namespace

void run(std::string_view input) {
  Front front(input);
  const std::uint64_t form = front.number(1) % 4;
  const std::filesystem::path path = file("cameras.json", front.rest());
  const auto read = [&] {
    switch (form) {
      case 0:
        takes<InputError>([v = load_viewpoint(path, "truck")] {
          static_cast<void>(describe(v));
          static_cast<void>(make_camera(v));
        });
        break;
      case 1:
        use(training::read_transforms(path, 400, 300));
        break;
      case 2:
        use(training::read_camera_list(path));
        break;
      default:
        static_cast<void>(hexplane::load_cameras(path));
    }
  };
  takes<InputError>(read, path);
}

std::vector<std::string> seeds() {
  const std::string transforms =
      R"({"camera_angle_x":0.69,"frames":[{"file_path":"./train/r_0","rotation":0.01,)"
      R"("transform_matrix":[[-1,0,0,-0.09],[0,1,0,-0.06],)"
      R"([0,0,-1,-4.03],[0,0,0,1]]}]})";
  return {
      std::string(1, '\0') +
          R"({"scenes":{"truck":{"width":979,"height":546,"fov_x":75.5,"eye":[1,2,3],)"
          R"("target":[0,0,0.5],"up":[0,-1,0],"published_ms":{"baseline":1.5,"sw-b":{"8":2}}}}})",
      "\1" + transforms,
      std::string("\2") +
          R"([{"id":0,"img_name":"00001","width":979,"height":546,"position":[1,2,3],)"
          R"("rotation":[[1,0,0],[0,1,0],[0,0,1]],"fx":580.5,"fy":581.25}])",
      "\3" + transforms};
}

}  // namespace warpfold::fuzz
