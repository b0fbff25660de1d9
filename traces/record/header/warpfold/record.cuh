// SPDX-License-Identifier: Apache-2.0
// Records what a CUDA kernel adds atomically, for those who can change its source. Needs C++17, the
// CUDA toolkit (sm_70 or later), and record_log.cuh beside it, in a folder warpfold.
//
//   template <class Log>
//   __global__ void scatter(const int* to, const float* x, float* sums, int n, Log log) {
//     const auto warp = log.warp();         // first in the kernel: its warps begin here, and end
//     const int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) {
//       log.event(0, sums + to[i]);         // beside each atomicAdd, or each row of them
//       atomicAdd(sums + to[i], x[i]);
//     }
//   }
//   ...
//   warpfold::record::Session session("scatter");                       // makes scatter.wfrec
//   session.kernel("scatter", scatter<warpfold::record::NoLog>);        // as it is without
//   session.launch([&](warpfold::record::Log log) {
//     scatter<<<blocks, 256>>>(to, x, sums, n, log);
//   });
//
//   $ warpfold record --from scatter.wfrec
//
// Memory is bounded: a kernel writes into a ring in host memory, a thread empties it into the file,
// and warps wait while it is full. Where a launch cannot be recorded whole there is no file, and an
// exception of one line.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <warpfold/record_log.cuh>

namespace warpfold::record {

// Records launches one after the other, on the device that is current where it is made.
class Session {
 public:
  // Files: STEM.wfrec, then STEM-2.wfrec, ... The ring has `ring_bytes`, at least 1 MiB, rounded up
  // to a power of two. All methods throw std::runtime_error.
  explicit Session(std::string stem, std::size_t ring_bytes = std::size_t{64} << 20U)
      : stem_(std::move(stem)) {
    while (capacity_ * sizeof(std::uint32_t) < ring_bytes) {
      capacity_ *= 2;
    }
    try {
      check(cudaHostAlloc(&words_, capacity_ * sizeof(std::uint32_t), cudaHostAllocDefault),
            "memory for the ring");
      check(cudaHostAlloc(&tail_, sizeof *tail_, cudaHostAllocDefault), "memory for the ring");
      check(cudaMalloc(&state_, sizeof *state_), "memory for the ring");
    } catch (...) {
      release();
      throw;
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { release(); }

  // The kernel as it is without recording, for its name, registers and shared memory. Needed ahead
  // of launch().
  template <typename... Parameters>
  void kernel(std::string name, void (*plain)(Parameters...)) {
    cudaFuncAttributes found{};
    check(cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(plain)), "the kernel");
    name_ = std::move(name);
    registers_ = found.numRegs > 0 ? found.numRegs : 1;
    static_shared_ = found.sharedSizeBytes;
    milliseconds_.clear();
  }
  // What a site is called in traces; else it is its number.
  void site(std::uint32_t number, const std::string& name) {
    sites_ += (sites_.empty() ? "[" : ",[") + std::to_string(number) + "," + quoted(name) + "]";
  }
  // An allocation that is added to.
  void array(const std::string& name, const void* base, std::size_t bytes) {
    arrays_ += (arrays_.empty() ? "[" : ",[") + quoted(name) + "," +
               std::to_string(reinterpret_cast<std::uintptr_t>(base)) + "," +
               std::to_string(bytes) + "]";
  }
  // Of each so many CTAs the middle one is recorded.
  void every(std::uint32_t ctas) { every_ = ctas > 0 ? ctas : 1; }

  // Measures the kernel as it is without recording: `run()` launches it with a NoLog. For the files
  // of the launches from here on.
  template <typename Run>
  void time(int runs, Run run) {
    milliseconds_.clear();
    cudaEvent_t begin{}, end{};
    check(cudaEventCreate(&begin), "an event");
    check(cudaEventCreate(&end), "an event");
    for (int i = -1; i < runs; ++i) {  // the first warms up
      float milliseconds = 0;
      check(cudaEventRecord(begin), "an event");
      run();
      check(cudaEventRecord(end), "an event");
      check(cudaEventSynchronize(end), "the kernel");
      check(cudaEventElapsedTime(&milliseconds, begin, end), "an event");
      if (i >= 0) {
        milliseconds_ += (milliseconds_.empty() ? "" : ",") + std::to_string(milliseconds);
      }
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }

  // `run(log)` launches the kernel once, on any stream. Returns the path of the file.
  template <typename Run>
  std::string launch(Run run) {
    if (name_.empty()) {
      throw std::runtime_error("warpfold: launch() comes ahead of kernel()");
    }
    const std::string path =
        stem_ + (++launches_ > 1 ? "-" + std::to_string(launches_) : "") + ".wfrec";
    Part part(path);
    Log log;
    Log::State state{};
    state.limit = capacity_;
    std::memset(words_, 0, capacity_ * sizeof(std::uint32_t));
    *tail_ = 0;
    check(cudaMemcpy(state_, &state, sizeof state, cudaMemcpyHostToDevice), "the ring");
    log.state_ = state_;
    log.tail_ = tail_;
    log.words_ = words_;
    log.capacity_ = capacity_;
    log.every_ = every_;
    {
      RingFile reader(part.file, words_, capacity_, tail_);
      const Settled settled;
      run(static_cast<const Log&>(log));
      check(cudaGetLastError(), "the launch");
      check(cudaDeviceSynchronize(), "the kernel");
      check(cudaMemcpy(&state, state_, sizeof state, cudaMemcpyDeviceToHost), "the ring");
      if (const std::string wrong = reader.finish(state.reserved); !wrong.empty()) {
        throw std::runtime_error("warpfold: " + path + ": " + wrong);
      }
    }
    finish(part, path, state);
    return path;
  }

 private:
  // A file that is there under another name, and goes if it is not finished.
  struct Part {
    explicit Part(const std::string& path)
        : name(path + ".part"), file(std::fopen(name.c_str(), "wb")) {
      std::string magic = layout::kMagic;
      magic.resize(layout::kMagicBytes, '\n');
      if (file == nullptr || std::fwrite(magic.data(), 1, magic.size(), file) != magic.size()) {
        throw std::runtime_error("warpfold: " + name + ": cannot be written");
      }
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() {
      if (file != nullptr) {
        std::fclose(file);
        std::remove(name.c_str());
      }
    }
    const std::string name;
    std::FILE* file;
  };
  // Whatever ends the launch, the device does not write into the ring once its reader is gone.
  struct Settled {
    Settled() = default;
    Settled(const Settled&) = delete;
    Settled& operator=(const Settled&) = delete;
    ~Settled() { cudaDeviceSynchronize(); }
  };

  void release() {
    cudaFree(state_);
    cudaFreeHost(tail_);
    cudaFreeHost(words_);
  }

  static void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
      throw std::runtime_error(std::string("warpfold: ") + what + ": " + cudaGetErrorString(error));
    }
  }

  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        result += '\\';
      }
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + "\"";
  }
  static std::string triple(const unsigned (&of)[3]) {
    return "[" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
           "]";
  }
  static std::string version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }

  void finish(Part& part, const std::string& path, const Log::State& state) const {
    const auto product = [](const unsigned(&of)[3]) {
      return std::uint64_t{of[0]} * of[1] * of[2];
    };
    const std::uint64_t ctas = product(state.grid);
    if (state.begun == 0) {
      throw std::runtime_error("warpfold: " + path + ": no warp of the launch called log.warp()");
    }
    if (ctas >= 0xffffffffU || state.begun > ctas * product(state.block)) {
      throw std::runtime_error("warpfold: " + path +
                               ": more threads began than one launch has that can be recorded");
    }
    const std::string text = describe(state);
    const std::uint32_t end[] = {0, static_cast<std::uint32_t>(text.size()),
                                 static_cast<std::uint32_t>(state.reserved),
                                 static_cast<std::uint32_t>(state.reserved >> 32U)};
    const bool written = std::fwrite(end, 1, sizeof end, part.file) == sizeof end &&
                         std::fwrite(text.data(), 1, text.size(), part.file) == text.size();
    const bool closed = std::fclose(std::exchange(part.file, nullptr)) == 0;
    if (!written || !closed || std::rename(part.name.c_str(), path.c_str()) != 0) {
      std::remove(part.name.c_str());
      throw std::runtime_error("warpfold: " + path + ": cannot be written");
    }
  }

  std::string describe(const Log::State& state) const {
    int device = 0, driver = 0, runtime = 0;
    cudaDeviceProp gpu{};
    check(cudaGetDevice(&device), "the device");
    check(cudaGetDeviceProperties(&gpu, device), "the device");
    check(cudaDriverGetVersion(&driver), "the driver");
    check(cudaRuntimeGetVersion(&runtime), "the runtime");
    return "{\"kernel\":" + quoted(name_) + ",\"launch\":" + std::to_string(launches_) +
           ",\"grid\":" + triple(state.grid) + ",\"block\":" + triple(state.block) +
           ",\"registers\":" + std::to_string(registers_) +
           ",\"shared\":" + std::to_string(static_shared_ + state.dynamic_shared) +
           ",\"arch\":\"sm_" + std::to_string(gpu.major) + std::to_string(gpu.minor) +
           "\",\"gpu\":" + quoted(gpu.name) + ",\"driver\":\"CUDA " + version(driver) +
           "\",\"cuda\":\"" + version(runtime) + "\",\"every\":" + std::to_string(every_) +
           ",\"sites\":[" + sites_ + "],\"arrays\":[" + arrays_ + "],\"milliseconds\":[" +
           milliseconds_ + "]}\n";
  }

  const std::string stem_;
  std::string name_, sites_, arrays_, milliseconds_;  // the last three: elements of JSON arrays
  int registers_ = 1;
  std::size_t static_shared_ = 0;
  std::uint32_t every_ = 1;
  std::uint32_t launches_ = 0;
  std::uint64_t capacity_ = std::uint64_t{1} << 18U;
  std::uint32_t* words_ = nullptr;
  unsigned long long* tail_ = nullptr;
  Log::State* state_ = nullptr;
};

}  // namespace warpfold::record
