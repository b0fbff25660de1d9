// SPDX-License-Identifier: Apache-2.0
#include "traces/format/manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "traces/format/container.hpp"
#include "traces/format/trace.hpp"

namespace warpfold::trace {

namespace {

constexpr std::string_view kSchema = "warpfold.manifest/1";
constexpr std::uint64_t kMaxManifestBytes = 16U << 20U;

using nlohmann::json;

// The members of `object` must be exactly `keys`.
void check_keys(const json& object, const std::set<std::string>& keys, const std::string& where) {
  if (!object.is_object()) {
    throw TraceError(fmt::format("{} is {}, not an object", where, object.type_name()));
  }
  for (const auto& item : object.items()) {
    if (!keys.contains(item.key())) {
      throw TraceError(fmt::format("{}: unknown key {}", where, json(item.key()).dump()));
    }
  }
  for (const std::string& key : keys) {
    if (!object.contains(key)) {
      throw TraceError(fmt::format("{}: \"{}\" is missing", where, key));
    }
  }
}

std::string text_of(const json& object, const char* key, const std::string& where) {
  if (!object[key].is_string()) {
    throw TraceError(fmt::format("{}.{} is {}, not a text", where, key, object[key].type_name()));
  }
  return object[key].get<std::string>();
}

ManifestEntry entry_of(const json& object, const std::string& where) {
  check_keys(object, {"file", "xxh64", "bytes", "workload", "scene", "gpu", "date", "command"},
             where);
  ManifestEntry entry{.file = text_of(object, "file", where),
                      .xxh64 = text_of(object, "xxh64", where),
                      .bytes = 0,
                      .workload = text_of(object, "workload", where),
                      .scene = text_of(object, "scene", where),
                      .gpu = text_of(object, "gpu", where),
                      .date = text_of(object, "date", where),
                      .command = text_of(object, "command", where)};
  if (!object["bytes"].is_number_unsigned()) {
    throw TraceError(fmt::format("{}.bytes is not an integer of 0 or more", where));
  }
  entry.bytes = object["bytes"].get<std::uint64_t>();
  if (entry.file.empty() || std::filesystem::path(entry.file).filename() != entry.file ||
      entry.file == "." || entry.file == "..") {
    throw TraceError(fmt::format("{}.file is not the name of a file beside the manifest", where));
  }
  if (entry.xxh64.size() != 16 ||
      entry.xxh64.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw TraceError(fmt::format("{}.xxh64 is not 16 lower-case hexadecimal digits", where));
  }
  return entry;
}

}  // namespace

std::vector<ManifestEntry> read_manifest(const std::filesystem::path& path) {
  const container::InputFile file(path.string());
  try {
    if (file.size() > kMaxManifestBytes) {
      throw TraceError(fmt::format("{} bytes are too many for a manifest", file.size()));
    }
    container::Bytes text(file.size());
    file.read_at(0, text);
    const json parsed = json::parse(text.begin(), text.end());
    check_keys(parsed, {"schema", "traces"}, "the manifest");
    if (text_of(parsed, "schema", "the manifest") != kSchema) {
      throw TraceError(
          fmt::format("schema {}, this build reads \"{}\"", parsed["schema"].dump(), kSchema));
    }
    if (!parsed["traces"].is_array()) {
      throw TraceError("\"traces\" is not an array");
    }
    std::vector<ManifestEntry> entries;
    std::set<std::string> files;
    for (std::size_t i = 0; i < parsed["traces"].size(); ++i) {
      const std::string where = fmt::format("traces[{}]", i);
      entries.push_back(entry_of(parsed["traces"][i], where));
      if (!files.insert(entries.back().file).second) {
        throw TraceError(fmt::format("{}.file: \"{}\" comes twice", where, entries.back().file));
      }
    }
    return entries;
  } catch (const json::exception& error) {
    throw TraceError(fmt::format("{}: not JSON: {}", path.string(), error.what()));
  } catch (const TraceError& error) {
    throw TraceError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::string manifest_to_json(const std::vector<ManifestEntry>& entries) {
  nlohmann::ordered_json out;
  out["schema"] = kSchema;
  out["traces"] = nlohmann::ordered_json::array();
  for (const ManifestEntry& entry : entries) {
    out["traces"].push_back({{"file", entry.file},
                             {"xxh64", entry.xxh64},
                             {"bytes", entry.bytes},
                             {"workload", entry.workload},
                             {"scene", entry.scene},
                             {"gpu", entry.gpu},
                             {"date", entry.date},
                             {"command", entry.command}});
  }
  return out.dump(2) + "\n";
}

}  // namespace warpfold::trace
