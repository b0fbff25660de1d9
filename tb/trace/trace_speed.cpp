// SPDX-License-Identifier: Apache-2.0
// Prints size, shape and decode speed of a synthetic frame: trace_speed FILE [LEVEL
// [CTAS_PER_CHUNK]].
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <vector>

#include "tb/trace/synthetic.hpp"
#include "traces/format/reader.hpp"
#include "traces/format/stats.hpp"
#include "traces/format/writer.hpp"

namespace {

using warpfold::trace::CtaTrace;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int run(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: trace_speed FILE [LEVEL [CTAS_PER_CHUNK]]\n");
    return 2;
  }
  warpfold::trace::WriterOptions options;
  if (argc > 2) {
    options.zstd_level = std::atoi(argv[2]);
  }
  if (argc > 3) {
    options.ctas_per_chunk = static_cast<std::uint32_t>(std::atoi(argv[3]));
  }
  warpfold::trace::test::SyntheticFrame frame(1);
  const auto header = frame.header();
  std::vector<CtaTrace> ctas;
  for (std::uint64_t i = 0; i < header.total_ctas; ++i) {
    ctas.push_back(frame.cta(i));
  }
  auto start = Clock::now();
  warpfold::trace::Writer writer(argv[1], header, options);
  for (const CtaTrace& cta : ctas) {
    writer.add(cta);
  }
  writer.finish();
  const double write_seconds = seconds_since(start);

  start = Clock::now();
  const warpfold::trace::Reader reader(argv[1]);
  const double open_seconds = seconds_since(start);
  double read_seconds = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    start = Clock::now();
    for (std::size_t i = 0; i < reader.cta_count(); ++i) {
      if (reader.read_cta(i).warps.empty()) {
        return 1;
      }
    }
    read_seconds = std::min(read_seconds, seconds_since(start));
  }
  for (std::size_t i = 0; i < reader.cta_count(); ++i) {
    if (reader.read_cta(i) != ctas[i]) {
      fmt::print(stderr, "CTA {} differs\n", i);
      return 1;
    }
  }
  const auto stats = warpfold::trace::collect_stats(reader);
  const auto events = static_cast<double>(stats.events);
  fmt::print("events {}  mean lanes {:.2f}  full {:.1f} %  pairs {}  warps per pair {:.2f}\n",
             stats.events, stats.mean_active_lanes(),
             100.0 * static_cast<double>(stats.full_events) / events, stats.cta_primitive_pairs,
             stats.mean_warps_per_pair());
  fmt::print("records {}  bytes {}  bits per event {:.2f}\n", reader.record_count(),
             reader.file_bytes(), 8.0 * static_cast<double>(reader.file_bytes()) / events);
  fmt::print("write {:.2f} s  open {:.4f} s  read {:.4f} s: {:.1f} million events/s\n",
             write_seconds, open_seconds, read_seconds, events / read_seconds / 1e6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
