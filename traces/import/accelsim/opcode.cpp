// SPDX-License-Identifier: Apache-2.0
#include "traces/import/accelsim/opcode.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>

namespace warpfold::accelsim {

namespace {

using trace::InstructionCost;
using trace::ResultClass;
using trace::ValueType;

using Slot = std::uint32_t InstructionCost::*;

template <std::size_t Count>
bool is_one_of(std::string_view name, const std::array<std::string_view, Count>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array kGlobal = {
    std::string_view("LDG"),  std::string_view("STG"),  std::string_view("LD"),
    std::string_view("ST"),   std::string_view("LDL"),  std::string_view("STL"),
    std::string_view("TEX"),  std::string_view("TLD"),  std::string_view("TLD4"),
    std::string_view("TXD"),  std::string_view("TXQ"),  std::string_view("TMML"),
    std::string_view("SULD"), std::string_view("SUST"), std::string_view("LDGSTS"),
    std::string_view("TEXS"), std::string_view("TLDS"), std::string_view("TLD4S")};
constexpr std::array kShared = {std::string_view("LDS"), std::string_view("STS"),
                                std::string_view("ATOMS")};
constexpr std::array kSharedWide = {std::string_view("LDSM"), std::string_view("STSM")};
constexpr std::array kSfu = {
    std::string_view("MUFU"), std::string_view("POPC"), std::string_view("FLO"),
    std::string_view("BREV"), std::string_view("I2F"),  std::string_view("F2I"),
    std::string_view("F2F"),  std::string_view("FRND"), std::string_view("FCHK"),
    std::string_view("I2I"),  std::string_view("RRO")};
constexpr std::array kInteger = {
    std::string_view("IADD3"),   std::string_view("VIADD"),     std::string_view("LOP3"),
    std::string_view("SHF"),     std::string_view("LEA"),       std::string_view("ISETP"),
    std::string_view("FSETP"),   std::string_view("SEL"),       std::string_view("FSEL"),
    std::string_view("FMNMX"),   std::string_view("IMNMX"),     std::string_view("VIMNMX"),
    std::string_view("PRMT"),    std::string_view("VIADDMNMX"), std::string_view("IABS"),
    std::string_view("SGXT"),    std::string_view("BMSK"),      std::string_view("IADD"),
    std::string_view("IADD32I"), std::string_view("LOP"),       std::string_view("LOP32I"),
    std::string_view("SHL"),     std::string_view("SHR"),       std::string_view("ISCADD"),
    std::string_view("ISET"),    std::string_view("ISCADD32I"), std::string_view("ICMP"),
    std::string_view("FCMP"),    std::string_view("FSET"),      std::string_view("BFE"),
    std::string_view("BFI")};
constexpr std::array kJumps = {
    std::string_view("BRA"),   std::string_view("BRX"),     std::string_view("BRXU"),
    std::string_view("JMP"),   std::string_view("JMX"),     std::string_view("JMXU"),
    std::string_view("CALL"),  std::string_view("RET"),     std::string_view("EXIT"),
    std::string_view("BSYNC"), std::string_view("BREAK"),   std::string_view("SYNC"),
    std::string_view("BRK"),   std::string_view("WARPSYNC")};
constexpr std::array kPredicates = {std::string_view("ISETP"), std::string_view("FSETP"),
                                    std::string_view("DSETP"), std::string_view("PSETP"),
                                    std::string_view("PLOP3"), std::string_view("HSETP2"),
                                    std::string_view("R2P"),   std::string_view("CSETP")};
constexpr std::array kGlobalAtomics = {std::string_view("RED"), std::string_view("REDG"),
                                       std::string_view("ATOM"), std::string_view("ATOMG")};
// In shared memory, on surfaces, and of whole tiles.
constexpr std::array kOtherAtomics = {std::string_view("ATOMS"),   std::string_view("REDS"),
                                      std::string_view("SUATOM"),  std::string_view("SURED"),
                                      std::string_view("UBLKRED"), std::string_view("UTMAREDG")};
constexpr std::array kTiles = {std::string_view("UTMALDG"), std::string_view("UTMASTG"),
                               std::string_view("UTMAPF"),  std::string_view("UTMAREDG"),
                               std::string_view("UBLKCP"),  std::string_view("UBLKPF"),
                               std::string_view("UBLKRED")};

const std::map<std::string_view, ResultClass>& results() {
  static const std::map<std::string_view, ResultClass> kResults = {
      {"LDS", ResultClass::kShared},       {"ATOMS", ResultClass::kShared},
      {"LDSM", ResultClass::kShared},      {"LDG", ResultClass::kGlobalLoad},
      {"LD", ResultClass::kGlobalLoad},    {"TEX", ResultClass::kGlobalLoad},
      {"TLD", ResultClass::kGlobalLoad},   {"TLD4", ResultClass::kGlobalLoad},
      {"TXQ", ResultClass::kGlobalLoad},   {"TXD", ResultClass::kGlobalLoad},
      {"SULD", ResultClass::kGlobalLoad},  {"ATOM", ResultClass::kGlobalLoad},
      {"ATOMG", ResultClass::kGlobalLoad}, {"LDL", ResultClass::kNextWord},
      {"SHFL", ResultClass::kShuffle},     {"MATCH", ResultClass::kMatch},
      {"REDUX", ResultClass::kRedux},      {"S2R", ResultClass::kSpecial},
      {"B2R", ResultClass::kSpecial},      {"LDC", ResultClass::kConstant},
      {"S2UR", ResultClass::kUniform},     {"R2UR", ResultClass::kUniform}};
  return kResults;
}

// The parts of a name between dots.
class Parts {
 public:
  explicit Parts(std::string_view name) : name_(name) {}

  [[nodiscard]] std::string_view first() const { return name_.substr(0, name_.find('.')); }
  [[nodiscard]] bool has(std::string_view part) const {
    for (std::string_view rest = name_; !rest.empty();) {
      const std::size_t dot = rest.find('.');
      if (rest.substr(0, dot) == part) {
        return true;
      }
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    return false;
  }

 private:
  std::string_view name_;
};

Slot slot_of(const Parts& parts) {
  const std::string_view name = parts.first();
  if (is_one_of(name, kShared)) {
    return parts.has("128") && name != "ATOMS" ? &InstructionCost::shared_wide
                                               : &InstructionCost::shared;
  }
  if (is_one_of(name, kSharedWide)) {
    return &InstructionCost::shared_wide;
  }
  if (name == "SHFL") {
    return parts.has("IDX") ? &InstructionCost::shuffle_index : &InstructionCost::shuffle;
  }
  if (is_one_of(name, kGlobal) || is_one_of(name, kGlobalAtomics)) {
    return &InstructionCost::global_load;
  }
  if (is_one_of(name, kSfu)) {
    return &InstructionCost::sfu;
  }
  if (is_one_of(name, kInteger)) {
    return &InstructionCost::integer;
  }
  return name == "MATCH"   ? &InstructionCost::match
         : name == "REDUX" ? &InstructionCost::redux
                           : &InstructionCost::alu;
}

std::uint32_t result_registers(const Parts& parts) {
  if (parts.has("128")) {
    return 4;
  }
  // FP64 arithmetic, wide products, loads of 64 bits.
  const std::string_view name = parts.first();
  const bool wide = parts.has("64") || parts.has("WIDE") || parts.has("F64") || name == "DADD" ||
                    name == "DMUL" || name == "DFMA" || name == "CS2R";
  return wide ? 2 : 1;
}

// What it moves for a lane, and through which caches.
void find_access(const Parts& parts, Opcode& opcode) {
  const std::string_view name = parts.first();
  const bool loads = name == "LDG" || name == "LD";
  if (!loads && name != "STG" && name != "ST") {
    return;
  }
  trace::MemorySite access;
  access.kind = loads ? trace::AccessKind::kLoad : trace::AccessKind::kStore;
  access.bytes = parts.has("U8") || parts.has("S8")     ? 1
                 : parts.has("U16") || parts.has("S16") ? 2
                 : parts.has("64")                      ? 8
                 : parts.has("128")                     ? 16
                                                        : 4;
  using trace::CacheUse;
  access.cache = parts.has("GPU") || parts.has("SYS") ? CacheUse::kL2
                 : parts.has("CONSTANT")              ? CacheUse::kReadOnly
                 : parts.has("EF")                    ? CacheUse::kEvictFirst
                 : parts.has("EL")                    ? CacheUse::kEvictLast
                                                      : CacheUse::kAll;
  opcode.access = access;
}

void find_addition(const Parts& parts, Opcode& opcode) {
  if (!parts.has("ADD")) {
    return;
  }
  const std::array<std::pair<std::string_view, ValueType>, 5> types = {
      {{"F32", ValueType::kF32},
       {"F64", ValueType::kF64},
       {"F16x2", ValueType::kF16x2},
       {"BF16x2", ValueType::kBf16x2},
       {"BF16_V2", ValueType::kBf16x2}}};
  for (const auto& [name, type] : types) {
    if (parts.has(name)) {
      opcode.adds = type;
    }
  }
  opcode.words = parts.has("V4") || parts.has("VEC4")   ? 4
                 : parts.has("V2") || parts.has("VEC2") ? 2
                                                        : 1;
}

}  // namespace

Opcode opcode_of(std::string_view name) {
  const Parts parts(name);
  const std::string_view first = parts.first();
  Opcode opcode;
  opcode.slot = slot_of(parts);
  opcode.is_branch = first == "BRA" || first == "BSYNC";
  opcode.is_jump = is_one_of(first, kJumps);
  opcode.is_barrier = first == "BAR" && !parts.has("ARV");
  const bool global_atomic = is_one_of(first, kGlobalAtomics);
  opcode.is_atomic = global_atomic || is_one_of(first, kOtherAtomics);
  opcode.is_tile = is_one_of(first, kTiles);
  opcode.is_group = first.find("GMMA") != std::string_view::npos;
  opcode.is_mark = first.starts_with("REPLAY_");
  opcode.is_memory = opcode.is_atomic || opcode.is_tile || is_one_of(first, kGlobal) ||
                     is_one_of(first, kShared) || is_one_of(first, kSharedWide);
  opcode.hides_result = is_one_of(first, kPredicates) ||
                        (first.size() > 1 && first.front() == 'U' && first != "UNDEF");
  opcode.result_registers = result_registers(parts);
  if (const auto found = results().find(first); found != results().end()) {
    opcode.result = found->second;
  } else if (opcode.slot == &InstructionCost::sfu) {
    opcode.result = ResultClass::kSfu;
  }
  if (first == "SHFL" && parts.has("IDX")) {
    opcode.result = ResultClass::kShuffleIndex;
  }
  if (global_atomic) {
    find_addition(parts, opcode);
  }
  find_access(parts, opcode);
  return opcode;
}

}  // namespace warpfold::accelsim
