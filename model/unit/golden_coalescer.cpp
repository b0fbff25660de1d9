// SPDX-License-Identifier: Apache-2.0
#include "model/unit/golden_coalescer.hpp"

#include <bit>
#include <cstddef>

#include "model/unit/group_pays.hpp"

namespace warpfold {

namespace {

// Lanes of `among` whose addresses are such.
template <class Such>
LaneMask lanes_with(const UnitInputs& inputs, LaneMask among, const Such& such) {
  LaneMask lanes = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    lanes |= LaneMask{such(inputs.req_addr[lane])} << lane;
  }
  return lanes & among;
}

// Bits of an address that say which word of its sector it is of.
constexpr Address kWordMask = kSectorBytes - sizeof(Fp32Bits);

Address place_of(Address address) {
  return address & kAddrMask & ~kWordMask;
}

std::uint32_t word_of(Address address) {
  return 1U << (address & kWordMask) / sizeof(Fp32Bits);
}

// The lowest lane of a mask that has one; the remainder tells the compiler so.
std::size_t lowest_lane(LaneMask lanes) {
  return static_cast<std::size_t>(std::countr_zero(lanes)) % kLanes;
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// Direct
// ------------------------------------------------------------------------------------------------

CoalescerOffer DirectCoalescer::offer(const UnitInputs& inputs) {
  const LaneMask pending = inputs.req_mask & ~done_ & ~lone_;
  const LaneMask left = pending | lone_;
  if (left == 0) {
    return {};
  }
  const LaneMask leads = pending != 0 ? pending : lone_;
  const Address address = inputs.req_addr[lowest_lane(leads)] & kAddrMask;
  if (group_ == 0) {
    group_ = lanes_with(inputs, leads,
                        [&](Address other) { return ((other ^ address) & kAddrMask) == 0; });
    pays_ = group_pays(inputs.req_addr, left, group_);
  }
  gather_ = pending != 0 && !pays_ && group_ != left;
  const bool scattered = lane_count(lone_ | (gather_ ? group_ : 0)) > 1;
  return {.left = left,
          .offered = !gather_ && (pending != 0 || !scattered),
          .lanes = group_,
          .address = address,
          .all_may_go = scattered,
          .all_lone = pending == 0};
}

void DirectCoalescer::step(const UnitInputs& /*inputs*/, LaneMask sent) {
  if (sent != 0) {
    done_ |= sent;
    group_ = 0;
  } else if (gather_) {
    lone_ |= group_;
    group_ = 0;
  }
}

// ------------------------------------------------------------------------------------------------
// Staged
// ------------------------------------------------------------------------------------------------

CoalescerOffer StagedCoalescer::offer(const UnitInputs& inputs) const {
  const bool all_lone = ended_ && !group_valid_ && !txn_valid_;
  const auto word = static_cast<Address>(std::countr_zero(word_)) * sizeof(Fp32Bits);
  return {.left = inputs.req_mask & ~sent_,
          .offered = txn_valid_,
          .lanes = group_,
          .address = place_ | (txn_valid_ ? word : 0),
          .all_may_go = two_lone_ || (lone_ && all_lone),
          .all_lone = all_lone};
}

void StagedCoalescer::step(const UnitInputs& inputs, LaneMask sent) {
  const LaneMask unfound = inputs.req_mask & ~found_;
  const bool free = !txn_valid_ || sent != 0;
  const bool match = lead_valid_ && !here_valid_;
  const bool listed = here_valid_ && rest_ != 0;
  const bool list = here_valid_ && rest_ == 0 && !group_valid_ && !txn_valid_;
  const bool split = listed && !group_valid_ && free;

  // Count, and what was offered.
  const bool gather =
      lane_count(group_) <= std::popcount(used_) && !(ended_ && !lone_);  // else all that is left
  if (group_valid_ && gather) {
    two_lone_ = two_lone_ || lone_ || lane_count(group_) > 1;
    lone_ = true;
  }
  used_ &= txn_valid_ ? ~word_ : ~0U;
  sent_ |= sent;
  txn_valid_ = group_valid_ ? !gather : txn_valid_ && sent == 0;

  // Split.
  group_valid_ = split;
  if (split) {
    word_ = rest_ & (~rest_ + 1);
    rest_ &= rest_ - 1;
    group_ = lanes_with(inputs, here_, [&](Address address) { return word_of(address) == word_; });
    ended_ = last_ && rest_ == 0;
  }

  // Words.
  if (list) {
    place_ = lead_;
    last_ = unfound == 0;
    rest_ = 0;
    for (LaneMask lanes = here_; lanes != 0; lanes &= lanes - 1) {
      rest_ |= word_of(inputs.req_addr[lowest_lane(lanes)]);
    }
    used_ = rest_;
  }

  // Find, which waits for the stage of words, and match.
  const bool find = !lead_valid_ && (!here_valid_ || listed);
  here_valid_ = here_valid_ ? !(split && rest_ == 0) : match;
  if (match) {
    here_ =
        lanes_with(inputs, unfound, [&](Address address) { return place_of(address) == lead_; });
    found_ |= here_;
    lead_valid_ = false;
  } else if (find && unfound != 0) {
    lead_valid_ = true;
    lead_ = place_of(inputs.req_addr[lowest_lane(unfound)]);
  }
}

}  // namespace warpfold
