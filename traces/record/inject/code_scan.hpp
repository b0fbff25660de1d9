// SPDX-License-Identifier: Apache-2.0
// Which functions of a cubin may have an atomic on global memory, by a look at their machine code:
// modules without one are left alone. In doubt a function has.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

namespace warpfold::record {

class CodeScan {
 public:
  explicit CodeScan(std::string_view cubin) : cubin_(cubin) { scan(); }

  [[nodiscard]] bool any() const { return unknown_ || !functions_.empty(); }
  [[nodiscard]] bool has(const std::string& function) const {
    return unknown_ || functions_.contains(function);
  }
  // Whether a kernel without an atomic calls functions of its module, one of which has some: code
  // that was compiled with -G, or apart.
  [[nodiscard]] bool has_elsewhere(const std::string& function) const {
    return !has(function) && callers_.contains(function) &&
           !std::includes(kernels_.begin(), kernels_.end(), functions_.begin(), functions_.end());
  }

 private:
  // Bits 0 to 8 of an instruction, of compute capability 7.0 to 12.1.
  static constexpr std::array<std::uint32_t, 10> kAtomics = {0x18a, 0x18b,         // ATOM
                                                             0x18e, 0x1a6,         // RED, REDG
                                                             0x1a2, 0x1a3, 0x1a8,  // ATOM, ATOMG
                                                             0x1a9,                // ATOMG.CAS
                                                             0x1b6, 0x1bb};  // UTMAREDG, UBLKRED
  static constexpr std::array<std::uint32_t, 1> kCalls = {0x143};            // CALL.ABS
  static constexpr std::uint32_t kOldest = 70, kNewest = 121;
  static constexpr std::size_t kInstructionBytes = 16;

  // An unsigned number of so many bytes; 0 beyond the end.
  [[nodiscard]] std::uint64_t at(std::uint64_t offset, std::size_t bytes) const {
    std::uint64_t value = 0;
    if (offset <= cubin_.size() && bytes <= cubin_.size() - offset) {
      std::memcpy(&value, cubin_.data() + offset, bytes);
    }
    return value;
  }
  [[nodiscard]] std::string_view name_at(std::uint64_t offset) const {
    if (offset >= cubin_.size()) {
      return {};
    }
    const std::string_view rest = cubin_.substr(offset);
    return rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }
  // 90 of sm_90a.
  [[nodiscard]] std::uint32_t capability() const {
    constexpr std::uint64_t kAbi = 8, kFlags = 48;
    const auto flags = static_cast<std::uint32_t>(at(kFlags, 4));
    return (at(kAbi, 1) >= 8 ? flags >> 8U : flags) & 0xffU;
  }

  void scan() {
    constexpr std::string_view kMagic = "\177ELF\2";
    constexpr std::string_view kText = ".text.";
    constexpr std::string_view kParameters = ".nv.constant0.";  // kernels have them
    if (!cubin_.starts_with(kMagic) || capability() < kOldest || capability() > kNewest) {
      unknown_ = true;
      return;
    }
    const std::uint64_t headers = at(40, 8), size = at(58, 2), count = at(60, 2);
    const std::uint64_t names = at(headers + size * at(62, 2) + 24, 8);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t header = headers + size * i;
      const std::string_view name = name_at(names + at(header, 4));
      const std::uint64_t begin = at(header + 24, 8), bytes = at(header + 32, 8);
      if (name.starts_with(kParameters)) {
        kernels_.emplace(name.substr(kParameters.size()));
      } else if (name.starts_with(kText)) {
        const std::string function(name.substr(kText.size()));
        if (has_any(kAtomics, begin, bytes)) {
          functions_.insert(function);
        } else if (has_any(kCalls, begin, bytes)) {
          callers_.insert(function);
        }
      }
    }
  }
  // Of instructions; in doubt it has.
  template <std::size_t kCount>
  [[nodiscard]] bool has_any(const std::array<std::uint32_t, kCount>& wanted, std::uint64_t begin,
                             std::uint64_t bytes) const {
    if (begin > cubin_.size() || bytes > cubin_.size() - begin) {
      return true;
    }
    for (std::uint64_t i = 0; i + kInstructionBytes <= bytes; i += kInstructionBytes) {
      const auto code = static_cast<std::uint32_t>(at(begin + i, 2)) & 0x1ffU;
      if (std::find(wanted.begin(), wanted.end(), code) != wanted.end()) {
        return true;
      }
    }
    return false;
  }

  std::string_view cubin_;
  bool unknown_ = false;
  std::set<std::string> functions_, callers_, kernels_;
};

}  // namespace warpfold::record
