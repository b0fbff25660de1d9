// SPDX-License-Identifier: Apache-2.0
#include "tb/trace/allocation_watch.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest{0};

}  // namespace

void* operator new(std::size_t size) {
  std::size_t seen = largest.load();
  while (seen < size && !largest.compare_exchange_weak(seen, size)) {
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace warpfold::trace::test {

void reset_largest_allocation() {
  largest = 0;
}
std::size_t largest_allocation() {
  return largest.load();
}

}  // namespace warpfold::trace::test
