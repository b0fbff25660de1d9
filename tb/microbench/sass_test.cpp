// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/sass.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace warpfold::microbench {
namespace {

constexpr const char* kText = R"(
Fatbin elf code:
================
arch = sm_90
code version = [1,8]

		Function : _ZN8warpfold10microbench4loopEv
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED"
        /*0000*/                   LDC R1, c[0x0][0x28] ;          /* 0x00000a00ff017b82 */
                                                                   /* 0x000fe20000000800 */
        /*0010*/                   RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5 ;
        /*0020*/              @!P0 RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5 ;
        /*0030*/               @P1 FADD R1, R2, R3 ;
        /*0040*/               @P2 BRA 0x20 ;
        /*0050*/             @!UP0 UIADD3 UR4, UR4, 0x1, URZ ;
        /*0060*/               @P0 BRA 0x10 ;
        /*0070*/                   EXIT ;
        /*0080*/                   BRA 0x80;
		..........

		Function : _Z5spillv
        /*0000*/                   STL [R1], R2 ;
        /*0010*/                   EXIT ;
		..........
)";

std::vector<SassKernel> kernels() {
  std::istringstream text(kText);
  return read_sass(text);
}

TEST(Sass, TakesTheLargestLoop) {
  const auto all = kernels();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].arch, "sm_90");
  EXPECT_EQ(all[0].name, "warpfold::microbench::loop()");
  EXPECT_EQ(all[0].loop.at("RED"), 2);
  EXPECT_EQ(all[0].loop.at("RED.E.ADD.F32.FTZ.RN.STRONG.GPU"), 2);
  EXPECT_EQ(all[0].loop.at("FADD"), 1);
  EXPECT_EQ(all[0].loop.at("BRA"), 2);
  EXPECT_EQ(all[0].loop.count("EXIT"), 0U);
  EXPECT_EQ(all[0].registers_spilled, 0);
  EXPECT_TRUE(all[1].loop.empty());
  EXPECT_EQ(all[1].registers_spilled, 1);
}

TEST(Sass, CheckCountsInstructions) {
  auto all = kernels();
  all.pop_back();
  EXPECT_TRUE(check_sass(all, {{"loop", "RED", 2}, {"loop", "FADD", 1}}).empty());
  EXPECT_TRUE(check_sass(all, {{"loop", "RED.E.ADD.F32", 2}}).empty());
  EXPECT_EQ(check_sass(all, {{"loop", "RED.E.ADD.F64", 2}}).size(), 1U);
  EXPECT_EQ(check_sass(all, {{"loop", "RED", 3}}).front(), "sm_90: loop: 2 RED in the loop, not 3");
  EXPECT_EQ(check_sass(all, {{"loop", "BRA", 0}}).size(), 1U);
  EXPECT_EQ(check_sass(all, {{"other", "RED", 3}}).front(), "other: no such kernel");
}

// An instruction that newer machine code alone has.
TEST(Sass, CheckLeavesOutOlderMachineCode) {
  auto all = kernels();
  all.pop_back();
  EXPECT_TRUE(check_sass(all, {{"loop", "RED", 2, 90}}).empty());
  EXPECT_EQ(check_sass(all, {{"loop", "RED", 3, 90}}).size(), 1U);
  EXPECT_EQ(check_sass(all, {{"other", "RED", 3, 90}}).front(), "other: no such kernel");
  EXPECT_TRUE(check_sass(all, {{"loop", "RED", 3, 100}}).empty());
  all.push_back(all[0]);
  all[1].arch = "sm_86";
  all[1].loop.clear();
  EXPECT_TRUE(check_sass(all, {{"loop", "RED", 2, 90}}).empty());
  EXPECT_EQ(check_sass(all, {{"loop", "RED", 2}}).size(), 1U);
}

TEST(Sass, CheckRefusesSpills) {
  EXPECT_EQ(check_sass(kernels(), {}).front(), "sm_90: spill(): 1 accesses of local memory");
}

// Addresses of more digits than a number has, and lines that a regular expression cannot go
// through.
TEST(Sass, OddTextIsPassedOver) {
  const std::string function = "Function : f\n";
  for (const std::string& line :
       {"/*" + std::string(17, 'f') + "*/ FADD R1, R2 ;",
        "/*0010*/ BRA 0x" + std::string(20, 'f') + ";",
        "/*0010*/ FADD " + std::string(1 << 20, 'R') + ";",
        "Function : " + std::string(1 << 20, 'f'), "arch = sm_" + std::string(1 << 20, '9')}) {
    std::istringstream text(function + line + "\n/*0020*/ EXIT ;\n");
    EXPECT_FALSE(read_sass(text).empty()) << line.substr(0, 40);
  }
}

TEST(Sass, EveryLoopIsExpectedOnce) {
  EXPECT_GE(sass_expectations().size(), 60U);
  for (const SassExpectation& e : sass_expectations()) {
    EXPECT_GT(e.count, 0) << e.kernel;
  }
}

}  // namespace
}  // namespace warpfold::microbench
