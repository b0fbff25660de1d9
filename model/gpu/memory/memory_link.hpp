// SPDX-License-Identifier: Apache-2.0
// Memory outside of the GPU, behind one port of the L2. Holds what the lines in that port hold: it
// reads them from outside, adds, and writes them back when they are driven out, or when the launch
// is over. What the port still adds to a line that it has driven out is added here, too, and is
// written with the next write-back. Owned by the GPU.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/gpu/memory/memory_behind.hpp"
#include "model/gpu/memory/outside.hpp"

namespace warpfold {

class L2Port;

class MemoryLink final : public MemoryBehind, private Asker {
 public:
  MemoryLink(WayOut& out, std::uint32_t line_bytes) : out_(out), line_bytes_(line_bytes) {}
  void connect(L2Port& port) { port_ = &port; }

  void write_back(Address line, Cycle now) override;
  Cycle read(Address line, Cycle now) override;
  [[nodiscard]] bool has_data() const override { return true; }
  void add(const Addition& addition) override;

  // The launch is over: writes back what it holds, outside of time where that is possible, else by
  // accesses. True if there are any.
  bool flush();
  // What a line holds now, from `address` on; false if it is not here.
  bool peek(Address address, std::span<std::uint8_t> data) const;

 private:
  struct Line {
    std::vector<std::uint8_t> data;
    bool dirty = false;
  };
  // That has been written, and not answered yet.
  struct Written {
    std::vector<std::uint8_t> data;
    std::uint32_t times = 0;
  };
  void answered(const OutsideAnswer& answer) override;
  void write(Address line, std::vector<std::uint8_t> data);
  std::vector<std::uint8_t> newest(Address line);
  [[nodiscard]] Address line_of(Address address) const {
    return address & ~Address{line_bytes_ - 1};
  }

  WayOut& out_;
  const std::uint32_t line_bytes_;
  L2Port* port_ = nullptr;
  std::unordered_map<Address, Line> lines_;
  std::unordered_map<Address, Written> written_;
};

}  // namespace warpfold
