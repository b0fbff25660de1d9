// SPDX-License-Identifier: Apache-2.0
// Random spheres, their picture and its gradients in plain C++ and double precision: what the CUDA
// kernels are checked against. Host only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/capture/spheres/sphere_math.cuh"

namespace warpfold::capture::spheres {

struct Sphere {
  float position[3];
  float radius;
  float opacity;
  float color[3];
};

// Centres uniform in [-5, 5] x [-5, 5] x [25, 35], colours uniform in [0, 1], opacity 1. `radius`
// is that of all, or with `random_radius` the largest of a uniform distribution.
[[nodiscard]] std::vector<Sphere> random_spheres(std::size_t count, float radius,
                                                 bool random_radius, std::uint64_t seed);

// Of Pulsar's examples: focal length 5, sensor 2 wide, from 5 to 45 deep.
[[nodiscard]] SphereCamera make_camera(int width, int height, float gamma);

// Pixels that a sphere can cover, one more on each side; empty if it lies outside of the picture or
// reaches to the camera's plane.
struct Box {
  std::int16_t x0, x1, y0, y1;  // x1 and y1 are beyond
};
[[nodiscard]] Box bounds(const Sphere& sphere, const SphereCamera& camera);

// Picture that the loss, a mean squared error, compares with.
[[nodiscard]] float target(int x, int y, int channel);

// A pixel of the forward pass.
template <class Real>
struct Pixel {
  Real greatest;
  Real sum;  // of the weights over 2^greatest
  Real color[3];
};

namespace reference {

// One pixel, all spheres. `nearest`: at most `track` of those met, from the nearest on.
[[nodiscard]] Pixel<double> render(std::span<const Sphere> spheres, const SphereCamera& camera,
                                   int x, int y, std::size_t track,
                                   std::vector<std::uint32_t>& nearest);
// Depth of the hit; of a ray that passes by, that of the nearest point to the centre.
[[nodiscard]] double depth(const Sphere& sphere, const SphereCamera& camera, int x, int y);

// Gradients by all parameters of a pixel whose forward pass is `pixel`: kSphereParameters values,
// for one of the spheres that its ray meets.
void gradients(const Sphere& sphere, const SphereCamera& camera, int x, int y,
               const Pixel<double>& pixel, const double (&dl_dcolor)[3],
               double (&out)[kSphereParameters]);

}  // namespace reference
}  // namespace warpfold::capture::spheres
