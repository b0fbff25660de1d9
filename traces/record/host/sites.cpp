// SPDX-License-Identifier: Apache-2.0
#include "traces/record/host/sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "traces/record/protocol.hpp"

namespace warpfold::record {

namespace {

using Signed = std::int64_t;
__extension__ using Wide = __int128;

// All events of one run.
class RunEvents {
 public:
  RunEvents(std::span<const std::uint64_t> addresses, std::vector<LogRecord> events,
            std::size_t length)
      : addresses_(addresses), events_(std::move(events)), length_(length) {}

  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] std::uint64_t first(std::size_t instruction) const {
    return at(events_.front(), instruction, 0);
  }
  // visit(addresses by instruction) for each lane of each event.
  template <typename Visit>
  void each(Visit visit) const {
    for (const LogRecord& event : events_) {
      const std::size_t lanes = lanes_of(event);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        visit([&](std::size_t instruction) { return at(event, instruction, lane); });
      }
    }
  }

 private:
  static std::size_t lanes_of(const LogRecord& event) {
    return event.uniform ? 1 : static_cast<std::size_t>(std::popcount(event.count));
  }
  [[nodiscard]] std::uint64_t at(const LogRecord& event, std::size_t instruction,
                                 std::size_t lane) const {
    return addresses_[event.addresses + instruction * lanes_of(event) + lane];
  }

  std::span<const std::uint64_t> addresses_;
  std::vector<LogRecord> events_;
  std::size_t length_;
};

// How the addresses of an instruction vary.
struct Spread {
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t highest = 0;
  std::uint64_t step = 0;  // greatest that all differences are multiples of; 0: there are none
};

std::vector<Spread> spreads_of(const RunEvents& events) {
  std::vector<Spread> result(events.length());
  events.each([&](auto address) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::uint64_t here = address(i);
      const std::uint64_t start = events.first(i);
      result[i].lowest = std::min(result[i].lowest, here);
      result[i].highest = std::max(result[i].highest, here);
      result[i].step = std::gcd(result[i].step, here > start ? here - start : start - here);
    }
  });
  return result;
}

// For each instruction but `lead`, whether its addresses are a straight line in those of `lead`.
std::vector<bool> follows(const RunEvents& events, const std::vector<Spread>& spreads,
                          std::size_t lead) {
  std::vector<bool> result(events.length(), true);
  events.each([&](auto address) {
    const auto ahead = static_cast<Signed>(address(lead) - events.first(lead));
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto here = static_cast<Signed>(address(i) - events.first(i));
      result[i] = result[i] && Wide{here} * static_cast<Signed>(spreads[lead].step) ==
                                   Wide{ahead} * static_cast<Signed>(spreads[i].step);
    }
  });
  return result;
}

// Whether two parameters of so many primitives have an address in common.
bool share(const trace::Parameter& a, const trace::Parameter& b, std::uint64_t primitives) {
  if (a.stride_bytes == b.stride_bytes) {
    const std::uint64_t apart = a.base > b.base ? a.base - b.base : b.base - a.base;
    return apart % a.stride_bytes == 0 && apart / a.stride_bytes < primitives;
  }
  const auto last = [&](const trace::Parameter& p) {
    return p.base + (primitives - 1) * p.stride_bytes;
  };
  return a.base <= last(b) && b.base <= last(a);
}

class SiteFinder {
 public:
  SiteFinder(const KernelCode& code, const Run& run, const RunEvents& events)
      : code_(code), run_(run), events_(events), spreads_(spreads_of(events)) {}

  // Appends the sites of the run to `all`.
  std::vector<RunSite> find(std::vector<trace::Site>& all) {
    if (run_.row > 0) {
      return {row_site(all)};
    }
    std::vector<RunSite> result;
    std::vector<bool> done(run_.instructions.size(), false);
    for (std::size_t lead = 0; lead < run_.instructions.size(); ++lead) {
      if (done[lead]) {
        continue;
      }
      RunSite place = together(lead, done);
      trace::Site site = site_of(place);
      if (place.instructions.size() > 1 && !is_sound(site)) {
        place.instructions = {lead};
        site = site_of(place);
      }
      if (!is_sound(site)) {
        throw trace::TraceError(
            fmt::format("the additions of {} at {} lie too far apart", code_.function, name(lead)));
      }
      for (const std::size_t i : place.instructions) {
        done[i] = true;
      }
      place.base = site.parameters.front().base;
      place.stride_bytes = site.parameters.front().stride_bytes;
      place.site = static_cast<std::uint16_t>(all.size());
      all.push_back(std::move(site));
      result.push_back(std::move(place));
    }
    return result;
  }

 private:
  [[nodiscard]] std::string name(std::size_t place) const {
    return code_.place(run_.instructions[place]);
  }
  [[nodiscard]] const Atomic& atomic(std::size_t place) const {
    return *code_.instructions[static_cast<std::size_t>(run_.instructions[place])].atomic;
  }

  RunSite row_site(std::vector<trace::Site>& all) const {
    const std::uint32_t bytes = trace::bytes_of(atomic(0).type);
    const std::uint64_t length = std::uint64_t{run_.row} * kRowUnit;
    const std::uint64_t reach = spreads_[0].highest - spreads_[0].lowest + length;
    trace::Site site{
        .name = fmt::format("{} {} of {} bytes", name(0), atomic(0).name, length),
        .kind = trace::SiteKind::kBulk,
        .type = atomic(0).type,
        .primitive_count = reach / bytes,
        .parameters = {{.name = name(0), .base = spreads_[0].lowest, .stride_bytes = bytes}},
        .taken_path = {}};
    if (!is_sound(site)) {
      throw trace::TraceError(
          fmt::format("the rows of {} at {} lie too far apart", code_.function, name(0)));
    }
    const RunSite place{.instructions = {0},
                        .base = spreads_[0].lowest,
                        .stride_bytes = bytes,
                        .site = static_cast<std::uint16_t>(all.size())};
    all.push_back(std::move(site));
    return place;
  }

  // The instructions not done yet that go with `lead`.
  [[nodiscard]] RunSite together(std::size_t lead, const std::vector<bool>& done) const {
    const std::vector<bool> line = follows(events_, spreads_, lead);
    RunSite result;
    const std::uint32_t words = atomic(lead).words;
    for (std::size_t i = lead; i < run_.instructions.size(); ++i) {
      const bool alike = line[i] && atomic(i).type == atomic(lead).type &&
                         atomic(i).words <= words &&
                         (spreads_[i].step == 0) == (spreads_[lead].step == 0);
      if (!done[i] && (i == lead || alike)) {
        result.instructions.push_back(i);
        if (atomic(i).words < words) {
          break;
        }
      }
    }
    return result;
  }

  [[nodiscard]] trace::Site site_of(const RunSite& place) const {
    const std::size_t lead = place.instructions.front();
    const trace::ValueType type = atomic(lead).type;
    const std::uint64_t bytes = trace::bytes_of(type);
    // The steps of all, in the smallest whole numbers that keep them aligned.
    std::uint64_t common = 0;
    for (const std::size_t i : place.instructions) {
      common = std::gcd(common, spreads_[i].step);
    }
    const bool moves = spreads_[lead].step != 0;
    const bool shrinks = place.instructions.size() > 1 && common % bytes == 0 && common > bytes &&
                         common > std::numeric_limits<std::uint32_t>::max() / 2;
    trace::Site site{.name = {},
                     .kind = atomic(lead).kind,
                     .type = type,
                     .words = atomic(lead).words,
                     .primitive_count = 1,
                     .parameters = {},
                     .taken_path = {}};
    for (const std::size_t i : place.instructions) {
      std::uint64_t stride = moves ? spreads_[i].step : atomic(i).words * bytes;
      if (moves && (shrinks || stride > std::numeric_limits<std::uint32_t>::max())) {
        stride = shrinks ? stride / common * bytes : std::gcd(stride, bytes);
      }
      if (i == lead) {
        site.primitive_count =
            moves ? (spreads_[lead].highest - spreads_[lead].lowest) / stride + 1 : 1;
      }
      for (std::uint32_t word = 0; word < atomic(i).words; ++word) {
        site.parameters.push_back(
            {.name = fmt::format("{}{}", name(i), word > 0 ? fmt::format("+{}", word) : ""),
             .base = spreads_[i].lowest + word * bytes,
             .stride_bytes = static_cast<std::uint32_t>(stride)});
      }
    }
    site.name = atomic(lead).name.empty() ? name(lead)
                                          : fmt::format("{} {}", name(lead), atomic(lead).name);
    return site;
  }

  // As a trace wants it.
  [[nodiscard]] static bool is_sound(const trace::Site& site) {
    if (site.primitive_count > std::uint64_t{1} << 32U || site.parameters.size() > 256) {
      return false;
    }
    const std::uint64_t bytes = trace::bytes_of(site.type);
    for (std::size_t i = 0; i < site.parameters.size(); ++i) {
      const trace::Parameter& here = site.parameters[i];
      if (here.stride_bytes == 0 || here.stride_bytes % bytes != 0 || here.base % bytes != 0) {
        return false;
      }
      for (std::size_t k = 0; k < i; ++k) {
        if (share(here, site.parameters[k], site.primitive_count)) {
          return false;
        }
      }
    }
    return true;
  }

  const KernelCode& code_;
  const Run& run_;
  const RunEvents& events_;
  const std::vector<Spread> spreads_;
};

}  // namespace

Sites find_sites(const KernelCode& code, const LaunchTracker& launch,
                 std::span<const LogRecord> events) {
  std::vector<std::vector<LogRecord>> by_run(launch.runs().size());
  for (const LogRecord& event : events) {
    by_run[event.index].push_back(event);
  }
  Sites result;
  for (std::size_t r = 0; r < by_run.size(); ++r) {
    const Run& run = launch.runs()[r];
    const RunEvents of_run(launch.addresses(), std::move(by_run[r]), run.instructions.size());
    result.runs.push_back(SiteFinder(code, run, of_run).find(result.sites));
  }
  return result;
}

}  // namespace warpfold::record
