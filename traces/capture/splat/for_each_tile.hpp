// SPDX-License-Identifier: Apache-2.0
// Work on the host by tile.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace warpfold::capture {

// Runs `body(tile)` for every tile on all cores. Tiles are independent.
template <class Body>
void for_each_tile(std::size_t tiles, const Body& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t tile = next++; tile < tiles; tile = next++) {
      body(tile);
    }
  };
  std::vector<std::thread> threads;
  const unsigned count = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = 1; i < count; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace warpfold::capture
