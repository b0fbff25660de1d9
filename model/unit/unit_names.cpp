// SPDX-License-Identifier: Apache-2.0
// What all units share, without any: the family's names, and what a register file answers.
#include <algorithm>
#include <bit>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/unit/arc_unit.hpp"
#include "model/unit/unit_declaration.hpp"
#include "model/unit/unit_list.hpp"

namespace warpfold {

namespace {

static_assert(unit_list::kMostWords == kMaxWords);
static_assert(unit_list::kDatapaths.size() == 3 && unit_list::kFormats.size() == 2 &&
                  unit_list::kCoalescers.size() == 2,
              "rtl/units.json has another datapath, format or coalescer than the golden units");

struct Named {
  UnitKind kind;
  std::string name;
};

bool is_legal(const UnitKind& kind) {
  const auto datapath = static_cast<std::size_t>(kind.datapath);
  return datapath < unit_list::kDatapaths.size() &&
         (unit_list::kDatapaths[datapath].formats >> static_cast<unsigned>(kind.adds) & 1U) != 0 &&
         kind.max_words >= 1 && kind.max_words <= kMaxWords;
}

std::vector<UnitKind> named_kinds() {
  std::vector<UnitKind> kinds;
  for (const unit_list::UnitRow& row : unit_list::kUnits) {
    kinds.push_back({.datapath = static_cast<Datapath>(row.datapath),
                     .adds = static_cast<WordType>(row.format),
                     .max_words = row.words,
                     .coalescer = static_cast<Coalescer>(row.coalescer)});
  }
  return kinds;
}

std::string parts_name(const UnitKind& kind) {
  const auto part = [](std::string_view name, bool first) {
    return first ? std::string() : "-" + std::string(name);
  };
  const auto format = static_cast<std::size_t>(kind.adds);
  const auto coalescer = static_cast<std::size_t>(kind.coalescer);
  return std::string(unit_list::kDatapaths[static_cast<std::size_t>(kind.datapath)].name) +
         part(unit_list::kFormats[format], format == 0) +
         part(std::to_string(kind.max_words), kind.max_words == 1) +
         part(unit_list::kCoalescers[coalescer], coalescer == 0);
}

// Every combination: those that have a name, then the others, each under its parts.
std::deque<Named> all_kinds() {
  std::deque<Named> all;
  const std::span<const UnitKind> named = unit_kinds();
  for (std::size_t i = 0; i < named.size(); ++i) {
    all.push_back({named[i], std::string(unit_list::kUnits[i].name)});
  }
  for (std::size_t datapath = 0; datapath < unit_list::kDatapaths.size(); ++datapath) {
    for (std::size_t format = 0; format < unit_list::kFormats.size(); ++format) {
      for (std::uint32_t words = 1; words <= kMaxWords; ++words) {
        for (std::size_t coalescer = 0; coalescer < unit_list::kCoalescers.size(); ++coalescer) {
          const UnitKind kind{.datapath = static_cast<Datapath>(datapath),
                              .adds = static_cast<WordType>(format),
                              .max_words = words,
                              .coalescer = static_cast<Coalescer>(coalescer)};
          if (is_legal(kind)) {
            all.push_back({kind, parts_name(kind)});
          }
        }
      }
    }
  }
  return all;
}

const std::deque<Named>& kinds() {
  static const std::deque<Named> all = all_kinds();
  return all;
}

}  // namespace

UnitModel parse_unit_model(std::string_view name) {
  for (const UnitModel model : {UnitModel::kGolden, UnitModel::kRtl}) {
    if (name == unit_model_name(model)) {
      return model;
    }
  }
  throw std::invalid_argument("unknown unit '" + std::string(name) + "': golden or rtl");
}

std::string_view unit_model_name(UnitModel model) {
  return model == UnitModel::kGolden ? "golden" : "rtl";
}

std::span<const UnitKind> unit_kinds() {
  static const std::vector<UnitKind> kinds = named_kinds();
  return kinds;
}

std::string unit_kind_list(std::string_view between, std::string_view last) {
  std::string names;
  for (std::size_t i = 0; i < unit_list::kUnits.size(); ++i) {
    const bool is_last = i + 1 == unit_list::kUnits.size();
    names += (i == 0 ? "" : std::string(is_last ? last : between)) +
             std::string(unit_list::kUnits[i].name);
  }
  return names;
}

UnitKind parse_unit_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Named::name);
  if (found == kinds().end()) {
    throw std::invalid_argument("unknown unit kind '" + std::string(name) +
                                "': " + unit_kind_list() +
                                ", or DATAPATH[-FORMAT][-WORDS][-staged] (rtl/README.md)");
  }
  return found->kind;
}

std::string_view unit_kind_name(const UnitKind& kind) {
  const auto found = std::ranges::find(kinds(), kind, &Named::kind);
  if (found == kinds().end()) {
    throw std::invalid_argument("no unit of this kind");
  }
  return found->name;
}

std::span<const std::string_view> unit_schedulers(const UnitKind& kind) {
  static const auto names = [] {
    std::array<std::string_view, unit_list::kSchedulers.size()> all;
    std::ranges::transform(unit_list::kSchedulers, all.begin(), &unit_list::SchedulerRow::name);
    return all;
  }();
  // Those for many words come last.
  static_assert(
      std::ranges::is_sorted(unit_list::kSchedulers, {}, &unit_list::SchedulerRow::most_words));
  const auto first = std::ranges::find_if(
      unit_list::kSchedulers,
      [&](const unit_list::SchedulerRow& row) { return row.most_words >= kind.max_words; });
  return std::span(names).subspan(static_cast<std::size_t>(first - unit_list::kSchedulers.begin()));
}

UnitDeclaration unit_declaration(const UnitKind& kind) {
  return {.name = unit_kind_name(kind), .ports = unit_ports(kind), .promise = unit_promise(kind)};
}

void answer_read(UnitInputs& inputs, const ArcUnit::Ports& ports, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    inputs.rf_data[lane % ports.read_lanes] = operand[lane];
  }
  if (ports.sees_exponents) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      inputs.rf_bins[lane] = exponent_bin(operand[lane]);
    }
  }
}

void answer_read(UnitInputs& inputs, const UnitKind& kind, LaneMask lanes,
                 const std::array<Fp32Bits, kLanes>& operand) {
  answer_read(inputs, unit_ports(kind), lanes, operand);
}

}  // namespace warpfold
