// SPDX-License-Identifier: Apache-2.0
#include "traces/capture/microbench/sass.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <regex>
#include <utility>

#include "traces/capture/microbench/vector_cases.hpp"

namespace warpfold::microbench {
namespace {

constexpr std::size_t kMostOfLine = 4096;

struct Instruction {
  unsigned long address = 0;
  std::string opcode;
  std::optional<unsigned long> target;  // of a branch
};

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

std::string short_opcode(const std::string& opcode) {
  return opcode.substr(0, opcode.find('.'));
}

// 90 of "sm_90a".
int capability(const std::string& arch) {
  return std::atoi(arch.c_str() + std::min(arch.size(), arch.find('_') + 1));
}

void finish(SassKernel& kernel, const std::vector<Instruction>& instructions) {
  // Addresses of the largest backward branch and its target; a branch to itself ends every kernel.
  unsigned long first = 1;
  unsigned long last = 0;
  for (const Instruction& i : instructions) {
    if (i.target && *i.target < i.address &&
        (last < first || i.address - *i.target > last - first)) {
      first = *i.target;
      last = i.address;
    }
  }
  for (const Instruction& i : instructions) {
    const std::string brief = short_opcode(i.opcode);
    if (brief == "LDL" || brief == "STL") {
      ++kernel.registers_spilled;
    }
    if (i.address < first || i.address > last) {
      continue;
    }
    ++kernel.loop[brief];
    if (brief == "RED" || brief == "REDG") {
      ++kernel.loop[i.opcode];
    }
  }
}

}  // namespace

std::vector<SassKernel> read_sass(std::istream& text) {
  static const std::regex kArch(R"(arch = (sm_\w+))");
  static const std::regex kFunction(R"(Function : (\S+))");
  static const std::regex kInstruction(
      R"(/\*([0-9a-f]{4,16})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.a-z]*)\s*([^;]*);)");
  static const std::regex kTarget(R"(0x([0-9a-f]{1,16})\s*$)");
  std::vector<SassKernel> kernels;
  std::vector<Instruction> instructions;
  std::string arch;
  const auto close = [&] {
    if (!kernels.empty()) {
      finish(kernels.back(), instructions);
    }
    instructions.clear();
  };
  std::string line;
  while (std::getline(text, line)) {
    // std::regex takes a frame of the stack for each character.
    line.resize(std::min(line.size(), kMostOfLine));
    std::smatch found;
    if (line.find("Function :") != std::string::npos && std::regex_search(line, found, kFunction)) {
      close();
      kernels.push_back({arch, demangle(found[1]), {}, 0});
    } else if (line.find("arch =") != std::string::npos && std::regex_search(line, found, kArch)) {
      close();
      arch = found[1];
    } else if (!kernels.empty() && line.find(';') != std::string::npos &&
               std::regex_search(line, found, kInstruction)) {
      Instruction i{std::stoul(found[1], nullptr, 16), found[2], std::nullopt};
      const std::string operands = found[3];
      std::smatch target;
      if (short_opcode(i.opcode) == "BRA" && std::regex_search(operands, target, kTarget)) {
        i.target = std::stoul(target[1], nullptr, 16);
      }
      instructions.push_back(std::move(i));
    }
  }
  close();
  return kernels;
}

std::vector<std::string> check_sass(const std::vector<SassKernel>& kernels,
                                    const std::vector<SassExpectation>& expected) {
  std::vector<std::string> wrong;
  for (const SassExpectation& e : expected) {
    // Machine code for older GPUs alone lacks what newer ones have.
    bool found = e.capability > 0 &&
                 std::none_of(kernels.begin(), kernels.end(), [&](const SassKernel& kernel) {
                   return capability(kernel.arch) >= e.capability;
                 });
    for (const SassKernel& kernel : kernels) {
      if (kernel.name.find(e.kernel) == std::string::npos ||
          capability(kernel.arch) < e.capability) {
        continue;
      }
      found = true;
      // Either is whole or short; IADD also stands for IADD3.
      const bool whole = e.opcode.find('.') != std::string::npos;
      int count = 0;
      for (const auto& [opcode, number] : kernel.loop) {
        if (whole == (opcode.find('.') != std::string::npos) && opcode.starts_with(e.opcode)) {
          count += number;
        }
      }
      if (count < e.count || count > e.count + e.count / 16 + 1) {
        wrong.push_back(kernel.arch + ": " + e.kernel + ": " + std::to_string(count) + " " +
                        e.opcode + " in the loop, not " + std::to_string(e.count));
      }
    }
    if (!found) {
      wrong.push_back(e.kernel + ": no such kernel");
    }
  }
  for (const SassKernel& kernel : kernels) {
    if (kernel.registers_spilled > 0) {
      wrong.push_back(kernel.arch + ": " + kernel.name + ": " +
                      std::to_string(kernel.registers_spilled) + " accesses of local memory");
    }
  }
  return wrong;
}

const std::vector<SassExpectation>& sass_expectations() {
  static const std::vector<SassExpectation> kExpectations = [] {
    std::vector<SassExpectation> all = {
        {"red_throughput", "RED", 9},
        {"red_pair", "RED", 8},
        {"red_share", "RED", 7},
        {"red_places<false>", "RED", 1},
        {"red_places<true>", "RED", 1},
        {"red_burst_stamped", "RED", 64},
        {"red_burst<64>", "RED", 64},
        {"red_burst<1>", "RED", 1},
        {"shared_load<4, 1>", "LDS", 32},
        {"shared_load<16, 4>", "LDS", 32},
        {"global_load<true, 4>", "LDG", 32},
        {"global_load<false, 4>", "LDG", 32},
        {"chase<true>", "LDG", 8},
        {"chase<false>", "LDG", 8},
        {"chase_apart", "LDG", 8},
        {"barriers", "BAR", 16},
        {"natural_chain", "S2UR", 1},
        {"special_chain<(warpfold::microbench::(anonymous namespace)::Special)0>", "S2R", 16},
        {"special_chain<(warpfold::microbench::(anonymous namespace)::Special)2>", "LDS", 16},
        {"special_chain<(warpfold::microbench::(anonymous namespace)::Special)1>", "S2UR", 16},
        {"special_chain<(warpfold::microbench::(anonymous namespace)::Special)2>", "MUFU", 16},
        {"constant_chain", "LDC", 16},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<16, 16, 0, 0, 0, 0>", "RED", 16},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<16, 16, 0, 0, 0, 0>", "SHFL", 16},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<8, 40, 0, 0, 0, 0>", "RED", 8},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<8, 40, 0, 0, 0, 0>", "SHFL", 40},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<16, 0, 16, 0, 0, 0>", "LDS", 16},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<16, 0, 0, 16, 0, 0>", "MATCH", 16},
        {"mixed<warpfold::microbench::(anonymous namespace)::Mix<16, 0, 0, 0, 64, 0>", "FFMA", 64},
        {"load_places<(warpfold::microbench::(anonymous namespace)::Places)0>", "LDG", 8},
        {"load_places<(warpfold::microbench::(anonymous namespace)::Places)1>", "LDG", 8},
        {"load_places<(warpfold::microbench::(anonymous namespace)::Places)2>", "LDG", 8},
        {"store_places<(warpfold::microbench::(anonymous namespace)::Places)0>", "STG", 8},
        {"store_places<(warpfold::microbench::(anonymous namespace)::Places)1>", "STG", 8},
        {"store_places<(warpfold::microbench::(anonymous namespace)::Places)2>", "STG", 8},
        {"energy_red", "RED", 9},
        {"energy_shared", "LDS", 64}};
    const std::vector<std::pair<std::string, std::string>> ops = {
        {"OpFfma", "FFMA"},         {"OpFadd", "FADD"},          {"OpFmul", "FMUL"},
        {"OpFfmaLop", "FFMA"},      {"OpFfmaLop", "LOP3"},       {"OpIadd", "IADD"},
        {"OpImad", "IMAD"},         {"OpLop", "LOP3"},           {"OpShf", "SHF"},
        {"OpSelect", "ISETP"},      {"OpEx2", "MUFU"},           {"OpRcp", "MUFU"},
        {"OpConvert", "I2F"},       {"OpPopc", "POPC"},          {"OpFlo", "FLO"},
        {"OpBrev", "BREV"},         {"OpShflBfly", "SHFL"},      {"OpShflDown", "SHFL"},
        {"OpShflIdx", "SHFL"},      {"OpButterfly", "SHFL"},     {"OpButterfly", "FADD"},
        {"OpMatchAny<1>", "MATCH"}, {"OpMatchAny<32>", "MATCH"}, {"OpMatchAll", "MATCH"},
        {"OpBallot", "VOTE"},       {"OpRedux", "REDUX"}};
    for (const auto& [op, opcode] : ops) {
      for (const char* chains : {"1", "4"}) {
        all.push_back({"op_chain<warpfold::microbench::" + op + ", " + chains + ">", opcode, 64});
      }
    }
    for (const auto& [op, opcode] : {std::pair("OpShflBfly", "SHFL"),
                                     {"OpFadd", "FADD"},
                                     {"OpFfma", "FFMA"},
                                     {"OpLop", "LOP3"},
                                     {"OpEx2", "MUFU"},
                                     {"OpMatchAny<1> ", "MATCH"}}) {
      all.push_back({std::string("energy_op<warpfold::microbench::") + op + ">", opcode, 64});
    }
    const auto add_vector = [&all](VectorForm form, const char* opcode, int count, int capability) {
      all.push_back({"vector_red<(warpfold::microbench::VectorForm)" +
                         std::to_string(static_cast<int>(form)) + ">",
                     opcode, count, capability});
    };
    add_vector(VectorForm::kScalar1, "RED", 4, 0);
    add_vector(VectorForm::kScalar2, "RED", 8, 0);
    add_vector(VectorForm::kScalar4, "RED", 16, 0);
    add_vector(VectorForm::kScalar9, "RED", 36, 0);
    add_vector(VectorForm::kV2, "REDG.E.ADD.F32x2", 4, 90);
    add_vector(VectorForm::kV4, "REDG.E.ADD.F32x4", 4, 90);
    add_vector(VectorForm::kV4x9, "REDG.E.ADD.F32x4", 8, 90);
    add_vector(VectorForm::kV4x9, "RED", 12, 90);
    add_vector(VectorForm::kHalf2, "RED", 4, 0);
    all.push_back({"bulk_reduce", "UBLKRED", 4, 90});
    all.push_back({"shared_add", "ATOMS", 8});
    return all;
  }();
  return kExpectations;
}

}  // namespace warpfold::microbench
