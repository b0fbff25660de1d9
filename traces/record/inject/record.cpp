// SPDX-License-Identifier: Apache-2.0
// libwarpfold_record.so: loaded into a CUDA program by CUDA_INJECTION64_PATH, it records the
// launches that `warpfold record` asks for, with NVIDIA's Compute Sanitizer API. A launch is
// offered to `warpfold record` with the cubin of its module; what is not wanted runs as it would
// without.
#include <cuda.h>
#include <sanitizer.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "traces/record/inject/connection.hpp"
#include "traces/record/inject/driver.hpp"
#include "traces/record/inject/ring_reader.hpp"

namespace warpfold::record {
namespace {

constexpr std::uint64_t kRingWords = std::uint64_t{1} << 24U;  // 64 MiB

struct Module {
  std::uint64_t number = 0;
  std::string cubin;
  bool sent = false;
  bool patched = false;
};

// What a context needs to record one launch at a time.
struct Buffers {
  Ring* ring = nullptr;            // device memory
  std::uint32_t* words = nullptr;  // host memory
  unsigned long long* tail = nullptr;
  std::uint8_t* additions = nullptr;  // device memory
  std::size_t additions_size = 0;
};

// Calls of the API come back as callbacks: those are left alone.
thread_local int inside = 0;
struct Guard {
  Guard() { ++inside; }
  ~Guard() { --inside; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

// Dynamic shared memory of the launch that this thread is making.
thread_local unsigned dynamic_shared = 0;

class Recorder {
 public:
  bool start();
  void on_module_loaded(const Sanitizer_ResourceModuleData& data);
  void on_module_unloaded(const Sanitizer_ResourceModuleData& data) { modules_.erase(data.module); }
  void on_allocation(const Sanitizer_ResourceMemoryData& data) {
    allocations_[data.address] = data.size;
  }
  void on_free(const Sanitizer_ResourceMemoryData& data) { allocations_.erase(data.address); }
  void on_launch_begin(const Sanitizer_LaunchData& data);
  void on_launch_end(const Sanitizer_LaunchData& data);
  std::recursive_mutex mutex;

 private:
  bool offer(const Sanitizer_LaunchData& data, Module& module);
  bool patch(const Sanitizer_LaunchData& data, Module& module);
  bool prepare(const Sanitizer_LaunchData& data);
  void leave_alone(const Sanitizer_LaunchData& data, const Module& module);
  bool good(SanitizerResult result, const char* what);

  Connection connection_;
  std::map<CUmodule, Module> modules_;
  std::map<CUcontext, Buffers> buffers_;
  std::set<CUcontext> with_patches_;
  std::map<std::uint64_t, std::uint64_t> allocations_;  // address -> bytes
  std::uint64_t module_count_ = 0;
  LaunchAnswer answer_{};
  std::vector<std::uint8_t> additions_;
  std::unique_ptr<RingReader> reader_;  // while a launch is recorded
  std::string error_;
};

Recorder& recorder() {
  // Never destroyed: callbacks may come until the process is gone.
  static Recorder* const instance = new Recorder;
  return *instance;
}

bool Recorder::good(SanitizerResult result, const char* what) {
  if (result == SANITIZER_SUCCESS) {
    return true;
  }
  const char* text = nullptr;
  sanitizerGetResultString(result, &text);
  error_ = std::string(what) + ": " + (text != nullptr ? text : "unknown error");
  return false;
}

void Recorder::on_module_loaded(const Sanitizer_ResourceModuleData& data) {
  Module& module = modules_[data.module];
  module = Module{};
  module.number = ++module_count_;
  module.cubin.assign(data.pCubin, data.cubinSize);
}

// Asks whether the launch is wanted.
bool Recorder::offer(const Sanitizer_LaunchData& data, Module& module) {
  if (!module.sent) {
    connection_.send(Message::kModule, &module.number, sizeof module.number, module.cubin.data(),
                     module.cubin.size());
    module.sent = true;
    std::string().swap(module.cubin);
  }
  nlohmann::json allocations = nlohmann::json::array();
  for (const auto& [address, bytes] : allocations_) {
    allocations.push_back({address, bytes});
  }
  const nlohmann::json launch = {
      {"module", module.number},
      {"function", data.functionName},
      {"grid", {data.gridDim_x, data.gridDim_y, data.gridDim_z}},
      {"block", {data.blockDim_x, data.blockDim_y, data.blockDim_z}},
      {"registers", kernel_attribute(data.function, CU_FUNC_ATTRIBUTE_NUM_REGS)},
      {"static_shared", kernel_attribute(data.function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)},
      {"dynamic_shared", dynamic_shared},
      {"gpu", device_name(data.device)},
      {"driver", driver_version()},
      {"cuda", cuda_version()},
      {"allocations", allocations}};
  connection_.send(Message::kLaunch, launch.dump());
  if (!connection_.receive(&answer_, sizeof answer_) || answer_.record == 0) {
    return false;
  }
  additions_.resize(answer_.instructions);
  return connection_.receive(additions_.data(), additions_.size());
}

bool Recorder::patch(const Sanitizer_LaunchData& data, Module& module) {
  if (module.patched) {
    return true;
  }
  if (!with_patches_.contains(data.context)) {
    const char* file = std::getenv(kPatchesVariable);
    if (file == nullptr || !good(sanitizerAddPatchesFromFile(file, data.context), "patches")) {
      return false;
    }
    with_patches_.insert(data.context);
  }
  struct Patch {
    Sanitizer_InstructionId instruction;
    const char* callback;
  };
  constexpr std::array kPatches = {
      Patch{SANITIZER_INSTRUCTION_BLOCK_ENTER, "warpfold_enter"},
      Patch{SANITIZER_INSTRUCTION_BLOCK_EXIT, "warpfold_exit"},
      Patch{SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, "warpfold_global"},
      Patch{SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, "warpfold_shared"},
      Patch{SANITIZER_INSTRUCTION_BARRIER, "warpfold_barrier"},
      Patch{SANITIZER_INSTRUCTION_SHFL, "warpfold_shuffle"},
      Patch{SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "warpfold_async"}};
  for (const Patch& patch : kPatches) {
    if (!good(sanitizerPatchInstructions(patch.instruction, data.module, patch.callback),
              patch.callback)) {
      return false;
    }
  }
  module.patched = good(sanitizerPatchModule(data.module), "patching the module");
  return module.patched;
}

// Sets up the ring, the thread that reads it, and the launch.
bool Recorder::prepare(const Sanitizer_LaunchData& data) {
  Buffers& buffers = buffers_[data.context];
  const auto host = [&](auto** pointer, std::size_t bytes) {
    return good(sanitizerAllocHost(data.context, reinterpret_cast<void**>(pointer), bytes),
                "host memory");
  };
  const auto device = [&](auto** pointer, std::size_t bytes) {
    return good(sanitizerAlloc(data.context, reinterpret_cast<void**>(pointer), bytes),
                "device memory");
  };
  if (buffers.ring == nullptr) {
    if (!host(&buffers.words, kRingWords * sizeof(std::uint32_t)) ||
        !host(&buffers.tail, sizeof *buffers.tail) || !device(&buffers.ring, sizeof(Ring))) {
      return false;
    }
  }
  if (buffers.additions_size < additions_.size()) {
    if (buffers.additions != nullptr) {
      sanitizerFree(data.context, buffers.additions);
    }
    buffers.additions_size = 0;
    if (!device(&buffers.additions, additions_.size())) {
      return false;
    }
    buffers.additions_size = additions_.size();
  }
  std::memset(buffers.words, 0, kRingWords * sizeof(std::uint32_t));
  *buffers.tail = 0;
  Ring ring{};
  ring.limit = kRingWords;
  ring.tail = buffers.tail;
  ring.words = buffers.words;
  ring.capacity = kRingWords;
  ring.additions = buffers.additions;
  ring.instructions = static_cast<std::uint32_t>(additions_.size());
  ring.every = answer_.every;
  ring.phase = answer_.every / 2;
  std::uint64_t bytes = 0;
  if (!good(sanitizerGetFunctionPcAndSize(data.module, data.functionName, &ring.pc, &bytes),
            "the kernel's address") ||
      !good(sanitizerMemcpyHostToDeviceAsync(buffers.additions, additions_.data(),
                                             additions_.size(), data.hStream),
            "copying") ||
      !good(sanitizerMemcpyHostToDeviceAsync(buffers.ring, &ring, sizeof ring, data.hStream),
            "copying") ||
      !good(sanitizerStreamSynchronize(data.hStream), "the stream") ||
      !good(sanitizerSetLaunchCallbackData(data.hLaunch, data.function, data.hStream, buffers.ring),
            "the launch")) {
    return false;
  }
  reader_ = std::make_unique<RingReader>(connection_, buffers.words, kRingWords, buffers.tail);
  return true;
}

void Recorder::leave_alone(const Sanitizer_LaunchData& data, const Module& module) {
  if (module.patched) {
    sanitizerSetLaunchCallbackData(data.hLaunch, data.function, data.hStream, nullptr);
  }
}

void Recorder::on_launch_begin(const Sanitizer_LaunchData& data) {
  Module& module = modules_[data.module];
  if (!connection_.is_open() || module.number == 0 || data.functionName == nullptr ||
      !offer(data, module)) {
    leave_alone(data, module);
    return;
  }
  error_.clear();
  if (!patch(data, module) || !prepare(data)) {
    connection_.send(Message::kLaunchEnd, nlohmann::json{{"error", error_}}.dump());
    leave_alone(data, module);
  }
}

void Recorder::on_launch_end(const Sanitizer_LaunchData& data) {
  if (!reader_) {
    return;
  }
  error_.clear();
  Ring ring{};
  const bool ran = good(sanitizerStreamSynchronize(data.hStream), "the kernel failed");
  const bool known = ran && good(sanitizerMemcpyDeviceToHost(&ring, buffers_[data.context].ring,
                                                             sizeof ring, data.hStream),
                                 "the ring cannot be read");
  if (!reader_->finish(known ? ring.reserved : 0) && known) {
    error_ = "records were lost";
  }
  reader_.reset();
  connection_.send(Message::kLaunchEnd, nlohmann::json{{"error", error_}}.dump());
}

// The arguments of the driver's launches lie in memory one behind the other: those up to the
// dynamic shared memory.
struct LaunchArguments {
  CUfunction function;
  std::array<unsigned, 6> dimensions;
  unsigned shared_bytes;
};
struct LaunchExArguments {
  const CUlaunchConfig* config;
};

void note_dynamic_shared(Sanitizer_CallbackId id, const Sanitizer_CallbackData& data) {
  if (data.callbackSite != SANITIZER_API_ENTER || data.functionParams == nullptr) {
    return;
  }
  switch (id) {
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernel:
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernel_ptsz:
    case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel:
    case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel_ptsz:
      dynamic_shared = static_cast<const LaunchArguments*>(data.functionParams)->shared_bytes;
      break;
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx:
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz: {
      const auto* config = static_cast<const LaunchExArguments*>(data.functionParams)->config;
      dynamic_shared = config != nullptr ? config->sharedMemBytes : 0;
      break;
    }
    default:
      break;
  }
}

void on_resource(Sanitizer_CallbackId id, const void* data) {
  const std::lock_guard lock(recorder().mutex);
  const auto& memory = *static_cast<const Sanitizer_ResourceMemoryData*>(data);
  switch (id) {
    case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
      recorder().on_module_loaded(*static_cast<const Sanitizer_ResourceModuleData*>(data));
      break;
    case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      recorder().on_module_unloaded(*static_cast<const Sanitizer_ResourceModuleData*>(data));
      break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC:
    case SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC:
      recorder().on_allocation(memory);
      break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE:
    case SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC:
      recorder().on_free(memory);
      break;
    default:
      break;
  }
}

void SANITIZERAPI callback(void*, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                           const void* data) {
  if (inside > 0) {
    return;
  }
  const Guard guard;
  if (domain == SANITIZER_CB_DOMAIN_DRIVER_API) {
    note_dynamic_shared(id, *static_cast<const Sanitizer_CallbackData*>(data));
  } else if (domain == SANITIZER_CB_DOMAIN_RESOURCE) {
    on_resource(id, data);
  } else if (domain == SANITIZER_CB_DOMAIN_LAUNCH) {
    const auto& launch = *static_cast<const Sanitizer_LaunchData*>(data);
    // Held from the begin of a launch to its end, which come from one thread: a launch at a time.
    if (id == SANITIZER_CBID_LAUNCH_BEGIN) {
      recorder().mutex.lock();
      recorder().on_launch_begin(launch);
    } else if (id == SANITIZER_CBID_LAUNCH_END) {
      recorder().on_launch_end(launch);
      recorder().mutex.unlock();
    }
  }
}

bool Recorder::start() {
  if (!connection_.open()) {
    return false;
  }
  connection_.send(Message::kHello, nlohmann::json{{"library", "record"}}.dump());
  Sanitizer_SubscriberHandle subscriber{};
  if (!good(sanitizerSubscribe(&subscriber, callback, nullptr), "subscribing")) {
    connection_.send(Message::kLaunchEnd, nlohmann::json{{"error", error_}}.dump());
    return false;
  }
  for (const auto domain :
       {SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CB_DOMAIN_DRIVER_API}) {
    if (!good(sanitizerEnableDomain(1, subscriber, domain), "a callback domain")) {
      connection_.send(Message::kLaunchEnd, nlohmann::json{{"error", error_}}.dump());
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace warpfold::record

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static const bool started = warpfold::record::recorder().start();
  static_cast<void>(started);
  return 1;
}
