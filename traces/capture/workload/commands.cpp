// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/workload/commands.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "traces/capture/common/device_buffer.hpp"
#include "traces/capture/common/gpu_event.hpp"
#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/common/half.hpp"
#include "traces/capture/common/input.hpp"
#include "traces/capture/common/recorded_sums.hpp"
#include "traces/capture/common/relative_error.hpp"
#include "traces/capture/common/trace_file.hpp"
#include "traces/capture/workload/fixed_check.hpp"
#include "traces/capture/workload/fixed_sums.cuh"
#include "traces/capture/workload/launches.hpp"
#include "traces/capture/workload/log.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace warpfold::capture::workload {
namespace {

constexpr std::uint64_t kLogWords = std::uint64_t{1} << 28;  // of one recording launch with values

// Those of `array`, which begins at `at`.
template <class Value>
std::span<const Value> slice(const std::vector<Value>& values, std::size_t at, const Array& array) {
  return std::span(values).subspan(at, array.values());
}

// Launches the recorder for `ctas`. `counts`: words of each warp of them, without values.
std::vector<std::uint32_t> count_words(const Workload& workload) {
  const Workload::Launch launch = workload.launch();
  const DeviceBuffer<std::uint32_t> counts(product(launch.grid) * warps_per_cta(launch));
  counts.clear_async();
  RecorderArgs args{nullptr, nullptr, counts.data(), 0};
  launch_kernel(launch, workload.kernels().recorder, &args);
  capture::check(cudaDeviceSynchronize(), "recorder kernel");
  return counts.to_host();
}

// `words`: by warp of the CTAs in `ctas`.
LaunchLog record_ctas(const Workload& workload, std::vector<std::uint64_t> ctas,
                      const std::vector<std::uint64_t>& words, bool with_values) {
  const Workload::Launch launch = workload.launch();
  LaunchLog log;
  log.parameters = workload.parameters().size();
  log.warps_per_cta = warps_per_cta(launch);
  log.with_values = with_values;
  log.ctas = std::move(ctas);
  std::vector<std::uint64_t> offsets(product(launch.grid) * log.warps_per_cta, kNotLogged);
  std::uint64_t total = 0;
  std::size_t at = 0;
  for (const std::uint64_t cta : log.ctas) {
    for (std::uint32_t w = 0; w < log.warps_per_cta; ++w) {
      log.offsets.push_back(total);
      offsets[cta * log.warps_per_cta + w] = total;
      total += words[at++];
    }
  }
  log.offsets.push_back(total);
  const DeviceBuffer<std::uint64_t> device_offsets{std::span<const std::uint64_t>(offsets)};
  const DeviceBuffer<std::uint32_t> buffer(std::max<std::uint64_t>(total, 1));
  const DeviceBuffer<std::uint32_t> counts(offsets.size());
  RecorderArgs args{device_offsets.data(), buffer.data(), counts.data(), with_values ? 1 : 0};
  launch_kernel(launch, workload.kernels().recorder, &args);
  capture::check(cudaDeviceSynchronize(), "recorder kernel");
  const auto written = counts.to_host();
  at = 0;
  for (const std::uint64_t cta : log.ctas) {
    for (std::uint32_t w = 0; w < log.warps_per_cta; ++w) {
      if (written[cta * log.warps_per_cta + w] != words[at++]) {
        throw CudaError("two launches of the recorder recorded differently");
      }
    }
  }
  log.words = buffer.to_host();
  log.words.resize(total);
  return log;
}

LaunchLog record_all(const Workload& workload) {
  const auto counts = count_words(workload);
  std::vector<std::uint64_t> ctas(counts.size() / warps_per_cta(workload.launch()));
  std::iota(ctas.begin(), ctas.end(), std::uint64_t{0});
  return record_ctas(workload, std::move(ctas), {counts.begin(), counts.end()}, false);
}

// Words of each warp of the CTA with index `i` in `log`, once values are recorded as well.
std::vector<std::uint64_t> words_with_values(const LaunchLog& log, std::size_t i) {
  std::vector<std::uint64_t> words;
  const trace::CtaTrace cta = log.cta(i);
  for (std::size_t w = 0; w < log.warps_per_cta; ++w) {
    const std::size_t warp = i * log.warps_per_cta + w;
    words.push_back(log.offsets[warp + 1] - log.offsets[warp]);
    for (const trace::Record& record : cta.warps[w].records) {
      if (record.kind == trace::RecordKind::kEvent) {
        words.back() += static_cast<std::uint64_t>(std::popcount(record.mask)) * log.parameters;
      }
    }
  }
  return words;
}

// Recordings with values, of some CTAs after the other; `ctas` are indices into `log`, which has
// all.
template <class Callback>
void record_with_values(const Workload& workload, const LaunchLog& log,
                        const std::vector<std::uint64_t>& ctas, const Callback& callback) {
  for (std::size_t begin = 0; begin < ctas.size();) {
    std::vector<std::uint64_t> part;
    std::vector<std::uint64_t> words;
    std::uint64_t total = 0;
    std::size_t end = begin;
    for (; end < ctas.size() && total < kLogWords; ++end) {
      part.push_back(ctas[end]);
      for (const std::uint64_t count : words_with_values(log, ctas[end])) {
        words.push_back(count);
        total += count;
      }
    }
    callback(record_ctas(workload, part, words, true));
    begin = end;
  }
}

void check_recording(const Workload& workload, Verdict& verdict) {
  const LaunchLog log = record_all(workload);
  const LogStats stats = collect(log, workload.paths().size());
  std::printf("  %llu events, %.2f active lanes, %.3f %% of the events on one address\n",
              static_cast<unsigned long long>(stats.events),
              static_cast<double>(stats.active_lanes) /
                  static_cast<double>(std::max<std::uint64_t>(stats.events, 1)),
              100 * static_cast<double>(stats.one_address_events) /
                  static_cast<double>(std::max<std::uint64_t>(stats.events, 1)));
  const std::vector<float> added = run(workload, {Variant::kBaseline, 0});
  const std::vector<Place> place = places(workload);
  const bool halves = has_halves(workload);
  RecordedSums sums(added.size(), halves ? Precision{kHalfRoundoff, kLeastHalf} : Precision{});
  std::uint64_t outside = 0;
  record_with_values(workload, log, log.ctas, [&](const LaunchLog& part) {
    for (std::size_t i = 0; i < part.ctas.size(); ++i) {
      for (const trace::WarpTrace& warp : part.cta(i).warps) {
        for (const trace::Record& record : warp.records) {
          if (record.kind != trace::RecordKind::kEvent) {
            continue;
          }
          const auto active = static_cast<std::size_t>(std::popcount(record.mask));
          std::size_t k = 0;
          for (std::uint32_t rest = record.mask; rest != 0; rest &= rest - 1, ++k) {
            const std::size_t primitive =
                record.lane_primitives == trace::Record::kUniform
                    ? record.primitive
                    : warp.lane_primitives[record.lane_primitives +
                                           static_cast<std::size_t>(std::countr_zero(rest))];
            if (primitive >= workload.primitive_count()) {
              ++outside;
              continue;
            }
            for (std::size_t p = 0; p < place.size(); ++p) {
              sums.add(place[p].first + primitive * place[p].stride,
                       std::bit_cast<float>(warp.values[record.values + p * active + k]));
            }
          }
        }
      }
    }
  });
  verdict.expect("recorded primitives that are none", static_cast<double>(outside), 0);
  std::size_t at = 0;
  for (const Array& array : workload.arrays()) {
    const double error =
        sums.worst_error(added, [&](std::size_t i) { return i >= at && i < at + array.values(); });
    verdict.expect("sum of recorded values, " + array.name, error, 1);
    at += array.values();
  }
  std::printf("  %zu addresses have a single contribution\n", sums.singles());
  verdict.expect("of them, those that differ from the recorded bits",
                 static_cast<double>(sums.inexact_singles(added)), 0);
}

struct KernelFacts {
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;
  int ctas_per_sm = 0;
};
KernelFacts facts(const void* kernel, const Workload::Launch& launch) {
  cudaFuncAttributes attributes{};
  capture::check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  int ctas = 0;
  capture::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                     &ctas, kernel, static_cast<int>(product(launch.block)), 0),
                 "occupancy");
  return {static_cast<std::uint32_t>(attributes.numRegs),
          static_cast<std::uint32_t>(attributes.sharedSizeBytes), ctas};
}

// What a prediction of issued instructions needs.
std::string counts_json(const Workload& workload, const LogStats& stats) {
  nlohmann::ordered_json json;
  json["schema"] = "warpfold.path-counts/1";
  json["kernel"] = workload.name();
  json["paths"] = nlohmann::ordered_json::object();
  const auto paths = workload.paths();
  for (std::size_t p = 0; p < paths.size(); ++p) {
    json["paths"][paths[p]] =
        stats.passes[p] + (paths[p] == workload.taken_path() ? stats.events : 0);
  }
  json["barriers"] = stats.barriers;
  json["parameters"] = workload.parameters().size();
  json["events_by_lanes"] = stats.events_by_lanes;
  json["one_address_by_lanes"] = stats.one_address_by_lanes;
  json["serial_events"] = stats.serial_events;
  json["serial_turns"] = stats.serial_turns;
  json["plain_events"] = stats.plain_events;
  return json.dump(1) + "\n";
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_summary(const Workload& workload, const LogStats& stats, const RecordOptions& options) {
  const auto line = [](const std::string& name, std::uint64_t value) {
    std::printf("  %-42s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
  };
  const double mean = static_cast<double>(stats.active_lanes) /
                      static_cast<double>(std::max<std::uint64_t>(stats.events, 1));
  std::printf("%s %s:\n", options.label.c_str(), options.scene.c_str());
  line("warps", stats.warps);
  line("events", stats.events);
  std::printf("  %-42s %.2f\n", "mean active lanes", mean);
  std::printf("  %-42s %.3f\n", "events with all 32 lanes, %",
              percent(stats.full_events, stats.events));
  std::printf("  %-42s %.3f\n", "events with one address, %",
              percent(stats.one_address_events, stats.events));
  line("barriers", stats.barriers);
  const auto paths = workload.paths();
  for (std::size_t p = 0; p < paths.size(); ++p) {
    line("passes without an event: " + paths[p], stats.passes[p]);
  }
  std::printf("  active lanes, events, on one address, groups of so many lanes\n");
  for (std::size_t lanes = 1; lanes <= trace::kWarpLanes; ++lanes) {
    std::printf("  %4zu %12llu %12llu %12llu\n", lanes,
                static_cast<unsigned long long>(stats.events_by_lanes[lanes]),
                static_cast<unsigned long long>(stats.one_address_by_lanes[lanes]),
                static_cast<unsigned long long>(stats.groups_by_lanes[lanes]));
  }
  // The columns of the tables in docs/numbers/traces.md that come from the recording.
  std::printf("| %s | %s | %llu | %.2f | %.2f |\n", options.label.c_str(), options.scene.c_str(),
              static_cast<unsigned long long>(stats.events), mean,
              percent(stats.one_address_events, stats.events));
}

trace::Header make_header(const Workload& workload, const RecordOptions& options) {
  const GpuInfo gpu = gpu_info();
  const Workload::Launch launch = workload.launch();
  const KernelFacts kernel = facts(workload.kernels().of(Variant::kBaseline), launch);
  trace::Header header;
  header.workload = options.label;
  header.scene = options.scene;
  header.kernel = workload.kernel();
  header.gpu = gpu.name;
  header.driver = gpu.driver;
  header.cuda = gpu.cuda;
  std::copy(std::begin(launch.grid), std::end(launch.grid), std::begin(header.grid));
  std::copy(std::begin(launch.block), std::end(launch.block), std::begin(header.block));
  header.registers_per_thread = kernel.registers;
  header.shared_bytes_per_cta = kernel.shared_bytes;
  header.sites.push_back({.name = header.kernel,
                          .primitive_count = workload.primitive_count(),
                          .parameters = workload.parameters(),
                          .taken_path = workload.taken_path()});
  header.paths = workload.paths();
  header.total_ctas = product(launch.grid);
  header.provenance = workload.provenance();
  header.provenance["program"] = "warpfold_capture_workloads " + workload.name();
  header.provenance["command"] = options.command;
  header.provenance["date"] = today();
  header = with_costs_and_times(header, options.costs, options.times, workload.name());
  if (workload.lanes_read_on()) {
    mark_next_words(header);
  }
  return header;
}

trace::ManifestEntry read_back(const std::filesystem::path& path, trace::TraceStats& stats) {
  const trace::Reader reader(path);
  reader.verify();
  stats = trace::collect_stats(reader);
  std::printf("%s: %llu bytes, %llu CTAs, %llu events, %.2f active lanes\n", path.c_str(),
              static_cast<unsigned long long>(reader.file_bytes()),
              static_cast<unsigned long long>(stats.ctas),
              static_cast<unsigned long long>(stats.events), stats.mean_active_lanes());
  trace::ManifestEntry entry;
  entry.file = path.filename().string();
  entry.xxh64 = reader.file_hash();
  entry.bytes = reader.file_bytes();
  entry.workload = reader.header().workload;
  entry.scene = reader.header().scene;
  entry.gpu = reader.header().gpu;
  entry.date = reader.header().provenance.at("date");
  entry.command = reader.header().provenance.at("command");
  return entry;
}

}  // namespace

bool check_command(Workload& workload) {
  Verdict verdict;
  std::printf("%s: %s\n", workload.name().c_str(), workload.kernel().c_str());
  workload.check(verdict);
  const std::vector<double> reference = workload.reference();
  for (const Policy& policy : checked_policies(usable_kernels(workload))) {
    const std::vector<float> result = run(workload, policy);
    if (result.size() != reference.size()) {
      throw InputError(workload.name() + ": the reference is of another size than the arrays");
    }
    std::size_t at = 0;
    for (const Array& array : workload.arrays()) {
      verdict.expect(policy.name() + ", " + array.name,
                     relative_error(slice(result, at, array), slice(reference, at, array)),
                     workload.tolerance());
      at += array.values();
    }
  }
  if (workload.fixed() != nullptr) {
    check_fixed(workload, verdict);
  }
  check_recording(workload, verdict);
  std::printf("%s\n", verdict.failed() ? "check FAILED" : "check passed");
  return !verdict.failed();
}

bool time_command(Workload& workload, const TimeOptions& options) {
  if (options.runs < 1 || options.warmup < 0) {
    throw InputError("at least one run, and no negative number of warm-up runs");
  }
  const GpuInfo gpu = gpu_info();
  const ClockReader clock;
  std::printf("%s on %s: %s, median of %d\n", options.scene.c_str(), gpu.name.c_str(),
              workload.kernel().c_str(), options.runs);
  const Kernels kernels = usable_kernels(workload);
  for (const Policy& policy : profiled_policies(kernels)) {
    const KernelFacts fact = facts(kernels.of(policy.variant), workload.launch());
    std::printf("  %-16s %u registers, %u bytes of shared memory, %d CTAs on an SM\n",
                policy.name().c_str(), fact.registers, fact.shared_bytes, fact.ctas_per_sm);
  }
  // Brings the clocks up before the first policy is timed.
  const Policy baseline_policy{Variant::kBaseline, 0};
  clear(workload, baseline_policy);
  for (int i = 0; i < 50; ++i) {
    launch_policy(workload, baseline_policy);
  }
  std::vector<GpuEvent> begins(static_cast<std::size_t>(options.runs));
  std::vector<GpuEvent> ends(begins.size());
  nlohmann::ordered_json json;
  json["schema"] = "warpfold.times/1";
  json["kernel"] = workload.name();
  json["scene"] = options.scene;
  json["gpu"] = gpu.name;
  json["times"] = nlohmann::ordered_json::array();
  double baseline = 0;
  bool good = true;
  for (const Policy& policy : timed_policies(kernels)) {
    for (int i = -options.warmup; i < options.runs; ++i) {
      clear(workload, policy);
      if (i < 0) {
        launch_policy(workload, policy);
        continue;
      }
      begins[static_cast<std::size_t>(i)].record();
      launch_policy(workload, policy);
      ends[static_cast<std::size_t>(i)].record();
    }
    const double mhz = clock.sm_clock_mhz();
    capture::check(cudaDeviceSynchronize(), "timed kernel");
    std::vector<double> ms;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      ms.push_back(static_cast<double>(ends[i].since(begins[i])));
    }
    std::sort(ms.begin(), ms.end());
    const std::size_t half = ms.size() / 2;
    const double median = ms.size() % 2 == 1 ? ms[half] : 0.5 * (ms[half - 1] + ms[half]);
    if (policy.variant == Variant::kBaseline) {
      baseline = median;
    }
    std::printf("  %-16s %8.4f ms  (%.4f to %.4f)  %5.2fx  SM %4.0f MHz\n", policy.name().c_str(),
                median, ms.front(), ms.back(), baseline / median, mhz);
    if (policy.variant == Variant::kFixed && workload.fixed()->saturated() != 0) {
      std::printf("  %llu additions saturated: the sums are wrong\n",
                  static_cast<unsigned long long>(workload.fixed()->saturated()));
      good = false;
    }
    json["times"].push_back({{"policy", policy.name()},
                             {"median_ms", median},
                             {"min_ms", ms.front()},
                             {"max_ms", ms.back()},
                             {"runs", options.runs},
                             {"sm_clock_mhz", mhz}});
  }
  if (!options.json.empty()) {
    write_text(options.json, json.dump(1) + "\n");
  }
  return good;
}

bool launch_command(Workload& workload, const std::vector<std::string>& names) {
  const Kernels kernels = usable_kernels(workload);
  std::vector<Policy> policies = profiled_policies(kernels);
  if (!names.empty()) {
    policies.clear();
    for (const std::string& name : names) {
      policies.push_back(parse_policy(name, kernels));
    }
  }
  for (const Policy& policy : policies) {
    clear(workload, policy);
    launch_policy(workload, policy);
    capture::check(cudaDeviceSynchronize(), policy.name().c_str());
  }
  return true;
}

bool record_command(Workload& workload, const RecordOptions& options) {
  if (has_halves(workload)) {
    throw InputError(workload.name() + " adds halves, and a trace holds floats: no record");
  }
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    throw InputError(options.out.string() + ": cannot be made: " + error.message());
  }
  trace::Header header = make_header(workload, options);
  const LaunchLog log = record_all(workload);
  const LogStats stats = collect(log, header.paths.size());
  print_summary(workload, stats, options);
  const auto file = [&](const char* ending) { return options.out / (options.scene + ending); };
  write_text(file("-counts.json"), counts_json(workload, stats));

  std::vector<std::uint64_t> chosen = log.ctas;
  if (options.ctas != 0) {
    chosen = choose_ctas(stats.cta_events, static_cast<std::size_t>(options.ctas));
  }
  header.sampling = describe_sampling(chosen.size(), log.ctas.size());
  {
    trace::Writer writer(file(".wft"), header);
    for (const std::uint64_t cta : chosen) {
      writer.add(log.cta(cta));
    }
    writer.finish();
  }
  std::uint64_t expected_events = 0;
  for (const std::uint64_t cta : chosen) {
    expected_events += stats.cta_events[cta];
  }

  std::vector<std::uint64_t> bytes = stats.cta_lanes;
  for (std::uint64_t& lanes : bytes) {
    lanes *= log.parameters * sizeof(float);
  }
  const auto sample = choose_ctas(stats.cta_events, bytes, options.value_bytes);
  header.sampling = describe_sampling(sample.size(), log.ctas.size());
  header.values = trace::ValueMode::kOperands;
  {
    trace::Writer writer(file("-values.wft"), header);
    record_with_values(workload, log, sample, [&](const LaunchLog& part) {
      for (std::size_t i = 0; i < part.ctas.size(); ++i) {
        writer.add(part.cta(i));
      }
    });
    writer.finish();
  }

  trace::TraceStats read;
  trace::TraceStats values;
  const std::vector<trace::ManifestEntry> entries = {read_back(file(".wft"), read),
                                                     read_back(file("-values.wft"), values)};
  bool good = read.events == expected_events && values.ctas == sample.size();
  if (options.ctas == 0) {
    good = good && read.active_lanes == stats.active_lanes &&
           read.one_address_events == stats.one_address_events && read.barriers == stats.barriers &&
           read.work_passes == stats.passes;
  }
  if (!good) {
    std::printf("%s: does not hold what was recorded\n", file(".wft").c_str());
  } else if (!options.manifest.empty()) {
    renew_manifest(options.manifest, entries);
  }
  return good;
}

}  // namespace warpfold::capture::workload
