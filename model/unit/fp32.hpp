// SPDX-License-Identifier: Apache-2.0
// FP32 addition as the GPU's red.global.add.f32 does it, in three forms that share no code, and the
// serial sum of a transaction, of FP32 or of halves. Pure functions: no owner, no state, called in
// any phase of a cycle.
#pragma once

#include <array>
#include <bit>

#include "model/base/halves.hpp"
#include "model/types.hpp"

#ifdef __FAST_MATH__
#error "fp32.hpp needs IEEE 754 semantics: do not compile with -ffast-math"
#endif

namespace warpfold {

inline constexpr Fp32Bits kFp32Sign = 0x80000000U;
inline constexpr Fp32Bits kFp32Infinity = 0x7f800000U;
inline constexpr Fp32Bits kFp32CanonicalNan = 0x7fffffffU;
// The neutral element of the addition: -0 + x is x for every x that is not flushed, -0 included.
inline constexpr Fp32Bits kFp32MinusZero = 0x80000000U;

// A subnormal becomes the zero of its sign; everything else stays as it is.
constexpr Fp32Bits fp32_flush_subnormal(Fp32Bits bits) {
  return (bits & kFp32Infinity) == 0 ? bits & kFp32Sign : bits;
}

// The arithmetic of the model, used for every addition in the unit and at the ROPs: round to
// nearest even, subnormal inputs and results count as zero of their sign, every NaN is
// kFp32CanonicalNan. One host addition between integer tests; relies on the host's default rounding
// mode. A sum of two normal numbers that is subnormal is exact, so flushing after the addition
// loses nothing.
inline Fp32Bits fp32_add(Fp32Bits a, Fp32Bits b) {
  const float sum =
      std::bit_cast<float>(fp32_flush_subnormal(a)) + std::bit_cast<float>(fp32_flush_subnormal(b));
  const Fp32Bits bits = fp32_flush_subnormal(std::bit_cast<Fp32Bits>(sum));
  return (bits & ~kFp32Sign) > kFp32Infinity ? kFp32CanonicalNan : bits;
}

// The same addition in integer arithmetic only: no float is ever formed. `flush_subnormals` false
// gives gradual underflow.
Fp32Bits fp32_add_integer(Fp32Bits a, Fp32Bits b, bool flush_subnormals);

// The same addition by the host's float unit, whose own bits flush (FTZ and DAZ in MXCSR of x86-64,
// FZ in FPCR of aarch64). They are written and restored around every call.
Fp32Bits fp32_add_host(Fp32Bits a, Fp32Bits b, bool flush_subnormals);

// The model's addition of words of a type, and what is neutral to it.
inline Fp32Bits word_add(WordType type, Fp32Bits a, Fp32Bits b) {
  return type == WordType::kHalves ? halves_add(a, b) : fp32_add(a, b);
}
constexpr Fp32Bits neutral_word(WordType type) {
  return type == WordType::kHalves ? kMinusZeros : kFp32MinusZero;
}

// What a reduced transaction must carry: the chain of word_add over the lanes of `mask`, lowest
// first, beginning with the neutral word. An empty mask gives that.
Fp32Bits reduction_reference(LaneMask mask, const std::array<Fp32Bits, kLanes>& values,
                             WordType type = WordType::kFp32);

// Bits that the fused unit keeps of a value, from the top of the largest bin of eight exponents in
// its transaction down (arc_reduction_fused, WindowWidth).
inline constexpr int kFusedWindow = 44;

// What a transaction reduced by the fused unit must carry: the lanes of `mask` cut to the window,
// by truncation of their magnitudes, their exact sum, rounded to nearest even; subnormals count as
// zero. The order of the lanes does not matter. An empty mask gives -0. In double precision, in
// which every step is exact but the rounding.
Fp32Bits fused_reference(LaneMask mask, const std::array<Fp32Bits, kLanes>& values);

// The same of the paired unit, from the top of the largest bin that it has read (PairedWindow).
inline constexpr int kPairedWindow = 32;

// What a transaction reduced by the paired unit must carry: read by read, which takes the lowest
// even and the lowest odd lane left, the sum before is cut to the window, downwards, or dropped
// where its bin is five or more below; the two values are cut as fused_reference does it. The sum
// is rounded to nearest even; subnormals count as zero. Lane numbers matter. An empty mask gives
// -0. In double precision, in which every step is exact but the rounding.
Fp32Bits paired_reference(LaneMask mask, const std::array<Fp32Bits, kLanes>& values);

}  // namespace warpfold
