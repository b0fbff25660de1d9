// SPDX-License-Identifier: Apache-2.0
// What is looked at and what it mirrors: meshes, environment maps, cameras, and the CPU reference
// of everything that the kernels do, in double precision. Host only.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <span>
#include <string>
#include <vector>

namespace warpfold::capture::envmap {

struct Mesh {
  std::vector<std::array<float, 3>> positions;  // within the unit sphere around the origin
  std::vector<std::array<float, 3>> normals;    // of the vertices: of the faces by their area
  std::vector<std::array<std::int32_t, 3>> triangles;
};
// Wavefront OBJ: positions and faces, which are cut into triangles; everything else is passed over.
// The mesh is moved and scaled into the unit sphere. Throws InputError.
[[nodiscard]] Mesh read_obj(std::istream& in, const std::string& name);
[[nodiscard]] Mesh load_obj(const std::filesystem::path& path);

// Radiance by direction: row 0 is up (+y), columns go around.
struct Panorama {
  int width = 0;
  int height = 0;
  std::vector<std::array<float, 3>> pixels;
};
// Radiance RGBE, run-length coded or flat, rows from the top. Throws InputError.
[[nodiscard]] Panorama read_hdr(std::istream& in, const std::string& name);
[[nodiscard]] Panorama load_hdr(const std::filesystem::path& path);

// Texels of a cubemap as cube_math.cuh orders them, 3 floats each, none above `limit`.
[[nodiscard]] std::vector<float> to_cubemap(const Panorama& panorama, int size, float limit);
// The direction of a texel's centre, of length 1.
[[nodiscard]] std::array<double, 3> texel_direction(int size, std::uint32_t texel);

// Square picture, half the angle of view has the tangent `tan_half`; it looks at the origin.
struct View {
  float eye[3];
  float right[3], up[3], forward[3];
  float tan_half;
  int size;  // pixels on a side
};
// The n-th of a fixed series of views from all sides.
[[nodiscard]] View make_view(std::uint64_t seed, int n, int size);

// A pixel: the direction in which the surface mirrors the ray, and 1; or zeros.
struct Reflection {
  float x, y, z, covered;
};

namespace reference {

[[nodiscard]] std::vector<Reflection> rasterize(const Mesh& mesh, const View& view);
// The cubemap's colour in each direction; 0 where nothing is.
[[nodiscard]] std::vector<double> sample(std::span<const Reflection> directions, int size,
                                         std::span<const double> cubemap);
// Mean over pixels and channels of the squared difference.
[[nodiscard]] double loss(std::span<const double> picture, std::span<const double> target);
// What the gradient kernel adds up: dL/dtexel for a gradient of the picture, 3 floats a pixel.
[[nodiscard]] std::vector<double> backward(std::span<const Reflection> directions, int size,
                                           std::span<const float> dl_dpicture);

}  // namespace reference
}  // namespace warpfold::capture::envmap
