// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/operands.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace warpfold::microbench {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;

constexpr std::uint32_t make(std::uint32_t sign, std::uint32_t exponent, std::uint32_t fraction) {
  return (sign << 31U) | (exponent << 23U) | (fraction & 0x7fffffU);
}

// SplitMix64: a few lines whose output no library version changes.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>((z ^ (z >> 31U)) >> 32U);
  }
  std::uint32_t below(std::uint32_t bound) { return bits() % bound; }
  // Any sign and fraction, an exponent of [first, first + count).
  std::uint32_t number(std::uint32_t first, std::uint32_t count) {
    const std::uint32_t exponent = first + below(count);
    return make(bits() & 1U, exponent, bits());
  }

 private:
  std::uint64_t state_;
};

class Maker {
 public:
  void begin(std::string name) { set_.classes.push_back({std::move(name), 0}); }
  void pair(std::uint32_t memory, std::uint32_t operand) {
    set_.pairs.push_back({memory, operand});
    ++set_.classes.back().count;
  }
  OperandSet take() { return std::move(set_); }

 private:
  OperandSet set_;
};

void specials(Maker& maker) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t sign = 0; sign < 2; ++sign) {
    for (const std::uint32_t exponent :
         {0U, 1U, 2U, 23U, 24U, 25U, 103U, 126U, 127U, 128U, 150U, 151U, 230U, 253U, 254U, 255U}) {
      for (const std::uint32_t fraction : {0U, 1U, 2U, 0x3fffffU, 0x400000U, 0x7fffffU}) {
        values.push_back(make(sign, exponent, fraction));
      }
    }
  }
  maker.begin("special values with each other");
  for (const std::uint32_t memory : values) {
    for (const std::uint32_t operand : values) {
      maker.pair(memory, operand);
    }
  }
}

// NaNs, quiet and signalling, with every payload bit alone, on either side and on both.
void nans(Maker& maker, Random& random) {
  maker.begin("NaNs with payloads");
  for (std::uint32_t sign = 0; sign < 2; ++sign) {
    for (std::uint32_t bit = 0; bit < 23; ++bit) {
      const std::uint32_t nan = make(sign, 255, 1U << bit);
      for (const std::uint32_t other :
           {0U, kSign, 1U, 0x3f800000U, 0x7f7fffffU, 0x7f800000U, 0xff800000U, 0x7fc00000U}) {
        maker.pair(nan, other);
        maker.pair(other, nan);
      }
      maker.pair(nan, make(0, 255, random.bits() | 1U));
      maker.pair(make(1, 255, random.bits() | 1U), nan);
    }
  }
}

// Every alignment distance, with bits around the guard, round and sticky places.
void alignments(Maker& maker) {
  maker.begin("alignment distances");
  for (const std::uint32_t exponent : {40U, 127U, 254U}) {
    for (std::uint32_t distance = 0; distance <= 34; ++distance) {
      for (const std::uint32_t big : {0U, 1U, 0x7ffffeU, 0x7fffffU}) {
        for (std::uint32_t bit = 0; bit < 23; bit += 2) {
          for (const std::uint32_t small : {1U << bit, (1U << bit) | 1U, 0x7fffffU ^ (1U << bit)}) {
            maker.pair(make(0, exponent, big), make(bit >> 1U & 1U, exponent - distance, small));
          }
        }
      }
    }
  }
}

// The smaller operand ends half a unit of the larger one's last place, or one bit beside it.
void ties(Maker& maker, Random& random) {
  maker.begin("ties");
  for (int i = 0; i < 12'000; ++i) {
    const std::uint32_t distance = 1 + random.below(24);
    const std::uint32_t exponent = 30 + random.below(220);
    // `distance` bits of the smaller significand lie below the larger one's last place: 1000...
    const std::uint32_t below = 1U << (distance - 1);
    std::uint32_t fraction = distance > 23 ? 0 : ((random.bits() << distance) | below) & 0x7fffffU;
    if (i % 3 == 1) {
      fraction += 1;
    } else if (i % 3 == 2) {
      fraction -= fraction > 0 ? 1 : 0;
    }
    const std::uint32_t large = make(random.bits() & 1U, exponent, random.bits());
    const std::uint32_t small = make(random.bits() & 1U, exponent - distance, fraction);
    if ((i & 1) != 0) {
      maker.pair(large, small);
    } else {
      maker.pair(small, large);
    }
  }
}

void cancellation(Maker& maker, Random& random) {
  maker.begin("cancellation");
  for (int i = 0; i < 12'000; ++i) {
    const std::uint32_t value = make(0, 1 + random.below(254), random.bits());
    const std::uint32_t bits = random.below(25);
    const std::uint32_t difference = bits == 0 ? 0 : random.bits() >> (32 - bits);
    std::uint32_t other = (i & 1) != 0 ? value + difference : value - difference;
    other &= ~kSign;
    if ((i & 2) != 0) {
      maker.pair(value, other | kSign);
    } else {
      maker.pair(other | kSign, value);
    }
  }
}

void ends(Maker& maker, Random& random) {
  maker.begin("subnormals and the smallest normal numbers");
  for (int i = 0; i < 12'000; ++i) {
    const std::uint32_t low = random.number(0, 3);
    const std::uint32_t other = (i & 1) != 0 ? random.number(0, 3) : random.number(0, 27);
    if ((i & 2) != 0) {
      maker.pair(low, other);
    } else {
      maker.pair(other, low);
    }
  }
  maker.begin("near overflow");
  for (int i = 0; i < 8'000; ++i) {
    std::uint32_t high = make(random.bits() & 1U, 254, 0x7fffffU - random.below(4));
    if ((i & 1) != 0) {
      high = random.number(253, 2);
    }
    const std::uint32_t other = (i & 2) != 0 ? random.number(253, 2) : random.number(227, 28);
    maker.pair(high, (i & 4) != 0 ? other : (other & ~kSign) | (high & kSign));
  }
}

void randoms(Maker& maker, Random& random) {
  maker.begin("random, exponents near each other");
  for (int i = 0; i < 12'000; ++i) {
    maker.pair(random.number(112, 30), random.number(112, 30));
  }
  maker.begin("random bits");
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t memory = random.bits();
    maker.pair(memory, random.bits());
  }
}

}  // namespace

OperandSet operand_pairs() {
  Maker maker;
  Random random(0x57415250464f4c44U);
  specials(maker);
  nans(maker, random);
  alignments(maker);
  ties(maker, random);
  cancellation(maker, random);
  ends(maker, random);
  randoms(maker, random);
  return maker.take();
}

void write_vectors(std::ostream& out, std::span<const OperandPair> pairs,
                   std::span<const std::uint32_t> results, const std::vector<std::string>& about) {
  if (pairs.size() != results.size()) {
    throw std::invalid_argument("one result for each pair");
  }
  for (const std::string& line : about) {
    out << "# " << line << '\n';
  }
  char line[32];
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::snprintf(line, sizeof line, "%08X %08X %08X 00\n", pairs[i].memory, pairs[i].operand,
                  results[i]);
    out << line;
  }
}

}  // namespace warpfold::microbench
