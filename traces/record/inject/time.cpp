// SPDX-License-Identifier: Apache-2.0
// libwarpfold_time.so: loaded into a CUDA program by CUDA_INJECTION64_PATH, it tells
// `warpfold record` how long each launch took, with CUPTI's activity records. Nothing in the
// program is changed.
#include <cuda.h>
#include <cupti.h>

#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "traces/record/inject/connection.hpp"
#include "traces/record/inject/driver.hpp"

namespace warpfold::record {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

constexpr std::size_t kBufferBytes = std::size_t{8} << 20U;

struct Timer {
  Connection connection;
  std::mutex mutex;
  nlohmann::json launches = nlohmann::json::array();  // [name, grid, ns, clock]
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
  Timer& all = timer();
  const std::lock_guard lock(all.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      continue;
    }
    const auto& kernel = *reinterpret_cast<const KernelRecord*>(record);
    all.launches.push_back({kernel.correlationId, kernel.name != nullptr ? kernel.name : "",
                            kernel.end - kernel.start});
  }
  std::free(buffer);
}

void finish() {
  cuptiActivityFlushAll(1);
  Timer& all = timer();
  const std::lock_guard lock(all.mutex);
  const nlohmann::json times = {{"launches", all.launches}, {"sm_clock_mhz", sm_clock_mhz(0)}};
  all.connection.send(Message::kTimes, times.dump());
}

bool start() {
  if (!timer().connection.open()) {
    return false;
  }
  timer().connection.send(Message::kHello, nlohmann::json{{"library", "time"}}.dump());
  if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
      cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS) {
    return false;
  }
  return std::atexit(finish) == 0;
}

}  // namespace
}  // namespace warpfold::record

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static const bool started = warpfold::record::start();
  static_cast<void>(started);
  return 1;
}
