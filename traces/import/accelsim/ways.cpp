// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpfold::accelsim {

namespace {

using trace::InstructionCost;
using trace::ResultClass;

// Cycles from the issue of an instruction to that of the next which needs what it did.
constexpr std::uint32_t kArithmetic = 5;  // its register
constexpr std::uint32_t kHidden = 9;      // a predicate or uniform register, which is not listed
constexpr std::uint32_t kJump = 5;
// Of an instruction alone, where it is not known what it needs.
constexpr std::uint32_t kAlone = 3;

// Of a header, which has the costs of each path once for each policy in software.
constexpr std::size_t kMostPaths = 12'000;
constexpr std::uint16_t kNone = 0xffff;
constexpr std::uint16_t kMany = 0xfffe;
constexpr std::size_t kMostHeaderBytes = std::size_t{4} << 20U;
constexpr std::size_t kPathBytes = 240;
constexpr std::size_t kWaitBytes = 28;

struct ClassName {
  std::uint32_t InstructionCost::*slot;
  const char* name;
};
constexpr std::array<ClassName, 10> kClasses = {{{&InstructionCost::alu, "alu"},
                                                 {&InstructionCost::integer, "integer"},
                                                 {&InstructionCost::sfu, "sfu"},
                                                 {&InstructionCost::shared, "shared"},
                                                 {&InstructionCost::shared_wide, "shared_wide"},
                                                 {&InstructionCost::global_load, "global_load"},
                                                 {&InstructionCost::shuffle, "shuffle"},
                                                 {&InstructionCost::shuffle_index, "shuffle_index"},
                                                 {&InstructionCost::match, "match"},
                                                 {&InstructionCost::redux, "redux"}}};

// Walks a way on a clock that counts nothing but estimated stall counts.
class CostWalk {
 public:
  explicit CostWalk(const Code& code) : code_(code) {}

  void step(WayStep step) {
    const Instruction& instruction = code_[step.id()];
    const Opcode& opcode = instruction.opcode;
    std::uint32_t issue = clock_;
    for (const int source : instruction.sources) {
      for (std::uint32_t i = 0; i < width_of(source); ++i) {
        issue = std::max(issue, registers_[register_ahead(source, i)].ready);
      }
    }
    if (step.early()) {
      cost_.waits.push_back({.kind = *step.early(), .asked = 0, .wanted = issue});
    }
    for (const int source : instruction.sources) {
      wait_for(registers_[static_cast<std::size_t>(source)], issue);
    }
    if (!step.is_event()) {
      ++(cost_.*opcode.slot);
      cost_.branches += opcode.is_branch ? 1 : 0;
      clock_ = issue + (opcode.is_jump ? kJump : opcode.hides_result ? kHidden : 1);
    } else {
      clock_ = issue;
    }
    write(instruction, issue);
  }

  InstructionCost finish() {
    cost_.stall_cycles = clock_;
    cost_.estimated = true;
    return std::move(cost_);
  }

 private:
  struct Register {
    std::uint32_t ready = 0;
    std::uint32_t asked = 0;
    std::optional<ResultClass> pending = std::nullopt;
    std::uint32_t width = 1;  // of the result that begins here
  };
  [[nodiscard]] std::uint32_t width_of(int number) const {
    return registers_[static_cast<std::size_t>(number)].width;
  }

  void wait_for(Register& source, std::uint32_t issue) {
    if (source.pending) {
      cost_.waits.push_back({.kind = *source.pending, .asked = source.asked, .wanted = issue});
      // The other words of a result are there with the first that is waited for.
      const std::uint32_t asked = source.asked;
      for (Register& other : registers_) {
        if (other.pending && other.asked == asked) {
          other.pending.reset();
        }
      }
    }
  }

  void write(const Instruction& instruction, std::uint32_t issue) {
    if (instruction.destination < 0) {
      return;
    }
    const Opcode& opcode = instruction.opcode;
    for (std::uint32_t i = 0; i < opcode.result_registers; ++i) {
      Register& target = registers_[register_ahead(instruction.destination, i)];
      target = {.ready = opcode.result ? 0 : issue + kArithmetic,
                .asked = issue,
                .pending = opcode.result,
                .width = opcode.result_registers - i};
    }
  }

  const Code& code_;
  InstructionCost cost_;
  std::array<Register, kRegisters> registers_ = {};
  std::uint32_t clock_ = 0;
};

const char* class_name(const Opcode& opcode) {
  if (opcode.is_branch) {
    return "branch";
  }
  const auto* found = std::find_if(kClasses.begin(), kClasses.end(), [&](const ClassName& entry) {
    return entry.slot == opcode.slot;
  });
  return found->name;
}

}  // namespace

std::optional<ResultClass> EarlyResults::next(const Instruction& instruction, bool asks) {
  std::optional<ResultClass> early;
  for (const int source : instruction.sources) {
    Pending& pending = registers_[static_cast<std::size_t>(source)];
    if (pending.way != 0 && pending.way + 1 == way_) {
      early = pending.kind;
    }
    pending.way = 0;
  }
  const Opcode& opcode = instruction.opcode;
  for (std::uint32_t i = 0; instruction.destination >= 0 && i < opcode.result_registers; ++i) {
    registers_[register_ahead(instruction.destination, i)] = {
        .way = asks && opcode.result ? way_ : 0, .kind = opcode.result.value_or(ResultClass::kSfu)};
  }
  return early;
}

InstructionCost cost_of(const Way& way, const Code& code) {
  CostWalk walk(code);
  for (const WayStep step : way) {
    walk.step(step);
  }
  return walk.finish();
}

std::size_t Ways::Hash::operator()(const Way& way) const {
  const std::string_view bytes(reinterpret_cast<const char*>(way.data()),
                               way.size() * sizeof(WayStep));
  return std::hash<std::string_view>()(bytes);
}

std::span<const PathPasses> Ways::pass(const Way& way) {
  result_.clear();
  const auto found = known_.find(way);
  const std::uint16_t path = found != known_.end() ? found->second : add_way(way);
  if (path == kMany) {
    pass_by_class(way);
  } else if (path != kNone) {
    result_.push_back({.path = path, .count = 1});
  }
  return result_;
}

std::uint16_t Ways::add_way(const Way& way) {
  if (full_) {
    return kMany;
  }
  InstructionCost cost = cost_of(way, code_);
  const std::size_t bytes = kPathBytes + cost.waits.size() * kWaitBytes;
  full_ = names_.size() >= kMostPaths || header_bytes_ + bytes > kMostHeaderBytes;
  if (full_) {
    return kMany;
  }
  std::uint16_t path = kNone;
  if (cost.issue_slots() > 0 || !cost.waits.empty()) {
    header_bytes_ += bytes;
    path = add_path(fmt::format("{}: {:#06x} to {:#06x}", names_.size(), code_[way.front().id()].pc,
                                code_[way.back().id()].pc),
                    std::move(cost));
  }
  known_.emplace(way, path);
  return path;
}

std::uint16_t Ways::add_path(std::string name, InstructionCost cost) {
  names_.push_back(std::move(name));
  costs_.push_back(std::move(cost));
  return static_cast<std::uint16_t>(names_.size() - 1);
}

void Ways::pass_by_class(const Way& way) {
  for (const WayStep step : way) {
    if (step.is_event()) {
      continue;
    }
    const Opcode& opcode = code_[step.id()].opcode;
    const char* const name = class_name(opcode);
    auto found = classes_.find(name);
    if (found == classes_.end()) {
      InstructionCost cost{.stall_cycles = kAlone, .estimated = true};
      cost.*opcode.slot = 1;
      cost.branches = opcode.is_branch ? 1 : 0;
      found = classes_.emplace(name, add_path(name, std::move(cost))).first;
    }
    const auto same = std::find_if(result_.begin(), result_.end(), [&](const PathPasses& passes) {
      return passes.path == found->second;
    });
    if (same == result_.end()) {
      result_.push_back({.path = found->second, .count = 1});
    } else {
      ++same->count;
    }
  }
}

}  // namespace warpfold::accelsim
