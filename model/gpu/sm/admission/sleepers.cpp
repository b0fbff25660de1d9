// SPDX-License-Identifier: Apache-2.0
// Warps sleep while the way to the L2 is full, as on an H200 (docs/model.md, docs/notebook.md).
// Those that want room for something that stays in the SM take turns. Of those with REDs and loads
//
//   asleep   is a warp that finds the queue full, and the injection port behind it no less than a
//            quarter full, until a RED or load of its own CTA was the last of its SM that got in in
//            its turn, or none did through two ticks, or the port is less than a quarter full, at
//            which it looks every kLook cycles. Ticks come every lsu.sleep_cycles, to an SM of each
//            of lsu.tick_groups at a time of its own
//   ahead    of all others goes one that has waited through two ticks, those of the oldest CTA
//            first, with kAhead REDs or loads
//   in turn  of those that are awake go the ones of the oldest CTA, whatever they want there, and
//            of these no more than kInTurn at a time whose REDs come one after the other
#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "model/base/bits.hpp"
#include "model/base/divider.hpp"
#include "model/gpu/sm/queue_admission.hpp"

namespace warpfold {

namespace {

// Whose turn it is in an SM: that of the CTA whose RED or load was the last that got into a memory
// queue in its turn. Of several in one cycle the oldest. Shared by the sub-cores.
class SmTurn {
 public:
  explicit SmTurn(const Domain& domain) : domain_(domain) {}
  void taken_by(std::uint64_t cta) {
    settle();
    next_ = std::min(next_, cta);
    next_in_ = domain_.now();
  }
  // The sequence of that CTA, and when that was, as of the start of the cycle.
  [[nodiscard]] std::uint64_t holder() {
    settle();
    return holder_;
  }
  [[nodiscard]] Cycle taken_in() {
    settle();
    return taken_in_;
  }

 private:
  static constexpr std::uint64_t kNoCta = ~std::uint64_t{0};
  void settle() {
    if (next_ != kNoCta && next_in_ != domain_.now()) {
      holder_ = next_;
      taken_in_ = next_in_;
      next_ = kNoCta;
    }
  }

  const Domain& domain_;
  std::uint64_t holder_ = kNoCta;
  Cycle taken_in_ = 0;
  std::uint64_t next_ = kNoCta;  // who has taken it in that cycle
  Cycle next_in_ = 0;
};

class Sleepers final : public QueueAdmission {
 public:
  Sleepers(const AdmissionContext& context, std::shared_ptr<SmTurn> turn)
      : domain_(context.domain),
        way_out_(context.way_out),
        sleep_cycles_(context.config.lsu.sleep_cycles),
        tick_offset_(offset(context)),
        sm_turn_(std::move(turn)) {}

  void launched(std::uint32_t slot, const CtaContext& cta) override {
    warps_[slot] = {.cta = cta.sequence};
  }

  void wants(std::uint32_t slot, Cycle cycle) override {
    const SlotMask bit = SlotMask{1} << slot;
    want_ |= bit;
    warps_[slot].tick = tick_of(cycle);
    in_turn_ &= cycle > warps_[slot].entered + 1 ? ~bit : ~SlotMask{0};
  }

  void enters(std::uint32_t slot, Cycle cycle) override {
    const SlotMask bit = SlotMask{1} << slot;
    want_ &= ~bit;
    asleep_ &= ~bit;
    in_turn_ &= want_ | bit;
    if (std::popcount(in_turn_ | bit) <= kInTurn) {
      in_turn_ |= bit;
    }
    Warp& warp = warps_[slot];
    warp.entered = cycle;
    if (warp.ahead == 0 && tick_of(cycle) >= warp.tick + 2) {
      warp.ahead = kAhead;
    }
    if (warp.ahead > 0) {
      --warp.ahead;
    } else {
      sm_turn_->taken_by(warp.cta);
    }
  }

  SlotMask admitted(SlotMask wanting) override {
    if (asleep_ == 0 && std::has_single_bit(wanting)) {
      return wanting;
    }
    const Cycle tick = tick_of(domain_.now());
    if (const SlotMask first = ahead(tick); first != 0) {
      return (wanting & ~want_) | first;
    }
    SlotMask awake = wanting & ~asleep_;
    if (asleep_ != 0) {
      const bool all = tick >= tick_of(sm_turn_->taken_in()) + 2 ||
                       (domain_.now() % kLook == 0 && !way_out_.quarter_full());
      for_each_bit(asleep_, [&](std::uint32_t slot) {
        const bool woken = all || warps_[slot].cta == sm_turn_->holder();
        awake |= woken ? SlotMask{1} << slot : 0;
      });
    }
    const SlotMask oldest = of_oldest(awake, [](const Warp&) { return true; });
    const SlotMask in_turn = oldest & want_ & in_turn_;
    return std::popcount(in_turn) == kInTurn ? in_turn : oldest;
  }

  Cycle decided(bool has_room, Cycle cycle) override {
    if (want_ == 0) {
      return kNever;
    }
    if (has_room) {
      // Who sleeps, or goes before others, changes with the time.
      return std::min((cycle / kLook + 1) * kLook, next_tick(cycle));
    }
    if (way_out_.quarter_full()) {
      asleep_ |= want_;
    }
    return kNever;
  }

  [[nodiscard]] bool depends_on_time() const override { return want_ != 0; }
  [[nodiscard]] bool looks_at_way_out(bool has_room) const override {
    return asleep_ != 0 || !has_room;
  }

 private:
  static constexpr std::uint32_t kAhead = 2;  // REDs and loads
  static constexpr int kInTurn = 3;           // warps
  static constexpr Cycle kLook = 128;

  struct Warp {
    std::uint64_t cta = 0;    // its sequence
    Cycle tick = 0;           // the last one before it came to wait
    std::uint32_t ahead = 0;  // REDs and loads with which it goes before others
    Cycle entered = 0;        // that its last RED or load got into the queue
  };

  // A launch begins at any time of the clocks that ticks come from: those of the groups lie evenly.
  static Cycle offset(const AdmissionContext& context) {
    const Cycle groups = context.config.lsu.tick_groups;
    return context.config.lsu.sleep_cycles * (context.sm % groups) / groups;
  }
  // The number of the last tick up to that cycle.
  [[nodiscard]] Cycle tick_of(Cycle cycle) const {
    return sleep_cycles_.quotient(cycle + tick_offset_);
  }
  [[nodiscard]] Cycle next_tick(Cycle cycle) const {
    return (tick_of(cycle) + 1) * sleep_cycles_.divisor() - tick_offset_;
  }
  // Of these warps that are as asked for, those of the oldest CTA.
  template <typename Wanted>
  [[nodiscard]] SlotMask of_oldest(SlotMask warps, Wanted wanted) const {
    SlotMask found = 0;
    std::uint64_t oldest = ~std::uint64_t{0};
    for_each_bit(warps, [&](std::uint32_t slot) {
      const Warp& warp = warps_[slot];
      if (warp.cta <= oldest && wanted(warp)) {
        found = (warp.cta < oldest ? 0 : found) | SlotMask{1} << slot;
        oldest = warp.cta;
      }
    });
    return found;
  }
  [[nodiscard]] SlotMask ahead(Cycle tick) const {
    return of_oldest(want_,
                     [tick](const Warp& warp) { return warp.ahead > 0 || tick >= warp.tick + 2; });
  }

  const Domain& domain_;
  const Outlet& way_out_;
  const Divider sleep_cycles_;
  const Cycle tick_offset_;  // of its SM: its ticks come so much sooner
  const std::shared_ptr<SmTurn> sm_turn_;
  SlotMask want_ = 0;     // wait with a RED or a load
  SlotMask asleep_ = 0;   // of those
  SlotMask in_turn_ = 0;  // got in and, if in want_, want the next
  std::array<Warp, kMaxSubcoreWarps> warps_{};
};

Admissions make_sleepers(const AdmissionContext& context) {
  if (context.config.lsu.sleep_cycles == 0) {
    throw std::invalid_argument("rules.admission 'sleepers' needs lsu.sleep_cycles above 0");
  }
  const auto turn = std::make_shared<SmTurn>(context.domain);
  Admissions all;
  for (std::uint32_t i = 0; i < context.config.sm.subcores; ++i) {
    all.push_back(std::make_unique<Sleepers>(context, turn));
  }
  return all;
}

}  // namespace

extern const AdmissionRule sleepers_admission;
const AdmissionRule sleepers_admission{
    .name = "sleepers",
    .source = "docs/fidelity.md",
    .description =
        "Warps whose REDs or loads find the way to the L2 full sleep, for "
        "lsu.sleep_cycles or until it is their CTA's turn; of those that are awake the "
        "oldest CTA's go first.",
    .watches_way_out = true,
    .make = make_sleepers};

}  // namespace warpfold
