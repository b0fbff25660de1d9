// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/envmap/scene.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::envmap {
namespace {

using Vector = std::array<double, 3>;

Vector to_vector(const std::array<float, 3>& v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}
Vector to_vector(const float (&v)[3]) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}
Vector minus(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector normalized(const Vector& a) {
  const double length = std::sqrt(dot(a, a));
  return length == 0 ? Vector{0, 0, 1} : Vector{a[0] / length, a[1] / length, a[2] / length};
}
std::array<float, 3> to_float(const Vector& a) {
  return {static_cast<float>(a[0]), static_cast<float>(a[1]), static_cast<float>(a[2])};
}

void into_unit_sphere(Mesh& mesh) {
  Vector low, high;
  low.fill(std::numeric_limits<double>::max());
  high.fill(std::numeric_limits<double>::lowest());
  for (const auto& p : mesh.positions) {
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], static_cast<double>(p[k]));
      high[k] = std::max(high[k], static_cast<double>(p[k]));
    }
  }
  double radius2 = 0;
  std::vector<Vector> moved;
  for (const auto& p : mesh.positions) {
    Vector v = to_vector(p);
    for (std::size_t k = 0; k < 3; ++k) {
      v[k] -= 0.5 * (low[k] + high[k]);
    }
    radius2 = std::max(radius2, dot(v, v));
    moved.push_back(v);
  }
  const double scale = radius2 == 0 ? 1.0 : 1.0 / std::sqrt(radius2);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    mesh.positions[i] = to_float({moved[i][0] * scale, moved[i][1] * scale, moved[i][2] * scale});
  }
}

void add_normals(Mesh& mesh) {
  std::vector<Vector> sums(mesh.positions.size(), Vector{0, 0, 0});
  for (const auto& t : mesh.triangles) {
    const Vector a = to_vector(mesh.positions[static_cast<std::size_t>(t[0])]);
    const Vector b = to_vector(mesh.positions[static_cast<std::size_t>(t[1])]);
    const Vector c = to_vector(mesh.positions[static_cast<std::size_t>(t[2])]);
    const Vector n = cross(minus(b, a), minus(c, a));
    for (const std::int32_t corner : t) {
      for (std::size_t k = 0; k < 3; ++k) {
        sums[static_cast<std::size_t>(corner)][k] += n[k];
      }
    }
  }
  for (const Vector& sum : sums) {
    mesh.normals.push_back(to_float(normalized(sum)));
  }
}

// One row of an RGBE file.
void read_row(std::istream& in, const std::string& name, int width,
              std::vector<std::uint8_t>& row) {
  const auto byte = [&] {
    const int c = in.get();
    if (c == std::istream::traits_type::eof()) {
      throw InputError(name + ": is cut off");
    }
    return static_cast<std::uint8_t>(c);
  };
  const auto columns = static_cast<std::size_t>(width);
  row.assign(columns * 4, 0);
  std::uint8_t head[4];
  for (std::uint8_t& h : head) {
    h = byte();
  }
  if (head[0] != 2 || head[1] != 2 || (head[2] << 8 | head[3]) != width) {
    std::copy(std::begin(head), std::end(head), row.begin());
    for (std::size_t i = 4; i < row.size(); ++i) {
      row[i] = byte();
    }
    return;
  }
  for (std::size_t channel = 0; channel < 4; ++channel) {
    for (std::size_t x = 0; x < columns;) {
      const std::uint8_t code = byte();
      const std::size_t count = code > 128 ? code - 128U : code;
      if (count == 0 || x + count > columns) {
        throw InputError(name + ": has a run that leaves its row");
      }
      const std::uint8_t first = byte();
      for (std::size_t i = 0; i < count; ++i, ++x) {
        row[4 * x + channel] = code > 128 || i == 0 ? first : byte();
      }
    }
  }
}

}  // namespace

Mesh read_obj(std::istream& in, const std::string& name) {
  Mesh mesh;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const auto wrong = [&](const char* what) {
      return InputError(name + ": line " + std::to_string(number) + " " + what);
    };
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "v") {
      std::array<float, 3> p{};
      if (!(words >> p[0] >> p[1] >> p[2])) {
        throw wrong("is no position");
      }
      mesh.positions.push_back(p);
    } else if (kind == "f") {
      std::vector<std::int32_t> corners;
      for (std::string word; words >> word;) {
        const long index = std::strtol(word.c_str(), nullptr, 10);
        const long count = static_cast<long>(mesh.positions.size());
        const long at = index < 0 ? count + index : index - 1;
        if (index == 0 || at < 0 || at >= count) {
          throw wrong("names a position that is not there");
        }
        corners.push_back(static_cast<std::int32_t>(at));
      }
      if (corners.size() < 3) {
        throw wrong("is no face");
      }
      for (std::size_t i = 2; i < corners.size(); ++i) {
        mesh.triangles.push_back({corners[0], corners[i - 1], corners[i]});
      }
    }
  }
  if (mesh.triangles.empty()) {
    throw InputError(name + ": has no face");
  }
  into_unit_sphere(mesh);
  add_normals(mesh);
  return mesh;
}

Mesh load_obj(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw InputError(path.string() + ": cannot be read");
  }
  return read_obj(file, path.string());
}

Panorama read_hdr(std::istream& in, const std::string& name) {
  std::string line;
  std::getline(in, line);
  if (line.rfind("#?", 0) != 0) {
    throw InputError(name + ": is no Radiance picture");
  }
  bool rgbe = false;
  while (std::getline(in, line) && !line.empty()) {
    rgbe = rgbe || line == "FORMAT=32-bit_rle_rgbe";
  }
  Panorama panorama;
  std::string y, x;
  if (!rgbe || !(in >> y >> panorama.height >> x >> panorama.width) || y != "-Y" || x != "+X" ||
      panorama.width < 8 || panorama.width > 32767 || panorama.height < 1 ||
      panorama.height > 32767) {
    throw InputError(name + ": is no RGBE picture with rows from the top");
  }
  in.get();
  std::vector<std::uint8_t> row;
  for (int j = 0; j < panorama.height; ++j) {
    read_row(in, name, panorama.width, row);
    for (std::size_t i = 0; i < row.size(); i += 4) {
      const float scale = row[i + 3] == 0 ? 0.0F : std::ldexp(1.0F, row[i + 3] - 136);
      panorama.pixels.push_back({scale * (static_cast<float>(row[i]) + 0.5F),
                                 scale * (static_cast<float>(row[i + 1]) + 0.5F),
                                 scale * (static_cast<float>(row[i + 2]) + 0.5F)});
    }
  }
  return panorama;
}

Panorama load_hdr(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InputError(path.string() + ": cannot be read");
  }
  return read_hdr(file, path.string());
}

std::array<double, 3> texel_direction(int size, std::uint32_t texel) {
  const auto n = static_cast<std::uint32_t>(size);
  const std::uint32_t face = texel / (n * n);
  const double u = (2.0 * (texel % n) + 1.0) / size - 1.0;
  const double v = (2.0 * (texel / n % n) + 1.0) / size - 1.0;
  const double sign = face % 2 == 0 ? 1.0 : -1.0;
  switch (face / 2) {
    case 0:
      return normalized({sign, u, v});
    case 1:
      return normalized({u, sign, v});
    default:
      return normalized({u, v, sign});
  }
}

std::vector<float> to_cubemap(const Panorama& panorama, int size, float limit) {
  const auto texels = static_cast<std::uint32_t>(6 * size * size);
  std::vector<float> cubemap;
  cubemap.reserve(std::size_t{texels} * 3);
  constexpr double kPi = 3.14159265358979323846;
  for (std::uint32_t t = 0; t < texels; ++t) {
    const auto d = texel_direction(size, t);
    const double around = (std::atan2(d[0], d[2]) / (2 * kPi) + 0.5) * panorama.width;
    const double down = std::acos(std::clamp(d[1], -1.0, 1.0)) / kPi * panorama.height;
    const auto x = static_cast<std::size_t>(std::clamp(around, 0.0, panorama.width - 1.0));
    const auto y = static_cast<std::size_t>(std::clamp(down, 0.0, panorama.height - 1.0));
    for (const float c : panorama.pixels[y * static_cast<std::size_t>(panorama.width) + x]) {
      cubemap.push_back(std::min(c, limit));
    }
  }
  return cubemap;
}

View make_view(std::uint64_t seed, int n, int size) {
  constexpr double kDistance = 2.6;
  constexpr float kTanHalf = 0.4F;
  std::mt19937_64 random(seed);
  random.discard(static_cast<unsigned long long>(2 * n));
  // Uniform on the sphere, by the 53 upper bits of each number: the same with every library.
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const double z = 2 * unit() - 1;
  const double angle = 6.283185307179586 * unit();
  const double flat = std::sqrt(std::max(0.0, 1 - z * z));
  const Vector from = {flat * std::cos(angle), z, flat * std::sin(angle)};
  const Vector forward = {-from[0], -from[1], -from[2]};
  const Vector above = std::abs(from[1]) > 0.99 ? Vector{1, 0, 0} : Vector{0, 1, 0};
  const Vector right = normalized(cross(forward, above));
  const Vector up = cross(right, forward);
  View view{};
  for (std::size_t k = 0; k < 3; ++k) {
    view.eye[k] = static_cast<float>(kDistance * from[k]);
    view.right[k] = static_cast<float>(right[k]);
    view.up[k] = static_cast<float>(up[k]);
    view.forward[k] = static_cast<float>(forward[k]);
  }
  view.tan_half = kTanHalf;
  view.size = size;
  return view;
}

namespace reference {
namespace {

// Texels and shares of a direction: the same rule as the kernels', worked out anew.
struct Tap {
  std::size_t texel;
  double share;
};
std::array<Tap, 4> taps(const Reflection& r, int size) {
  const double d[3] = {static_cast<double>(r.x), static_cast<double>(r.y),
                       static_cast<double>(r.z)};
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (std::abs(d[k]) > std::abs(d[axis])) {
      axis = k;
    }
  }
  const int face = 2 * axis + (d[axis] < 0 ? 1 : 0);
  double place[2];
  for (int k = 0, n = 0; k < 3; ++k) {
    if (k != axis) {
      const double at = (d[k] / std::abs(d[axis]) + 1) * 0.5 * size - 0.5;
      place[n++] = std::clamp(at, 0.0, size - 1.0);
    }
  }
  std::array<Tap, 4> result{};
  for (int corner = 0; corner < 4; ++corner) {
    int index[2];
    double share = 1;
    for (int k = 0; k < 2; ++k) {
      const double low = std::floor(place[k]);
      const bool upper = (corner >> k & 1) != 0;
      index[k] = std::min(static_cast<int>(low) + (upper ? 1 : 0), size - 1);
      share *= upper ? place[k] - low : 1 - (place[k] - low);
    }
    result[static_cast<std::size_t>(corner)] = {
        static_cast<std::size_t>((face * size + index[1]) * size + index[0]), share};
  }
  return result;
}

}  // namespace

std::vector<Reflection> rasterize(const Mesh& mesh, const View& view) {
  const auto size = static_cast<std::size_t>(view.size);
  std::vector<Reflection> pixels(size * size, Reflection{0, 0, 0, 0});
  std::vector<double> nearest(size * size, std::numeric_limits<double>::max());
  const Vector eye = to_vector(view.eye);
  const Vector right = to_vector(view.right);
  const Vector up = to_vector(view.up);
  const Vector forward = to_vector(view.forward);
  const double scale = 0.5 * view.size / static_cast<double>(view.tan_half);
  std::vector<Vector> screen;  // x, y in pixels from the middle of pixel (0, 0); depth
  for (const auto& p : mesh.positions) {
    const Vector d = minus(to_vector(p), eye);
    const double depth = dot(d, forward);
    screen.push_back({0.5 * view.size - 0.5 + scale * dot(d, right) / depth,
                      0.5 * view.size - 0.5 - scale * dot(d, up) / depth, depth});
  }
  for (const auto& t : mesh.triangles) {
    const Vector* c[3];
    for (std::size_t k = 0; k < 3; ++k) {
      c[k] = &screen[static_cast<std::size_t>(t[k])];
    }
    const auto edge = [](const Vector& a, const Vector& b, double x, double y) {
      return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    };
    const double area = edge(*c[0], *c[1], (*c[2])[0], (*c[2])[1]);
    if (area == 0) {
      continue;
    }
    double low[2], high[2];
    for (std::size_t k = 0; k < 2; ++k) {
      low[k] = std::max(0.0, std::ceil(std::min({(*c[0])[k], (*c[1])[k], (*c[2])[k]})));
      high[k] =
          std::min(view.size - 1.0, std::floor(std::max({(*c[0])[k], (*c[1])[k], (*c[2])[k]})));
    }
    for (double y = low[1]; y <= high[1]; ++y) {
      for (double x = low[0]; x <= high[0]; ++x) {
        double b[3] = {edge(*c[1], *c[2], x, y) / area, edge(*c[2], *c[0], x, y) / area,
                       edge(*c[0], *c[1], x, y) / area};
        if (b[0] < 0 || b[1] < 0 || b[2] < 0) {
          continue;
        }
        double inverse = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          b[k] /= (*c[k])[2];
          inverse += b[k];
        }
        const std::size_t at = static_cast<std::size_t>(y) * size + static_cast<std::size_t>(x);
        if (1 / inverse >= nearest[at]) {
          continue;
        }
        nearest[at] = 1 / inverse;
        Vector normal = {0, 0, 0};
        for (std::size_t k = 0; k < 3; ++k) {
          const Vector n = to_vector(mesh.normals[static_cast<std::size_t>(t[k])]);
          for (std::size_t i = 0; i < 3; ++i) {
            normal[i] += n[i] * b[k] / inverse;
          }
        }
        normal = normalized(normal);
        Vector ray;
        for (std::size_t i = 0; i < 3; ++i) {
          ray[i] = forward[i] +
                   (right[i] * (x + 0.5 - 0.5 * view.size) - up[i] * (y + 0.5 - 0.5 * view.size)) /
                       scale;
        }
        ray = normalized(ray);
        const double along = 2 * dot(ray, normal);
        pixels[at] = {static_cast<float>(ray[0] - along * normal[0]),
                      static_cast<float>(ray[1] - along * normal[1]),
                      static_cast<float>(ray[2] - along * normal[2]), 1};
      }
    }
  }
  return pixels;
}

std::vector<double> sample(std::span<const Reflection> directions, int size,
                           std::span<const double> cubemap) {
  std::vector<double> picture(directions.size() * 3, 0.0);
  for (std::size_t p = 0; p < directions.size(); ++p) {
    if (directions[p].covered == 0) {
      continue;
    }
    for (const Tap& tap : taps(directions[p], size)) {
      for (std::size_t c = 0; c < 3; ++c) {
        picture[3 * p + c] += tap.share * cubemap[3 * tap.texel + c];
      }
    }
  }
  return picture;
}

double loss(std::span<const double> picture, std::span<const double> target) {
  double sum = 0;
  for (std::size_t i = 0; i < picture.size(); ++i) {
    sum += (picture[i] - target[i]) * (picture[i] - target[i]);
  }
  return sum / static_cast<double>(picture.size());
}

std::vector<double> backward(std::span<const Reflection> directions, int size,
                             std::span<const float> dl_dpicture) {
  std::vector<double> gradient(static_cast<std::size_t>(6 * size * size) * 3, 0.0);
  for (std::size_t p = 0; p < directions.size(); ++p) {
    if (directions[p].covered == 0) {
      continue;
    }
    for (const Tap& tap : taps(directions[p], size)) {
      for (std::size_t c = 0; c < 3; ++c) {
        gradient[3 * tap.texel + c] += tap.share * static_cast<double>(dl_dpicture[3 * p + c]);
      }
    }
  }
  return gradient;
}

}  // namespace reference
}  // namespace warpfold::capture::envmap
