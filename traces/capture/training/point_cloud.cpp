// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/training/point_cloud.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "traces/capture/common/input.hpp"

namespace warpfold::capture::training {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostPoints = 100'000'000;
constexpr std::size_t kMostNamed = 12;  // properties, in a message

// What a point is made of, and what programs call it.
constexpr std::array<std::array<std::string_view, 3>, 6> kWanted = {
    {{"x", "x", "x"},
     {"y", "y", "y"},
     {"z", "z", "z"},
     {"red", "r", "diffuse_red"},
     {"green", "g", "diffuse_green"},
     {"blue", "b", "diffuse_blue"}}};
constexpr std::size_t kFirstColor = 3;

enum class Type : std::uint8_t { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };
struct TypeName {
  std::string_view name, other;
  std::size_t bytes;
};
constexpr std::array<TypeName, 8> kTypes = {{{"char", "int8", 1},
                                             {"uchar", "uint8", 1},
                                             {"short", "int16", 2},
                                             {"ushort", "uint16", 2},
                                             {"int", "int32", 4},
                                             {"uint", "uint32", 4},
                                             {"float", "float32", 4},
                                             {"double", "float64", 8}}};
constexpr const TypeName& of(Type type) {
  return kTypes[static_cast<std::size_t>(type)];
}

struct Property {
  std::string name;
  Type type = Type::kFloat;
  std::optional<Type> count;  // of a list
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

enum class Format : std::uint8_t { kNone, kAscii, kLittle, kBig };

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

Type type_of(std::string_view word) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (word == kTypes[i].name || word == kTypes[i].other) {
      return static_cast<Type>(i);
    }
  }
  throw InputError("a property of type \"" + std::string(word) + "\"");
}

class Header {
 public:
  explicit Header(std::istream& file) {
    std::string line;
    next(file, line);
    if (words_of(line) != std::vector<std::string_view>{"ply"}) {
      throw InputError("not a PLY file");
    }
    do {
      next(file, line);
    } while (take(words_of(line)));
    if (format_ == Format::kNone) {
      throw InputError("its header names no format");
    }
  }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const std::vector<Element>& elements() const { return elements_; }

 private:
  // Lines end with a line feed, or all of them with a carriage return alone, which the first shows.
  void next(std::istream& file, std::string& line) {
    line.clear();
    const bool first = bytes_ == 0;
    for (int c = file.get(); c != end_; c = file.get()) {
      if (first && c == '\r' && file.peek() != '\n') {
        end_ = '\r';
        return;
      }
      if (c == std::char_traits<char>::eof() || ++bytes_ > kMostHeaderBytes) {
        throw InputError(bytes_ > kMostHeaderBytes || elements_.empty()
                             ? "not a PLY file"
                             : "its header does not end");
      }
      line += static_cast<char>(c);
    }
  }

  // False at the end.
  bool take(const std::vector<std::string_view>& words) {
    if (words.empty() || words[0] == "comment" || words[0] == "obj_info") {
      return true;
    }
    if (words[0] == "end_header") {
      return false;
    }
    if (words[0] == "format" && words.size() == 3) {
      format_ = words[1] == "ascii"                  ? Format::kAscii
                : words[1] == "binary_little_endian" ? Format::kLittle
                : words[1] == "binary_big_endian"    ? Format::kBig
                                                     : Format::kNone;
      if (format_ == Format::kNone) {
        throw InputError("format \"" + std::string(words[1]) + "\"");
      }
    } else if (words[0] == "element" && words.size() == 3) {
      Element element{std::string(words[1]), 0, {}};
      const char* const end = words[2].data() + words[2].size();
      const auto [rest, error] = std::from_chars(words[2].data(), end, element.count);
      if (error != std::errc() || rest != end) {
        throw InputError("\"" + std::string(words[2]) + "\" is no number of elements");
      }
      elements_.push_back(std::move(element));
    } else if (words[0] == "property" && words.size() == 3) {
      add({std::string(words[2]), type_of(words[1]), std::nullopt});
    } else if (words[0] == "property" && words.size() == 5 && words[1] == "list") {
      add({std::string(words[4]), type_of(words[3]), type_of(words[2])});
    } else {
      throw InputError("a line of its header begins with \"" + std::string(words[0]) + "\"");
    }
    return true;
  }

  void add(Property property) {
    if (elements_.empty()) {
      throw InputError("a property in front of all elements");
    }
    elements_.back().properties.push_back(std::move(property));
  }

  std::size_t bytes_ = 0;
  char end_ = '\n';
  Format format_ = Format::kNone;
  std::vector<Element> elements_;
};

[[noreturn]] void refuse_cut_off() {
  throw InputError("it has been cut off");
}

// The values behind the header, one after the other.
class Values {
 public:
  Values(std::istream& file, Format format) : file_(file), format_(format) {}

  double next(Type type) { return format_ == Format::kAscii ? word() : number(type); }

  void skip(const Property& property) {
    std::uint64_t count = 1;
    if (property.count) {
      const double said = next(*property.count);
      if (!(said >= 0 && said < 0x1p32) || said != std::floor(said)) {
        throw InputError("a list of \"" + property.name + "\" of no such length");
      }
      count = static_cast<std::uint64_t>(said);
    }
    for (; count > 0; --count) {
      next(property.type);
    }
  }

 private:
  double word() {
    std::string text;
    if (!(file_ >> text)) {
      refuse_cut_off();
    }
    double value = 0;
    const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (rest != end || error == std::errc::invalid_argument) {
      throw InputError("\"" + text + "\" is no number");
    }
    // What is too small for a double is 0, and what is too large not finite.
    const bool is_small =
        text.find("e-") != std::string::npos || text.find("E-") != std::string::npos;
    return error == std::errc() ? value : is_small ? 0 : HUGE_VAL;
  }

  template <typename Number>
  double read() {
    std::array<char, sizeof(Number)> bytes;
    if (!file_.read(bytes.data(), bytes.size())) {
      refuse_cut_off();
    }
    if (format_ == Format::kBig) {
      std::reverse(bytes.begin(), bytes.end());
    }
    Number value;
    std::memcpy(&value, bytes.data(), bytes.size());
    return static_cast<double>(value);
  }

  double number(Type type) {
    switch (type) {
      case Type::kInt8:
        return read<std::int8_t>();
      case Type::kUint8:
        return read<std::uint8_t>();
      case Type::kInt16:
        return read<std::int16_t>();
      case Type::kUint16:
        return read<std::uint16_t>();
      case Type::kInt32:
        return read<std::int32_t>();
      case Type::kUint32:
        return read<std::uint32_t>();
      case Type::kFloat:
        return read<float>();
      default:
        return read<double>();
    }
  }

  std::istream& file_;
  Format format_;
};

// "x (float), y (float), ..."
std::string listed(const Element& element) {
  std::string out;
  for (std::size_t i = 0; i < element.properties.size() && i < kMostNamed; ++i) {
    const Property& property = element.properties[i];
    out += (i == 0 ? "" : ", ") + property.name + " (" + (property.count ? "list of " : "") +
           std::string(of(property.type).name) + ")";
  }
  return out.empty() ? "nothing" : out + (element.properties.size() > kMostNamed ? ", ..." : "");
}

// For each property of the vertices, which part of a point it is.
std::vector<std::optional<std::size_t>> parts_of(const Element& vertex) {
  std::vector<std::optional<std::size_t>> parts(vertex.properties.size());
  for (std::size_t part = 0; part < kWanted.size(); ++part) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Property& property = vertex.properties[i];
      if (std::find(kWanted[part].begin(), kWanted[part].end(), property.name) !=
              kWanted[part].end() &&
          !property.count) {
        parts[i] = part;
        ++found;
      }
    }
    if (found == 0) {
      const bool is_scene = std::any_of(vertex.properties.begin(), vertex.properties.end(),
                                        [](const Property& p) { return p.name == "f_dc_0"; });
      throw InputError(
          is_scene ? "is a scene of Gaussians (it has f_dc_0), where coloured points are wanted"
                   : "its vertices have no " + std::string(kWanted[part][0]) + "; they have " +
                         listed(vertex));
    }
    if (found > 1) {
      throw InputError("its vertices have several of " + std::string(kWanted[part][0]) +
                       "; they have " + listed(vertex));
    }
  }
  return parts;
}

float color_of(double value, Type type, std::size_t point) {
  const bool is_float = type == Type::kFloat || type == Type::kDouble;
  const double most = is_float ? 1 : type == Type::kUint16 ? 65535 : 255;
  if (!(value >= 0 && value <= most)) {
    throw InputError("point " + std::to_string(point) + " has a color of " + std::to_string(value) +
                     ", where 0 to " + std::to_string(static_cast<int>(most)) +
                     " is known of the type " + std::string(of(type).name));
  }
  return static_cast<float>(value) / static_cast<float>(most);
}

ColoredPoint read_point(Values& values, const Element& vertex,
                        const std::vector<std::optional<std::size_t>>& parts, std::size_t index) {
  ColoredPoint point{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Property& property = vertex.properties[i];
    if (!parts[i]) {
      values.skip(property);
      continue;
    }
    const double value = values.next(property.type);
    if (*parts[i] >= kFirstColor) {
      point.color[*parts[i] - kFirstColor] = color_of(value, property.type, index);
      continue;
    }
    const auto position = static_cast<float>(value);
    if (!std::isfinite(position)) {
      throw InputError("point " + std::to_string(index) + " is not finite");
    }
    point.position[*parts[i]] = position;
  }
  return point;
}

std::vector<ColoredPoint> read_points(std::istream& file) {
  const Header header(file);
  Values values(file, header.format());
  std::string names;
  for (const Element& element : header.elements()) {
    if (element.name != "vertex") {
      names += (names.empty() ? "" : ", ") + element.name;
      for (std::uint64_t i = 0; i < element.count && !element.properties.empty(); ++i) {
        for (const Property& property : element.properties) {
          values.skip(property);
        }
      }
      continue;
    }
    const auto parts = parts_of(element);
    if (element.count == 0 || element.count > kMostPoints) {
      throw InputError("no points, or too many");
    }
    std::vector<ColoredPoint> points;
    for (std::uint64_t i = 0; i < element.count; ++i) {
      points.push_back(read_point(values, element, parts, i));
    }
    return points;
  }
  throw InputError("has no element vertex; it has " + (names.empty() ? "none" : names));
}

}  // namespace

std::vector<ColoredPoint> read_point_cloud(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw InputError(path.string() + ": cannot read the points");
  }
  try {
    return read_points(file);
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

}  // namespace warpfold::capture::training
