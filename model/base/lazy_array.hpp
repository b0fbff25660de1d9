// SPDX-License-Identifier: Apache-2.0
// An array of zeros of which the host's memory holds what has been written to, in pages: a trace's
// header may declare far more elements than its events add to. No clock.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace warpfold {

template <typename T>
class LazyArray {
  static_assert(std::is_trivially_copyable_v<T>, "zeros are its first values");

 public:
  LazyArray() = default;
  // dense: most of it will be written to, so that large pages cost nothing.
  LazyArray(std::size_t size, bool dense) : size_(size) {
    if (size == 0) {
      return;
    }
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_alloc();
    }
    void* const pages = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
      throw std::bad_alloc();
    }
    ::madvise(pages, bytes(), dense ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // or not
    data_ = static_cast<T*>(pages);
  }
  ~LazyArray() {
    if (data_ != nullptr) {
      ::munmap(data_, bytes());
    }
  }
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;
  LazyArray(LazyArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }

 private:
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace warpfold
