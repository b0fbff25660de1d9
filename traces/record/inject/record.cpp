// SPDX-License-Identifier: Apache-2.0
// libwarpfold_record.so: loaded into a CUDA program by CUDA_INJECTION64_PATH, it records the
// launches that `warpfold record` asks for, with NVIDIA's Compute Sanitizer API.
//
// Patches, memory and the patching itself come when a module is loaded: within a launch the driver
// holds locks that those need. A launch is offered to `warpfold record` with the cubin of its
// module; what is not wanted runs as it would without. Nothing waits with a lock held that another
// thread's launch could need.
#include <cuda.h>
#include <pthread.h>
#include <sanitizer.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/record/inject/code_scan.hpp"
#include "traces/record/inject/connection.hpp"
#include "traces/record/inject/driver.hpp"
#include "traces/record/inject/json_text.hpp"
#include "traces/record/inject/process.hpp"
#include "traces/record/inject/ring_reader.hpp"
#include "traces/record/inject/watchdog.hpp"

namespace warpfold::record {
namespace {

constexpr std::uint64_t kRingWords = std::uint64_t{1} << 24U;    // 64 MiB
constexpr std::uint64_t kTableBytes = std::uint64_t{32} << 20U;  // of all kernels of a context
constexpr std::chrono::milliseconds kLostAfter{20'000};          // records that do not come
constexpr int kDefaultPatience = 300;                            // seconds

struct Module {
  std::uint64_t number = 0;
  std::string cubin;  // until it is sent
  bool sent = false;
  bool patched = false;
  std::unique_ptr<CodeScan> scan;  // none of a module that is left alone
};

// What is known of a kernel.
struct Kernel {
  LaunchAnswer::Verdict verdict = LaunchAnswer::kNo;
  std::vector<std::uint8_t> wanted;  // by instruction
  std::uint8_t* device_wanted = nullptr;
};

// What a context needs.
struct Context {
  bool tried = false;  // to make it ready
  bool ready = false;
  bool broken = false;  // records were lost in it
  bool ring_set = false;
  Ring* ring = nullptr;               // device memory
  LaunchControl* controls = nullptr;  // the same, kSlots
  std::uint8_t* tables = nullptr;     // the same, kTableBytes
  std::uint64_t tables_used = 0;
  std::uint32_t* words = nullptr;  // host memory
  unsigned long long* tail = nullptr;
  std::unique_ptr<RingReader> reader;
  std::set<std::uint32_t> free_slots;
};

// A launch that is being recorded, from its begin to its end in one thread.
struct Recorded {
  Context* context = nullptr;
  std::uint32_t slot = 0;
  CUfunction function = nullptr;
  Sanitizer_StreamHandle stream = nullptr;
  std::string name;
};

// Calls of the API come back as callbacks: those are left alone.
thread_local int inside = 0;
struct Guard {
  Guard() { ++inside; }
  ~Guard() { --inside; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

// Of the launch that this thread is making; and what it is recording.
thread_local unsigned dynamic_shared = 0;
thread_local bool cooperative = false;
thread_local LaunchParameters parameters;
thread_local std::vector<Recorded> recorded;

// What this thread records last of a kernel, of the graph that it launches; null if nothing.
LaunchControl* control_of(CUfunction function) {
  LaunchControl* last = nullptr;
  for (const Recorded& launch : recorded) {
    if (launch.function == function) {
      last = launch.context->controls + launch.slot;
    }
  }
  return last;
}

class Recorder {
 public:
  bool start();
  void on_module_loaded(const Sanitizer_ResourceModuleData& data);
  void on_module_unloaded(const Sanitizer_ResourceModuleData& data);
  void on_context_end(const Sanitizer_ResourceContextData& data);
  void on_allocation(const Sanitizer_ResourceMemoryData& data);
  void on_free(const Sanitizer_ResourceMemoryData& data);
  // `node`: a kernel of a graph.
  void on_launch_begin(const Sanitizer_LaunchData& data, bool node);
  void on_launch_end(Sanitizer_StreamHandle stream);
  // A graph's kernels as it is uploaded: those that the device launches.
  void on_upload(const Sanitizer_GraphNodeLaunchData& data);
  void on_graph_created(const Sanitizer_GraphExecData& data);
  [[nodiscard]] bool is_on() const { return connection_.is_open(); }
  void abandon() { connection_.abandon(); }

 private:
  using KernelKey = std::pair<std::uint64_t, std::string>;  // number of its module, its name

  bool make_ready(CUcontext handle);
  bool patch(CUmodule module);
  LaunchAnswer::Verdict offer(const Sanitizer_LaunchData& data, Module& module, Kernel& kernel,
                              std::uint32_t slot, bool node);
  bool prepare(const Sanitizer_LaunchData& data, Context& context, Kernel& kernel,
               std::uint32_t slot, bool node);
  [[nodiscard]] std::string describe(const Sanitizer_LaunchData& data, std::uint64_t module,
                                     std::uint32_t slot, bool node) const;
  std::string allocations();
  void note(const std::string& text) {
    connection_.send(Message::kNote, JsonText::object().text("text", text).dump());
  }
  void end(std::uint32_t slot, const std::string& error) {
    connection_.send(Message::kLaunchEnd,
                     JsonText::object().number("slot", slot).text("error", error).dump());
  }
  bool good(SanitizerResult result, const char* what);

  Connection connection_;
  std::unique_ptr<Watchdog> watchdog_;
  std::uint32_t every_ = 1;

  // In this order where one is taken while another is held. Only `loading_` is held across calls
  // for which the driver may need a lock that it holds during launches.
  std::mutex loading_;  // one module at a time
  std::mutex asking_;   // one question at a time; also guards kernels_
  std::map<KernelKey, Kernel> kernels_;
  std::mutex mutex_;  // guards what is below
  std::map<CUmodule, Module> modules_;
  std::map<CUcontext, Context> contexts_;
  struct Allocation {
    std::uint64_t bytes = 0;
    bool managed = false;
  };
  std::map<std::uint64_t, Allocation> allocations_;  // by address
  std::set<CUgraphExec> of_device_;                  // graphs that the device launches
  std::uint64_t module_count_ = 0;
};

Recorder& recorder() {
  // Never destroyed: callbacks may come until the process is gone.
  static Recorder* const instance = new Recorder;
  return *instance;
}

// Why the last call failed, of this thread.
thread_local std::string failure;

bool Recorder::good(SanitizerResult result, const char* what) {
  if (result == SANITIZER_SUCCESS) {
    return true;
  }
  const char* text = nullptr;
  sanitizerGetResultString(result, &text);
  failure = std::string(what) + ": " + (text != nullptr ? text : "unknown error");
  return false;
}

// Loads the patches and sets memory aside; with `loading_` held. False where that cannot be.
bool Recorder::make_ready(CUcontext handle) {
  Context made;
  {
    const std::lock_guard lock(mutex_);
    Context& context = contexts_[handle];
    if (std::exchange(context.tried, true)) {
      return context.ready;
    }
  }
  const Watchdog::Wait wait(*watchdog_, "the driver, to load the recorder's code");
  const auto host = [&](auto** pointer, std::size_t bytes) {
    return good(sanitizerAllocHost(handle, reinterpret_cast<void**>(pointer), bytes),
                "host memory");
  };
  const auto device = [&](auto** pointer, std::size_t bytes) {
    return good(sanitizerAlloc(handle, reinterpret_cast<void**>(pointer), bytes), "device memory");
  };
  const char* file = std::getenv(kPatchesVariable);
  if (file == nullptr || !good(sanitizerAddPatchesFromFile(file, handle), "patches") ||
      !host(&made.words, kRingWords * sizeof(std::uint32_t)) ||
      !host(&made.tail, sizeof *made.tail) || !device(&made.ring, sizeof(Ring)) ||
      !device(&made.controls, kSlots * sizeof(LaunchControl)) ||
      !device(&made.tables, kTableBytes)) {
    note("nothing of a context can be recorded: " + failure);
    return false;
  }
  std::memset(made.words, 0, kRingWords * sizeof(std::uint32_t));
  *made.tail = 0;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    made.free_slots.insert(slot);
  }
  made.reader = std::make_unique<RingReader>(connection_, made.words, kRingWords, made.tail);
  made.tried = made.ready = true;
  const std::lock_guard lock(mutex_);
  contexts_[handle] = std::move(made);
  return true;
}

bool Recorder::patch(CUmodule module) {
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
#ifdef WARPFOLD_BULK
      Patch{SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "warpfold_bulk"},
#endif
      Patch{SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "warpfold_async"}};
  for (const Patch& patch : kPatches) {
    if (!good(sanitizerPatchInstructions(patch.instruction, module, patch.callback),
              patch.callback)) {
      return false;
    }
  }
  return good(sanitizerPatchModule(module), "patching the module");
}

void Recorder::on_module_loaded(const Sanitizer_ResourceModuleData& data) {
  Module module;
  auto scan = std::make_unique<CodeScan>(std::string_view(data.pCubin, data.cubinSize));
  if (scan->any()) {
    const std::lock_guard loading(loading_);
    if (make_ready(data.context)) {
      const Watchdog::Wait wait(*watchdog_, "the driver, to patch a module");
      module.patched = patch(data.module);
      if (!module.patched) {
        note("a module cannot be recorded: " + failure);
      }
    }
  }
  if (module.patched) {
    module.scan = std::move(scan);
    module.cubin.assign(data.pCubin, data.cubinSize);
  }
  const std::lock_guard lock(mutex_);
  module.number = ++module_count_;
  modules_[data.module] = std::move(module);
}

void Recorder::on_module_unloaded(const Sanitizer_ResourceModuleData& data) {
  const std::lock_guard lock(mutex_);
  modules_.erase(data.module);
}

void Recorder::on_context_end(const Sanitizer_ResourceContextData& data) {
  std::unique_ptr<RingReader> reader;
  {
    const std::lock_guard lock(mutex_);
    const auto found = contexts_.find(data.context);
    if (found != contexts_.end()) {
      reader = std::move(found->second.reader);
      contexts_.erase(found);
    }
  }
}

void Recorder::on_allocation(const Sanitizer_ResourceMemoryData& data) {
  const std::lock_guard lock(mutex_);
  allocations_[data.address] = {.bytes = data.size,
                                .managed = (data.flags & SANITIZER_MEMORY_FLAG_MANAGED) != 0};
}

void Recorder::on_free(const Sanitizer_ResourceMemoryData& data) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(data.address);
}

std::string Recorder::allocations() {
  const std::lock_guard lock(mutex_);
  JsonText all = JsonText::array();
  for (const auto& [address, allocation] : allocations_) {
    all.item(JsonText::array()
                 .item_number(address)
                 .item_number(allocation.bytes)
                 .item(allocation.managed ? "true" : "false")
                 .dump());
  }
  return all.dump();
}

std::string Recorder::describe(const Sanitizer_LaunchData& data, std::uint64_t module,
                               std::uint32_t slot, bool node) const {
  const auto three = [](auto x, auto y, auto z) {
    return JsonText::array().item_number(x).item_number(y).item_number(z).dump();
  };
  return JsonText::object()
      .number("slot", slot)
      .number("module", module)
      .text("function", data.functionName)
      .raw("grid", three(data.gridDim_x, data.gridDim_y, data.gridDim_z))
      .raw("block", three(data.blockDim_x, data.blockDim_y, data.blockDim_z))
      .raw("cluster", three(data.clusterDim_x, data.clusterDim_y, data.clusterDim_z))
      .raw("in_graph", node ? "true" : "false")
      .raw("cooperative", !node && cooperative ? "true" : "false")
      .number("registers", kernel_attribute(data.function, CU_FUNC_ATTRIBUTE_NUM_REGS))
      .number("static_shared", kernel_attribute(data.function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))
      .number("dynamic_shared", node ? 0U : dynamic_shared)
      .text("parameters", node ? std::string() : bytes_of(data.function, parameters))
      .text("gpu", device_name(data.device))
      .text("driver", driver_version())
      .text("cuda", cuda_version())
      .dump();
}

// Asks whether the launch is wanted.
LaunchAnswer::Verdict Recorder::offer(const Sanitizer_LaunchData& data, Module& module,
                                      Kernel& kernel, std::uint32_t slot, bool node) {
  if (!module.sent) {
    connection_.send(Message::kModule, &module.number, sizeof module.number, module.cubin.data(),
                     module.cubin.size());
    module.sent = true;
    std::string().swap(module.cubin);
  }
  const Watchdog::Wait wait(*watchdog_,
                            "an answer of warpfold record about " + std::string(data.functionName));
  connection_.send(Message::kLaunch, describe(data, module.number, slot, node));
  LaunchAnswer answer{};
  if (!connection_.receive(&answer, sizeof answer)) {
    return LaunchAnswer::kNever;
  }
  kernel.verdict = static_cast<LaunchAnswer::Verdict>(answer.record);
  if (kernel.verdict != LaunchAnswer::kYes) {
    return kernel.verdict;
  }
  every_ = answer.every;
  std::vector<std::uint8_t> wanted(answer.instructions);
  if (!connection_.receive(wanted.data(), wanted.size())) {
    return LaunchAnswer::kNever;
  }
  if (kernel.wanted.empty()) {
    kernel.wanted = std::move(wanted);
  }
  return LaunchAnswer::kYes;
}

// Sets up what the launch's callbacks work on. Nothing is waited for: copies come ahead of the
// kernel in its stream, and their sources have been read when the calls return.
bool Recorder::prepare(const Sanitizer_LaunchData& data, Context& context, Kernel& kernel,
                       std::uint32_t slot, bool node) {
  const Sanitizer_StreamHandle stream = node ? data.hApiStream : data.hStream;
  const auto copy = [&](void* to, void* from, std::size_t bytes) {
    return good(sanitizerMemcpyHostToDeviceAsync(to, from, bytes, stream), "copying");
  };
  if (!context.ring_set) {
    Ring ring{};
    ring.limit = kRingWords;
    ring.tail = context.tail;
    ring.words = context.words;
    ring.capacity = kRingWords;
    // Other streams may use it next.
    if (!copy(context.ring, &ring, sizeof ring) ||
        !good(sanitizerStreamSynchronize(stream), "the stream")) {
      return false;
    }
    context.ring_set = true;
  }
  if (kernel.device_wanted == nullptr) {
    const std::uint64_t bytes = (kernel.wanted.size() + 15) / 16 * 16;
    if (bytes > kTableBytes - context.tables_used) {
      failure = "there are too many instructions in the kernels that are recorded";
      return false;
    }
    std::uint8_t* const table = context.tables + context.tables_used;
    if (!copy(table, kernel.wanted.data(), kernel.wanted.size()) ||
        !good(sanitizerStreamSynchronize(stream), "the stream")) {
      return false;
    }
    context.tables_used += bytes;
    kernel.device_wanted = table;
  }
  LaunchControl control{};
  control.ring = context.ring;
  control.wanted = kernel.device_wanted;
  control.grid = node ? data.gridId : 0;
  control.next = node ? control_of(data.function) : nullptr;
  control.instructions = static_cast<std::uint32_t>(kernel.wanted.size());
  control.every = every_;
  control.phase = every_ / 2;
  control.slot = slot;
  std::uint64_t bytes = 0;
  return good(sanitizerGetFunctionPcAndSize(data.module, data.functionName, &control.pc, &bytes),
              "the kernel's address") &&
         copy(context.controls + slot, &control, sizeof control) &&
         good(sanitizerSetLaunchCallbackData(data.hLaunch, data.function, data.hStream,
                                             context.controls + slot),
              "the launch");
}

void Recorder::on_launch_begin(const Sanitizer_LaunchData& data, bool node) {
  Module* module = nullptr;
  Context* context = nullptr;
  std::uint32_t slot = kSlots;
  {
    const std::lock_guard lock(mutex_);
    const auto found = modules_.find(data.module);
    if (found == modules_.end() || !found->second.patched) {
      return;
    }
    module = &found->second;
    if (data.functionName != nullptr && module->scan->has_elsewhere(data.functionName)) {
      note(std::string(data.functionName) +
           ": not recorded: its atomics are in functions that it calls, as in code of -G");
    }
    if (data.functionName != nullptr && module->scan->has(data.functionName)) {
      context = &contexts_[data.context];
      if (context->ready && !context->broken) {
        if (context->free_slots.empty()) {
          note(std::string(data.functionName) + ": a launch is left out: too many at a time");
        } else {
          slot = *context->free_slots.begin();
          context->free_slots.erase(context->free_slots.begin());
        }
      }
    }
  }
  bool is_recorded = false;
  if (slot < kSlots) {
    const std::lock_guard lock(asking_);
    Kernel& kernel = kernels_[{module->number, data.functionName}];
    if (kernel.verdict == LaunchAnswer::kNoMore) {
      connection_.send(Message::kSeen, describe(data, module->number, slot, node));
    } else if (kernel.verdict != LaunchAnswer::kNever &&
               offer(data, *module, kernel, slot, node) == LaunchAnswer::kYes) {
      connection_.send(
          Message::kAllocations,
          JsonText::object().number("slot", slot).raw("allocations", allocations()).dump());
      is_recorded = prepare(data, *context, kernel, slot, node);
      if (!is_recorded) {
        end(slot, failure);
      }
    }
  }
  if (is_recorded) {
    context->reader->begin();
    recorded.push_back({.context = context,
                        .slot = slot,
                        .function = data.function,
                        .stream = node ? data.hApiStream : data.hStream,
                        .name = data.functionName});
    return;
  }
  sanitizerSetLaunchCallbackData(data.hLaunch, data.function, data.hStream,
                                 node ? control_of(data.function) : nullptr);
  if (slot < kSlots) {
    const std::lock_guard lock(mutex_);
    context->free_slots.insert(slot);
  }
}

// Ends all that this thread records.
void Recorder::on_launch_end(Sanitizer_StreamHandle stream) {
  for (const Recorded& launch : std::exchange(recorded, {})) {
    std::string error;
    Ring ring{};
    bool known = false;
    {
      const Watchdog::Wait wait(*watchdog_, "the GPU, to end " + launch.name);
      const bool ran = good(sanitizerStreamSynchronize(stream), "the kernel failed");
      known =
          ran && good(sanitizerMemcpyDeviceToHost(&ring, launch.context->ring, sizeof ring, stream),
                      "the ring cannot be read");
      error = known ? "" : failure;
    }
    if (!launch.context->reader->end(known ? ring.reserved : 0, kLostAfter)) {
      error = "records were lost";
      known = false;
    }
    {
      const std::lock_guard lock(mutex_);
      launch.context->broken = launch.context->broken || !known;
      launch.context->free_slots.insert(launch.slot);
    }
    end(launch.slot, error);
  }
}

void Recorder::on_graph_created(const Sanitizer_GraphExecData& data) {
  if (data.isDeviceLaunch != 0) {
    const std::lock_guard lock(mutex_);
    of_device_.insert(data.graphExec);
  }
}

void Recorder::on_upload(const Sanitizer_GraphNodeLaunchData& data) {
  const Sanitizer_LaunchData& launch = data.launchData;
  {
    const std::lock_guard lock(mutex_);
    const auto found = modules_.find(launch.module);
    if (found == modules_.end() || !found->second.patched) {
      return;
    }
    if (of_device_.erase(data.graphExec) != 0 && launch.functionName != nullptr &&
        found->second.scan->has(launch.functionName)) {
      note(std::string(launch.functionName) +
           ": launches from the device, by a graph, are not recorded");
    }
  }
  sanitizerSetLaunchCallbackData(launch.hLaunch, launch.function, launch.hStream, nullptr);
}

// The arguments of the driver's launches lie in memory one behind the other. A cooperative launch
// has no extra ones.
struct LaunchArguments {
  CUfunction function;
  std::array<unsigned, 6> dimensions;
  unsigned shared_bytes;
  CUstream stream;
  void** parameters;
  void** extra;
};
struct LaunchExArguments {
  const CUlaunchConfig* config;
  CUfunction function;
  void** parameters;
  void** extra;
};

bool is_cooperative(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      return config.attrs[i].value.cooperative != 0;
    }
  }
  return false;
}

void note_launch(Sanitizer_CallbackId id, const Sanitizer_CallbackData& data) {
  parameters = {};
  if (data.callbackSite != SANITIZER_API_ENTER || data.functionParams == nullptr) {
    return;
  }
  switch (id) {
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernel:
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernel_ptsz:
    case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel:
    case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel_ptsz: {
      const auto& launch = *static_cast<const LaunchArguments*>(data.functionParams);
      dynamic_shared = launch.shared_bytes;
      cooperative = id == SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel ||
                    id == SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel_ptsz;
      parameters = {.each = launch.parameters, .extra = cooperative ? nullptr : launch.extra};
      break;
    }
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx:
    case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz: {
      const auto& launch = *static_cast<const LaunchExArguments*>(data.functionParams);
      const CUlaunchConfig* config = launch.config;
      parameters = {.each = launch.parameters, .extra = launch.extra};
      dynamic_shared = config != nullptr ? config->sharedMemBytes : 0;
      cooperative = config != nullptr && is_cooperative(*config);
      break;
    }
    default:
      break;
  }
}

void on_resource(Sanitizer_CallbackId id, const void* data) {
  switch (id) {
    case SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      recorder().on_context_end(*static_cast<const Sanitizer_ResourceContextData*>(data));
      break;
    case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
      recorder().on_module_loaded(*static_cast<const Sanitizer_ResourceModuleData*>(data));
      break;
    case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      recorder().on_module_unloaded(*static_cast<const Sanitizer_ResourceModuleData*>(data));
      break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC:
    case SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC:
      recorder().on_allocation(*static_cast<const Sanitizer_ResourceMemoryData*>(data));
      break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE:
    case SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC:
      recorder().on_free(*static_cast<const Sanitizer_ResourceMemoryData*>(data));
      break;
    default:
      break;
  }
}

void on_graph(Sanitizer_CallbackId id, const void* data) {
  if (id == SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATED) {
    recorder().on_graph_created(*static_cast<const Sanitizer_GraphExecData*>(data));
  } else if (id == SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN) {
    const auto& node = *static_cast<const Sanitizer_GraphNodeLaunchData*>(data);
    if (node.nodeType == CU_GRAPH_NODE_TYPE_KERNEL) {
      if (node.isGraphUpload != 0) {
        recorder().on_upload(node);
      } else {
        recorder().on_launch_begin(node.launchData, true);
      }
    }
  } else if (id == SANITIZER_CBID_GRAPHS_LAUNCH_END) {
    const auto& graph = *static_cast<const Sanitizer_GraphLaunchData*>(data);
    if (graph.isGraphUpload == 0) {
      recorder().on_launch_end(graph.hStream);
    }
  }
}

void SANITIZERAPI callback(void*, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                           const void* data) {
  if (inside > 0 || !recorder().is_on()) {
    return;
  }
  const Guard guard;
  if (domain == SANITIZER_CB_DOMAIN_DRIVER_API) {
    note_launch(id, *static_cast<const Sanitizer_CallbackData*>(data));
  } else if (domain == SANITIZER_CB_DOMAIN_RESOURCE) {
    on_resource(id, data);
  } else if (domain == SANITIZER_CB_DOMAIN_GRAPHS) {
    on_graph(id, data);
  } else if (domain == SANITIZER_CB_DOMAIN_LAUNCH) {
    const auto& launch = *static_cast<const Sanitizer_LaunchData*>(data);
    if (id == SANITIZER_CBID_LAUNCH_BEGIN) {
      recorder().on_launch_begin(launch, false);
    } else if (id == SANITIZER_CBID_LAUNCH_END) {
      recorder().on_launch_end(launch.hStream);
    }
  }
}

bool Recorder::start() {
  if (!connection_.open()) {
    return false;
  }
  connection_.send(Message::kHello, hello("record"));
  const char* patience = std::getenv(kPatienceVariable);
  watchdog_ = std::make_unique<Watchdog>(
      connection_,
      std::chrono::seconds(patience != nullptr ? std::atoi(patience) : kDefaultPatience), [this] {
        const std::lock_guard lock(mutex_);
        std::uint64_t read = 0;
        for (const auto& [handle, context] : contexts_) {
          read += context.reader ? context.reader->read() : 0;
        }
        return read;
      });
  // What a program forks without starting another has no GPU.
  pthread_atfork(nullptr, nullptr, [] { recorder().abandon(); });
  Sanitizer_SubscriberHandle subscriber{};
  bool started = good(sanitizerSubscribe(&subscriber, callback, nullptr), "subscribing");
  for (const auto domain : {SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CB_DOMAIN_LAUNCH,
                            SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CB_DOMAIN_DRIVER_API}) {
    started = started && good(sanitizerEnableDomain(1, subscriber, domain), "a callback domain");
  }
  if (!started) {
    end(0, failure);
  }
  return started;
}

}  // namespace
}  // namespace warpfold::record

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static const bool started = warpfold::record::recorder().start();
  static_cast<void>(started);
  return 1;
}
