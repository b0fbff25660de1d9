// SPDX-License-Identifier: Apache-2.0
// Owned device memory and checked CUDA calls. A failed call throws CudaError with one line.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpfold::capture {

class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw CudaError(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
  }
}

// To be called right behind a kernel launch.
inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), kernel);
}

template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) : DeviceBuffer(count, count * sizeof(T)) {}
  // On pages that no other buffer has a part of: where an array lies within a page decides which L2
  // slices its elements share, and with that how fast atomics on it are.
  [[nodiscard]] static DeviceBuffer on_own_pages(std::size_t count) {
    constexpr std::size_t kPageBytes = std::size_t{2} << 20U;
    return DeviceBuffer(count, (count * sizeof(T) + kPageBytes - 1) / kPageBytes * kPageBytes);
  }
  explicit DeviceBuffer(std::span<const T> host) : DeviceBuffer(host.size()) {
    if (!host.empty()) {
      check(cudaMemcpy(data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice),
            "copy to the device");
    }
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }

  void clear_async() const {
    if (count_ > 0) {
      check(cudaMemsetAsync(data_, 0, bytes()), "cudaMemset");
    }
  }
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> host(count_);
    if (count_ > 0) {
      check(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost), "copy to the host");
    }
    return host;
  }

 private:
  DeviceBuffer(std::size_t count, std::size_t bytes) : count_(count) {
    if (count > 0) {
      check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes), "cudaMalloc");
    }
  }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace warpfold::capture
