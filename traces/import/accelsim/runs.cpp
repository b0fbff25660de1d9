// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "traces/format/header.hpp"

namespace warpfold::accelsim {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;
constexpr std::size_t kMostRuns = 4096;
constexpr std::uint64_t kMostPrimitives = std::uint64_t{1} << 32U;

// Of numbers below the prime.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  const Wide wide = Wide{a} * b;
  const std::uint64_t sum =
      static_cast<std::uint64_t>(wide & kPrime) + static_cast<std::uint64_t>(wide >> 61U);
  return sum >= kPrime ? sum - kPrime : sum;
}

// Arbitrary, but the same in every run of the program.
std::uint64_t factor(std::uint64_t number) {
  std::uint64_t x = (number + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return (x ^ (x >> 31U)) % kPrime;
}

}  // namespace

RunIndex Runs::find(const std::vector<InstructionId>& instructions) {
  const auto [found, is_new] = index_.emplace(instructions, static_cast<RunIndex>(runs_.size()));
  if (is_new) {
    if (runs_.size() == kMostRuns) {
      throw std::runtime_error(fmt::format("more than {} different runs of additions", kMostRuns));
    }
    runs_.push_back({.ids = instructions, .spreads = {}});
  }
  return found->second;
}

void Runs::add(RunIndex index, const RunEvent& event) {
  Run& run = runs_[index];
  const auto active = static_cast<std::size_t>(std::popcount(event.mask));
  // Where every instruction has one address, one lane says all.
  const std::size_t lanes = event.is_uniform() ? 1 : active;
  const bool begins = run.spreads.empty();
  run.spreads.resize(run.ids.size());
  std::array<std::uint64_t, trace::kWarpLanes> factors;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    factors[lane] = factor(run.additions + lane);
  }
  run.additions += lanes;
  for (std::size_t member = 0; member < run.ids.size(); ++member) {
    Spread& spread = run.spreads[member];
    const std::uint64_t* const addresses = &event.addresses[member * active];
    if (begins) {
      spread.first = addresses[0];
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      spread.add(addresses[lane], factors[lane]);
    }
  }
}

void Runs::Spread::add(std::uint64_t address, std::uint64_t factor) {
  const bool ahead = address >= first;
  const std::uint64_t apart = ahead ? address - first : first - address;
  lowest = std::min(lowest, address);
  highest = std::max(highest, address);
  if (step == 0 || apart % step != 0) {
    step = std::gcd(step, apart);
  }
  const std::uint64_t term = product(apart % kPrime, factor);
  const std::uint64_t sum = line + (ahead || term == 0 ? term : kPrime - term);
  line = sum >= kPrime ? sum - kPrime : sum;
}

bool RunEvent::is_uniform() const {
  const auto lanes = static_cast<std::size_t>(std::popcount(mask));
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (i % lanes != 0 && addresses[i] != addresses[i - 1]) {
      return false;
    }
  }
  return true;
}

// The members not done yet whose addresses are a straight line in those of `lead`.
RunSite Runs::together(const Run& run, std::size_t lead, const std::vector<bool>& done) const {
  RunSite result;
  const Spread& ahead = run.spreads[lead];
  for (std::size_t i = lead; i < run.ids.size(); ++i) {
    const Spread& here = run.spreads[i];
    const bool alike =
        instruction(run, i).opcode.adds == instruction(run, lead).opcode.adds &&
        (here.step == 0) == (ahead.step == 0) &&
        product(here.line, ahead.step % kPrime) == product(ahead.line, here.step % kPrime);
    if (!done[i] && (i == lead || alike)) {
      result.members.push_back(i);
    }
  }
  return result;
}

trace::Site Runs::site_of(const Run& run, const RunSite& place) const {
  const std::size_t lead = place.members.front();
  const Instruction& first = instruction(run, lead);
  const std::uint64_t bytes = trace::bytes_of(*first.opcode.adds);
  trace::Site site;
  site.name = fmt::format("{:#06x} {}", first.pc, first.name);
  site.type = *first.opcode.adds;
  for (const std::size_t i : place.members) {
    const Spread& spread = run.spreads[i];
    const Instruction& here = instruction(run, i);
    std::uint64_t stride = spread.step != 0 ? spread.step : here.opcode.words * bytes;
    if (place.members.size() == 1 && stride > std::numeric_limits<std::uint32_t>::max()) {
      stride = std::gcd(stride, std::uint64_t{1} << 31U);
    }
    if (i == lead) {
      site.primitive_count = (spread.highest - spread.lowest) / stride + 1;
    }
    for (std::uint32_t word = 0; word < here.opcode.words; ++word) {
      const bool fits = stride <= std::numeric_limits<std::uint32_t>::max();
      site.parameters.push_back(
          {.name = fmt::format("{:#06x}{}", here.pc, word > 0 ? fmt::format("+{}", word) : ""),
           .base = spread.lowest + word * bytes,
           .stride_bytes = fits ? static_cast<std::uint32_t>(stride) : 0});
    }
  }
  return site;
}

// As a trace wants it.
bool Runs::is_sound(const trace::Site& site) {
  const std::uint64_t bytes = trace::bytes_of(site.type);
  bool sound = site.primitive_count <= kMostPrimitives && site.parameters.size() <= kMostParameters;
  for (std::size_t i = 0; sound && i < site.parameters.size(); ++i) {
    const trace::Parameter& here = site.parameters[i];
    sound = here.stride_bytes != 0 && here.stride_bytes % bytes == 0 && here.base % bytes == 0;
    for (std::size_t k = 0; sound && k < i; ++k) {
      sound = site.parameters[k].name != here.name &&
              !trace::may_share_address(site, here, site, site.parameters[k]);
    }
  }
  return sound;
}

Runs::Sites Runs::sites() const {
  Sites result;
  for (const Run& run : runs_) {
    std::vector<RunSite> places;
    std::vector<bool> done(run.ids.size(), false);
    for (std::size_t lead = 0; lead < run.ids.size(); ++lead) {
      if (done[lead]) {
        continue;
      }
      RunSite place = together(run, lead, done);
      trace::Site site = site_of(run, place);
      if (place.members.size() > 1 && !is_sound(site)) {
        place.members = {lead};
        site = site_of(run, place);
      }
      if (!is_sound(site)) {
        throw std::runtime_error(
            fmt::format("the additions at {:#06x} lie too far apart, or not at multiples of their "
                        "size",
                        instruction(run, lead).pc));
      }
      for (const std::size_t i : place.members) {
        done[i] = true;
      }
      place.base = site.parameters.front().base;
      place.stride = site.parameters.front().stride_bytes;
      place.site = static_cast<std::uint16_t>(result.sites.size());
      site.name = fmt::format("{}: {}", result.sites.size(), site.name);
      result.sites.push_back(std::move(site));
      places.push_back(std::move(place));
    }
    result.runs.push_back(std::move(places));
  }
  return result;
}

}  // namespace warpfold::accelsim
