// SPDX-License-Identifier: Apache-2.0
#include "model/gpu/sm/l1_cache.hpp"

#include <algorithm>
#include <bit>

#include "model/base/check.hpp"

namespace warpfold {

// What has come by that cycle is on its way no longer.
void L1Cache::settle(Cycle now) {
  while (!coming_.empty() && coming_.front().due <= now) {
    pending_.erase(coming_.front().sector);
    coming_.pop_front();
  }
  while (!answered_.empty() && answered_.front() <= now) {
    answered_.pop_front();
    --requests_;
  }
}

bool L1Cache::has_room(std::uint64_t line, std::uint32_t sectors, Cycle now) {
  settle(now);
  if (requests_ < most_misses_) {
    return true;
  }
  for (std::uint32_t s = 0; s < kLineSectors; ++s) {
    if ((sectors >> s & 1U) != 0 && !pending_.contains(line * kLineSectors + s)) {
      return false;
    }
  }
  return true;
}

L1Cache::Answer L1Cache::load(std::uint64_t line, std::uint32_t sectors, bool keeps,
                              const Asker& asker, Cycle now) {
  settle(now);
  Answer answer;
  const std::uint32_t in = keeps ? tags_.bring_in(line, sectors) : 0;
  for (std::uint32_t s = 0; s < kLineSectors; ++s) {
    if ((sectors >> s & 1U) == 0) {
      continue;
    }
    ++stats_.accesses;
    const auto found = pending_.find(line * kLineSectors + s);
    if (found == pending_.end() && (in >> s & 1U) != 0) {
      ++stats_.hits;
    } else if (found == pending_.end()) {
      ++stats_.asked;
      ++unknown_;
      ++answer.waits;
      answer.missing |= 1U << s;
      pending_[line * kLineSectors + s].askers.push_back(asker);
    } else {
      ++stats_.merged;
      if (found->second.due == kNever) {
        ++answer.waits;
        found->second.askers.push_back(asker);
      } else {
        answer.due = std::max(answer.due, found->second.due);
      }
    }
  }
  requests_ += answer.missing != 0 ? 1U : 0U;
  return answer;
}

void L1Cache::store(std::uint32_t sectors) {
  stats_.stored += static_cast<std::uint64_t>(std::popcount(sectors));
}

L1Cache::Pending& L1Cache::arrive(std::uint64_t sector, Cycle due) {
  const auto found = pending_.find(sector);
  ARC_CHECK(found != pending_.end() && found->second.due == kNever,
            "the L2 answers a load that nobody waits for");
  ARC_CHECK(coming_.empty() || coming_.back().due <= due, "answers of the L2 overtake each other");
  found->second.due = due;
  coming_.push_back({due, sector});
  --unknown_;
  ++stats_.filled;
  return found->second;
}

}  // namespace warpfold
