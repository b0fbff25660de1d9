// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/header_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <set>
#include <span>

#include "traces/record/header/warpfold/record_log.cuh"
#include "traces/record/host/date.hpp"
#include "traces/record/host/json_number.hpp"
#include "traces/record/host/names.hpp"
#include "traces/record/host/trace_builder.hpp"
#include "traces/record/protocol.hpp"

namespace warpfold::record {

namespace fs = std::filesystem;

namespace {

// The header is alone with its user, so it says again what protocol.hpp says.
static_assert(layout::kEnter == static_cast<std::uint32_t>(Marker::kEnter) &&
              layout::kExit == static_cast<std::uint32_t>(Marker::kExit) &&
              layout::kAddition == static_cast<std::uint32_t>(Marker::kGlobal) &&
              layout::kBarrier == static_cast<std::uint32_t>(Marker::kBarrier));
static_assert(layout::kWarpShift == kWarpShift && layout::kUniform == kUniform &&
              layout::kAddresses == kAddresses && layout::kWholeBarrier == kWholeBarrier &&
              layout::kOperands == kOperands && layout::kTypeShift == kTypeShift &&
              layout::kTypeBits == kTypeBits && layout::kTag == kAddressTag &&
              layout::kHeadWords == kHeadWords);
static_assert(layout::kF32 == static_cast<std::uint32_t>(trace::ValueType::kF32) &&
              layout::kF16x2 == static_cast<std::uint32_t>(trace::ValueType::kF16x2) &&
              layout::kBf16x2 == static_cast<std::uint32_t>(trace::ValueType::kBf16x2) &&
              layout::kF64 == static_cast<std::uint32_t>(trace::ValueType::kF64));

constexpr std::uint32_t kFirstBits = (1U << (kTypeShift + 2U)) - 1U;
constexpr std::size_t kBatchWords = std::size_t{1} << 18U;
constexpr std::uint64_t kWarpsWithoutRecords = std::uint64_t{1} << 22U;

// One file. Its records are read as often as they are wanted.
class LogFile {
 public:
  explicit LogFile(fs::path path) : path_(std::move(path)) {
    end_ = each([this](std::span<const std::uint32_t> record) { look_at(record); });
  }

  [[nodiscard]] const nlohmann::json& text() const { return text_; }
  [[nodiscard]] std::uint64_t words() const { return end_; }
  // Parameters of sites, as word 1 of records has them less 1, with their types.
  [[nodiscard]] const std::map<std::uint32_t, trace::ValueType>& additions() const {
    return additions_;
  }

  // visit(words of a record); returns how many words all have.
  template <typename Visit>
  std::uint64_t each(Visit visit) {
    std::ifstream file(path_, std::ios::binary);
    std::string magic(layout::kMagicBytes, '\0');
    std::string expected = layout::kMagic;
    expected.resize(layout::kMagicBytes, '\n');
    if (!file) {
      refuse("cannot be opened");
    }
    file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
    if (!file || magic != expected) {
      refuse("is no recording of <warpfold/record.cuh>");
    }
    std::vector<std::uint32_t> words;
    for (std::uint64_t before = 0;; before += words.size()) {
      read(file, words, 0, kHeadWords);
      if (words[0] == 0) {
        if ((words[2] | std::uint64_t{words[3]} << 32U) != before) {
          refuse("does not have the records that its end tells of");
        }
        read_text(file, words[1]);
        return before;
      }
      const std::uint32_t length =
          record_words(words[0], static_cast<std::uint32_t>(std::popcount(words[3])));
      read(file, words, kHeadWords, length - kHeadWords);
      visit(std::span<const std::uint32_t>(words));
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw trace::TraceError(fmt::format("{}: {}", path_.string(), why));
  }

 private:
  void read(std::ifstream& file, std::vector<std::uint32_t>& words, std::size_t at,
            std::size_t count) const {
    words.resize(at + count);
    file.read(reinterpret_cast<char*>(words.data() + at),
              static_cast<std::streamsize>(count * sizeof words[0]));
    if (!file) {
      refuse("is cut off");
    }
  }

  void read_text(std::ifstream& file, std::uint32_t bytes) {
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.size() != bytes) {
      refuse(text.size() < bytes ? "is cut off" : "goes on behind its end");
    }
    text_ = nlohmann::json::parse(text, nullptr, false);
    if (!text_.is_object()) {
      refuse("does not say what launch it is of");
    }
  }

  void look_at(std::span<const std::uint32_t> record) {
    const std::uint32_t marker = record[0] & kMarkerBits;
    const bool addition = marker == layout::kAddition;
    const bool known = addition || marker == layout::kEnter || marker == layout::kExit ||
                       marker == layout::kBarrier;
    if (!known || (record[0] & ~kFirstBits) != 0 || record[1] == 0 || record[2] == 0 ||
        record[3] == 0 || addition != ((record[0] & kAddresses) != 0) ||
        (!addition && (record[0] & kOperands) != 0)) {
      refuse("has a record that makes no sense");
    }
    if (addition) {
      const auto type = static_cast<trace::ValueType>(record[0] >> kTypeShift & kTypeBits);
      const std::uint32_t number = record[1] - 1;
      if (additions_.try_emplace(number, type).first->second != type) {
        refuse(fmt::format("site {} adds values of two types", number >> layout::kParameterShift));
      }
    }
  }

  const fs::path path_;
  std::map<std::uint32_t, trace::ValueType> additions_;
  nlohmann::json text_;
  std::uint64_t end_ = 0;
};

LaunchInfo launch_of(const nlohmann::json& text) {
  LaunchInfo launch;
  launch.function = text.at("kernel");
  launch.ordinal = whole_number<std::uint32_t>(text.at("launch"));
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = whole_number<std::uint32_t>(text.at("grid").at(i));
    launch.block[i] = whole_number<std::uint32_t>(text.at("block").at(i));
  }
  launch.registers = whole_number<std::uint32_t>(text.at("registers"));
  launch.shared_bytes = whole_number<std::uint32_t>(text.at("shared"));
  launch.gpu = text.at("gpu");
  launch.driver = text.at("driver");
  launch.cuda = text.at("cuda");
  for (const nlohmann::json& array : text.at("arrays")) {
    const auto base = whole_number<std::uint64_t>(array.at(1));
    launch.allocations[base] = whole_number<std::uint64_t>(array.at(2));
    launch.array_names[base] = array.at(0);
  }
  return launch;
}

std::vector<trace::VariantTime> times_of(const nlohmann::json& text) {
  std::vector<double> sorted = text.at("milliseconds");
  if (sorted.empty()) {
    return {};
  }
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return {{.policy = "baseline",
           .median_ms =
               sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
           .min_ms = sorted.front(),
           .max_ms = sorted.back(),
           .runs = static_cast<std::uint32_t>(sorted.size())}};
}

// The places of a kernel at which it was recorded, in place of its instructions: each parameter of
// each site, all of a site in one basic block, then the barriers, then the end.
class Places {
 public:
  explicit Places(const LogFile& file) {
    code_.arch = file.text().at("arch");
    code_.function = file.text().at("kernel");
    std::map<std::uint32_t, std::string> names;
    for (const nlohmann::json& site : file.text().at("sites")) {
      names[whole_number<std::uint32_t>(site.at(0))] = site.at(1);
    }
    for (const auto& [number, type] : file.additions()) {
      const std::uint32_t site = number >> layout::kParameterShift;
      const std::uint32_t parameter = number & ((1U << layout::kParameterShift) - 1U);
      std::string name = names.contains(site) ? names[site] : fmt::format("site {}", site);
      if (parameter > 0) {
        name += fmt::format("[{}]", parameter);
      }
      numbers_[number] = static_cast<std::uint32_t>(code_.instructions.size());
      code_.instructions.push_back({.block = site,
                                    .atomic = Atomic{.name = {}, .type = type, .adds_floats = true},
                                    .name = std::move(name)});
    }
    for (const char* name : {"barrier", "end"}) {
      code_.instructions.push_back(
          {.block = layout::kMostSites, .atomic = std::nullopt, .name = name});
    }
  }

  [[nodiscard]] const KernelCode& code() const { return code_; }
  // Word 1 of a record, for the tracker.
  [[nodiscard]] std::uint32_t number(std::span<const std::uint32_t> record) const {
    const auto count = static_cast<std::uint32_t>(code_.instructions.size());
    switch (record[0] & kMarkerBits) {
      case layout::kAddition:
        return numbers_.at(record[1] - 1) + 1;
      case layout::kBarrier:
        return count - 1;
      case layout::kExit:
        return count;
      default:
        return 1;
    }
  }

 private:
  KernelCode code_;
  std::map<std::uint32_t, std::uint32_t> numbers_;
};

LaunchShape shape_of(const LogFile& file, const LaunchInfo& launch) {
  const auto every = whole_number<std::uint32_t>(file.text().at("every"));
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (every == 0 || threads == 0 || threads > 1024) {
    file.refuse("tells of a launch that no GPU makes");
  }
  const LaunchShape shape = launch.shape(every);
  if (shape.ctas > 0xffffffffU || shape.recorded_ctas() * shape.warps_per_cta >
                                      file.words() / kHeadWords + kWarpsWithoutRecords) {
    file.refuse("tells of a launch with far more warps than it has records");
  }
  return shape;
}

void make_trace(LogFile& file, const HeaderLogOptions& options, const nlohmann::json& reductions,
                const fs::path& path, const std::function<void(const std::string&)>& say) {
  const LaunchInfo launch = launch_of(file.text());
  const LaunchShape shape = shape_of(file, launch);
  const Places places(file);
  LaunchTracker tracker(places.code(), shape);
  std::vector<std::uint32_t> batch;
  const auto hand_on = [&] {
    tracker.add(batch);
    batch.clear();
  };
  file.each([&](std::span<const std::uint32_t> record) {
    const std::size_t at = batch.size();
    batch.insert(batch.end(), record.begin(), record.end());
    batch[at + 1] = places.number(record);
    if (batch.size() >= kBatchWords) {
      hand_on();
    }
  });
  hand_on();
  tracker.finish();
  const WayCosts unknown{.whole = std::vector<nlohmann::json>(tracker.ways_gone().size()),
                         .parts = nullptr};
  const BuiltTrace built = build_trace(
      {.launch = launch,
       .code = places.code(),
       .tracker = tracker,
       .way_costs = unknown,
       .reductions = reductions,
       .times = times_of(file.text()),
       .provenance = {{"date", today()},
                      {"kernel", launch.function},
                      {"launch", std::to_string(launch.ordinal)},
                      {"recorder", "warpfold/record.cuh"},
                      {"costs", "none: the work between events is not known"}},
       .workload = options.workload.empty() ? short_name(launch.function) : options.workload,
       .scene = options.scene},
      shape, path);
  say(fmt::format("{}, launch {}: {} events at {} site{}, {} lane additions, {}", launch.function,
                  launch.ordinal, built.events, built.sites, built.sites == 1 ? "" : "s",
                  built.lane_additions,
                  tracker.has_operands() ? "with their operands" : "without operands"));
  say("  the work between them is not known: it counts as nothing, and is marked as estimated");
  say("  " + path.string());
}

}  // namespace

void traces_of_logs(const HeaderLogOptions& options, const nlohmann::json& reductions,
                    const std::function<void(const std::string&)>& say) {
  std::set<fs::path> written;
  for (const fs::path& path : options.files) {
    LogFile file(path);
    const fs::path target = options.out / path.filename().replace_extension(".wft");
    if (!written.insert(target).second) {
      file.refuse(fmt::format("would become {}, as another does", target.string()));
    }
    try {
      make_trace(file, options, reductions, target, say);
    } catch (const nlohmann::json::exception&) {
      file.refuse("does not say what launch it is of");
    } catch (const trace::TraceError& error) {
      const std::string what = error.what();
      // What the trace's writer does not take was in the file.
      const std::string records = target.string() + ": CTA ";
      if (what.starts_with(records)) {
        file.refuse(what.substr(target.string().size() + 2));
      }
      if (what.starts_with(path.string()) || what.starts_with(target.string())) {
        throw;
      }
      file.refuse(what);
    }
  }
}

}  // namespace warpfold::record
