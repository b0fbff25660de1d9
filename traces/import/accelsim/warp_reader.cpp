// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/warp_reader.hpp"

#include <bit>

#include "traces/format/header.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::size_t kMostSteps = 512;                     // of a way
constexpr std::uint64_t kWindow = std::uint64_t{1} << 24U;  // bytes of generic addresses

}  // namespace

void WarpReader::begin(std::uint32_t warp) {
  spill_.warp(warp);
  early_.next_warp();
}

// Generic addresses may mean shared or local memory.
bool WarpReader::is_addition(const Opcode& opcode, const Issue& issue) const {
  if (!opcode.adds || issue.mask == 0 || !issue.has_addresses) {
    return false;
  }
  const std::uint64_t address =
      issue.addresses[static_cast<std::size_t>(std::countr_zero(issue.mask))];
  const auto inside = [&](std::uint64_t window) {
    return window != 0 && address >= window && address - window < kWindow;
  };
  return !inside(header_.shared_window) && !inside(header_.local_window);
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
    way_.emplace_back(step.id, step.is_event, early_.next(code_[step.id]));
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
