// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tb/fuzz/fuzz.hpp"

// With --write-seeds DIR the program writes its seeds there and ends.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  namespace fuzz = warpfold::fuzz;
  if (*argc == 3 && std::strcmp((*argv)[1], "--write-seeds") == 0) {
    std::size_t number = 0;
    for (const std::string& seed : fuzz::seeds()) {
      std::ofstream out(std::filesystem::path((*argv)[2]) / ("made-" + std::to_string(number++)),
                        std::ios::binary);
      out << seed;
    }
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warpfold::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
