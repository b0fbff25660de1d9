// SPDX-License-Identifier: Apache-2.0
// What the Python package calls of the trace library, as C functions for ctypes: open a trace, take
// some CTAs, and copy what was taken into arrays of the caller's. Any Python loads it, for it links
// none. A function that can fail says so in what it returns; warpfold_error() is then one line. One
// trace is not for two threads at once.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "traces/format/header.hpp"
#include "traces/format/reader.hpp"

namespace {

using warpfold::trace::CtaTrace;
using warpfold::trace::Record;
using warpfold::trace::RecordKind;
using warpfold::trace::Site;
using warpfold::trace::ValueMode;
using warpfold::trace::WarpTrace;

// Choice of each site: a parameter whose lanes are wanted, or one of these.
constexpr std::int32_t kNoLanes = -1;  // its events alone
constexpr std::int32_t kLeftOut = -2;
// CTAs are taken until they have as many records: a few MB.
constexpr std::size_t kRecordsTaken = 1U << 16U;

thread_local std::string last_error;

struct OpenTrace {
  explicit OpenTrace(const char* path)
      : reader(path), header(warpfold::trace::header_to_json(reader.header())) {}

  warpfold::trace::Reader reader;
  std::string header;
  // What was taken last: CTAs of the file begin..end - 1, and what is wanted of each site.
  std::size_t begin = 0, end = 0;
  std::vector<CtaTrace> taken;
  std::vector<std::int32_t> choice;

  void take(std::size_t from, std::size_t to);
  // Calls f(cta, index of the warp, its records, index of the record) for each chosen event.
  template <typename Visit>
  void for_each_event(Visit visit) const;
};

// Takes what lies there already as it is: lanes are mostly asked for behind their events.
void OpenTrace::take(std::size_t from, std::size_t to) {
  if (from == begin && end > begin && end <= to) {
    return;
  }
  begin = end = from;
  taken.clear();
  for (std::size_t records = 0; end < to && records < kRecordsTaken; ++end) {
    taken.push_back(reader.read_cta(end));
    for (const WarpTrace& warp : taken.back().warps) {
      records += warp.records.size();
    }
  }
}

template <typename Visit>
void OpenTrace::for_each_event(Visit visit) const {
  for (const CtaTrace& cta : taken) {
    for (std::size_t w = 0; w < cta.warps.size(); ++w) {
      const WarpTrace& warp = cta.warps[w];
      for (std::size_t r = 0; r < warp.records.size(); ++r) {
        const Record& record = warp.records[r];
        if (record.kind == RecordKind::kEvent && choice[record.site] != kLeftOut) {
          visit(cta, w, warp, r);
        }
      }
    }
  }
}

std::uint32_t primitive_of(const WarpTrace& warp, const Record& record, int lane) {
  return record.lane_primitives == Record::kUniform
             ? record.primitive
             : warp.lane_primitives[record.lane_primitives + static_cast<std::size_t>(lane)];
}

}  // namespace

#define WARPFOLD_EXPORT extern "C" __attribute__((visibility("default")))

WARPFOLD_EXPORT const char* warpfold_error() {
  return last_error.c_str();
}

// Null if the file is refused.
WARPFOLD_EXPORT OpenTrace* warpfold_open(const char* path) {
  try {
    return new OpenTrace(path);
  } catch (const std::exception& error) {
    last_error = error.what();
    return nullptr;
  }
}

WARPFOLD_EXPORT void warpfold_close(OpenTrace* trace) {
  delete trace;
}

WARPFOLD_EXPORT const char* warpfold_header(const OpenTrace* trace) {
  return trace->header.c_str();
}

WARPFOLD_EXPORT std::uint64_t warpfold_cta_count(const OpenTrace* trace) {
  return trace->reader.cta_count();
}

WARPFOLD_EXPORT std::uint64_t warpfold_event_count(const OpenTrace* trace) {
  return trace->reader.event_count();
}

WARPFOLD_EXPORT void warpfold_cta_ids(const OpenTrace* trace, std::int64_t* out) {
  for (std::size_t i = 0; i < trace->reader.cta_count(); ++i) {
    out[i] = static_cast<std::int64_t>(trace->reader.cta_id(i));
  }
}

// Takes CTAs of the file from `from` on, some of those before `to`; `choice` has an entry for each
// site. Returns the CTA behind the last that was taken, or -1. counts: events, rows of lanes, words
// of their values.
WARPFOLD_EXPORT std::int64_t warpfold_take(OpenTrace* trace, std::uint64_t from, std::uint64_t to,
                                           const std::int32_t* choice, std::uint64_t* counts) {
  try {
    const std::vector<Site>& sites = trace->reader.header().sites;
    trace->take(from, to);
    trace->choice.assign(choice, choice + sites.size());
    std::fill_n(counts, 3, 0);
    trace->for_each_event([&](const CtaTrace&, std::size_t, const WarpTrace& warp, std::size_t r) {
      const Record& record = warp.records[r];
      ++counts[0];
      if (choice[record.site] != kNoLanes) {
        const auto lanes = static_cast<std::uint64_t>(std::popcount(record.mask));
        counts[1] += lanes;
        counts[2] += lanes * words_of(sites[record.site].type);
      }
    });
    return static_cast<std::int64_t>(trace->end);
  } catch (const std::exception& error) {
    last_error = error.what();
    return -1;
  }
}

// Columns of the events that were taken last.
struct EventColumns {
  std::int64_t* cta;
  std::int32_t* warp;
  std::int32_t* order;
  std::int32_t* site;
  std::uint32_t* mask;
  std::int32_t* lanes;
  bool* uniform;
  std::int64_t* primitive;  // of the lowest active lane
};
WARPFOLD_EXPORT void warpfold_events(const OpenTrace* trace, const EventColumns* out) {
  std::size_t i = 0;
  trace->for_each_event(
      [&](const CtaTrace& cta, std::size_t w, const WarpTrace& warp, std::size_t r) {
        const Record& record = warp.records[r];
        out->cta[i] = static_cast<std::int64_t>(cta.cta);
        out->warp[i] = static_cast<std::int32_t>(w);
        out->order[i] = static_cast<std::int32_t>(r);
        out->site[i] = record.site;
        out->mask[i] = record.mask;
        out->lanes[i] = std::popcount(record.mask);
        out->uniform[i] = record.lane_primitives == Record::kUniform;
        out->primitive[i] = primitive_of(warp, record, std::countr_zero(record.mask));
        ++i;
      });
}

// Rows of their lanes, by event and then from the lowest lane. `first` is the number of the first
// event.
struct LaneColumns {
  std::int64_t* event;
  std::int32_t* lane;
  std::int64_t* primitive;
  std::uint64_t* address;
};
WARPFOLD_EXPORT void warpfold_lanes(const OpenTrace* trace, std::int64_t first,
                                    const LaneColumns* out) {
  const std::vector<Site>& sites = trace->reader.header().sites;
  std::size_t row = 0;
  std::int64_t event = first;
  trace->for_each_event([&](const CtaTrace&, std::size_t, const WarpTrace& warp, std::size_t r) {
    const Record& record = warp.records[r];
    const std::int32_t wanted = trace->choice[record.site];
    for (std::uint32_t left = wanted == kNoLanes ? 0 : record.mask; left != 0; left &= left - 1) {
      const auto& parameter = sites[record.site].parameters[static_cast<std::size_t>(wanted)];
      const int lane = std::countr_zero(left);
      const std::uint64_t primitive = primitive_of(warp, record, lane);
      out->event[row] = event;
      out->lane[row] = lane;
      out->primitive[row] = static_cast<std::int64_t>(primitive);
      out->address[row] = parameter.base + primitive * parameter.stride_bytes;
      ++row;
    }
    ++event;
  });
}

// Words of the values in the order of these rows; only of a trace that has them.
WARPFOLD_EXPORT void warpfold_values(const OpenTrace* trace, std::uint32_t* out) {
  const std::vector<Site>& sites = trace->reader.header().sites;
  trace->for_each_event([&](const CtaTrace&, std::size_t, const WarpTrace& warp, std::size_t r) {
    const Record& record = warp.records[r];
    const std::int32_t wanted = trace->choice[record.site];
    if (wanted == kNoLanes) {
      return;
    }
    const std::size_t words =
        static_cast<std::size_t>(std::popcount(record.mask)) * words_of(sites[record.site].type);
    const std::uint32_t* from =
        warp.values.data() + record.values + static_cast<std::size_t>(wanted) * words;
    out = std::copy_n(from, words, out);
  });
}

// Adds the passes along each path in the CTAs that were taken last: those of work records, and
// those of events whose site has a path. `path_of_site` is -1 where it has none.
WARPFOLD_EXPORT void warpfold_work(const OpenTrace* trace, const std::int32_t* path_of_site,
                                   std::uint64_t* passes) {
  for (const CtaTrace& cta : trace->taken) {
    for (const WarpTrace& warp : cta.warps) {
      for (const Record& record : warp.records) {
        if (record.kind == RecordKind::kWork) {
          passes[record.path] += record.count;
        } else if (record.kind == RecordKind::kEvent && path_of_site[record.site] >= 0) {
          ++passes[path_of_site[record.site]];
        }
      }
    }
  }
}
