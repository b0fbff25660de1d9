// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/instruction.hpp"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <stdexcept>

#include "traces/import/accelsim/fields.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::uint32_t kMostDestinations = 1;
constexpr std::uint32_t kMostSources = 8;
constexpr int kZeroRegister = 255;

// How the addresses of the active lanes are written.
enum class AddressForm : std::uint32_t { kEach = 0, kStride = 1, kSteps = 2 };

[[noreturn]] void refuse(std::string_view why) {
  throw std::runtime_error(std::string(why));
}

template <std::integral Number>
Number need(std::string_view word, const char* what, int base = 10) {
  Number number = 0;
  if (word.empty()) {
    refuse(fmt::format("the line ends where {} should stand", what));
  }
  if (!read_number(word, number, base)) {
    refuse(fmt::format("'{}' is not {}", word, what));
  }
  return number;
}

std::uint64_t need_address(std::string_view word) {
  if (!word.empty() && !word.starts_with("0x")) {
    refuse(fmt::format("'{}' is not an address", word));
  }
  return need<std::uint64_t>(word, "an address", 16);
}

int need_register(std::string_view word) {
  if (!word.starts_with('R')) {
    refuse(fmt::format("'{}' is not a register", word));
  }
  const auto number = need<std::uint32_t>(word.substr(1), "the number of a register");
  if (number > kZeroRegister) {
    refuse(fmt::format("'{}' is not a register", word));
  }
  return number == kZeroRegister ? -1 : static_cast<int>(number);
}

std::uint32_t need_count(std::string_view word, const char* what, std::uint32_t most) {
  const auto count = need<std::uint32_t>(word, what);
  if (count > most) {
    refuse(fmt::format("{} is {}, at most {} are known", what, count, most));
  }
  return count;
}

// Steps over destinations, opcode and sources.
void skip_code(Words& words) {
  for (std::uint32_t i = need_count(words.next(), "the number of destinations", kMostDestinations);
       i > 0; --i) {
    words.next();
  }
  words.next();
  for (std::uint32_t i = need_count(words.next(), "the number of sources", kMostSources); i > 0;
       --i) {
    words.next();
  }
}

// The tracer takes the first operand for what is written, if it is a register. Where a predicate
// stands there, it lists the register that is written in front of those that are read.
bool is_led_by_predicate(std::string_view name) {
  return name.starts_with("SHFL.") || name.starts_with("ATOM.") || name.starts_with("ATOMG.");
}

Instruction parse_code(std::uint32_t pc, std::string_view text) {
  Words words(text);
  Instruction result;
  result.pc = pc;
  const std::uint32_t written =
      need_count(words.next(), "the number of destinations", kMostDestinations);
  if (written > 0) {
    result.destination = need_register(words.next());
  }
  result.name = words.next();
  if (result.name.empty() || std::isupper(static_cast<unsigned char>(result.name.front())) == 0) {
    refuse(fmt::format("'{}' is not an opcode", result.name));
  }
  const std::uint32_t read = need_count(words.next(), "the number of sources", kMostSources);
  const bool leads = written == 0 && read > 1 && is_led_by_predicate(result.name);
  for (std::uint32_t i = 0; i < read; ++i) {
    const int source = need_register(words.next());
    if (i == 0 && leads) {
      result.destination = source;
    } else if (source >= 0) {
      result.sources.push_back(source);
    }
  }
  result.opcode = opcode_of(result.name);
  // Into a predicate, then.
  result.opcode.hides_result |= written == 0 && result.name.starts_with("LOP3");
  return result;
}

// Calls visit(lane) for each lane of the mask, lowest first.
template <typename Visit>
void for_lanes(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) {
    visit(static_cast<std::size_t>(std::countr_zero(mask)));
  }
}

void parse_addresses(Words& words, Issue& issue) {
  const auto form = need_count(words.next(), "the form of the addresses", 2);
  if (static_cast<AddressForm>(form) == AddressForm::kEach) {
    for_lanes(issue.mask,
              [&](std::size_t lane) { issue.addresses[lane] = need_address(words.next()); });
    return;
  }
  auto address = need_address(words.next());
  if (static_cast<AddressForm>(form) == AddressForm::kStride) {
    const auto stride = need<std::int64_t>(words.next(), "a stride");
    const std::uint32_t row = issue.mask == 0 ? 0 : issue.mask >> std::countr_zero(issue.mask);
    if ((row & (row + 1)) != 0) {
      refuse("addresses by a stride, but the lanes do not lie in a row");
    }
    for_lanes(issue.mask, [&](std::size_t lane) {
      issue.addresses[lane] = address;
      address += static_cast<std::uint64_t>(stride);
    });
    return;
  }
  bool first = true;
  for_lanes(issue.mask, [&](std::size_t lane) {
    if (!first) {
      address += static_cast<std::uint64_t>(need<std::int64_t>(words.next(), "a step"));
    }
    first = false;
    issue.addresses[lane] = address;
  });
}

}  // namespace

InstructionId Code::find(std::uint32_t pc, std::string_view words) {
  key_.assign(reinterpret_cast<const char*>(&pc), sizeof pc);
  key_ += words;
  const auto found = ids_.find(key_);
  if (found != ids_.end()) {
    return found->second;
  }
  if (instructions_.size() == kMostInstructions) {
    refuse(fmt::format("more than {} different instructions", kMostInstructions));
  }
  instructions_.push_back(parse_code(pc, words));
  const auto id = static_cast<InstructionId>(instructions_.size() - 1);
  ids_.emplace(key_, id);
  return id;
}

void LineParser::parse(std::string_view line, Issue& issue) {
  try {
    Words words(line);
    if (header_.has_line_numbers) {
      need<std::uint32_t>(words.next(), "a line number");
    }
    const auto pc = need<std::uint32_t>(words.next(), "a place in the code", 16);
    issue.mask = need<std::uint32_t>(words.next(), "a mask", 16);
    const char* const begin = words.position();
    skip_code(words);
    issue.id = code_.find(pc, {begin, static_cast<std::size_t>(words.position() - begin)});
    issue.has_addresses = need<std::uint32_t>(words.next(), "the width of an access") > 0;
    if (issue.has_addresses) {
      parse_addresses(words, issue);
    }
    std::string_view word = words.next();
    // An immediate number ends the lines of most tracers behind version 3.
    if (header_.tracer_version > 3 && !word.empty()) {
      need<std::int64_t>(word, "an immediate number");
      word = words.next();
    }
    if (!word.empty()) {
      refuse(fmt::format("'{}' behind the end of the instruction", word));
    }
  } catch (const std::runtime_error& error) {
    file_.refuse(error.what());
  }
}

}  // namespace warpfold::accelsim
