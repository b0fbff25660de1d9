// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/instruction.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "traces/import/accelsim/fields.hpp"

namespace warpfold::accelsim {

namespace {

constexpr std::uint32_t kMostDestinations = 1;
constexpr std::uint32_t kMostSources = 8;
constexpr std::uint32_t kZeroRegister = 255;
constexpr std::uint32_t kUniformZero = 63;
constexpr std::uint32_t kMostPredicate = 7;
constexpr std::uint32_t kMostTransfers = 1'000'000;  // of one copy of a tile
constexpr std::string_view kNameLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";

// How the addresses of the active lanes are written, and those of what copies tiles.
enum class AddressForm : std::uint32_t {
  kEach = 0,
  kStride = 1,
  kSteps = 2,
  kTileEach = 3,
  kTileSteps = 4
};

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
  return need<std::uint64_t>(word, "an address", 16);
}

// "R4", "UR4", "P0" or "UP0": the number of the register, -1 for one that is always zero and for a
// predicate.
int need_register(std::string_view word) {
  std::string_view rest = word;
  const bool uniform = rest.starts_with('U');
  rest.remove_prefix(uniform ? 1 : 0);
  const bool predicate = rest.starts_with('P');
  std::uint32_t number = 0;
  if ((!predicate && !rest.starts_with('R')) || !read_number(rest.substr(1), number) ||
      number > (predicate ? kMostPredicate : kZeroRegister)) {
    refuse(word.empty() ? "the line ends where a register should stand"
                        : fmt::format("'{}' is not a register", word));
  }
  if (predicate || number == kZeroRegister || (uniform && number == kUniformZero)) {
    return -1;
  }
  return static_cast<int>(number) + (uniform ? kVectorRegisters : 0);
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
  if (result.name.empty() || result.name.front() < 'A' || result.name.front() > 'Z' ||
      result.name.find_first_not_of(kNameLetters) != std::string::npos) {
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
  result.listed = written + read;
  result.opcode = opcode_of(result.name);
  // Into a predicate, then.
  result.opcode.hides_result |= written == 0 && result.name.starts_with("LOP3");
  // From version 6 on uniform registers are listed.
  result.opcode.hides_result &= result.destination < kVectorRegisters;
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
  const auto form = need_count(words.next(), "the form of the addresses",
                               static_cast<std::uint32_t>(AddressForm::kSteps));
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

// Of an instruction that copies or adds tiles: its barrier, the thread blocks that it is for,
// bytes, bytes beyond the array, and the addresses of its transfers.
void skip_tile(Words& words) {
  need_address(words.next());
  if (need_count(words.next(), "whether it is for several thread blocks", 1) > 0) {
    need<std::uint32_t>(words.next(), "a mask of thread blocks", 16);
  }
  need<std::uint64_t>(words.next(), "a number of bytes");
  need<std::uint64_t>(words.next(), "a number of bytes");
  const auto form = need<std::uint32_t>(words.next(), "the form of the addresses");
  if (static_cast<AddressForm>(form) == AddressForm::kTileEach) {
    for (std::uint32_t i = need_count(words.next(), "the number of transfers", kMostTransfers);
         i > 0; --i) {
      need_address(words.next());
    }
  } else if (static_cast<AddressForm>(form) == AddressForm::kTileSteps) {
    need_address(words.next());
    for (std::uint32_t i = need_count(words.next(), "the number of transfers", kMostTransfers);
         i > 1; --i) {
      need<std::int64_t>(words.next(), "a step");
    }
  } else {
    refuse(fmt::format("the form of the addresses of tiles is {}, 3 and 4 are known", form));
  }
}

// A number with a sign, or one of 64 bits without.
bool is_immediate(std::string_view word) {
  std::int64_t with_sign = 0;
  std::uint64_t without = 0;
  return read_number(word, with_sign) || read_number(word, without);
}

// Behind "Val": of each register a value for the warp, or one for each lane, then at times more
// such groups, of instructions that the tracer knows more of.
void skip_values(Words& words, std::uint32_t registers) {
  std::uint32_t groups = 0;
  for (std::string_view word = words.next(); !word.empty(); word = words.next(), ++groups) {
    const auto count = need<std::uint32_t>(word, "a number of values");
    if (count != 1 && count != trace::kWarpLanes) {
      refuse(fmt::format("{} values of a register, 1 and 32 are known", count));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      need<std::uint64_t>(words.next(), "the value of a register", 16);
    }
  }
  if (groups < registers) {
    refuse(fmt::format("values of {} registers, {} are listed", groups, registers));
  }
}

// Behind the addresses.
void skip_rest(Words& words, std::uint32_t version, const Instruction& instruction) {
  // An immediate number ends the lines of most tracers behind version 3; two stand there from
  // version 6 on, and whether values of registers follow.
  std::string_view word = words.next();
  for (std::uint32_t most = version > 5   ? 2
                            : version > 3 ? 1
                                          : 0;
       most > 0 && !word.empty(); --most) {
    if (!is_immediate(word)) {
      if (version > 5 && (word == "Val" || word == "NoVal")) {
        break;
      }
      refuse(fmt::format("'{}' is not an immediate number", word));
    }
    word = words.next();
  }
  if (version > 5 && word == "Val") {
    skip_values(words, instruction.listed);
    return;
  }
  if (version > 5 && word == "NoVal") {
    word = words.next();
  }
  if (!word.empty()) {
    refuse(fmt::format("'{}' behind the end of the instruction", word));
  }
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
    const Instruction& instruction = code_[issue.id];
    if (instruction.opcode.is_group && header_.tracer_version > 5) {
      need<std::uint32_t>(words.next(), "whether a group of products ends");
    }
    const bool has_width = need<std::uint32_t>(words.next(), "the width of an access") > 0;
    issue.has_addresses = has_width && !instruction.opcode.is_tile;
    if (instruction.opcode.is_tile && header_.tracer_version > 5) {
      skip_tile(words);
    } else if (has_width) {
      parse_addresses(words, issue);
    }
    skip_rest(words, header_.tracer_version, instruction);
  } catch (const std::runtime_error& error) {
    file_.refuse(error.what());
  }
}

}  // namespace warpfold::accelsim
