// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/memory/l2_reads.hpp"

#include <algorithm>
#include <bit>

namespace warpfold {

namespace {

constexpr std::uint32_t kAllSectors = (1U << kLineSectors) - 1;

// The DRAM is read 64 bytes at a time: both sectors of each pair of which one is missing.
constexpr std::uint32_t with_partners(std::uint32_t sectors) {
  return sectors | (sectors & 0b0101U) << 1U | (sectors & 0b1010U) >> 1U;
}

}  // namespace

L2Reads::L2Reads(const GpuConfig& config, L2Tags& tags, MemoryBehind& behind)
    : tags_(tags),
      behind_(behind),
      line_ticks_(to_ticks(config.l2.load_cycles)),
      sector_ticks_(to_ticks(config.l2.read_cycles)) {}

// What is there of the line, which is brought in, in place of another.
L2Reads::Part& L2Reads::part_of(std::uint64_t line, Cycle now) {
  const L2Tags::Access access = tags_.access(line * kLineBytes);
  if (access.evicted && !drops_clean(access.victim / kLineBytes)) {
    ++stats_.evictions;
    behind_.write_back(access.victim, now);
  }
  const auto found = parts_.find(line);
  if (access.hit && found == parts_.end()) {
    whole_ = {.sectors = kAllSectors, .dirty = true};
    return whole_;
  }
  return found != parts_.end() ? found->second : parts_[line];
}

bool L2Reads::lacks(std::uint64_t line, std::uint32_t sectors) {
  const auto found = parts_.find(line);
  if (found == parts_.end()) {
    return false;
  }
  const bool lacks = (sectors & ~found->second.sectors) != 0;
  parts_.erase(found);
  return lacks;
}

bool L2Reads::drops_clean(std::uint64_t line) {
  const auto found = parts_.find(line);
  if (found == parts_.end()) {
    return false;
  }
  const bool clean = !found->second.dirty;
  parts_.erase(found);
  return clean;
}

void L2Reads::warm(std::uint64_t line, std::uint32_t sectors, bool store) {
  const L2Tags::Access access = tags_.access(line * kLineBytes);
  if (access.evicted) {
    parts_.erase(access.victim / kLineBytes);
  }
  const auto found = parts_.find(line);
  if (access.hit && found == parts_.end()) {
    return;  // of an array, and whole
  }
  Part& part = found != parts_.end() ? found->second : parts_[line];
  part.sectors |= sectors;
  part.dirty = part.dirty || store;
}

void L2Reads::load(const Load& load, Cycle from, Cycle now) {
  while (!coming_.empty() && coming_.front().first <= now) {
    fills_.erase(coming_.front().second);
    coming_.pop_front();
  }
  Part& part = part_of(load.line, now);
  Cycle ready = std::max(from, now);
  std::uint32_t missing = 0;
  for (std::uint32_t s = 0; s < kLineSectors; ++s) {
    if ((load.sectors >> s & 1U) == 0) {
      continue;
    }
    // One that has been driven out while it was on its way is not read again.
    if (const auto fill = fills_.find(load.line * kLineSectors + s); fill != fills_.end()) {
      ready = std::max(ready, fill->second);
      ++stats_.hits;
    } else if ((part.sectors >> s & 1U) != 0) {
      ++stats_.hits;
    } else {
      missing |= 1U << s;
    }
  }
  if (missing != 0) {
    stats_.misses += static_cast<std::uint64_t>(std::popcount(missing));
    missing |= with_partners(missing) & ~(part.sectors | load.sectors);
    const auto count = static_cast<std::uint32_t>(std::popcount(missing));
    stats_.read += count;
    part.sectors |= missing;
    const Cycle filled = behind_.read_sectors(load.line * kLineBytes, count, now);
    ready = std::max(ready, filled);
    for (std::uint32_t s = 0; s < kLineSectors; ++s) {
      if ((missing >> s & 1U) != 0) {
        fills_[load.line * kLineSectors + s] = filled;
        coming_.emplace_back(filled, load.line * kLineSectors + s);
      }
    }
  }
  part.sectors |= load.sectors;
  ready_.emplace(ready, load);
}

void L2Reads::store(std::uint64_t line, std::uint32_t sectors, Cycle now) {
  stats_.stored += static_cast<std::uint64_t>(std::popcount(sectors));
  Part& part = part_of(line, now);
  part.sectors |= sectors;
  part.dirty = true;
}

void L2Reads::give_out(Cycle now) {
  while (!ready_.empty() && ready_.begin()->first <= now) {
    const Load& load = ready_.begin()->second;
    const auto count = static_cast<Ticks>(std::popcount(load.sectors));
    free_at_ = std::max(free_at_, at_cycle(now)) + line_ticks_ + count * sector_ticks_;
    done_.emplace_back(cycle_after(free_at_), load);
    ready_.erase(ready_.begin());
  }
}

Cycle L2Reads::next() const {
  const Cycle ready = ready_.empty() ? kNever : ready_.begin()->first;
  return done_.empty() ? ready : std::min(ready, done_.front().first);
}

}  // namespace warpfold
