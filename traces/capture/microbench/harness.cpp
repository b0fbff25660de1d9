// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/harness.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace warpfold::microbench {
namespace {

constexpr std::size_t kMaxWarps = 256UL * 64;  // SMs times warps
constexpr std::size_t kCounters = 3;

Sample sample_of(const std::vector<WarpRecord>& records, std::size_t slots) {
  struct Window {
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
    std::uint64_t drained = 0;
    std::uint64_t first_end = ~std::uint64_t{0};
    std::uint64_t time_start = ~std::uint64_t{0};
    std::uint64_t time_end = 0;
  };
  std::map<std::uint32_t, Window> windows;
  Sample sample;
  for (std::size_t i = 0; i < slots; ++i) {
    const WarpRecord& r = records[i];
    if (r.valid == 0) {
      continue;
    }
    ++sample.warps;
    Window& w = windows[r.sm];
    w.start = std::min(w.start, r.start);
    w.end = std::max(w.end, r.end);
    w.drained = std::max(w.drained, r.drained);
    w.first_end = std::min(w.first_end, r.end);
    w.time_start = std::min(w.time_start, r.time_start);
    w.time_end = std::max(w.time_end, r.time_end);
  }
  sample.sms = static_cast<int>(windows.size());
  std::vector<double> mhz;
  std::vector<double> starts;
  std::uint64_t first_start = ~std::uint64_t{0};
  for (const auto& [sm, w] : windows) {
    first_start = std::min(first_start, w.time_start);
  }
  for (const auto& [sm, w] : windows) {
    // The timer counts from 1970: a double would not hold it to the nanosecond.
    starts.push_back(static_cast<double>(w.time_start - first_start));
    const auto window = static_cast<double>(w.end - w.start);
    sample.mean_window += window / sample.sms;
    sample.drained_window =
        std::max(sample.drained_window, static_cast<double>(w.drained - w.start));
    if (window > sample.window) {
      sample.window = window;
      sample.first_end = static_cast<double>(w.first_end - w.start);
    }
    // The timer's steps may be as long as a microsecond.
    if (w.time_end - w.time_start >= 50'000) {
      mhz.push_back(static_cast<double>(w.drained - w.start) * 1e3 /
                    static_cast<double>(w.time_end - w.time_start));
    }
  }
  sample.mhz = mhz.empty() ? 0 : summarize(mhz).median;
  if (!starts.empty()) {
    const Summary all = summarize(starts);
    sample.middle_start = all.median;
    sample.last_start = all.max;
  }
  return sample;
}

}  // namespace

Device this_device() {
  int id = 0;
  check(cudaGetDevice(&id), "cudaGetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, id), "cudaGetDeviceProperties");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, id), "cudaDeviceGetAttribute");
    return value;
  };
  return {.sms = properties.multiProcessorCount,
          .max_warps = properties.maxThreadsPerMultiProcessor / 32,
          .compute_capability = properties.major * 10 + properties.minor,
          .l2_bytes = static_cast<std::size_t>(properties.l2CacheSize),
          .max_ctas = attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
          .registers = attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
          .shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          .clock_khz = attribute(cudaDevAttrClockRate),
          .memory_clock_khz = attribute(cudaDevAttrMemoryClockRate),
          .memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth)};
}

Harness::Harness(Report& report, int repetitions, const std::string& match)
    : report_(report),
      repetitions_(repetitions),
      match_(match),
      device_(this_device()),
      records_(kMaxWarps),
      counters_(kCounters) {}

Placement Harness::place(int warps, bool whole_gpu, int subcores) const {
  // With some sub-cores idle, the CTA is as large as if all of them worked.
  const int resident = warps * kSubcores / subcores;
  const int ctas = resident <= 32 ? 1 : resident / 16;
  Placement placement;
  placement.block = resident / ctas * 32;
  placement.subcores = subcores;
  placement.whole_gpu = whole_gpu;
  placement.ctas = whole_gpu ? ctas * device_.sms : ctas;
  // Several CTAs on one SM: twice as many are launched as fill all SMs alike, and the others leave.
  const bool filter = !whole_gpu && ctas > 1;
  placement.only_sm = filter ? 0 : -1;
  placement.grid = filter ? 2 * ctas * device_.sms : placement.ctas;
  return placement;
}

std::vector<Sample> Harness::run(const Placement& placement, int repetitions,
                                 const Launch& launch) {
  const int warps = placement.block / 32;
  const auto slots = static_cast<std::size_t>(placement.ctas) * static_cast<std::size_t>(warps);
  const int expected = placement.ctas * (warps / kSubcores * placement.subcores +
                                         std::min(warps % kSubcores, placement.subcores));
  if (slots > kMaxWarps) {
    throw capture::CudaError("more warps than there is room for records");
  }
  std::vector<WarpRecord> host(slots);
  std::vector<Sample> samples;
  for (int i = -1; i < repetitions; ++i) {
    check(cudaMemsetAsync(records_.data(), 0, slots * sizeof(WarpRecord)), "cudaMemset");
    counters_.clear_async();
    const Probe probe{records_.data(), counters_.data(), placement.only_sm, placement.ctas,
                      placement.subcores};
    launch(probe, placement.grid, placement.block);
    check_launch("microbenchmark");
    check(cudaMemcpy(host.data(), records_.data(), slots * sizeof(WarpRecord),
                     cudaMemcpyDeviceToHost),
          "microbenchmark");
    const Sample sample = sample_of(host, slots);
    if (i < 0) {
      continue;
    }
    const int sms = placement.whole_gpu ? device_.sms : 1;
    if (placement.ctas > sms && counters_.to_host()[2] != 0) {
      throw NotPlaced(std::to_string(placement.ctas / sms) + " CTAs of " +
                      std::to_string(placement.block) + " threads did not fit an SM");
    }
    if (sample.warps != expected) {
      const std::string message =
          std::to_string(sample.warps) + " of " + std::to_string(expected) + " warps worked";
      if (placement.subcores < kSubcores) {
        throw NotPlaced(message);
      }
      throw capture::CudaError(message);
    }
    samples.push_back(sample);
  }
  return samples;
}

Summary summarize_member(const std::vector<Sample>& samples, double Sample::*member,
                         double divisor) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) {
    values.push_back(sample.*member / divisor);
  }
  return summarize(values);
}

Result window_result(std::string group, std::string name, Json parameters, std::string unit,
                     const Placement& placement, const std::vector<Sample>& samples,
                     double operations) {
  Result result;
  result.group = std::move(group);
  result.name = std::move(name);
  result.parameters = std::move(parameters);
  result.unit = std::move(unit);
  result.value = summarize_member(samples, &Sample::window, operations);
  result.grid = placement.grid;
  result.block = placement.block;
  std::vector<double> mhz;
  for (const Sample& sample : samples) {
    if (sample.mhz > 0) {
      mhz.push_back(sample.mhz);
    }
  }
  result.mhz = mhz.empty() ? 0 : summarize(mhz).median;
  const Summary drained = summarize_member(samples, &Sample::drained_window, operations);
  result.extra = {
      {"sms", samples.front().sms},
      {"warps", samples.front().warps},
      {"operations", operations},
      {"drained", drained.median},
      {"mean_over_sms", summarize_member(samples, &Sample::mean_window, operations).median},
      {"first_end", summarize_member(samples, &Sample::first_end, operations).median}};
  if (samples.front().sms > 1) {
    result.extra["drained_quartiles"] = {drained.quartile_low, drained.quartile_high};
    result.extra["middle_start_ns"] = summarize_member(samples, &Sample::middle_start, 1).median;
    result.extra["last_start_ns"] = summarize_member(samples, &Sample::last_start, 1).median;
  }
  return result;
}

int shared_for_ctas(const void* kernel, int ctas) {
  int device = 0;
  int of_sm = 0;
  int of_cta = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&of_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
        "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&of_cta, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute");
  // A little is for the static part and what the system takes of each CTA.
  const int bytes = std::min(of_cta, of_sm / ctas) / 1024 * 1024 - 2048;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "cudaFuncSetAttribute");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "cudaFuncSetAttribute");
  return bytes;
}

}  // namespace warpfold::microbench
