// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/memory_link.hpp"

#include <algorithm>
#include <utility>

#include "model/gpu/memory/additions.hpp"
#include "model/gpu/memory/l2_port.hpp"

namespace warpfold {

namespace {

// OutsideRequest::id of a write: the line, with a bit that no address has.
constexpr std::uint64_t kIsWritten = std::uint64_t{1} << 63U;

}  // namespace

// What lies outside, or what is on its way there. Zeros where that does not say: the arrays of a
// launch have just been cleared (Gpu::warm_l2).
std::vector<std::uint8_t> MemoryLink::newest(Address line) {
  if (const auto found = written_.find(line); found != written_.end()) {
    return found->second.data;
  }
  std::vector<std::uint8_t> data(line_bytes_, 0);
  out_.peek(line, data);
  return data;
}

void MemoryLink::write(Address line, std::vector<std::uint8_t> data) {
  Written& written = written_[line];
  written.data = std::move(data);
  ++written.times;
  out_.start({.write = true,
              .address = line,
              .bytes = line_bytes_,
              .data = written.data,
              .work = nullptr,
              .additions = {},
              .id = line | kIsWritten},
             *this);
}

// A line that nobody has added to here is written all the same: the port knows of none that is
// clean (l2_tags.hpp).
void MemoryLink::write_back(Address line, Cycle /*now*/) {
  const auto found = lines_.find(line);
  if (found == lines_.end()) {
    write(line, newest(line));
  } else {
    write(line, std::move(found->second.data));
    lines_.erase(found);
  }
}

Cycle MemoryLink::read(Address line, Cycle /*now*/) {
  out_.start({.write = false,
              .address = line,
              .bytes = line_bytes_,
              .data = {},
              .work = nullptr,
              .additions = {},
              .id = line},
             *this);
  return kNever;
}

// What is here of a line is newer than what has been read.
void MemoryLink::answered(const OutsideAnswer& answer) {
  const Address line = answer.id & ~kIsWritten;
  if (line != answer.id) {
    if (const auto found = written_.find(line); --found->second.times == 0) {
      written_.erase(found);
    }
    return;
  }
  if (!lines_.contains(line)) {
    lines_[line].data.assign(answer.data.begin(), answer.data.end());
  }
  port_->filled(line, answer.from);
}

// A line that was there before the launch is read when it is first added to.
void MemoryLink::add(const Addition& addition) {
  const Address address = line_of(addition.address);
  const auto [place, is_new] = lines_.try_emplace(address);
  Line& line = place->second;
  if (is_new) {
    line.data = newest(address);
  }
  add_to(std::span(line.data).subspan(addition.address - address), addition);
  line.dirty = true;
}

bool MemoryLink::flush() {
  std::vector<Address> dirty;
  for (const auto& [address, line] : lines_) {
    if (line.dirty) {
      dirty.push_back(address);
    }
  }
  std::sort(dirty.begin(), dirty.end());
  bool started = false;
  for (const Address address : dirty) {
    Line& line = lines_.at(address);
    line.dirty = false;
    if (out_.poke(address, line.data) < line_bytes_) {
      started = true;
      write(address, line.data);
    }
  }
  return started;
}

bool MemoryLink::peek(Address address, std::span<std::uint8_t> data) const {
  const auto found = lines_.find(line_of(address));
  if (found == lines_.end()) {
    return false;
  }
  const auto from = found->second.data.begin() + static_cast<std::ptrdiff_t>(address % line_bytes_);
  std::copy_n(from, data.size(), data.begin());
  return true;
}

}  // namespace warpfold
