// SPDX-License-Identifier: Apache-2.0
#include "model/policy/struct_layout.hpp"

#include <algorithm>
#include <bit>

#include "traces/format/header.hpp"

namespace warpfold {

namespace {

constexpr std::uint64_t kWord = 4;
constexpr std::uint64_t kSector = 32;
constexpr std::uint64_t kLine = 128;

bool is_struct(const trace::Site& site) {
  const trace::Parameter& first = site.parameters.front();
  for (std::size_t p = 1; p < site.parameters.size(); ++p) {
    const trace::Parameter& parameter = site.parameters[p];
    if (parameter.base != first.base + p * kWord || parameter.stride_bytes != first.stride_bytes) {
      return false;
    }
  }
  return true;
}

bool shares_addresses(const std::vector<trace::Site>& sites, std::size_t site) {
  for (std::size_t other = 0; other < sites.size(); ++other) {
    for (const trace::Parameter& of_other : sites[other].parameters) {
      for (const trace::Parameter& own : sites[site].parameters) {
        if (other != site && trace::may_share_address(sites[site], own, sites[other], of_other)) {
          return true;
        }
      }
    }
  }
  return false;
}

std::uint64_t size_of_struct(std::size_t words) {
  const std::uint64_t bytes = words * kWord;
  return bytes <= kLine ? std::bit_ceil(bytes) : (bytes + kSector - 1) / kSector * kSector;
}

std::uint64_t end_of(const std::vector<trace::Site>& sites) {
  std::uint64_t end = 0;
  for (const trace::Site& site : sites) {
    for (const trace::Parameter& parameter : site.parameters) {
      end = std::max(end, parameter.base + site.primitive_count * parameter.stride_bytes);
    }
  }
  return end;
}

}  // namespace

StructLayout::StructLayout(const trace::Header& header, std::uint32_t most_words, bool as_traced)
    : most_words_(most_words) {
  if (most_words <= 1) {
    return;
  }
  for (std::size_t s = 0; s < header.sites.size(); ++s) {
    const trace::Site& site = header.sites[s];
    const bool fits = site.type == trace::ValueType::kF32 && site.parameters.size() > 1;
    const bool stays = as_traced || shares_addresses(header.sites, s);
    kinds_.push_back(!fits             ? Kind::kNone
                     : is_struct(site) ? Kind::kAsTraced
                     : stays           ? Kind::kNone
                                       : Kind::kMoved);
  }
}

std::vector<trace::Site> StructLayout::sites(const trace::Header& header) const {
  std::vector<trace::Site> sites = header.sites;
  std::uint64_t base = (end_of(header.sites) + kLine - 1) / kLine * kLine;
  for (std::size_t s = 0; s < sites.size(); ++s) {
    if (!moved(s)) {
      continue;
    }
    const std::uint64_t size = size_of_struct(sites[s].parameters.size());
    for (std::size_t p = 0; p < sites[s].parameters.size(); ++p) {
      sites[s].parameters[p].base = base + p * kWord;
      sites[s].parameters[p].stride_bytes = static_cast<std::uint32_t>(size);
    }
    base += (sites[s].primitive_count * size + kLine - 1) / kLine * kLine;
  }
  return sites;
}

trace::InstructionCost StructLayout::address_cost() {
  trace::InstructionCost cost;
  cost.alu = 2;
  cost.stall_cycles = 5;
  return cost;
}

}  // namespace warpfold
