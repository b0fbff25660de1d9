// SPDX-License-Identifier: Apache-2.0
// The inputs of a port take turns, and so do the SMs of each. Every SM has a queue of its own.
#include <algorithm>
#include <bit>
#include <vector>

#include "model/gpu/memory/service_order.hpp"

namespace warpfold {

namespace {

class InTurn final : public ServiceOrder {
 public:
  explicit InTurn(const GpuConfig& config)
      : sms_(config.sm.count),
        input_sms_(config.l2.input_sms),
        waiting_((sms_ + kWordBits - 1) / kWordBits, 0) {
    for (std::uint32_t sm = 0; sm < sms_; sm += input_sms_) {
      turns_.push_back(sm);
    }
  }

  void waits(std::uint32_t sm, Cycle /*since*/) override { waiting_[sm / kWordBits] |= bit_of(sm); }

  // Of the next input that has any, the next.
  [[nodiscard]] std::uint32_t next() const override {
    for (std::uint32_t input = input_;; input = following(input)) {
      const std::uint32_t first = input * input_sms_;
      const std::uint32_t end = std::min(first + input_sms_, sms_);
      if (const std::uint32_t sm = first_waiting(turns_[input], end); sm < end) {
        return sm;
      }
      if (const std::uint32_t sm = first_waiting(first, turns_[input]); sm < turns_[input]) {
        return sm;
      }
    }
  }

  void let_in(std::uint32_t sm) override {
    waiting_[sm / kWordBits] &= ~bit_of(sm);
    const std::uint32_t input = sm / input_sms_;
    turns_[input] = sm + 1;
    input_ = following(input);
  }

  [[nodiscard]] std::uint32_t queues() const override { return sms_; }
  [[nodiscard]] std::uint32_t queue_of(std::uint32_t sm, std::uint32_t /*slice*/) const override {
    return sm;
  }

 private:
  static constexpr std::uint32_t kWordBits = 64;
  static constexpr std::uint64_t bit_of(std::uint32_t sm) {
    return std::uint64_t{1} << sm % kWordBits;
  }
  [[nodiscard]] std::uint32_t following(std::uint32_t input) const {
    return input + 1 < turns_.size() ? input + 1 : 0;
  }
  // The first of these SMs that is waiting, or `end`.
  [[nodiscard]] std::uint32_t first_waiting(std::uint32_t from, std::uint32_t end) const {
    while (from < end) {
      const std::uint64_t bits = waiting_[from / kWordBits] & ~(bit_of(from) - 1);
      if (bits != 0) {
        const std::uint32_t sm =
            from / kWordBits * kWordBits + static_cast<std::uint32_t>(std::countr_zero(bits));
        return std::min(sm, end);
      }
      from = (from / kWordBits + 1) * kWordBits;
    }
    return end;
  }

  const std::uint32_t sms_;
  const std::uint32_t input_sms_;
  std::vector<std::uint64_t> waiting_;  // a bit for each SM
  std::vector<std::uint32_t> turns_;    // of each input, the SM from which it goes on
  std::uint32_t input_ = 0;             // whose turn it is
};

}  // namespace

extern const ServiceOrderRule in_turn_l2_order;
const ServiceOrderRule in_turn_l2_order{
    .name = "in-turn",
    .source = "docs/fidelity.md",
    .description =
        "Inputs of a port let SMs in in turn, and so does each input its own. Every SM "
        "has a turn in each round of additions.",
    .make = [](const GpuConfig& config) -> std::unique_ptr<ServiceOrder> {
      return std::make_unique<InTurn>(config);
    }};

}  // namespace warpfold
