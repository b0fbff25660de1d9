// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/kernel_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "traces/record/host/tool.hpp"
#include "traces/record/protocol.hpp"

namespace warpfold::record {

namespace {

constexpr int kNotUnderstood = 3;
// Those that the patches report (device/patches.cu).
constexpr const char* kMarkerKinds = "global,shared,barrier,shuffle,async,exit";

// An atomic as kernel_code.py tells of it.
Atomic atomic_of(const nlohmann::json& json) {
  static const std::map<std::string, trace::ValueType> kTypes = {
      {"f32", trace::ValueType::kF32},       {"f16x2", trace::ValueType::kF16x2},
      {"bf16x2", trace::ValueType::kBf16x2}, {"f64", trace::ValueType::kF64},
      {"u32", trace::ValueType::kU32},       {"u64", trace::ValueType::kU64}};
  static const std::map<std::string, trace::SiteKind> kKinds = {{"red", trace::SiteKind::kRed},
                                                                {"atom", trace::SiteKind::kAtom},
                                                                {"bulk", trace::SiteKind::kBulk},
                                                                {"tensor", trace::SiteKind::kBulk}};
  const std::string kind = json.at("kind");
  const auto found_kind = kKinds.find(kind);
  const auto found_type = kTypes.find(json.at("type").get<std::string>());
  if (found_kind == kKinds.end() || found_type == kTypes.end()) {
    throw trace::TraceError("kernel_code.py: an atomic of no known kind or type");
  }
  return {.name = json.at("name"),
          .kind = found_kind->second,
          .type = found_type->second,
          .words = json.at("words"),
          .adds_floats = json.at("adds_floats"),
          .is_reported = kind != "tensor"};
}

// A load or store, the same.
trace::MemorySite access_of(const nlohmann::json& json) {
  static const std::map<std::string, trace::CacheUse> kCaches = {
      {"ca", trace::CacheUse::kAll},
      {"nc", trace::CacheUse::kReadOnly},
      {"ef", trace::CacheUse::kEvictFirst},
      {"el", trace::CacheUse::kEvictLast},
      {"cg", trace::CacheUse::kL2}};
  const std::string kind = json.at("kind");
  const auto cache = kCaches.find(json.at("cache").get<std::string>());
  if ((kind != "load" && kind != "store") || cache == kCaches.end()) {
    throw trace::TraceError("kernel_code.py: an access of no known kind");
  }
  return {.name = json.at("name"),
          .kind = kind == "load" ? trace::AccessKind::kLoad : trace::AccessKind::kStore,
          .bytes = json.at("bytes"),
          .cache = cache->second};
}

Instruction instruction_of(const nlohmann::json& json) {
  Instruction result;
  result.block = json.at("block");
  result.predicated = json.at("predicated");
  if (const nlohmann::json& atomic = json.at("atomic"); !atomic.is_null()) {
    result.atomic = atomic_of(atomic);
  }
  if (const nlohmann::json& access = json.at("access"); !access.is_null()) {
    result.access = access_of(access);
  }
  return result;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

nlohmann::json WayPasses::to_json() const {
  nlohmann::json listed = nlohmann::json::array();
  for (const std::vector<InstructionNumber>& way : ways) {
    nlohmann::json offsets = nlohmann::json::array();
    for (const InstructionNumber at : way) {
      offsets.push_back(at == kEntry ? kEntry : std::int64_t{at} * kInstructionBytes);
    }
    listed.push_back(std::move(offsets));
  }
  nlohmann::json json = {{"ways", std::move(listed)}, {"passes", passes}, {"warps", warps}};
  if (!launch.is_null()) {
    json["launch"] = launch;
  }
  if (apart) {
    json["apart"] = true;
  }
  return json;
}

std::string KernelCode::place(InstructionNumber at) const {
  if (at == kEntry) {
    return "entry";
  }
  const std::string& name = instructions[static_cast<std::size_t>(at)].name;
  return name.empty() ? fmt::format("{:#x}", at * static_cast<int>(kInstructionBytes)) : name;
}

bool KernelCode::adds_floats() const {
  return std::any_of(instructions.begin(), instructions.end(), [](const Instruction& i) {
    return i.atomic.has_value() && i.atomic->adds_floats;
  });
}

bool KernelCode::has_atomics() const {
  return std::any_of(instructions.begin(), instructions.end(), [](const Instruction& i) {
    return i.atomic.has_value() && i.atomic->is_reported;
  });
}

std::string CodeReader::run(const std::string& command, const std::filesystem::path& cubin,
                            const std::string& function, const std::string& input,
                            const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"python3", "-B",      tools_.string(), "kernel-code",
                                    command,   "--cubin", cubin,           "--function",
                                    function,  "--cache", cache_.string()};
  words.insert(words.end(), more.begin(), more.end());
  const ToolResult result = run_tool(words, scratch_, input);
  if (result.status == kNotUnderstood) {
    throw UnknownCode(last_line(result.errors));
  }
  if (result.status != 0) {
    const std::string why = last_line(result.errors);
    throw trace::TraceError(why.empty() ? fmt::format("kernel_code.py ended with {}", result.status)
                                        : why);
  }
  return result.output;
}

KernelCode CodeReader::describe(const std::filesystem::path& cubin,
                                const std::string& function) const {
  const std::string output = run("describe", cubin, function);
  try {
    const nlohmann::json json = nlohmann::json::parse(output);
    KernelCode code{.arch = json.at("arch"), .function = function, .instructions = {}};
    for (const nlohmann::json& instruction : json.at("instructions")) {
      if (instruction.at("offset") != code.instructions.size() * kInstructionBytes) {
        throw trace::TraceError("kernel_code.py leaves out an instruction of " + function);
      }
      code.instructions.push_back(instruction_of(instruction));
      if (auto& atomic = code.instructions.back().atomic;
          atomic && atomic->kind == trace::SiteKind::kBulk) {
        atomic->is_reported = atomic->is_reported && sees_rows_;
      }
    }
    return code;
  } catch (const nlohmann::json::exception& error) {
    throw trace::TraceError(fmt::format("kernel_code.py: {}", error.what()));
  }
}

WayCosts CodeReader::costs(const std::filesystem::path& cubin, const std::string& function,
                           const WayPasses& ways, const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"--markers",
                                    std::string(kMarkerKinds) + (sees_rows_ ? ",bulk" : "")};
  words.insert(words.end(), more.begin(), more.end());
  const std::string output = run("ways", cubin, function, ways.to_json().dump(), words);
  try {
    nlohmann::json json = nlohmann::json::parse(output);
    WayCosts costs{.whole = std::move(json.at("costs")), .parts = nullptr};
    if (ways.apart) {
      costs.parts = std::move(json.at("parts"));
    }
    const auto fits = [&](const nlohmann::json& each) {
      return each.is_array() && each.size() == ways.ways.size();
    };
    if (!fits(costs.whole) || (ways.apart && !fits(costs.parts))) {
      throw trace::TraceError("kernel_code.py gives another number of costs than was asked for");
    }
    return costs;
  } catch (const nlohmann::json::exception& error) {
    throw trace::TraceError(fmt::format("kernel_code.py: {}", error.what()));
  }
}

WayCosts CodeReader::ways(const std::filesystem::path& cubin, const std::string& function,
                          const WayPasses& ways) const {
  return costs(cubin, function, ways, {});
}

WayCosts CodeReader::refined(const std::filesystem::path& cubin, const std::string& function,
                             const WayPasses& ways, const std::filesystem::path& ncu,
                             std::uint32_t every) const {
  return costs(cubin, function, ways, {"--ncu", ncu.string(), "--every", std::to_string(every)});
}

}  // namespace warpfold::record
