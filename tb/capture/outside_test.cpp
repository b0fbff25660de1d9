// SPDX-License-Identifier: Apache-2.0
// Files from outside that are not what they seem, numbers out of range, names that lead elsewhere,
// and that nothing is written that could not be read.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tb/capture/input_file.hpp"
#include "tb/trace/allocation_watch.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/capture/image_fit/picture.hpp"
#include "traces/capture/pagerank/graph.hpp"
#include "traces/capture/splat/host_frame.hpp"
#include "traces/capture/splat/scene.hpp"
#include "traces/capture/splat/scene_file.hpp"
#include "traces/capture/training/neighbours.hpp"
#include "traces/capture/training/point_cloud.hpp"
#include "traces/capture/training/views.hpp"

namespace warpfold::capture {
namespace {

namespace fs = std::filesystem;

Scene small_scene() {
  Scene scene;
  scene.name = "small";
  scene.camera = random_camera(64, 48);
  scene.gaussians = decode(random_splats(20, 3));
  return scene;
}

class Outside : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      all.push_back(entry.path().filename().string());
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  fs::path folder_ = fs::temp_directory_path() / ("warpfold-outside-" + std::to_string(::getpid()));
};

TEST_F(Outside, OtherFilesAreNoSplats) {
  for (const std::string mark :
       {"ply\n", "ply\r\n", "\x89WFG\r\n", "\x89PNG\r\n", "\x1f\x8b", "PK\x03\x04"}) {
    std::string bytes = mark + "format binary_little_endian 1.0\n";
    bytes.resize(64, '\n');
    const TempFile file("scene.splat", bytes);
    EXPECT_NE(error_of([&] { (void)load_splats(file.path()); }).find("is no .splat file: it is "),
              std::string::npos)
        << mark;
  }
  auto splats = random_splats(2, 1);
  splats[1].scale[2] = -1;
  const TempFile file("scene.splat", std::string(reinterpret_cast<const char*>(splats.data()), 64));
  EXPECT_NE(error_of([&] { (void)load_splats(file.path()); }).find("below 0"), std::string::npos);
}

TEST_F(Outside, SidesOfPicturesAreWholeNumbers) {
  for (const std::string side : {"4294967312", "100.9", "-1", "0", "16385", "1e3", "\"64\"", "null",
                                 "18446744073709551632", "-18446744073709551552"}) {
    const TempFile cameras("cameras.json", R"({"scenes": {"a": {"width": )" + side +
                                               R"(, "height": 48, "fov_x": 90, "eye": [1, 2, 3],
                               "target": [1, 2, 7], "up": [0, -1, 0]}}})");
    EXPECT_NE(error_of([&] { (void)load_viewpoint(cameras.path(), "a"); }).find("whole number"),
              std::string::npos)
        << side;
    const TempFile list("list.json",
                        R"([{"rotation": [[1,0,0],[0,1,0],[0,0,1]], "position": [0,0,0],
                        "img_name": "1", "fx": 50, "fy": 50, "width": 64, "height": )" +
                            side + "}]");
    EXPECT_NE(error_of([&] { (void)training::read_camera_list(list.path()); }).find("whole number"),
              std::string::npos)
        << side;
  }
}

TEST_F(Outside, NamesStayInTheirFolder) {
  for (const std::string name : {"../x", "/x", "a/b", "..", ".", "", "a\nb", "a\\b"}) {
    EXPECT_NE(error_of([&] { check_file_name(name); }), "no error") << name;
    Scene scene = small_scene();
    scene.name = name;
    EXPECT_NE(error_of([&] { write_gaussians(folder_ / "o.gaussians", scene); }), "no error")
        << name;
  }
  check_file_name("a b-c.d");
  EXPECT_TRUE(names().empty());
}

TEST_F(Outside, NothingIsWrittenThatCannotBeRead) {
  const fs::path path = folder_ / "o.gaussians";
  Scene scene = small_scene();
  write_gaussians(path, scene);
  EXPECT_EQ(read_gaussians(path).gaussians.size(), 20U);
  const auto refused = [&](const Scene& wrong) {
    return error_of([&] { write_gaussians(path, wrong); }).find("cannot be written: ") !=
           std::string::npos;
  };
  Scene wrong = scene;
  wrong.gaussians[3].scale[1] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(refused(wrong));
  wrong = scene;
  wrong.gaussians.clear();
  EXPECT_TRUE(refused(wrong));
  wrong = scene;
  wrong.camera.view[3] = NAN;
  EXPECT_TRUE(refused(wrong));
  wrong = scene;
  wrong.loss_gradient.resize(7);
  EXPECT_TRUE(refused(wrong));
  wrong = scene;
  wrong.view = std::string(2U << 20U, 'x');
  EXPECT_TRUE(refused(wrong));
  EXPECT_EQ(read_gaussians(path).gaussians.size(), 20U);  // still the first
}

TEST_F(Outside, HugeGaussiansAreSeen) {
  for (const float scale : {1e5F, 1e9F, 1e15F}) {
    SceneGaussian g{{0, 0, 3}, {scale, scale, scale}, {1, 0, 0, 0}, 0.5F, {1, 1, 1}};
    const Camera camera = random_camera(64, 48);
    const HostFrame frame(std::vector<SceneGaussian>{g}, camera, {});
    EXPECT_EQ(frame.visible() > 0, !frame.lists().primitives.empty()) << scale;
  }
}

// In a child, as the limit on the size of files, which stands in for a full disk, stays.
TEST_F(Outside, AFullDiskLeavesWhatWasThere) {
  const Scene scene = small_scene();
  write_text(folder_ / "m.json", "old");
  write_gaussians(folder_ / "o.gaussians", scene);
  const auto bytes = fs::file_size(folder_ / "o.gaussians");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 2, .rlim_max = 2};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool all =
        error_of([&] { write_text(folder_ / "m.json", "new text"); }) != "no error" &&
        error_of([&] { write_gaussians(folder_ / "o.gaussians", scene); }) != "no error" &&
        error_of([&] { write_text(folder_ / "new.json", "text"); }) != "no error";
    ::_exit(all ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(), (std::vector<std::string>{"m.json", "o.gaussians"}));
  EXPECT_EQ(fs::file_size(folder_ / "m.json"), 3U);
  EXPECT_EQ(fs::file_size(folder_ / "o.gaussians"), bytes);
}

// A few bytes that say that millions follow.
TEST_F(Outside, MemoryIsForWhatAFileHolds) {
  const auto refused = [](const auto& read) {
    trace::test::reset_largest_allocation();
    EXPECT_NE(error_of(read), "no error");
    EXPECT_LT(trace::test::largest_allocation(), std::size_t{4} << 20U);
  };
  refused([] {
    std::istringstream ppm("P6 16384 16384 255\nxxx");
    (void)image_fit::read_ppm(ppm, "ppm");
  });
  std::string ply = "ply\nformat binary_little_endian 1.0\nelement vertex 100000000\n";
  for (const char* property :
       {"float x", "float y", "float z", "uchar red", "uchar green", "uchar blue", "double more"}) {
    ply += std::string("property ") + property + "\n";
  }
  const TempFile points("points.ply", ply + "end_header\nxxx");
  refused([&] { (void)training::read_point_cloud(points.path()); });
  refused([] {
    std::istringstream edges("0 2147483646\n");
    (void)pagerank::read_edges(edges, "edges");
  });
  std::string scene = "\x89WFG\r\n\x1a\n";
  const std::string text = R"({"name": "a", "state": "", "view": "", "loss": "",
    "camera": {"width": 16384, "height": 16384, "focal": [1, 1], "tan": [1, 1],
    "view": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]}, "gaussians": 30, "loss_gradient": true})";
  scene += std::string("\1\0\0\0", 4) + static_cast<char>(text.size() % 256) +
           static_cast<char>(text.size() / 256) + std::string("\0\0", 2) + text;
  const TempFile gaussians("s.gaussians", scene + std::string(30 * 56, 'x'));
  refused([&] { (void)read_gaussians(gaussians.path()); });
}

TEST(Neighbours, ManyPointsInOnePlace) {
  const auto seconds = [](const std::vector<std::array<float, 3>>& points) {
    const auto began = std::chrono::steady_clock::now();
    const std::vector<float> distances = training::neighbour_distances(points);
    EXPECT_EQ(distances.front(), 0.0F);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  // Looking at all points for each takes half a minute and more.
  EXPECT_LT(seconds(std::vector<std::array<float, 3>>(200000, {1, 2, 3})), 15.0);
  std::vector<std::array<float, 3>> two(100000, {1, 2, 3});
  two.resize(200000, {4, 2, 3});
  EXPECT_LT(seconds(two), 15.0);
}

}  // namespace
}  // namespace warpfold::capture
