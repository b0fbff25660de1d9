// SPDX-License-Identifier: Apache-2.0
// Scenes, cameras and policy names, and the one line that bad ones get.
#include "traces/capture/splat/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tb/capture/input_file.hpp"
#include "traces/capture/splat/policy.hpp"

namespace warpfold::capture {
namespace {

constexpr const char* kCameras = R"({"scenes": {
  "a": {"width": 64, "height": 48, "fov_x": 90, "eye": [1, 2, 3], "target": [1, 2, 7],
        "up": [0, -1, 0], "published_ms": {"baseline": 1.5, "sw-b": {"8": 0.5}}},
  "b": {"width": 64, "height": 48, "fov_x": 90, "eye": [1, 2], "target": [0, 0, 1], "up": [0, 1, 0]}
}})";

TEST(Scene, SplatsComeBackAsWritten) {
  const auto splats = random_splats(5, 1);
  std::string bytes(reinterpret_cast<const char*>(splats.data()), splats.size() * sizeof(Splat));
  const TempFile file("scene.splat", bytes);
  const auto read = load_splats(file.path());
  ASSERT_EQ(read.size(), 5U);
  EXPECT_EQ(read[3].position[2], splats[3].position[2]);
  EXPECT_EQ(read[4].rotation[3], splats[4].rotation[3]);
}

TEST(Scene, SplatsAreDecoded) {
  Splat splat{{1, 2, 3}, {0.5F, 0.25F, 0.125F}, {255, 0, 51, 102}, {255, 128, 64, 0}};
  SceneGaussian g = decode(std::vector<Splat>{splat})[0];
  EXPECT_EQ(g.position[1], 2.0F);
  EXPECT_EQ(g.scale[2], 0.125F);
  EXPECT_EQ(g.color[0], 1.0F);
  EXPECT_FLOAT_EQ(g.color[2], 0.2F);
  EXPECT_FLOAT_EQ(g.opacity, 0.4F);
  EXPECT_EQ(g.rotation[0], 127.0F / 128);
  EXPECT_EQ(g.rotation[2], -0.5F);
  for (std::uint8_t& q : splat.rotation) {
    q = 128;
  }
  EXPECT_EQ(decode(std::vector<Splat>{splat})[0].rotation[0], 1.0F);  // no rotation at all
}

TEST(Scene, BadScenesGetOneLine) {
  EXPECT_EQ(error_of([] { (void)load_splats("/nonexistent/x.splat"); }),
            "/nonexistent/x.splat: cannot read the scene: No such file or directory");
  const TempFile cut("cut.splat", std::string(33, 'x'));
  EXPECT_NE(error_of([&] { (void)load_splats(cut.path()); }).find("33 bytes"), std::string::npos);
  const TempFile packed("scene.splat.gz", std::string(32, 'x'));
  EXPECT_NE(error_of([&] { (void)load_splats(packed.path()); }).find("gunzip"), std::string::npos);
  const TempFile nan("nan.splat", std::string(32, '\xff'));
  EXPECT_NE(error_of([&] { (void)load_splats(nan.path()); }).find("not finite"), std::string::npos);
}

TEST(Scene, TheCameraLooksAtItsTargetWithYDown) {
  const TempFile file("cameras.json", kCameras);
  const Viewpoint viewpoint = load_viewpoint(file.path(), "a");
  EXPECT_EQ(viewpoint.published_ms.at("baseline"), 1.5);
  EXPECT_EQ(viewpoint.published_ms.at("sw-b:8"), 0.5);
  const Camera camera = make_camera(viewpoint);
  EXPECT_FLOAT_EQ(camera.focal_x, 32.0F);
  EXPECT_FLOAT_EQ(camera.tan_x, 1.0F);
  EXPECT_FLOAT_EQ(camera.tan_y, 0.75F);
  EXPECT_EQ(camera.tiles(), 12);
  // The world of this scene is y down, so the view is a shift by -eye.
  const float expected[12] = {1, 0, 0, -1, 0, 1, 0, -2, 0, 0, 1, -3};
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(camera.view[i], expected[i], 1e-6) << i;
  }
}

TEST(Scene, BadCamerasGetOneLine) {
  const TempFile file("cameras.json", kCameras);
  EXPECT_NE(error_of([&] {
              (void)load_viewpoint(file.path(), "c");
            }).find("no camera named \"c\"; it has a, b"),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)load_viewpoint(file.path(), "b"); }).find("\"eye\" is not a list"),
            std::string::npos);
  const TempFile broken("broken.json", "{");
  EXPECT_NE(error_of([&] { (void)load_viewpoint(broken.path(), "a"); }), "no error");
  const TempFile controls("controls.json", R"({"scenes": {"a\r\u001b\n": {}}})");
  EXPECT_NE(error_of([&] {
              (void)load_viewpoint(controls.path(), "a");
            }).find("no camera named \"a\"; it has a???"),
            std::string::npos);
  Viewpoint viewpoint = load_viewpoint(file.path(), "a");
  viewpoint.target[2] = 3;
  EXPECT_EQ(error_of([&] { (void)make_camera(viewpoint); }),
            "camera: eye and target are the same point");
}

TEST(Scene, TheLossGradientIsThatOfTheMeanSquaredError) {
  const std::vector<float> target = target_image(20, 10);
  ASSERT_EQ(target.size(), 600U);
  for (const float t : target) {
    EXPECT_GE(t, 0.0F);
    EXPECT_LE(t, 1.0F);
  }
  std::vector<float> image(600, 0.5F);
  const auto gradient = loss_gradient(image, target);
  EXPECT_FLOAT_EQ(gradient[17], 2.0F / 600 * (0.5F - target[17]));
}

TEST(Policy, NamesGoBothWays) {
  for (const Policy& policy : timed_policies()) {
    const Policy parsed = parse_policy(policy.name());
    EXPECT_EQ(parsed.variant, policy.variant);
    EXPECT_EQ(parsed.threshold, policy.threshold);
  }
  EXPECT_EQ(parse_policy("none").variant, Variant::kNone);
  for (const char* bad :
       {"", "sw-b", "sw-b:", "sw-b:33", "sw-b:-1", "sw-b:1x", "skip:3", "other"}) {
    EXPECT_NE(error_of([&] { (void)parse_policy(bad); }).find("unknown policy"), std::string::npos)
        << bad;
  }
}

}  // namespace
}  // namespace warpfold::capture
