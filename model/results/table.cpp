// SPDX-License-Identifier: Apache-2.0
#include "model/results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/results/json.hpp"

namespace warpfold {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kNothing = "-";
constexpr std::string_view kBar = "|";
constexpr std::string_view kDoubt = "?";

using Row = std::vector<std::string>;

std::string percent(double share) {
  return fmt::format("{:.1f}", share * 100);
}

std::string or_nothing(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : std::string(kNothing);
}

// "ok", or the checks that failed.
std::string checks(const RunResult& run) {
  std::string out;
  if (!run.sums_match) {
    out = "SUMS DIFFER";
  }
  if (!run.conserved) {
    out += out.empty() ? "" : ", ";
    out += run.failure_label.empty() ? "LANES LOST" : run.failure_label;
  }
  if (out.empty() && !run.failure.empty()) {
    out = "FAILED";
  }
  return out.empty() ? "ok" : out;
}

// One table row without trailing spaces.
std::string line(const Row& cells, const std::vector<std::size_t>& widths) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += i == 0 ? fmt::format("{:<{}}", cells[i], widths[i])
                  : fmt::format("{}{:>{}}", kGap, cells[i], widths[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

// Names of the counters of all runs, in the order of their first appearance.
template <typename Values>
Row names_of(const std::vector<RunResult>& runs, Values RunResult::*values) {
  Row names;
  for (const RunResult& run : runs) {
    for (const auto& item : run.*values) {
      if (std::find(names.begin(), names.end(), item.first) == names.end()) {
        names.push_back(item.first);
      }
    }
  }
  return names;
}

template <typename Values>
double value_of(const Values& values, const std::string& name) {
  for (const auto& item : values) {
    if (item.first == name) {
      return static_cast<double>(item.second);
    }
  }
  return 0;
}

std::string heading(const RunResult& run) {
  return fmt::format(
      "{}\n{}{}: {} SMs at {:.2f} GHz, {} L2 slices; {} {} unit; {} events, {} warp-atomics, "
      "{} lane-atomics\n",
      run.trace, run.gpu_part == 1 ? "" : fmt::format("1/{} of ", run.gpu_part), run.gpu,
      run.config.sm.count, run.config.sm.clock_ghz, run.config.l2.slices, run.unit, run.unit_kind,
      with_separators(run.events), with_separators(run.warp_atomics),
      with_separators(run.lane_atomics));
}

// What the reader would miss or take for something else, each in a line.
std::string notes(const std::vector<RunResult>& runs, const std::vector<Speedup>& run_speedups) {
  const RunResult& first = runs.front();
  std::string out;
  if (!first.warning.empty()) {
    out += fmt::format("warning: {}\n", first.warning);
  }
  if (!first.costs_of.empty() && first.costs_of != first.config.sass_arch) {
    out +=
        fmt::format("costs of {} code stand in for {}\n", first.costs_of, first.config.sass_arch);
  }
  const auto timed = std::find_if(runs.begin(), runs.end(), [](const RunResult& run) {
    return measured_cycles(run).has_value();
  });
  if (timed != runs.end() && !is_measured_gpu(timed->gpu, timed->measured_gpu)) {
    out += fmt::format("times were measured on {}, not on this machine\n", timed->measured_gpu);
  } else if (timed != runs.end() && !timed->measured_state.empty()) {
    out += fmt::format("the measured time is that of a {} launch\n", timed->measured_state);
  }
  if (!first.l2_start.empty()) {
    out += first.l2_start == "warm"
               ? "loads find in the L2 what a launch like this one has left there (--l2 warm)\n"
               : "loads find nothing in the L2 but the arrays that are added to (--l2 cold)\n";
  }
  for (const std::string& remark : first.remarks) {
    out += remark + "\n";
  }
  for (const RunResult& run : runs) {
    if (run.passed_on > 0) {
      out += fmt::format("{} passed {} lane-atomics on, of types that it does not add\n",
                         run.policy, with_separators(run.passed_on));
    }
  }
  if (std::any_of(run_speedups.begin(), run_speedups.end(),
                  [](const Speedup& speedup) { return speedup.is_doubtful; })) {
    out += fmt::format(
        "{}: modelled and measured cycles differ by more than {:.0f} %, so the speedup may not "
        "hold\n",
        kDoubt, 100 * kMostDeviation);
  }
  return out;
}

std::string main_table(const std::vector<RunResult>& runs,
                       const std::vector<Speedup>& run_speedups) {
  const bool measured = std::any_of(runs.begin(), runs.end(), [](const RunResult& run) {
    return measured_ratio(run).has_value();
  });
  Row header{"policy", "cycles", "speedup", "atomics/kcycle", "ROP operations", "NoC MB"};
  if (measured) {
    header.insert(header.end(), {"measured", "ratio"});
  }
  header.emplace_back("checks");
  std::vector<Row> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunResult& run = runs[i];
    std::optional<double> rate;
    if (run.cycles != 0) {
      rate = static_cast<double>(run.warp_atomics) * 1e3 / static_cast<double>(run.cycles);
    }
    Row row{run.policy,
            with_separators(run.cycles),
            or_nothing(run_speedups[i].factor, 2) +
                (run_speedups[i].is_doubtful ? std::string(kDoubt) : std::string()),
            or_nothing(rate, 1),
            with_separators(run.rop_ops),
            fmt::format("{:.1f}", static_cast<double>(run.noc_bytes) / 1e6)};
    if (measured) {
      const auto ratio = measured_ratio(run);
      row.push_back(ratio ? with_separators(static_cast<std::uint64_t>(*measured_cycles(run)))
                          : std::string(kNothing));
      row.push_back(or_nothing(ratio, 2));
    }
    row.push_back(checks(run));
    rows.push_back(std::move(row));
  }
  return align_columns(header, rows);
}

// Where the sub-cores' cycles went, and beside it how busy each kind of unit was.
std::string cycle_table(const std::vector<RunResult>& runs) {
  const Row causes = names_of(runs, &RunResult::subcore_cycles);
  Row units = names_of(runs, &RunResult::utilization);
  // The sub-cores' share stands on the left already.
  if (std::find(causes.begin(), causes.end(), "issued") != causes.end()) {
    std::erase(units, "issue");
  }
  Row header{"policy"};
  header.insert(header.end(), causes.begin(), causes.end());
  header.emplace_back(kBar);
  header.insert(header.end(), units.begin(), units.end());
  std::vector<Row> rows;
  for (const RunResult& run : runs) {
    double total = 0;
    for (const auto& item : run.subcore_cycles) {
      total += static_cast<double>(item.second);
    }
    Row row{run.policy};
    for (const std::string& cause : causes) {
      row.push_back(total == 0 ? std::string(kNothing)
                               : percent(value_of(run.subcore_cycles, cause) / total));
    }
    row.emplace_back(kBar);
    for (const std::string& unit : units) {
      row.push_back(percent(value_of(run.utilization, unit)));
    }
    rows.push_back(std::move(row));
  }
  const std::string table = align_columns(header, rows);
  return fmt::format("\n{:<{}}{} busy, %\n{}", "sub-core cycles, %", table.find(kBar), kBar, table);
}

// Cycles that each kind of unit needs at least, the highest of them, and how near the run came.
std::string bounds_table(const std::vector<RunResult>& runs) {
  const Row units = names_of(runs, &RunResult::bounds);
  Row header{"policy"};
  header.insert(header.end(), units.begin(), units.end());
  header.insert(header.end(), {std::string(kBar), "tightest", "cycles", "achieved, %"});
  std::vector<Row> rows;
  for (const RunResult& run : runs) {
    Row row{run.policy};
    for (const std::string& unit : units) {
      row.push_back(with_separators(static_cast<std::uint64_t>(value_of(run.bounds, unit))));
    }
    const auto tightest = tightest_bound(run);
    row.emplace_back(kBar);
    row.push_back(tightest ? tightest->unit : std::string(kNothing));
    row.push_back(with_separators(run.cycles));
    row.push_back(tightest ? percent(tightest->achieved) : std::string(kNothing));
    rows.push_back(std::move(row));
  }
  return "\nlower bounds, cycles\n" + align_columns(header, rows);
}

}  // namespace

std::string align_columns(const std::vector<std::string>& header,
                          const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::size_t width = header[i].size();
    for (const Row& row : rows) {
      width = std::max(width, row[i].size());
    }
    widths.push_back(width);
  }
  Row rule;
  for (const std::size_t width : widths) {
    rule.emplace_back(width, '-');
  }
  std::string out = line(header, widths) + line(rule, widths);
  for (const Row& row : rows) {
    out += line(row, widths);
  }
  return out;
}

std::string with_separators(std::uint64_t value) {
  std::string out = std::to_string(value);
  for (std::size_t i = out.size(); i > 3; i -= 3) {
    out.insert(i - 3, ",");
  }
  return out;
}

std::string results_table(const std::vector<RunResult>& runs, bool bounds) {
  const auto all_speedups = speedups(runs);
  std::string out;
  // Runs of one trace and GPU stand together.
  for (std::size_t begin = 0; begin < runs.size();) {
    std::size_t end = begin;
    while (end < runs.size() && runs[end].trace == runs[begin].trace &&
           runs[end].gpu == runs[begin].gpu && runs[end].unit == runs[begin].unit) {
      ++end;
    }
    const auto at = [](const auto& values, std::size_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const std::vector<RunResult> group(at(runs, begin), at(runs, end));
    const std::vector<Speedup> group_speedups(at(all_speedups, begin), at(all_speedups, end));
    out += (begin == 0 ? "" : "\n") + heading(group.front()) + notes(group, group_speedups) + "\n" +
           main_table(group, group_speedups) + cycle_table(group) +
           (bounds ? bounds_table(group) : std::string());
    begin = end;
  }
  return out;
}

}  // namespace warpfold
