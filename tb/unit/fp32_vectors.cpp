// SPDX-License-Identifier: Apache-2.0
// Checks the Verilated arc_fp32_adder on vectors in the format of Berkeley TestFloat: a line
// `A B result flags` in hex for each, as `testfloat_gen f32_add -rnear_even` prints. The flags may
// be left out and are not looked at: the adder has none. Any NaN stands for the canonical one.
//
//   fp32_vectors [--flush | --recorded] [FILE]     FILE - or none: standard input
//
// Lines that begin with # are skipped.
// Without --flush the adder has gradual underflow, which is what TestFloat computes. With it, the
// adder flushes as red.global.add.f32 does, and the vector's result is turned into that sum. With
// --recorded the results are those of a GPU's red.global.add.f32 (warpfold_microbench --vectors), A
// the value in memory: the flushing adder must answer the same bits, whatever they are, with the
// operands in either order, and so must the model's additions.
// Exit 1: sums differ; the first is shown. Exit 2: bad input or usage.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "Varc_fp32_adder_flush.h"
#include "Varc_fp32_adder_gradual.h"
#include "model/unit/fp32.hpp"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Vector {
  Fp32Bits a = 0;
  Fp32Bits b = 0;
  Fp32Bits result = 0;
};

constexpr bool is_nan(Fp32Bits bits) {
  return (bits & ~kFp32Sign) > kFp32Infinity;
}
constexpr bool is_zero(Fp32Bits bits) {
  return (bits & ~kFp32Sign) == 0;
}

// Takes the next word off the line: 1 to 8 hex digits.
std::optional<Fp32Bits> take_hex(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  Fp32Bits bits = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
  if (word.empty() || word.size() > 8 || error != std::errc() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  line.remove_prefix(word.size());
  return bits;
}

std::optional<Vector> parse(std::string_view line) {
  const auto a = take_hex(line);
  const auto b = take_hex(line);
  const auto result = take_hex(line);
  if (!a || !b || !result) {
    return std::nullopt;
  }
  const auto rest = [&] { return line.find_first_not_of(" \t\r") != std::string_view::npos; };
  if (rest() && (!take_hex(line) || rest())) {
    return std::nullopt;
  }
  return Vector{*a, *b, *result};
}

// What the adder must answer, from the vector alone.
Fp32Bits expected_sum(const Vector& vector, bool flush) {
  if (is_nan(vector.result)) {
    return kFp32CanonicalNan;
  }
  if (!flush) {
    return vector.result;
  }
  // A flushed operand is a zero, and adding that needs no arithmetic.
  const Fp32Bits a = fp32_flush_subnormal(vector.a);
  const Fp32Bits b = fp32_flush_subnormal(vector.b);
  if (a != vector.a || b != vector.b) {
    return is_zero(a) && is_zero(b) ? a & b : is_zero(a) ? b : a;
  }
  return fp32_flush_subnormal(vector.result);
}

enum class Mode { kGradual, kFlush, kRecorded };

// Counts a sum that is wrong and shows the first.
class Verdict {
 public:
  explicit Verdict(const std::string& name) : name_(name) {}
  void compare(std::uint64_t line, const char* who, const Vector& vector, Fp32Bits sum,
               Fp32Bits expected) {
    if (sum != expected && wrong_++ == 0) {
      std::printf("%s:%llu: %s%08x + %08x = %08x, not %08x\n", name_.c_str(),
                  static_cast<unsigned long long>(line), who, vector.a, vector.b, sum, expected);
    }
  }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  const std::string& name_;
  std::uint64_t wrong_ = 0;
};

template <class Top>
int check(std::istream& in, const std::string& name, Mode mode) {
  bench::Dut<Top> dut;
  std::uint64_t count = 0;
  Verdict verdict(name);
  const auto adder = [&](Fp32Bits a, Fp32Bits b) {
    dut->a_i = a;
    dut->b_i = b;
    dut.settle();
    return static_cast<Fp32Bits>(dut->sum_o);
  };
  std::string line;
  for (std::uint64_t number = 1; std::getline(in, line); ++number) {
    if (line.starts_with('#')) {
      continue;
    }
    const auto vector = parse(line);
    if (!vector) {
      std::cerr << name << ':' << number << ": not `A B result flags` in hex: " << line << '\n';
      return 2;
    }
    const auto [a, b, result] = *vector;
    if (mode == Mode::kRecorded) {
      verdict.compare(number, "", *vector, adder(a, b), result);
      verdict.compare(number, "swapped: ", *vector, adder(b, a), result);
      verdict.compare(number, "fp32_add: ", *vector, fp32_add(a, b), result);
      verdict.compare(number, "fp32_add_integer: ", *vector, fp32_add_integer(a, b, true), result);
    } else {
      verdict.compare(number, "", *vector, adder(a, b),
                      expected_sum(*vector, mode == Mode::kFlush));
    }
    ++count;
  }
  if (count == 0) {
    std::cerr << name << ": no vectors\n";
    return 2;
  }
  std::printf("%llu vectors, %s wrong\n", static_cast<unsigned long long>(count),
              verdict.wrong() == 0 ? "none" : std::to_string(verdict.wrong()).c_str());
  return verdict.wrong() == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  Mode mode = Mode::kGradual;
  std::string name = "-";
  int i = 1;
  for (const auto& [option, chosen] :
       {std::pair("--flush", Mode::kFlush), {"--recorded", Mode::kRecorded}}) {
    if (i < argc && mode == Mode::kGradual && std::string_view(argv[i]) == option) {
      mode = chosen;
      ++i;
    }
  }
  if (i < argc && (argv[i][0] != '-' || argv[i][1] == '\0')) {
    name = argv[i++];
  }
  if (i != argc) {
    std::cerr << "usage: fp32_vectors [--flush | --recorded] [FILE]\n";
    return 2;
  }
  std::ifstream file;
  if (name != "-") {
    file.open(name);
    if (!file) {
      std::cerr << "fp32_vectors: cannot read " << name << '\n';
      return 2;
    }
  }
  std::istream& in = name == "-" ? std::cin : file;
  if (name == "-") {
    name = "standard input";
  }
  return mode == Mode::kGradual ? check<Varc_fp32_adder_gradual>(in, name, mode)
                                : check<Varc_fp32_adder_flush>(in, name, mode);
}

}  // namespace
}  // namespace warpfold

int main(int argc, char** argv) {
  return warpfold::run(argc, argv);
}
