// SPDX-License-Identifier: Apache-2.0
#include "model/machine/config.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <system_error>

#include "model/gpus/builtin.hpp"
#include "model/machine/config_fields.hpp"

namespace warpfold {
namespace {

// More than any GPU file; stops a device or a trace that is named as one.
constexpr std::size_t kMaxFileBytes = 1U << 20U;

// At worst each lane adds two words in a turn of its own, a head and a flit: FP64 at one address.
// A transaction enters the queue of a slice whole.
constexpr std::uint32_t kMaxTransactionFlits = 32 * 2;

std::string qualified(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

// Insertions, deletions and replacements that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

// Known keys by section; "" is the top level, whose keys include the section names.
using KnownKeys = std::map<std::string, std::vector<std::string>, std::less<>>;

struct KeyCollector {
  KnownKeys& known;
  template <typename... Rest>
  void operator()(std::string_view section, std::string_view key, Rest&&... /*unused*/) {
    if (!section.empty() && !known.contains(section)) {
      known[""].emplace_back(section);
    }
    known[std::string(section)].emplace_back(key);
  }
};

KnownKeys known_keys() {
  GpuConfig gpu;
  KnownKeys known;
  visit_config(gpu, KeyCollector{known});
  return known;
}

// " (did you mean sm.count?)", or nothing where no known key is near.
std::string suggestion(const KnownKeys& known, std::string_view section, std::string_view key) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, key.size() / 3) + 1;
  for (const auto& [known_section, keys] : known) {
    for (const std::string& candidate : keys) {
      // A key of another section is meant only if it is spelt exactly so.
      const std::size_t distance = known_section == section ? edit_distance(key, candidate)
                                   : candidate == key       ? 1
                                                            : best_distance;
      if (distance < best_distance) {
        best_distance = distance;
        best = qualified(known_section, candidate);
      }
    }
  }
  return best.empty() ? "" : fmt::format(" (did you mean {}?)", best);
}

std::string type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

// Fills a GpuConfig from one parsed file. Lives for one load.
class Loader {
 public:
  Loader(std::string file, const toml::table& root, const Overrides& overrides)
      : file_(std::move(file)), root_(root), overrides_(overrides) {}

  GpuConfig load() {
    // Before anything is missed: a misspelt key is better reported as misspelt.
    check_unknown();
    GpuConfig gpu;
    visit_config(gpu, *this);
    check_together(gpu);
    return gpu;
  }

  void operator()(std::string_view section, std::string_view key, std::string& value) {
    const toml::node& found = node(section, key);
    const auto text = found.value_exact<std::string>();
    if (!text) {
      wrong_type(section, key, found, "a string");
    }
    const auto plain = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    };
    if (text->empty() || text->size() > 64 || !std::all_of(text->begin(), text->end(), plain)) {
      fail(qualified(section, key), "must be 1 to 64 letters, digits and _-.");
    }
    value = *text;
  }

  void operator()(std::string_view section, std::string_view key, RuleName& value) {
    const toml::table* table = root_.get_as<toml::table>(section);
    if (table != nullptr && table->contains(key)) {
      (*this)(section, key, value.name);
    }
  }

  template <typename T>
  void operator()(std::string_view section, std::string_view key, T& value,
                  const OptionalRange<T>& range) {
    const toml::table* table = root_.get_as<toml::table>(section);
    if (table != nullptr && table->contains(key)) {
      (*this)(section, key, value, Range<T>(range));
    }
  }

  void operator()(std::string_view section, std::string_view key, IssueOrder& value) {
    const toml::node& found = node(section, key);
    const auto text = found.value_exact<std::string>();
    if (!text) {
      wrong_type(section, key, found, "\"lrr\" or \"gto\"");
    }
    if (*text == "lrr") {
      value = IssueOrder::kLooseRoundRobin;
    } else if (*text == "gto") {
      value = IssueOrder::kGreedyThenOldest;
    } else {
      fail(qualified(section, key), fmt::format("is \"{}\", must be \"lrr\" or \"gto\"", *text));
    }
  }

  template <typename T>
  void operator()(std::string_view section, std::string_view key, T& value, Range<T> range) {
    const toml::node& found = node(section, key);
    if constexpr (std::is_floating_point_v<T>) {
      const auto number = found.value<double>();
      if (!found.is_number() || !number) {
        wrong_type(section, key, found, "a number");
      }
      // Also refuses NaN, which compares with nothing.
      if (!(*number >= range.min && *number <= range.max)) {
        out_of_range(section, key, *number, range);
      }
      value = *number;
    } else {
      const auto number = found.value_exact<std::int64_t>();
      if (!number) {
        wrong_type(section, key, found, "an integer");
      }
      if (std::cmp_less(*number, range.min) || std::cmp_greater(*number, range.max)) {
        out_of_range(section, key, *number, range);
      }
      value = static_cast<T>(*number);
    }
  }

 private:
  [[noreturn]] void fail(std::string_view key, std::string_view what) const {
    // A value that came with an override is not in the file. The last one of a key counts.
    const auto setting =
        std::find_if(overrides_.rbegin(), overrides_.rend(), [key](const std::string& text) {
          return std::string_view(text).substr(0, text.find('=')) == key;
        });
    const std::string where = setting == overrides_.rend() ? fmt::format("{}: {}", file_, key)
                                                           : fmt::format("--set {}", *setting);
    throw ConfigError(fmt::format("{}: {}", where, what));
  }

  [[noreturn]] void wrong_type(std::string_view section, std::string_view key,
                               const toml::node& found, std::string_view wanted) const {
    fail(qualified(section, key), fmt::format("is {}, must be {}", type_name(found), wanted));
  }

  template <typename Number, typename T>
  [[noreturn]] void out_of_range(std::string_view section, std::string_view key, Number number,
                                 const Range<T>& range) const {
    fail(qualified(section, key),
         fmt::format("is {}, must be {} to {}", number, range.min, range.max));
  }

  [[nodiscard]] const toml::node& node(std::string_view section, std::string_view key) const {
    const toml::table* table = section.empty() ? &root_ : root_.get_as<toml::table>(section);
    const toml::node* found = table == nullptr ? nullptr : table->get(key);
    if (found == nullptr) {
      fail(qualified(section, key), "is missing");
    }
    return *found;
  }

  void check_unknown() const {
    const KnownKeys known = known_keys();
    for (const auto& [key, value] : root_) {
      if (known.contains(key.str()) && !key.str().empty()) {
        const toml::table* table = value.as_table();
        if (table == nullptr) {
          fail(key.str(), fmt::format("is {}, must be a table", type_name(value)));
        }
        check_unknown(known, key.str(), *table);
      }
    }
    check_unknown(known, "", root_);
  }

  void check_unknown(const KnownKeys& known, std::string_view section,
                     const toml::table& table) const {
    const std::vector<std::string>& keys = known.find(section)->second;
    for (const auto& [key, value] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        fail(qualified(section, key.str()), "unknown key" + suggestion(known, section, key.str()));
      }
    }
  }

  // What no single parameter can show.
  void check_together(const GpuConfig& gpu) const {
    if (!gpu.sass_arch.starts_with("sm_")) {
      fail("sass_arch", fmt::format("is \"{}\", must start with \"sm_\"", gpu.sass_arch));
    }
    if (gpu.sm.max_warps < gpu.sm.subcores) {
      fail("sm.max_warps",
           fmt::format("is {}, less than sm.subcores = {}", gpu.sm.max_warps, gpu.sm.subcores));
    }
    if (gpu.sm.max_warps % gpu.sm.subcores != 0) {
      fail("sm.max_warps", fmt::format("is {}, must be a multiple of sm.subcores = {}",
                                       gpu.sm.max_warps, gpu.sm.subcores));
    }
    if (gpu.sm.max_warps / gpu.sm.subcores > kMaxSubcoreWarps) {
      fail("sm.max_warps", fmt::format("is {}, that is {} in each of sm.subcores = {}; a sub-core "
                                       "of the model holds {} at most",
                                       gpu.sm.max_warps, gpu.sm.max_warps / gpu.sm.subcores,
                                       gpu.sm.subcores, kMaxSubcoreWarps));
    }
    if (gpu.l2.ingress_flits < kMaxTransactionFlits) {
      fail("l2.ingress_flits",
           fmt::format("is {}, less than the {} flits that one transaction can have",
                       gpu.l2.ingress_flits, kMaxTransactionFlits));
    }
    check_l1(gpu);
    check_l2(gpu);
  }

  void check_l1(const GpuConfig& gpu) const {
    if (!std::has_single_bit(gpu.l1.line_bytes)) {
      fail("l1.line_bytes", fmt::format("is {}, must be a power of two", gpu.l1.line_bytes));
    }
    if (!std::has_single_bit(gpu.lab.entry_bytes)) {
      fail("lab.entry_bytes", fmt::format("is {}, must be a power of two", gpu.lab.entry_bytes));
    }
    if (!std::has_single_bit(gpu.arc.merge_rows)) {
      fail("arc.merge_rows", fmt::format("is {}, must be a power of two", gpu.arc.merge_rows));
    }
    if (gpu.lab.bytes >= gpu.l1.bytes) {
      fail("lab.bytes",
           fmt::format("is {}, must be less than l1.bytes = {}", gpu.lab.bytes, gpu.l1.bytes));
    }
    if (const std::uint64_t lab_set = std::uint64_t{gpu.lab.ways} * gpu.lab.entry_bytes;
        gpu.lab.bytes < lab_set) {
      fail("lab.bytes",
           fmt::format("is {}, must be at least ways x entry_bytes = {}", gpu.lab.bytes, lab_set));
    }
    if (const std::uint64_t l1_set = std::uint64_t{gpu.l1.ways} * gpu.l1.line_bytes;
        gpu.l1.bytes < l1_set) {
      fail("l1.bytes",
           fmt::format("is {}, must be at least ways x line_bytes = {}", gpu.l1.bytes, l1_set));
    }
    // A line goes out whole.
    if (const std::uint32_t sectors = std::max(gpu.l1.line_bytes, gpu.lab.entry_bytes) / 32;
        gpu.buffer.victims < sectors) {
      fail("buffer.victims",
           fmt::format("is {}, less than the {} sectors of a line", gpu.buffer.victims, sectors));
    }
  }

  void check_l2(const GpuConfig& gpu) const {
    if (!std::has_single_bit(gpu.l2.interleave_bytes)) {
      fail("l2.interleave_bytes",
           fmt::format("is {}, must be a power of two", gpu.l2.interleave_bytes));
    }
    if (!std::has_single_bit(gpu.l2.line_bytes)) {
      fail("l2.line_bytes", fmt::format("is {}, must be a power of two", gpu.l2.line_bytes));
    }
    if (!std::has_single_bit(gpu.l2.slice_bytes)) {
      fail("l2.slice_bytes", fmt::format("is {}, must be a power of two", gpu.l2.slice_bytes));
    }
    if (gpu.l2.slice_bytes < gpu.l2.line_bytes) {
      fail("l2.slice_bytes", fmt::format("is {}, less than l2.line_bytes = {}", gpu.l2.slice_bytes,
                                         gpu.l2.line_bytes));
    }
    if (gpu.l2.interleave_bytes < gpu.l2.slice_bytes) {
      fail("l2.interleave_bytes", fmt::format("is {}, less than l2.slice_bytes = {}",
                                              gpu.l2.interleave_bytes, gpu.l2.slice_bytes));
    }
    if (gpu.l2.slices % gpu.l2.slices_per_port != 0) {
      fail("l2.slices", fmt::format("is {}, no multiple of l2.slices_per_port = {}", gpu.l2.slices,
                                    gpu.l2.slices_per_port));
    }
    if (gpu.l2.line_bytes < gpu.l1.line_bytes) {
      fail("l2.line_bytes", fmt::format("is {}, less than l1.line_bytes = {}", gpu.l2.line_bytes,
                                        gpu.l1.line_bytes));
    }
    if (gpu.l2.sector_cycles < gpu.l2.rop_cycles) {
      fail("l2.sector_cycles", fmt::format("is {}, less than l2.rop_cycles = {}",
                                           gpu.l2.sector_cycles, gpu.l2.rop_cycles));
    }
    const std::uint64_t one_set = std::uint64_t{gpu.l2.slices} * gpu.l2.ways * gpu.l2.line_bytes;
    if (gpu.l2.bytes < one_set) {
      fail("l2.bytes", fmt::format("is {}, must be at least slices x ways x line_bytes = {}",
                                   gpu.l2.bytes, one_set));
    }
  }

  std::string file_;
  const toml::table& root_;
  const Overrides& overrides_;
};

// Of which a machine file may have no key.
constexpr std::string_view kOptionalSection = "rules";

// For toml++ 3.3 some of the others have no defined meaning outside of comments and strings, and no
// key or value of a GPU file has any.
bool not_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

// Comments may have any.
void check_ascii(const std::string& file, std::string_view text) {
  std::size_t line = 1;
  bool comment = false;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      comment = false;
    } else if (c == '#') {
      comment = true;
    } else if (!comment && not_ascii(c)) {
      throw ConfigError(fmt::format("{}: line {}: has a character that is not ASCII", file, line));
    }
  }
}

// Puts the value of "section.key=value" in the place of the file's. Whether there is such a key and
// whether it takes the value is for the Loader to say.
void override_value(toml::table& root, const std::string& text) {
  const auto fail = [&text](std::string_view what) {
    throw ConfigError(fmt::format("--set {}: {}", text, what));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    fail("has no '=', must be KEY=VALUE such as lab.bytes=65536");
  }
  const std::string key = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (key.empty() || value.empty()) {
    fail("must be KEY=VALUE such as lab.bytes=65536");
  }
  if (std::any_of(value.begin(), value.end(), not_ascii)) {
    fail("has a character that is not ASCII");
  }
  const std::size_t dot = key.find('.');
  toml::table* table = &root;
  if (dot != std::string::npos) {
    const std::string section = key.substr(0, dot);
    if (section == kOptionalSection && !root.contains(section)) {
      root.insert(section, toml::table());
    }
    table = root.get_as<toml::table>(section);
    if (table == nullptr) {
      fail(fmt::format("the machine has no section '{}'", section));
    }
  }
  const std::string name = dot == std::string::npos ? key : key.substr(dot + 1);
  // A number as TOML writes it, else a word.
  toml::table parsed;
  try {
    parsed = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    parsed.insert_or_assign("value", value);
  }
  if (parsed.size() != 1) {
    fail("must be one value");
  }
  table->insert_or_assign(name, *parsed.get("value"));
}

GpuConfig parse_gpu(const std::string& file, std::string_view text, const Overrides& overrides) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which some editors write
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  check_ascii(file, text);
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position where = error.source().begin;
    throw ConfigError(fmt::format("{}: line {}, column {}: {}", file, where.line, where.column,
                                  error.description()));
  }
  for (const std::string& setting : overrides) {
    override_value(root, setting);
  }
  return Loader(file, root, overrides).load();
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw ConfigError(fmt::format("{}: is a folder, not a GPU file", path));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw ConfigError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) {
    throw ConfigError(fmt::format("{}: cannot be read", path));
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxFileBytes) {
    throw ConfigError(fmt::format("{}: is too large for a GPU file", path));
  }
  return text;
}

}  // namespace

GpuConfig load_gpu(const std::string& name_or_path, const Overrides& overrides) {
  for (const BuiltinGpu& gpu : builtin_gpus()) {
    if (gpu.name == name_or_path) {
      return parse_gpu(name_or_path + ".toml", gpu.toml, overrides);
    }
  }
  if (name_or_path.ends_with(".toml")) {
    return parse_gpu(name_or_path, read_file(name_or_path), overrides);
  }
  throw ConfigError(fmt::format("unknown GPU '{}': known are {}, or a file that ends in .toml",
                                name_or_path, fmt::join(gpu_names(), ", ")));
}

GpuConfig part_of_gpu(const GpuConfig& gpu, std::uint32_t n) {
  if (n == 0 || gpu.sm.count % n != 0) {
    throw ConfigError(fmt::format("{}: its {} SMs have no 1/{}", gpu.name, gpu.sm.count, n));
  }
  GpuConfig part = gpu;
  part.sms_each *= n;
  part.sm.count /= n;
  part.l2.input_sms = (part.l2.input_sms + n - 1) / n;
  part.l2.port_cycles *= n;
  part.l2.load_cycles *= n;
  part.l2.read_cycles *= n;
  part.l2.flit_cycles *= n;
  part.l2.rop_cycles *= n;
  part.l2.line_cycles *= n;
  part.l2.sector_cycles *= n;
  part.l2.dram_bytes_per_cycle /= n;
  part.energy.active_watts /= n;
  part.energy.idle_watts /= n;
  return part;
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const BuiltinGpu& gpu : builtin_gpus()) {
    names.emplace_back(gpu.name);
  }
  return names;
}

}  // namespace warpfold
