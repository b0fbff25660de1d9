// SPDX-License-Identifier: Apache-2.0
// Tells AddressSanitizer where the main stack lies. SystemC 2.3.4 tells it where the stack of each
// SC_THREAD lies when it goes there, but on its way back to the main one it says (null, 0): from
// then on an exception on the main stack leaves marks of frames that are gone, and the next frames
// there look like overflows (google/sanitizers issue 189).
#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>

namespace {

struct Stack {
  void* bottom = nullptr;
  std::size_t bytes = 0;
};

// Of the thread that asks.
Stack this_stack() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack.bottom, &stack.bytes);
    pthread_attr_destroy(&attributes);
  }
  return stack;
}

const Stack main_stack = this_stack();

}  // namespace

// In place of the sanitizer's, for the program and the libraries that it loads.
extern "C" void __sanitizer_start_switch_fiber(void** saved, const void* bottom,
                                               std::size_t bytes) {
  using Start = void (*)(void**, const void*, std::size_t);
  static const auto start =
      reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__sanitizer_start_switch_fiber"));
  if (bottom == nullptr) {
    start(saved, main_stack.bottom, main_stack.bytes);
  } else {
    start(saved, bottom, bytes);
  }
}
