// SPDX-License-Identifier: Apache-2.0
// libwarpfold_time.so: loaded into a CUDA program by CUDA_INJECTION64_PATH, it tells
// `warpfold record` how long each launch took, with CUPTI's activity records. Nothing in the
// program is changed.
#include <cuda.h>
#include <cupti.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "traces/record/inject/connection.hpp"
#include "traces/record/inject/driver.hpp"
#include "traces/record/inject/json_text.hpp"
#include "traces/record/inject/process.hpp"

namespace warpfold::record {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

// Sends what CUPTI has whenever the program has waited for the GPU: many a process ends without a
// word. CUPTI is not to be asked in its own callbacks, so a thread does it.
class Flusher {
 public:
  void start() {
    std::thread([this] { run(); }).detach();
  }
  // Returns when it has been done, or after a while.
  void flush() {
    std::unique_lock lock(mutex_);
    const std::uint64_t mine = ++asked_;
    wake_.notify_all();
    wake_.wait_for(lock, std::chrono::milliseconds(100), [&] { return done_ >= mine; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return asked_ > done_; });
      const std::uint64_t now = asked_;
      lock.unlock();
      cuptiActivityFlushAll(0);
      lock.lock();
      done_ = now;
      wake_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t asked_ = 0, done_ = 0;
};

struct Timer {
  Connection connection;
  Flusher flusher;
};

Timer& timer() {
  // Never destroyed: buffers may come until the process is gone.
  static Timer* const instance = new Timer;
  return *instance;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  // [number of the call, begin, name, grid, block, dynamic shared memory, ns]
  JsonText launches = JsonText::array();
  bool any = false;
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      continue;
    }
    const auto& kernel = *reinterpret_cast<const KernelRecord*>(record);
    const auto three = [](auto x, auto y, auto z) {
      return JsonText::array().item_number(x).item_number(y).item_number(z).dump();
    };
    launches.item(JsonText::array()
                      .item_number(kernel.correlationId)
                      .item_number(kernel.start)
                      .item(json_string(kernel.name != nullptr ? kernel.name : ""))
                      .item(three(kernel.gridX, kernel.gridY, kernel.gridZ))
                      .item(three(kernel.blockX, kernel.blockY, kernel.blockZ))
                      .item_number(kernel.dynamicSharedMemory)
                      .item_number(kernel.end - kernel.start)
                      .dump());
    any = true;
  }
  std::free(buffer);
  if (any) {
    timer().connection.send(Message::kTimes, JsonText::object()
                                                 .raw("launches", launches.dump())
                                                 .number("sm_clock_mhz", sm_clock_mhz(0))
                                                 .dump());
  }
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT) {
    timer().flusher.flush();
  }
}

bool start() {
  if (!timer().connection.open()) {
    return false;
  }
  timer().connection.send(Message::kHello, hello("time"));
  pthread_atfork(nullptr, nullptr, [] { timer().connection.abandon(); });
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS) {
    return false;
  }
  timer().flusher.start();
  CUpti_SubscriberHandle subscriber{};
  if (cuptiSubscribe(&subscriber, on_call, nullptr) == CUPTI_SUCCESS) {
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                        CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize);
  }
  return std::atexit([] { cuptiActivityFlushAll(1); }) == 0;
}

}  // namespace
}  // namespace warpfold::record

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static const bool started = warpfold::record::start();
  static_cast<void>(started);
  return 1;
}
