// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/warp_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "traces/format/header.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::size_t kMostSteps = 512;                     // of a way
constexpr std::uint64_t kWindow = std::uint64_t{1} << 24U;  // bytes of generic addresses

}  // namespace

void WarpReader::begin(std::uint32_t warp) {
  spill_.warp(warp);
  loading_ = none_loading();
  early_.next_warp();
}

// Generic addresses may mean shared or local memory.
bool WarpReader::is_global(const Issue& issue) const {
  if (issue.mask == 0 || !issue.has_addresses) {
    return false;
  }
  const std::uint64_t address =
      issue.addresses[static_cast<std::size_t>(std::countr_zero(issue.mask))];
  const auto inside = [&](std::uint64_t window) {
    return window != 0 && address >= window && address - window < kWindow;
  };
  return !inside(header_.shared_window) && !inside(header_.local_window);
}

bool WarpReader::is_addition(const Opcode& opcode, const Issue& issue) const {
  return opcode.adds && is_global(issue);
}

std::optional<std::uint16_t> WarpReader::find_memory(const Issue& issue) {
  const Instruction& instruction = code_[issue.id];
  if (!loads_ || !instruction.opcode.access || !is_global(issue)) {
    return std::nullopt;
  }
  const auto found = memory_of_.find(issue.id);
  if (found != memory_of_.end()) {
    return found->second;
  }
  if (memory_.size() == kMostMemory) {
    return std::nullopt;
  }
  const auto site = static_cast<std::uint16_t>(memory_.size());
  memory_.push_back(*instruction.opcode.access);
  memory_.back().name = fmt::format("{}: {:#06x} {}", site, instruction.pc, instruction.name);
  memory_of_.emplace(issue.id, site);
  return site;
}

// What it reads, and what it writes over.
void WarpReader::wait_for_loads(const Instruction& instruction) {
  const auto wait_for = [this](std::size_t number) {
    const std::uint16_t site = loading_[number];
    if (site == kNoSite) {
      return;
    }
    close_run();
    end_way(steps_.size());
    spill_.wait(site);
    std::replace(loading_.begin(), loading_.end(), site, kNoSite);
  };
  for (const int source : instruction.sources) {
    wait_for(static_cast<std::size_t>(source));
  }
  for (std::uint32_t i = 0; instruction.destination >= 0 && i < instruction.opcode.result_registers;
       ++i) {
    wait_for(register_ahead(instruction.destination, i));
  }
}

// The way up to it has what it waits for itself.
void WarpReader::add_access(const Issue& issue, const Instruction& instruction,
                            std::uint16_t site) {
  close_run();
  steps_.push_back({.id = issue.id, .is_event = true, .is_access = true});
  end_way(steps_.size());
  access_.mask = issue.mask;
  access_.sectors.clear();
  for (std::uint32_t rest = issue.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t sector =
        issue.addresses[static_cast<std::size_t>(std::countr_zero(rest))] / trace::kSectorBytes;
    if (std::find(access_.sectors.begin(), access_.sectors.end(), sector) ==
        access_.sectors.end()) {
      access_.sectors.push_back(sector);
    }
  }
  spill_.access(site, access_);
  if (memory_[site].kind == trace::AccessKind::kLoad && instruction.destination >= 0) {
    for (std::uint32_t i = 0; i < instruction.opcode.result_registers; ++i) {
      loading_[register_ahead(instruction.destination, i)] = site;
    }
  }
}

void WarpReader::count_atomic(const Instruction& instruction, bool is_event, const Issue& issue) {
  if (!is_event) {
    ++counts_.omitted[instruction.name];
    return;
  }
  ++counts_.additions;
  counts_.returning += instruction.destination >= 0 ? 1 : 0;
  counts_.lane_additions +=
      static_cast<std::uint64_t>(std::popcount(issue.mask)) * instruction.opcode.words;
  for (std::uint32_t rest = issue.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = issue.addresses[static_cast<std::size_t>(std::countr_zero(rest))];
    if (trace::is_impossible_address(address)) {
      counts_.impossible_address = counts_.impossible == 0 ? address : counts_.impossible_address;
      counts_.impossible += instruction.opcode.words;
    }
  }
}

void WarpReader::issue(const Issue& issue) {
  const Instruction& instruction = code_[issue.id];
  const Opcode& opcode = instruction.opcode;
  if (opcode.is_mark) {
    return;
  }
  ++counts_.instructions;
  if (instruction.pc <= last_pc_ || steps_.size() >= kMostSteps) {
    close_run();
    end_way(steps_.size());
  }
  last_pc_ = instruction.pc;
  if (loads_) {
    wait_for_loads(instruction);
  }
  if (const std::optional<std::uint16_t> site = find_memory(issue)) {
    add_access(issue, instruction, *site);
    return;
  }
  const bool is_event = is_addition(opcode, issue);
  if (opcode.is_atomic && issue.mask != 0) {
    count_atomic(instruction, is_event, issue);
  }
  if (opcode.is_barrier && issue.mask != 0) {
    close_run();
    end_way(steps_.size());
    spill_.barrier();
    return;
  }
  if (is_event) {
    add_to_run(issue, instruction);
    return;
  }
  if (opcode.is_memory && issue.mask != 0) {
    close_run();
  }
  steps_.push_back({.id = issue.id});
}

void WarpReader::add_to_run(const Issue& issue, const Instruction& instruction) {
  if (!run_.empty() &&
      (issue.mask != event_.mask || run_parameters_ + instruction.opcode.words > kMostParameters)) {
    close_run();
  }
  event_.mask = issue.mask;
  for (std::uint32_t rest = issue.mask; rest != 0; rest &= rest - 1) {
    event_.addresses.push_back(issue.addresses[static_cast<std::size_t>(std::countr_zero(rest))]);
  }
  run_.push_back(issue.id);
  run_parameters_ += instruction.opcode.words;
  steps_.push_back({.id = issue.id, .is_event = true});
  run_end_ = steps_.size();
}

void WarpReader::close_run() {
  if (run_.empty()) {
    return;
  }
  end_way(run_end_);
  const RunIndex run = runs_.find(run_);
  runs_.add(run, event_);
  spill_.event(run, event_);
  run_.clear();
  run_parameters_ = 0;
  event_.addresses.clear();
}

void WarpReader::end_way(std::size_t steps) {
  if (steps == 0) {
    return;
  }
  way_.clear();
  for (std::size_t i = 0; i < steps; ++i) {
    const Step step = steps_[i];
    way_.emplace_back(step.id, step.is_event, early_.next(code_[step.id], !step.is_access));
  }
  for (const PathPasses passes : ways_.pass(way_)) {
    spill_.work(passes);
  }
  early_.next_way();
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(steps));
}

void WarpReader::end() {
  close_run();
  end_way(steps_.size());
  last_pc_ = 0;
}

}  // namespace warpfold::accelsim
