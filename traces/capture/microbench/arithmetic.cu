// SPDX-License-Identifier: Apache-2.0
// What red.global.add.f32 answers to every operand pair, and whether other additions of this GPU
// answer the same.
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "traces/capture/common/gpu_info.hpp"
#include "traces/capture/microbench/benches.hpp"
#include "traces/capture/microbench/kernels_red.cuh"
#include "traces/capture/microbench/operands.hpp"
#include "traces/format/whole_file.hpp"

namespace warpfold::microbench {
namespace {

enum class Adder { kRed, kRedCta, kAtomic, kRedShared, kFadd, kFaddFlush };

// One thread for each pair; memory[i] is added to in place.
template <Adder kAdder>
__global__ void add_pairs(float* memory, const float* operand, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float copy[256];
  if (i >= count) {
    return;
  }
  if constexpr (kAdder == Adder::kRed) {
    red_add(memory + i, operand[i]);
  } else if constexpr (kAdder == Adder::kRedCta) {
    asm volatile("red.relaxed.cta.global.add.f32 [%0], %1;" ::"l"(memory + i), "f"(operand[i])
                 : "memory");
  } else if constexpr (kAdder == Adder::kAtomic) {
    float before = 0;
    asm volatile("atom.global.add.f32 %0, [%1], %2;"
                 : "=f"(before)
                 : "l"(memory + i), "f"(operand[i])
                 : "memory");
  } else if constexpr (kAdder == Adder::kRedShared) {
    copy[threadIdx.x] = memory[i];
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(copy + threadIdx.x));
    asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(address), "f"(operand[i]) : "memory");
    memory[i] = copy[threadIdx.x];
  } else if constexpr (kAdder == Adder::kFadd) {
    asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(memory[i]) : "f"(operand[i]));
  } else {
    asm volatile("add.rn.ftz.f32 %0, %0, %1;" : "+f"(memory[i]) : "f"(operand[i]));
  }
}

class ArithmeticBench {
 public:
  explicit ArithmeticBench(const OperandSet& set) : set_(set) {
    for (const OperandPair& pair : set.pairs) {
      memory_.push_back(pair.memory);
      operand_.push_back(pair.operand);
    }
  }

  template <Adder kAdder>
  [[nodiscard]] std::vector<std::uint32_t> results() const {
    const DeviceBuffer<std::uint32_t> memory(std::span<const std::uint32_t>{memory_});
    const DeviceBuffer<std::uint32_t> operand(std::span<const std::uint32_t>{operand_});
    const auto count = static_cast<std::uint32_t>(memory_.size());
    add_pairs<kAdder><<<(count + 255) / 256, 256>>>(reinterpret_cast<float*>(memory.data()),
                                                    reinterpret_cast<const float*>(operand.data()),
                                                    count);
    check_launch("add_pairs");
    check(cudaDeviceSynchronize(), "add_pairs");
    return memory.to_host();
  }

  // Where `other` differs from the REDs, the first few written out.
  [[nodiscard]] Json compare(const std::vector<std::uint32_t>& red,
                             const std::vector<std::uint32_t>& other) const {
    constexpr std::size_t kShown = 1000;
    std::size_t differ = 0;
    Json examples = Json::array();
    for (std::size_t i = 0; i < red.size(); ++i) {
      if (red[i] == other[i]) {
        continue;
      }
      if (++differ <= kShown) {
        char line[64];
        std::snprintf(line, sizeof line, "%08X %08X %08X %08X", memory_[i], operand_[i], red[i],
                      other[i]);
        examples.push_back(line);
      }
    }
    return {{"pairs", red.size()}, {"differ", differ}, {"memory_operand_red_this", examples}};
  }

 private:
  const OperandSet& set_;
  std::vector<std::uint32_t> memory_;
  std::vector<std::uint32_t> operand_;
};

}  // namespace

void bench_arithmetic(Harness& harness, const std::filesystem::path& vectors) {
  const OperandSet set = operand_pairs();
  const ArithmeticBench bench(set);
  const auto red = bench.results<Adder::kRed>();
  const auto again = bench.results<Adder::kRed>();
  Json json;
  json["pairs"] = set.pairs.size();
  json["classes"] = Json::array();
  for (const OperandClass& c : set.classes) {
    json["classes"].push_back({{"name", c.name}, {"pairs", c.count}});
  }
  json["same_when_repeated"] = red == again;
  json["red_cta_scope"] = bench.compare(red, bench.results<Adder::kRedCta>());
  json["atom_global"] = bench.compare(red, bench.results<Adder::kAtomic>());
  json["red_shared"] = bench.compare(red, bench.results<Adder::kRedShared>());
  json["fadd"] = bench.compare(red, bench.results<Adder::kFadd>());
  json["fadd_ftz"] = bench.compare(red, bench.results<Adder::kFaddFlush>());
  harness.report().set("arithmetic", json);
  if (vectors.empty()) {
    return;
  }
  const capture::GpuInfo gpu = capture::gpu_info();
  std::ostringstream file;
  write_vectors(file, set.pairs, red,
                {"red.global.add.f32: memory operand result flags (00: none are known)",
                 gpu.name + ", driver " + gpu.driver + ", CUDA " + gpu.cuda,
                 "recorded by warpfold_microbench --vectors"});
  trace::write_whole(vectors, file.str());
}

}  // namespace warpfold::microbench
