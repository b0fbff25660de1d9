// SPDX-License-Identifier: Apache-2.0
// Where a training starts from and what it does to its Gaussians: files, points, densification, and
// the choice of a threshold.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tb/capture/input_file.hpp"
#include "traces/capture/reduce/reduce_arc_tuner.hpp"
#include "traces/capture/splat/scene_file.hpp"
#include "traces/capture/training/densify.cuh"
#include "traces/capture/training/model.hpp"
#include "traces/capture/training/neighbours.hpp"
#include "traces/capture/training/point_cloud.hpp"
#include "traces/capture/training/training_scene.hpp"
#include "traces/capture/training/views.hpp"

namespace warpfold::capture::training {
namespace {

Scene small_scene() {
  const TrainingScene training = random_training_scene(7, 20, 10, 1);
  Scene scene;
  scene.name = "small@1000";
  scene.state = "in training";
  scene.view = "view 0";
  scene.loss = "some";
  scene.camera = training.views[1].camera;
  scene.gaussians = activate(training.model, 3, scene.camera);
  scene.loss_gradient.assign(600, 0.25F);
  return scene;
}

TEST(GaussiansFile, ComesBackAsWritten) {
  const TempFile file("scene.gaussians", "");
  const Scene scene = small_scene();
  write_gaussians(file.path(), scene);
  const Scene read = load_scene(file.path(), {}, "");
  EXPECT_EQ(read.name, scene.name);
  EXPECT_EQ(read.state, scene.state);
  EXPECT_EQ(read.view, scene.view);
  EXPECT_EQ(read.loss, scene.loss);
  EXPECT_EQ(read.loss_gradient, scene.loss_gradient);
  EXPECT_EQ(read.camera.width, 20);
  EXPECT_EQ(read.camera.focal_y, scene.camera.focal_y);
  EXPECT_EQ(read.camera.tan_x, scene.camera.tan_x);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(read.camera.view[i], scene.camera.view[i]);
  }
  ASSERT_EQ(read.gaussians.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(read.gaussians[i].rotation[3], scene.gaussians[i].rotation[3]);
    EXPECT_EQ(read.gaussians[i].color[2], scene.gaussians[i].color[2]);
  }
  // Without a gradient the loss is the usual one.
  Scene plain = scene;
  plain.loss_gradient.clear();
  write_gaussians(file.path(), plain);
  EXPECT_NE(read_gaussians(file.path()).loss.find("waves"), std::string::npos);
}

TEST(GaussiansFile, BadOnesGetOneLine) {
  const TempFile file("bad.gaussians", "");
  const auto message = [&] { return error_of([&] { (void)read_gaussians(file.path()); }); };
  EXPECT_NE(message().find("does not start as one"), std::string::npos);
  write_gaussians(file.path(), small_scene());
  std::string bytes;
  {
    std::ifstream in(file.path(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto rewrite = [&](const std::string& content) {
    std::ofstream(file.path(), std::ios::binary) << content;
  };
  rewrite(bytes.substr(0, bytes.size() - 1));
  EXPECT_NE(message().find("size"), std::string::npos);
  std::string other = bytes;
  other[8] = 9;
  rewrite(other);
  EXPECT_NE(message().find("version is 9"), std::string::npos);
  other = bytes;
  other[16] = '!';
  rewrite(other);
  EXPECT_NE(message(), "no error");
  const Scene scene = small_scene();
  other = bytes;
  const std::size_t behind_fourth =
      4 * sizeof(SceneGaussian) + scene.loss_gradient.size() * sizeof(float);
  other.replace(other.size() - behind_fourth + offsetof(SceneGaussian, rotation),
                sizeof(SceneGaussian::rotation), sizeof(SceneGaussian::rotation), '\0');
  rewrite(other);
  EXPECT_NE(message().find("Gaussian 3"), std::string::npos);
  other = bytes;
  for (std::size_t i = other.find("\"focal\":[") + 9; other[i] != ','; ++i) {
    other[i] = other[i + 1] == ',' ? '0' : ' ';
  }
  rewrite(other);
  EXPECT_NE(message().find("camera"), std::string::npos);
  EXPECT_NE(error_of([] { (void)load_scene("x.splat", {}, ""); }).find("--camera"),
            std::string::npos);
}

constexpr const char* kTransforms = R"({"camera_angle_x": 1.5707963267948966, "frames": [
  {"file_path": "./train/r_7", "transform_matrix":
   [[1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 1, 4], [0, 0, 0, 1]]}]})";

TEST(Views, TransformsBecomeCamerasThatLookForward) {
  const TempFile file("transforms.json", kTransforms);
  const std::vector<View> views = read_transforms(file.path(), 64, 32);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0].name, "r_7");
  const Camera& camera = views[0].camera;
  EXPECT_FLOAT_EQ(camera.focal_x, 32);
  EXPECT_FLOAT_EQ(camera.tan_x, 1);
  EXPECT_FLOAT_EQ(camera.tan_y, 0.5);
  // OpenGL's camera looks along -z with y up: ours has y down and z forward.
  const float expected[12] = {1, 0, 0, -2, 0, -1, 0, 3, 0, 0, -1, 4};
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_FLOAT_EQ(camera.view[i], expected[i]) << i;
  }
  double centre[3];
  camera_centre(camera, centre);
  EXPECT_DOUBLE_EQ(centre[0], 2);
  EXPECT_DOUBLE_EQ(centre[1], 3);
  EXPECT_DOUBLE_EQ(centre[2], 4);
}

TEST(Views, CameraListsHaveTheirAxesInColumns) {
  // Turned by a quarter about y: looks along +x of the world.
  const TempFile file("list.json",
                      R"([{"img_name": "00001.jpg", "width": 100, "height": 50, "fx": 80, "fy": 90,
      "position": [1, 2, 3], "rotation": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]}])");
  const std::vector<View> views = read_camera_list(file.path());
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0].name, "00001");
  const Camera& camera = views[0].camera;
  EXPECT_FLOAT_EQ(camera.focal_y, 90);
  EXPECT_FLOAT_EQ(camera.tan_y, 25.0F / 90);
  const float forward[4] = {1, 0, 0, -1};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(camera.view[8 + i], forward[i]);
  }
}

TEST(Views, BadOnesGetOneLine) {
  const auto message = [](const std::string& text) {
    const TempFile file("bad_views.json", text);
    return error_of([&] { (void)read_transforms(file.path(), 8, 8); });
  };
  EXPECT_NE(message("{"), "no error");
  EXPECT_NE(message(R"({"camera_angle_x": 1, "frames": []})").find("no views"), std::string::npos);
  EXPECT_NE(message(R"({"camera_angle_x": 4, "frames": []})").find("camera_angle_x"),
            std::string::npos);
  EXPECT_NE(message(R"({"camera_angle_x": 1, "frames": [{"file_path": "a", "transform_matrix":
            [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}]})")
                .find("orthonormal"),
            std::string::npos);
  EXPECT_NE(
      error_of([] { (void)read_transforms("/nonexistent/t.json", 8, 8); }).find("cannot read"),
      std::string::npos);
}

TEST(Views, PhotosAreLaidOnBlack) {
  const std::vector<std::uint8_t> rgba = {255, 100, 0, 255, 255, 100, 10, 0, 200, 100, 50, 128};
  const std::vector<std::uint8_t> expected = {255, 0, 100, 100, 0, 50, 0, 0, 25};
  EXPECT_EQ(on_black(rgba), expected);
}

TEST(PointCloud, ReadsWhatItNeedsAndSkipsTheRest) {
  std::string ply =
      "ply\nformat binary_little_endian 1.0\nelement vertex 2\nproperty float x\n"
      "property float y\nproperty float z\nproperty float nx\nproperty uchar red\n"
      "property uchar green\nproperty uchar blue\nend_header\n";
  const auto add = [&ply](std::array<float, 4> floats, std::array<char, 3> color) {
    ply.append(reinterpret_cast<const char*>(floats.data()), sizeof floats);
    ply.append(color.data(), color.size());
  };
  add({1, 2, 3, 9}, {'\xff', '\0', '\x33'});
  add({4, 5, 6, 9}, {'\0', '\xff', '\0'});
  const TempFile file("scene.ply", ply);
  const std::vector<ColoredPoint> points = read_point_cloud(file.path());
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].position[2], 6);
  EXPECT_EQ(points[0].color[0], 1);
  EXPECT_FLOAT_EQ(points[0].color[2], 0.2F);
  const TempFile cut("cut.ply", ply.substr(0, ply.size() - 1));
  EXPECT_NE(error_of([&] { (void)read_point_cloud(cut.path()); }).find("cut off"),
            std::string::npos);
}

// What a PLY file may have: each a file of the same two points.
TEST(PointCloud, EveryFormatAndTypeGivesTheSamePoints) {
  const std::string header =
      "element vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
      "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n";
  const std::string lines = "1 -2.5 3 255 0 51\n4 5e0 +6 0 255 0\n";
  std::string comments;
  for (int i = 0; i < 250; ++i) {
    comments += "comment number " + std::to_string(i) + "\nobj_info made\n\n";
  }
  const auto changed = [](std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    return text;
  };
  const std::string ascii = "ply\nformat ascii 1.0\n";
  const std::string plain = ascii + header + lines;
  std::vector<std::string> files = {
      plain, ascii + comments + header + lines, changed(plain, "\n", "\r\n"),
      changed(plain, "\n", "\r"), changed(plain, "\n", " \t\n"), changed(plain, "float", "double"),
      changed(changed(plain, "float", "float32"), "uchar", "uint8"), changed(plain, "uchar", "int"),
      changed(changed(plain, "uchar", "ushort"), "255 0 51\n4 5e0 +6 0 255",
              "65535 0 13107\n4 5 6 0 65535"),
      changed(changed(plain, "uchar", "float"), "255 0 51\n4 5e0 +6 0 255", "1 0 0.2\n4 5 6 0 1e0"),
      changed(plain, "property uchar ", "property uchar diffuse_"),
      changed(changed(changed(plain, "red", "r"), "green", "g"), "blue", "b"),
      // Elements and lists in front, and behind.
      ascii + "element camera 1\nproperty double f\nproperty list uchar int ids\n" +
          changed(header, "property uchar red", "property list int float w\nproperty uchar red") +
          "7.5 3 1 2 3\n" + "1 -2.5 3 0 255 0 51\n4 5 6 2 0.5 nan 0 255 0\n" + "and faces\n"};
  for (const bool big : {false, true}) {
    std::string binary = std::string("ply\nformat binary_") + (big ? "big" : "little") +
                         "_endian 1.0\n" +
                         changed(changed(header, "float", "double"), "uchar", "ushort");
    const auto add = [&](auto value) {
      std::string bytes(sizeof value, '\0');
      std::memcpy(bytes.data(), &value, sizeof value);
      binary += big ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
    };
    for (const auto& [position, color] :
         {std::pair<std::array<double, 3>, std::array<std::uint16_t, 3>>{{1, -2.5, 3},
                                                                         {65535, 0, 13107}},
          {{4, 5, 6}, {0, 65535, 0}}}) {
      std::for_each(position.begin(), position.end(), add);
      std::for_each(color.begin(), color.end(), add);
    }
    files.push_back(binary);
    files.push_back(changed(binary.substr(0, binary.find("end_header")), "\n", "\r\n") +
                    "end_header\r\n" + binary.substr(binary.find("end_header") + 11));
  }
  for (const std::string& text : files) {
    const TempFile file("scene.ply", text);
    const std::vector<ColoredPoint> points = read_point_cloud(file.path());
    ASSERT_EQ(points.size(), 2U) << text;
    EXPECT_EQ(points[0].position, (std::array<float, 3>{1, -2.5F, 3})) << text;
    EXPECT_EQ(points[1].position, (std::array<float, 3>{4, 5, 6})) << text;
    EXPECT_EQ(points[0].color, (std::array<float, 3>{1, 0, 0.2F})) << text;
    EXPECT_EQ(points[1].color, (std::array<float, 3>{0, 1, 0})) << text;
  }
}

TEST(PointCloud, WhatIsNoCloudIsSaid) {
  const auto message = [](const std::string& text) {
    const TempFile file("bad.ply", text);
    const std::string why = error_of([&] { (void)read_point_cloud(file.path()); });
    const std::string path = file.path().string() + ": ";
    EXPECT_TRUE(why.starts_with(path)) << why;
    return why.substr(std::min(path.size(), why.size()));
  };
  const std::string ascii = "ply\nformat ascii 1.0\n";
  const std::string xyz =
      "element vertex 1\nproperty float x\nproperty double y\nproperty float z\n";
  const std::string rgb = "property float red\nproperty uchar green\nproperty uchar blue\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"solid\n", "not a PLY file"},
      {"", "not a PLY file"},
      {"plywood\n", "not a PLY file"},
      {ascii + xyz + rgb, "its header does not end"},
      {"ply\n" + xyz + rgb + "end_header\n", "its header names no format"},
      {"ply\nformat binary_middle_endian 1.0\n", "format \"binary_middle_endian\""},
      {ascii + "element vertex many\n", "\"many\" is no number of elements"},
      {ascii + "property float x\n", "a property in front of all elements"},
      {ascii + "element vertex 1\nproperty quad x\n", "a property of type \"quad\""},
      {ascii + "element vertex 1\nvertices 3\n", "a line of its header begins with \"vertices\""},
      {ascii + "element face 0\nproperty list uchar int ids\nelement edge 0\nend_header\n",
       "has no element vertex; it has face, edge"},
      {ascii + xyz + "property float f_dc_0\nproperty float opacity\nend_header\n",
       "is a scene of Gaussians (it has f_dc_0), where coloured points are wanted"},
      {ascii + xyz + "property list uchar int red\nend_header\n",
       "its vertices have no red; they have x (float), y (double), z (float), red (list of int)"},
      {ascii + xyz + rgb + "property uchar r\nend_header\n",
       "its vertices have several of red; they have x (float), y (double), z (float), red (float), "
       "green (uchar), blue (uchar), r (uchar)"},
      {ascii + xyz + rgb + "end_header\n1 2 3 4 5 6\n",
       "point 0 has a color of 4.000000, where 0 to 1 is known of the type float"},
      {ascii + xyz + rgb + "end_header\n1 2 1e39 0 5 6\n", "point 0 is not finite"},
      {ascii + xyz + rgb + "end_header\n1 2 nan 0 5 6\n", "point 0 is not finite"},
      {ascii + xyz + rgb + "end_header\n1 two 3 0 5 6\n", "\"two\" is no number"},
      {ascii + xyz + rgb + "end_header\n1 2 3 0 5\n", "it has been cut off"},
      {ascii + "element vertex 0\n" + xyz.substr(17) + rgb + "end_header\n",
       "no points, or too many"}};
  for (const auto& [text, why] : cases) {
    EXPECT_EQ(message(text), why) << text;
  }
}

TEST(Neighbours, AreThoseOfASearchOverAllPairs) {
  std::mt19937_64 engine(3);
  std::vector<std::array<float, 3>> points(500);
  for (auto& point : points) {
    for (float& v : point) {
      v = static_cast<float>(engine() % 64);  // some coincide
    }
  }
  const std::vector<float> found = neighbour_distances(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<float> all;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (j != i) {
        float squared = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          squared += (points[i][a] - points[j][a]) * (points[i][a] - points[j][a]);
        }
        all.push_back(squared);
      }
    }
    std::sort(all.begin(), all.end());
    EXPECT_FLOAT_EQ(found[i], (all[0] + all[1] + all[2]) / 3);
  }
  EXPECT_EQ(neighbour_distances(std::vector<std::array<float, 3>>{{1, 2, 3}})[0], 0);
  EXPECT_TRUE(neighbour_distances({}).empty());
}

TEST(Model, StartsFromThePoints) {
  const std::vector<ColoredPoint> points = {{{0, 0, 2}, {1, 0.5, 0}},
                                            {{0, 0, 3}, {0, 0, 0}},
                                            {{0, 2, 2}, {0, 0, 0}},
                                            {{3, 0, 2}, {0, 0, 0}}};
  const Model model = initial_model(points);
  const Camera camera = random_camera(20, 10);
  const SceneGaussian g = activate(model, 0, camera)[0];
  EXPECT_FLOAT_EQ(g.scale[1], std::sqrt((1.0F + 4.0F + 9.0F) / 3));
  EXPECT_FLOAT_EQ(g.opacity, 0.1F);
  EXPECT_EQ(g.rotation[0], 1);
  EXPECT_NEAR(g.color[0], 1, 1e-6);
  EXPECT_NEAR(g.color[1], 0.5, 1e-6);
  EXPECT_NEAR(g.color[2], 0, 1e-6);

  const std::vector<ColoredPoint> random = random_points(1000, 1);
  double mean = 0;
  for (const ColoredPoint& point : random) {
    for (const float v : point.position) {
      EXPECT_LE(std::abs(v), 1.3F);
      mean += static_cast<double>(v) / 3000;
    }
  }
  EXPECT_NEAR(mean, 0, 0.05);
}

TEST(Model, ExtentIsThatOfTheCameras) {
  std::vector<Camera> cameras(2, random_camera(20, 10));
  cameras[0].view[3] = -1;  // stands at x = 1
  cameras[1].view[3] = 3;   // stands at x = -3
  EXPECT_NEAR(extent_of(cameras), 2.2, 1e-6);
}

TEST(Densify, FatesFollowGradientSizeAndOpacity) {
  const Settings settings;
  Parameters<double> p{};
  p.row[kOpacityRow] = 0;
  const auto fate = [&](double scale, double gradient, bool prune_large) {
    p.row[kScaleRow] = std::log(scale / 2);
    p.row[kScaleRow + 1] = std::log(scale);
    p.row[kScaleRow + 2] = std::log(scale / 3);
    return fate_of(p, gradient, 10.0, prune_large, settings);
  };
  EXPECT_EQ(fate(0.05, 0.0001, true), Fate::kKeep);
  EXPECT_EQ(fate(0.05, 0.0003, true), Fate::kClone);
  EXPECT_EQ(fate(0.2, 0.0003, true), Fate::kSplit);
  EXPECT_EQ(fate(1.1, 0.0001, false), Fate::kKeep);
  EXPECT_EQ(fate(1.1, 0.0001, true), Fate::kPrune);
  EXPECT_EQ(fate(1.1, 0.0003, true), Fate::kSplit);  // its halves are small enough
  EXPECT_EQ(fate(1.7, 0.0003, true), Fate::kPrune);
  p.row[kOpacityRow] = -6;
  EXPECT_EQ(fate(0.05, 0.0003, true), Fate::kPrune);
  EXPECT_EQ(successors(Fate::kPrune), 0);
  EXPECT_EQ(successors(Fate::kSplit), 2);
}

TEST(Densify, HalvesAreDrawnFromTheWhole) {
  Parameters<double> whole{};
  whole.row[kPositionRow] = 1;
  const double scale[3] = {0.5, 0.1, 0.02};
  for (int axis = 0; axis < 3; ++axis) {
    whole.row[kScaleRow + axis] = std::log(scale[axis]);
  }
  // A quarter turn about z: the longest axis lies along y.
  whole.row[kRotationRow] = whole.row[kRotationRow + 3] = 3;
  constexpr int kDraws = 20'000;
  double mean[3] = {}, square[3] = {};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    Parameters<double> half = whole;
    halve(half, 77, i);
    for (int axis = 0; axis < 3; ++axis) {
      const double step = half.row[kPositionRow + axis] - whole.row[kPositionRow + axis];
      mean[axis] += step / kDraws;
      square[axis] += step * step / kDraws;
      EXPECT_NEAR(std::exp(half.row[kScaleRow + axis]), scale[axis] / 1.6, 1e-6);
    }
  }
  const double expected[3] = {0.1, 0.5, 0.02};
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(mean[axis] / expected[axis], 0, 0.03);
    EXPECT_NEAR(std::sqrt(square[axis]) / expected[axis], 1, 0.03);
  }
}

// A kernel whose time depends on the threshold and, later, on another one.
struct FakeKernel {
  int best = 12;
  int launches = 0;
  int prepared = 0;
  int timed = 0;
  int last = -1;

  int run(ReduceArcTuner<int>& tuner) {
    return tuner.run([&] { ++prepared; },
                     [&](int threshold) {
                       ++launches;
                       last = threshold;
                     },
                     [&](const auto& work) {
                       ++timed;
                       work();
                       return 1.0 + 0.01 * std::abs(last - best);
                     });
  }
};

TEST(ReduceArcTuner, TakesTheFastestAndTriesAgainAfterThePeriod) {
  ReduceArcTuner<int> tuner(balancing_thresholds(), 5);
  FakeKernel kernel;
  EXPECT_EQ(kernel.run(tuner), 12);
  EXPECT_EQ(kernel.launches, 33);
  EXPECT_EQ(kernel.timed, 33);
  EXPECT_DOUBLE_EQ(tuner.best_time(), 1.0);
  kernel.best = 20;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(kernel.run(tuner), 12);  // not yet
    EXPECT_EQ(kernel.last, 12);
  }
  EXPECT_EQ(kernel.launches, 37);
  EXPECT_EQ(kernel.run(tuner), 20);
  EXPECT_EQ(kernel.launches, 70);
  EXPECT_EQ(kernel.timed, 66);
  EXPECT_EQ(kernel.prepared, kernel.launches);
  EXPECT_EQ(tuner.rounds(), 2U);
  EXPECT_EQ(tuner.best(), 20);
}

TEST(ReduceArcTuner, RefusesWhatItCannotChooseFrom) {
  EXPECT_THROW(ReduceArcTuner<int>({}, 5), std::invalid_argument);
  EXPECT_THROW(ReduceArcTuner<int>({1}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace warpfold::capture::training
