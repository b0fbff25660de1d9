// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/point_cloud.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::training {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kMaxHeaderLines = 200;
constexpr std::size_t kMaxPoints = 100'000'000;
constexpr std::array<const char*, 6> kWanted = {"x", "y", "z", "red", "green", "blue"};

struct Property {
  std::string type;
  std::size_t offset;
};

std::size_t size_of(std::string_view type) {
  for (const char* name : {"char", "uchar", "int8", "uint8"}) {
    if (type == name) {
      return 1;
    }
  }
  for (const char* name : {"short", "ushort", "int16", "uint16"}) {
    if (type == name) {
      return 2;
    }
  }
  for (const char* name : {"int", "uint", "float", "int32", "uint32", "float32"}) {
    if (type == name) {
      return 4;
    }
  }
  if (type == "double" || type == "float64") {
    return 8;
  }
  throw InputError("property of type \"" + std::string(type) + "\"");
}

struct Layout {
  std::size_t vertices = 0;
  std::size_t stride = 0;
  std::array<std::optional<Property>, kWanted.size()> wanted;
};

Layout read_header(std::ifstream& file) {
  Layout layout;
  bool binary = false;
  bool in_vertex = false;
  bool seen_vertex = false;
  std::string line;
  for (std::size_t i = 0; i < kMaxHeaderLines && std::getline(file, line); ++i) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    std::istringstream words(line);
    std::string key, a, b;
    words >> key >> a >> b;
    if (i == 0 && line != "ply") {
      break;
    }
    if (key == "format") {
      binary = a == "binary_little_endian";
    } else if (key == "element") {
      if (a != "vertex" && !seen_vertex) {
        throw InputError("\"" + a + "\" lies in front of the vertices");
      }
      in_vertex = a == "vertex";
      if (in_vertex) {
        seen_vertex = true;
        std::istringstream(b) >> layout.vertices;
      }
    } else if (key == "property" && in_vertex) {
      for (std::size_t k = 0; k < kWanted.size(); ++k) {
        if (b == kWanted[k]) {
          layout.wanted[k] = Property{a, layout.stride};
        }
      }
      layout.stride += size_of(a);
    } else if (key == "end_header") {
      if (!binary) {
        throw InputError("not binary_little_endian");
      }
      return layout;
    }
  }
  throw InputError("not a PLY file");
}

}  // namespace

std::vector<ColoredPoint> read_point_cloud(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InputError(path.string() + ": cannot read the points");
  }
  try {
    const Layout layout = read_header(file);
    for (std::size_t k = 0; k < kWanted.size(); ++k) {
      const auto& property = layout.wanted[k];
      const char* type = k < 3 ? "float" : "uchar";
      if (!property ||
          (property->type != type && property->type != (k < 3 ? "float32" : "uint8"))) {
        throw InputError(std::string("no ") + kWanted[k] + " of type " + type);
      }
    }
    if (layout.vertices == 0 || layout.vertices > kMaxPoints) {
      throw InputError("no points, or too many");
    }
    const std::string bytes = read_up_to(file, layout.vertices * layout.stride);
    if (bytes.size() != layout.vertices * layout.stride) {
      throw InputError("it has been cut off");
    }
    std::vector<ColoredPoint> points(layout.vertices);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const char* record = bytes.data() + i * layout.stride;
      for (std::size_t k = 0; k < 3; ++k) {
        std::memcpy(&points[i].position[k], record + layout.wanted[k]->offset, sizeof(float));
        if (!std::isfinite(points[i].position[k])) {
          throw InputError("point " + std::to_string(i) + " is not finite");
        }
        const auto color = static_cast<unsigned char>(record[layout.wanted[3 + k]->offset]);
        points[i].color[k] = static_cast<float>(color) / 255.0F;
      }
    }
    return points;
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

}  // namespace warpfold::capture::training
