// SPDX-License-Identifier: Apache-2.0
// A program to be recorded: one kernel that adds 1, launched in every way that CUDA has, and the
// array that all launches leave together. Two arguments: the way, and the file for the array.
#include <cooperative_groups.h>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "arrays.cuh"

namespace {

namespace cg = cooperative_groups;

constexpr std::uint32_t kSize = 4096;
constexpr int kGrid = 64;
constexpr int kBlock = 128;
constexpr int kRounds = 5;

// `other`: launches that differ leave other counts.
__global__ void spread(float* array, std::uint32_t size, int rounds, std::uint32_t other) {
  std::uint32_t at = hash(blockIdx.x * blockDim.x + threadIdx.x + 7919U * other);
  for (int i = 0; i < rounds; ++i) {
    at = hash(at);
    if ((at & 3U) != 0) {
      atomicAdd(array + at % size, 1.0F);
    }
  }
}

__global__ void together(float* array, std::uint32_t size) {
  const std::uint32_t at = hash(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(array + at % size, 1.0F);
  cg::this_grid().sync();
  atomicAdd(array + hash(at) % size, 1.0F);
}

__global__ void __cluster_dims__(2, 1, 1) clustered(float* array, std::uint32_t size) {
  __shared__ std::uint32_t kept[kBlock];
  kept[threadIdx.x] = hash(blockIdx.x * blockDim.x + threadIdx.x);
#if __CUDA_ARCH__ >= 900
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  const std::uint32_t at = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1U)[threadIdx.x];
  atomicAdd(array + at % size, 1.0F);
  cluster.sync();
#endif
}

// Launched from the device: a graph of one launch of `spread`.
__global__ void launch_graph(cudaGraphExec_t graph) {
  cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
}

// What the driver compiles: one RED by each thread, at steps of `words`.
std::string ptx(const char* words) {
  return std::string(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry jitted(.param .u64 array)
{
  .reg .u32 %r<8>;
  .reg .u64 %d<4>;
  .reg .f32 %f<2>;
  ld.param.u64 %d0, [array];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  mul.lo.u32 %r4, %r3, )") +
         words + R"(;
  and.b32 %r5, %r4, 4095;
  mul.wide.u32 %d1, %r5, 4;
  add.u64 %d2, %d0, %d1;
  mov.f32 %f0, 0f3f800000;
  red.global.add.f32 [%d2], %f0;
  ret;
}
)";
}

template <typename Function>
Function driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult known{};
  check(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &known), name);
  return reinterpret_cast<Function>(found);
}

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result));
    std::exit(1);
  }
}

void add(float* array, std::uint32_t other, cudaStream_t stream) {
  spread<<<kGrid, kBlock, 0, stream>>>(array, kSize, kRounds, other);
  check(cudaGetLastError(), "a launch");
}

cudaStream_t make_stream(unsigned flags) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, flags), "a stream");
  return stream;
}

void by_stream(float* array, unsigned flags) {
  cudaStream_t stream = make_stream(flags);
  add(array, 0, stream);
  add(array, 1, stream);
  check(cudaStreamSynchronize(stream), "the stream");
}

void by_threads(float* array) {
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([array, t] {
      cudaStream_t stream = make_stream(cudaStreamNonBlocking);
      for (std::uint32_t i = 0; i < 3; ++i) {
        add(array, 3 * t + i, stream);
      }
      check(cudaStreamSynchronize(stream), "the stream");
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void replay(cudaGraphExec_t graph, int times) {
  cudaStream_t stream = make_stream(cudaStreamNonBlocking);
  for (int i = 0; i < times; ++i) {
    check(cudaGraphLaunch(graph, stream), "a launch of a graph");
  }
  check(cudaStreamSynchronize(stream), "the graph");
}

cudaGraph_t captured(float* array, int launches) {
  cudaStream_t stream = make_stream(cudaStreamNonBlocking);
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "a capture");
  for (int i = 0; i < launches; ++i) {
    add(array, i, stream);
  }
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "the end of the capture");
  return graph;
}

void by_capture(float* array) {
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, captured(array, 2), 0), "a graph");
  replay(executable, 3);
}

// As programs do that use graphs: the launch by itself first, then again as a graph.
void by_warm_capture(float* array) {
  by_stream(array, cudaStreamNonBlocking);
  by_capture(array);
}

void by_nodes(float* array, bool update) {
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0), "a graph");
  std::uint32_t size = kSize, other = 0;
  int rounds = kRounds;
  void* arguments[] = {&array, &size, &rounds, &other};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(spread);
  launch.gridDim = dim3(kGrid);
  launch.blockDim = dim3(kBlock);
  launch.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &launch), "a node");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "a graph");
  replay(executable, 2);
  if (update) {
    other = 5;
    launch.gridDim = dim3(kGrid / 2);
    check(cudaGraphExecKernelNodeSetParams(executable, node, &launch), "an update");
    replay(executable, 2);
  }
}

void by_device(float* array) {
  cudaGraphExec_t inner = nullptr;
  check(cudaGraphInstantiate(&inner, captured(array, 1), cudaGraphInstantiateFlagDeviceLaunch),
        "a graph of the device");
  check(cudaGraphUpload(inner, nullptr), "an upload");
  cudaStream_t stream = make_stream(cudaStreamNonBlocking);
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "a capture");
  launch_graph<<<1, 1, 0, stream>>>(inner);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "the end of the capture");
  cudaGraphExec_t outer = nullptr;
  check(cudaGraphInstantiate(&outer, graph, 0), "a graph");
  replay(outer, 1);
  check(cudaDeviceSynchronize(), "the graph of the device");
}

void by_cooperation(float* array) {
  std::uint32_t size = kSize;
  void* arguments[] = {&array, &size};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(together), dim3(kGrid), dim3(kBlock),
                                    arguments, 0, make_stream(cudaStreamNonBlocking)),
        "a cooperative launch");
}

// A module that is gone before the next of the same kernel's name comes.
void by_modules(float* array) {
  const auto load = driver<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData");
  const auto find = driver<CUresult (*)(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction");
  const auto launch =
      driver<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, CUstream, void**, void**)>("cuLaunchKernel");
  const auto unload = driver<CUresult (*)(CUmodule)>("cuModuleUnload");
  for (const char* words : {"1", "3", "5"}) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(load(&module, ptx(words).c_str()), "cuModuleLoadData");
    check(find(&function, module, "jitted"), "cuModuleGetFunction");
    void* arguments[] = {&array};
    check(launch(function, kGrid, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr),
          "cuLaunchKernel");
    check(cudaDeviceSynchronize(), "the kernel");
    check(unload(module), "cuModuleUnload");
  }
}

void by_library(float* array) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryLoadData(&library, ptx("7").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  check(cudaLibraryGetKernel(&kernel, library, "jitted"), "cudaLibraryGetKernel");
  void* arguments[] = {&array};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(kGrid), dim3(kBlock),
                         arguments, 0, make_stream(cudaStreamNonBlocking)),
        "a launch of a library's kernel");
}

// Two children, each with its own launches; the parent makes none. Their arrays are their own.
int by_children(const char* file) {
  for (std::uint32_t child = 1; child <= 2; ++child) {
    if (fork() == 0) {
      auto* array = zeros<float>(kSize);
      for (std::uint32_t i = 0; i < child; ++i) {
        spread<<<kGrid * child, kBlock>>>(array, kSize, kRounds, child);
      }
      check(cudaDeviceSynchronize(), "the child's kernels");
      std::FILE* out = std::fopen((std::string(file) + "." + std::to_string(child)).c_str(), "wb");
      save<float>(out, array, kSize);
      std::fclose(out);
      std::exit(0);
    }
    int status = 0;
    wait(&status);
    if (status != 0) {
      return 1;
    }
  }
  return 0;
}

float* managed() {
  float* array = nullptr;
  check(cudaMallocManaged(&array, kSize * sizeof(float)), "managed memory");
  std::memset(array, 0, kSize * sizeof(float));
  return array;
}

using Way = void (*)(float*);
const std::map<std::string, Way>& ways() {
  static const std::map<std::string, Way> all = {
      {"default", [](float* a) { add(a, 0, nullptr); }},
      {"blocking", [](float* a) { by_stream(a, cudaStreamDefault); }},
      {"nonblocking", [](float* a) { by_stream(a, cudaStreamNonBlocking); }},
      {"per-thread", [](float* a) { add(a, 0, cudaStreamPerThread); }},
      {"threads", by_threads},
      {"graph", by_capture},
      {"warm-graph", by_warm_capture},
      {"nodes", [](float* a) { by_nodes(a, false); }},
      {"updated", [](float* a) { by_nodes(a, true); }},
      {"device-graph", by_device},
      {"cooperative", by_cooperation},
      {"cluster", [](float* a) { clustered<<<kGrid, kBlock>>>(a, kSize); }},
      {"modules", by_modules},
      {"library", by_library},
      {"managed", [](float* a) { add(a, 0, nullptr); }}};
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc == 3 ? argv[1] : "";
  if (way == "children") {
    return by_children(argv[2]);
  }
  if (!ways().contains(way)) {
    std::fprintf(stderr, "usage: launches WAY FILE, with one of children");
    for (const auto& [name, launch] : ways()) {
      std::fprintf(stderr, " %s", name.c_str());
    }
    std::fprintf(stderr, "\n");
    return 2;
  }
  float* array = way == "managed" ? managed() : zeros<float>(kSize);
  ways().at(way)(array);
  check(cudaDeviceSynchronize(), "the kernels");
  std::FILE* file = std::fopen(argv[2], "wb");
  if (file == nullptr) {
    std::perror(argv[2]);
    return 2;
  }
  save<float>(file, array, kSize);
  return std::fclose(file) == 0 ? 0 : 1;
}
