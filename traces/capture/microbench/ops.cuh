// SPDX-License-Identifier: Apache-2.0
// One struct for each class of instructions: its state in a lane, the values it begins with, a step
// whose result the next step needs, and what the compiler must make of the step.
//   kSass  opcode, as the disassembler prints it
//   kEach  machine instructions of that opcode in a step
#pragma once

#include <cstdint>

#include "traces/capture/microbench/probe.cuh"

namespace warpfold::microbench {

struct OpFloat {
  using State = float;
  __device__ static State begin(std::uint32_t lane, int chain) {
    return 1.0F + static_cast<float>(lane) * 0.001F + static_cast<float>(chain) * 0.1F;
  }
  __device__ static float operand(std::uint32_t bits) { return __uint_as_float(bits); }
  __device__ static std::uint32_t bits(float x) { return __float_as_uint(x); }
  static constexpr std::uint32_t kOperand = 0x3f7ffff0U;  // a little less than one
  static constexpr int kEach = 1;
};
struct OpInteger {
  using State = std::uint32_t;
  __device__ static State begin(std::uint32_t lane, int chain) {
    return lane * 2654435761U + static_cast<std::uint32_t>(chain) * 40503U + 1U;
  }
  __device__ static std::uint32_t operand(std::uint32_t bits) { return bits; }
  __device__ static std::uint32_t bits(std::uint32_t x) { return x; }
  static constexpr std::uint32_t kOperand = 0x8001U;
  static constexpr int kEach = 1;
};

#define WARPFOLD_FLOAT_OP(Name, text, sass, code)                                             \
  struct Name : OpFloat {                                                                     \
    static constexpr const char* kName = text;                                                \
    static constexpr const char* kSass = sass;                                                \
    __device__ static void step(State& x, State a) { asm volatile(code : "+f"(x) : "f"(a)); } \
  };
#define WARPFOLD_INTEGER_OP(Name, text, sass, code)                                           \
  struct Name : OpInteger {                                                                   \
    static constexpr const char* kName = text;                                                \
    static constexpr const char* kSass = sass;                                                \
    __device__ static void step(State& x, State a) { asm volatile(code : "+r"(x) : "r"(a)); } \
  };

WARPFOLD_FLOAT_OP(OpFfma, "ffma", "FFMA", "fma.rn.f32 %0, %0, %1, %1;")
WARPFOLD_FLOAT_OP(OpFadd, "fadd", "FADD", "add.rn.f32 %0, %0, %1;")
WARPFOLD_FLOAT_OP(OpFmul, "fmul", "FMUL", "mul.rn.f32 %0, %0, %1;")
WARPFOLD_FLOAT_OP(OpEx2, "ex2", "MUFU", "ex2.approx.ftz.f32 %0, %0;")
// Twice a reciprocal is nothing to the compiler, so a product is in between.
WARPFOLD_FLOAT_OP(OpRcp, "rcp_fmul", "MUFU",
                  "{ .reg .f32 t; rcp.approx.ftz.f32 t, %0; mul.rn.f32 %0, t, %1; }")
WARPFOLD_INTEGER_OP(OpImad, "imad", "IMAD", "mad.lo.u32 %0, %0, %1, %1;")
WARPFOLD_INTEGER_OP(OpLop, "lop3", "LOP3", "lop3.b32 %0, %0, %1, 0x5bd1e995, 0x96;")
WARPFOLD_INTEGER_OP(OpShf, "shf", "SHF", "shf.l.wrap.b32 %0, %0, %1, %0;")
WARPFOLD_INTEGER_OP(OpPopc, "popc", "POPC", "popc.b32 %0, %0;")
WARPFOLD_INTEGER_OP(OpFlo, "flo", "FLO", "bfind.u32 %0, %0;")
WARPFOLD_INTEGER_OP(OpBrev, "brev_lop3", "BREV",
                    "{ .reg .u32 t; brev.b32 t, %0; xor.b32 %0, t, %1; }")
WARPFOLD_INTEGER_OP(OpSelect, "isetp_sel", "ISETP",
                    "{ .reg .pred p; setp.gt.u32 p, %0, %1; selp.u32 %0, %1, 77, p; }")
WARPFOLD_INTEGER_OP(OpConvert, "i2f_f2i_lop3", "I2F",
                    "{ .reg .f32 t; .reg .u32 u; cvt.rn.f32.u32 t, %0; cvt.rzi.u32.f32 u, t; "
                    "xor.b32 %0, u, %1; }")
WARPFOLD_INTEGER_OP(OpShflBfly, "shfl_bfly", "SHFL",
                    "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")
WARPFOLD_INTEGER_OP(OpShflDown, "shfl_down", "SHFL",
                    "shfl.sync.down.b32 %0, %0, 1, 31, 0xffffffff;")
WARPFOLD_INTEGER_OP(OpShflIdx, "shfl_idx", "SHFL", "shfl.sync.idx.b32 %0, %0, %0, 31, 0xffffffff;")
WARPFOLD_INTEGER_OP(OpMatchAll, "match_all", "MATCH", "match.all.sync.b32 %0, %0, 0xffffffff;")
WARPFOLD_INTEGER_OP(OpBallot, "ballot", "VOTE",
                    "{ .reg .pred p; setp.ge.u32 p, %0, %1; "
                    "vote.sync.ballot.b32 %0, p, 0xffffffff; }")
#undef WARPFOLD_FLOAT_OP
#undef WARPFOLD_INTEGER_OP

// Each sum is a summand of the next two, so that two additions cannot become one.
struct OpIadd : OpInteger {
  struct State {
    std::uint32_t x;
    std::uint32_t y;
  };
  static constexpr const char* kName = "iadd3";
  static constexpr const char* kSass = "IADD";
  __device__ static State begin(std::uint32_t lane, int chain) {
    return {OpInteger::begin(lane, chain), lane};
  }
  __device__ static std::uint32_t bits(const State& s) { return s.x ^ s.y; }
  // Three summands, since sums of two are also made by the multiplier.
  __device__ static void step(State& s, std::uint32_t a) {
    std::uint32_t sum;
    asm volatile("{ .reg .u32 t; add.u32 t, %1, %2; add.u32 %0, t, %3; }"
                 : "=r"(sum)
                 : "r"(s.x), "r"(s.y), "r"(a));
    s.x = s.y;
    s.y = sum;
  }
};

// Two instructions that a machine has one pipe for each: their sum issues at the rate of the port.
struct OpFfmaLop : OpFloat {
  struct State {
    float x;
    std::uint32_t y;
  };
  static constexpr const char* kName = "ffma_and_lop3";
  static constexpr const char* kSass = "FFMA";
  __device__ static State begin(std::uint32_t lane, int chain) {
    return {OpFloat::begin(lane, chain), OpInteger::begin(lane, chain)};
  }
  __device__ static std::uint32_t bits(const State& s) { return __float_as_uint(s.x) ^ s.y; }
  __device__ static void step(State& s, float a) {
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(s.x) : "f"(a));
    asm volatile("lop3.b32 %0, %0, %1, 0x5bd1e995, 0x96;" : "+r"(s.y) : "r"(__float_as_uint(a)));
  }
};

// A match leaves in each lane the mask of its group, so the groups stay as they are.
template <int kGroups>
struct OpMatchAny : OpInteger {
  static constexpr const char* kName = kGroups == 1   ? "match_any_1"
                                       : kGroups == 2 ? "match_any_2"
                                       : kGroups == 8 ? "match_any_8"
                                                      : "match_any_32";
  static constexpr const char* kSass = "MATCH";
  __device__ static State begin(std::uint32_t lane, int chain) {
    return lane % kGroups + static_cast<std::uint32_t>(chain) * 64U;
  }
  __device__ static void step(State& x, State) {
    asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(x));
  }
};

struct OpRedux : OpInteger {
  static constexpr const char* kName = "redux";
  static constexpr const char* kSass = "REDUX";
  __device__ static void step(State& x, State) {
#if __CUDA_ARCH__ >= 800
    asm volatile("redux.sync.add.s32 %0, %0, 0xffffffff;" : "+r"(x));
#endif
  }
};

// A shuffle and an addition, as a butterfly has them.
struct OpButterfly : OpFloat {
  static constexpr const char* kName = "shfl_fadd";
  static constexpr const char* kSass = "SHFL";
  __device__ static void step(State& x, State) {
    asm volatile(
        "{ .reg .f32 t; shfl.sync.bfly.b32 t, %0, 1, 31, 0xffffffff; add.rn.f32 %0, %0, t; }"
        : "+f"(x));
  }
};

}  // namespace warpfold::microbench
