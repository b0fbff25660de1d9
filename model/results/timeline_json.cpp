// SPDX-License-Identifier: Apache-2.0
#include "model/results/timeline_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "model/results/json.hpp"

namespace warpfold {
namespace {

using Json = nlohmann::ordered_json;

// Slices lie on a grid of an eighth of a cycle, 125 ns of the axis: a double has such a time
// without an error, in microseconds and in nanoseconds, so that no reader's rounding can make two
// overlap.
constexpr std::uint64_t kGridOfCycle = 8;
constexpr std::uint64_t kPartsOfGrid = 256 / kGridOfCycle;  // TimelineSlice

constexpr std::uint64_t on_grid(std::uint64_t parts) {
  return (parts + kPartsOfGrid / 2) / kPartsOfGrid;
}
constexpr std::size_t kIdsOfRun = 1000;

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What the kinds of units and queues are called on screen.
std::string_view kind_name(std::string_view kind) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"issue", "issue slots busy, %"},
      {"arc_unit", "reduction units busy, %"},
      {"lsu", "LSUs busy, %"},
      {"buffer", "atomic buffers busy, %"},
      {"noc", "injection ports busy, %"},
      {"rop", "ROP units busy, %"},
      {"memory_queue", "memory queues full, %"},
      {"injection_queue", "injection queues full, %"},
      {"l2_buffer", "L2 buffers full, %"}};
  const auto* const found = std::find_if(std::begin(kNames), std::end(kNames),
                                         [kind](const auto& name) { return name.first == kind; });
  return found == std::end(kNames) ? kind : found->second;
}

// The events of a file, in the format's order of keys.
class Events {
 public:
  void process_name(std::size_t pid, const std::string& name) {
    add(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}}}})", pid,
        quoted(name));
    add(R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
        pid);
  }
  void thread_name(std::size_t pid, std::size_t tid, const std::string& name) {
    add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid, tid,
        quoted(name));
    add(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
        pid, tid, tid);
  }
  void counter(std::size_t pid, std::string_view name, double cycle, double value) {
    add(R"({{"ph":"C","pid":{},"tid":0,"ts":{},"name":{},"args":{{"value":{}}}}})", pid, cycle,
        quoted(std::string(name)), value);
  }
  // From `begin` to `end` on the grid.
  void slice(std::size_t pid, std::size_t tid, const TimelineTrack& track,
             const TimelineSlice& slice, std::uint64_t begin, std::uint64_t end) {
    const std::string args = track.count.empty() || slice.count == 0
                                 ? ""
                                 : fmt::format(R"(,"args":{{"{}":{}}})", track.count, slice.count);
    add(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{}{}}})", pid, tid,
        static_cast<double>(begin) / kGridOfCycle, static_cast<double>(end - begin) / kGridOfCycle,
        quoted(track.what.at(slice.what)), args);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += text_.empty() ? "\n" : ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  std::string text_;
};

double percent_of(double part, double whole) {
  constexpr double kSteps = 100;  // of a per cent
  return whole > 0 ? std::round(part / whole * 100 * kSteps) / kSteps : 0;
}

double room_of(const Counters& counters, std::size_t kind) {
  return static_cast<double>(counters.at(kind).second);
}

// The whole run: what is true of an interval stands at its beginning, what of its end there.
void add_samples(const RunResult& run, std::size_t pid, Events& events) {
  const Timeline& timeline = run.timeline;
  const auto interval = static_cast<double>(timeline.interval);
  const auto end = static_cast<double>(run.cycles);
  for (std::size_t kind = 0; kind < timeline.busy.size(); ++kind) {
    const auto& [name, busy] = timeline.busy[kind];
    for (std::size_t i = 0; i < busy.size(); ++i) {
      const double begin = static_cast<double>(i) * interval;
      const double cycles = std::min(begin + interval, end) - begin;
      events.counter(pid, kind_name(name), begin,
                     percent_of(busy[i], cycles * room_of(timeline.units, kind)));
    }
    events.counter(pid, kind_name(name), end, 0);
  }
  for (std::size_t kind = 0; kind < timeline.held.size(); ++kind) {
    const auto& [name, held] = timeline.held[kind];
    events.counter(pid, kind_name(name), 0, 0);
    for (std::size_t i = 0; i < held.size(); ++i) {
      events.counter(pid, kind_name(name), std::min(static_cast<double>(i + 1) * interval, end),
                     percent_of(held[i], room_of(timeline.room, kind)));
    }
  }
}

// One that is shorter than half a step of the grid takes a whole one, if the next leaves it room.
void add_slices(const TimelineTrack& track, std::size_t pid, std::size_t tid, Events& events) {
  for (std::size_t i = 0; i < track.slices.size(); ++i) {
    const TimelineSlice& slice = track.slices[i];
    const std::uint64_t begin = on_grid(slice.begin);
    const std::uint64_t next =
        i + 1 < track.slices.size() ? on_grid(track.slices[i + 1].begin) : begin + 1;
    const std::uint64_t end = on_grid(slice.begin + slice.length);
    if (end > begin || next > begin) {
      events.slice(pid, tid, track, slice, begin, std::max(end, begin + 1));
    }
  }
}

// Tracks and queues of one SM or port of the L2.
void add_place(const Timeline& timeline, std::uint32_t place, std::size_t pid, Events& events) {
  std::size_t tid = 0;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.place != place) {
      continue;
    }
    events.thread_name(pid, ++tid, track.name);
    add_slices(track, pid, tid, events);
  }
  for (const TimelineLevels& levels : timeline.levels) {
    if (levels.place != place) {
      continue;
    }
    for (const TimelineLevel& level : levels.levels) {
      events.counter(pid, levels.name, static_cast<double>(level.cycle),
                     static_cast<double>(level.value) / levels.parts);
    }
  }
}

// "baseline on rtx4090", with the trace in front where there are several.
std::string title_of(const RunResult& run, const std::vector<RunResult>& runs) {
  const bool one_trace = std::all_of(runs.begin(), runs.end(),
                                     [&](const RunResult& r) { return r.trace == run.trace; });
  const std::string trace =
      one_trace ? "" : std::filesystem::path(run.trace).stem().string() + ": ";
  return fmt::format("{}{} on {}", trace, run.policy, run.gpu);
}

Json timeline_of_run(const RunResult& run) {
  Json timeline;
  timeline["trace"] = run.trace;
  timeline["gpu"] = run.gpu;
  timeline["policy"] = run.policy;
  timeline["unit"] = run.unit;
  timeline["unit_kind"] = run.unit_kind;
  timeline["cycles"] = run.cycles;
  timeline["gpu_part"] = run.gpu_part;
  timeline["interval"] = run.timeline.interval;
  timeline["units"] = named_values(run.timeline.units);
  timeline["busy"] = named_values(run.timeline.busy);
  timeline["room"] = named_values(run.timeline.room);
  timeline["held"] = named_values(run.timeline.held);
  return timeline;
}

}  // namespace

std::string timelines_to_json(const std::vector<RunResult>& runs, bool partial) {
  Events events;
  Json other;
  other["time_axis"] = "1 us is 1 SM clock cycle since the launch";
  other["runs"] = Json::array();
  std::string arrays;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunResult& run = runs[i];
    const std::string title = title_of(run, runs);
    const std::size_t pid = i * kIdsOfRun + 1;
    events.process_name(pid, title + ": GPU");
    add_samples(run, pid, events);
    for (std::uint32_t place = 0; place < run.timeline.places.size(); ++place) {
      events.process_name(pid + 1 + place, title + ": " + run.timeline.places[place]);
      add_place(run.timeline, place, pid + 1 + place, events);
    }
    Json about;
    about["name"] = title;
    about["pid"] = pid;
    about["clock_ghz"] = run.config.sm.clock_ghz;
    about["cycle_ns"] = 1 / run.config.sm.clock_ghz;
    about["sample_cycles"] = run.timeline.interval;
    about["window_cycles"] = {run.timeline.window_begin, run.timeline.window_end};
    other["runs"].push_back(std::move(about));
    arrays += (i == 0 ? "\n" : ",\n") +
              timeline_of_run(run).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return "{\"traceEvents\": [" + events.text() +
         "\n],\n\"displayTimeUnit\": \"ns\",\n\"otherData\": " +
         other.dump(-1, ' ', false, Json::error_handler_t::replace) +
         ",\n\"warpfold\": {\"schema\": \"warpfold.timeline/2\", " +
         std::string(partial ? "\"partial\": true, " : "") + "\"runs\": [" + arrays + "\n]}}\n";
}

}  // namespace warpfold
