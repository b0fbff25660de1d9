// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/cta/gradient_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "model/base/check.hpp"
#include "traces/format/header.hpp"

namespace warpfold {

namespace {

bool sites_share_addresses(const std::vector<trace::Site>& sites) {
  for (std::size_t b = 1; b < sites.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      for (const trace::Parameter& of_a : sites[a].parameters) {
        for (const trace::Parameter& of_b : sites[b].parameters) {
          if (trace::may_share_address(sites[a], of_a, sites[b], of_b)) {
            return true;
          }
        }
      }
    }
  }
  return false;
}

}  // namespace

AddressMap::AddressMap(const trace::Header& header) {
  for (std::size_t s = 0; s < header.sites.size(); ++s) {
    const trace::Site& site = header.sites[s];
    const bool halves =
        site.type == trace::ValueType::kF16x2 && !trace::shares_with_other_type(header.sites, s);
    any_halves_ = any_halves_ || halves;
    sites_.push_back({.first_parameter = static_cast<std::uint32_t>(parameters_.size()),
                      .parameters = static_cast<std::uint32_t>(site.parameters.size()),
                      .type = halves ? WordType::kHalves : WordType::kFp32,
                      .traced = header.values == trace::ValueMode::kOperands &&
                                (halves || site.type == trace::ValueType::kF32)});
    any_traced_ = any_traced_ || sites_.back().traced;
    for (const trace::Parameter& parameter : site.parameters) {
      parameters_.push_back({.base = parameter.base,
                             .stride_bytes = Divider(parameter.stride_bytes),
                             .primitives = site.primitive_count,
                             .first = 0,
                             .step = 0,
                             .type = sites_.back().type});
    }
  }
  if (sites_share_addresses(header.sites)) {
    number_by_address(header);
  } else {
    number_by_site();
  }
}

void AddressMap::number_by_site() {
  for (const OfSite& site : sites_) {
    for (std::uint32_t p = 0; p < site.parameters; ++p) {
      Span& span = parameters_[site.first_parameter + p];
      span.first = element_count_ + p;
      span.step = site.parameters;
    }
    element_count_ += parameters_[site.first_parameter].primitives * site.parameters;
  }
}

// Ranges that reach into each other are one, so that an address is in one alone.
void AddressMap::number_by_address(const trace::Header& header) {
  constexpr std::uint64_t kWord = sizeof(Fp32Bits);
  struct Reach {
    Address begin, end;
    Span* span;
  };
  std::vector<Reach> reaches;
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    for (std::uint32_t p = 0; p < sites_[s].parameters; ++p) {
      Span& span = parameters_[sites_[s].first_parameter + p];
      const Address last = span.base + (span.primitives - 1) * span.stride_bytes.divisor();
      reaches.push_back({span.base, last + trace::bytes_of(header.sites[s].type), &span});
    }
  }
  std::sort(reaches.begin(), reaches.end(),
            [](const Reach& a, const Reach& b) { return a.begin < b.begin; });
  Address begin = reaches.front().begin;
  Address end = begin;
  for (const Reach& reach : reaches) {
    if (reach.begin > end) {
      element_count_ += (end - begin) / kWord;
      begin = end = reach.begin;
    }
    reach.span->first = element_count_ + (reach.begin - begin) / kWord;
    reach.span->step = reach.span->stride_bytes.divisor() / kWord;
    end = std::max(end, reach.end);
  }
  element_count_ += (end - begin) / kWord;
}

ElementIndex AddressMap::element_of(Address address, std::uint32_t parameter) const {
  const Span& span = parameters_[parameter];
  return span.first + span.stride_bytes.quotient(address - span.base) * span.step;
}

ElementIndex AddressMap::element_at(Address address, std::uint32_t guess) const {
  return element_of(address, parameter_at(address, guess));
}

std::optional<ElementIndex> AddressMap::find(Address address) const {
  const std::optional<std::uint32_t> parameter = find_parameter(address, 0);
  return parameter ? std::optional(element_of(address, *parameter)) : std::nullopt;
}

std::uint32_t AddressMap::parameter_at(Address address, std::uint32_t guess) const {
  const std::optional<std::uint32_t> parameter = find_parameter(address, guess);
  if (!parameter) {
    throw CheckError(fmt::format("no parameter lives at address {:#x}", address));
  }
  return *parameter;
}

std::optional<std::uint32_t> AddressMap::find_parameter(Address address,
                                                        std::uint32_t guess) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::size_t p = (guess + i) % parameters_.size();
    const Span& span = parameters_[p];
    if (address < span.base) {
      continue;
    }
    const std::uint64_t offset = address - span.base;
    const std::uint64_t primitive = span.stride_bytes.quotient(offset);
    if (primitive < span.primitives && primitive * span.stride_bytes.divisor() == offset) {
      return static_cast<std::uint32_t>(p);
    }
  }
  return std::nullopt;
}

std::uint64_t synthetic_seed(const EventKey& key) {
  std::uint64_t x = key.cta * 0x9e3779b97f4a7c15ULL + key.warp;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93ULL;
  x = (x ^ (x >> 32U)) + key.record;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 32U);
}

}  // namespace warpfold
