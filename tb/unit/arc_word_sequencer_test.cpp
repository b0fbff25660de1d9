// SPDX-License-Identifier: Apache-2.0
// The word sequencer between a source of transactions and a unit that takes words: each transaction
// comes out once for each of its words, in order, as it went in.

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>

#include "Varc_word_sequencer.h"
#include "tb/unit/bench.hpp"

namespace warpfold {
namespace {

struct Txn {
  std::uint64_t addr = 0;
  std::uint32_t mask = 0;
  std::uint32_t tag = 0;
  std::uint32_t last_word = 0;
};

class WordSequencer : public testing::Test {
 protected:
  WordSequencer() {
    offer(nullptr);
    dut->word_ready_i = 0;
    dut.reset();
  }

  Txn random_txn(std::uint32_t last_word) {
    return {rng_() & 0xffff'ffff'ffffU, static_cast<std::uint32_t>(rng_()) | 1U,
            static_cast<std::uint32_t>(rng_() & 0xfffU), last_word};
  }

  // What stands at the input in this cycle; without a transaction anything, with it held.
  void offer(const Txn* txn) {
    const Txn shown = txn != nullptr ? *txn : random_txn(static_cast<std::uint32_t>(rng_() % 16));
    dut->txn_valid_i = txn != nullptr;
    dut->txn_addr_i = shown.addr;
    dut->txn_mask_i = shown.mask;
    dut->txn_tag_i = static_cast<SData>(shown.tag);
    dut->txn_words_i = static_cast<CData>(shown.last_word);
  }

  // The outputs are those of the oldest transaction that has been accepted, if there is one.
  void check_word() {
    ASSERT_EQ(dut->word_valid_o != 0, !inside_.empty()) << "cycle " << dut.cycle();
    if (inside_.empty()) {
      return;
    }
    const Txn& txn = inside_.front();
    ASSERT_EQ(dut->word_addr_o, txn.addr);
    ASSERT_EQ(dut->word_mask_o, txn.mask);
    ASSERT_EQ(dut->word_tag_o, txn.tag);
    ASSERT_EQ(dut->word_o, next_word_) << "cycle " << dut.cycle();
    ASSERT_EQ(dut->word_last_o != 0, next_word_ == txn.last_word) << "cycle " << dut.cycle();
  }

  // One cycle with that transaction or none at the input; true if it has been accepted.
  bool cycle(const Txn* txn, bool word_ready) {
    offer(txn);
    dut->word_ready_i = word_ready;
    dut.settle();
    check_word();
    const bool leaves = !inside_.empty() && word_ready && next_word_ == inside_.front().last_word;
    EXPECT_EQ(dut->txn_ready_o != 0, inside_.empty() || leaves) << "cycle " << dut.cycle();
    const bool accepted = txn != nullptr && dut->txn_ready_o != 0;
    if (leaves) {
      inside_.pop_front();
      next_word_ = 0;
    } else if (!inside_.empty() && word_ready) {
      ++next_word_;
    }
    if (accepted) {
      inside_.push_back(*txn);
    }
    dut.edge();
    return accepted;
  }

  bench::Rng rng_{bench::seed()};
  bench::ClockedDut<Varc_word_sequencer> dut;
  std::deque<Txn> inside_;  // one at most
  std::uint32_t next_word_ = 0;
};

TEST_F(WordSequencer, EveryNumberOfWordsWithoutAGap) {
  const std::uint64_t begin = dut.cycle();
  std::uint64_t words = 0;
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t last_word = 0; last_word < 16; ++last_word) {
      const Txn txn = random_txn(last_word);
      while (!cycle(&txn, true)) {
        ASSERT_FALSE(HasFatalFailure());
      }
      words += last_word + 1;
    }
  }
  // The last one has been accepted, and its sixteen words are to come.
  EXPECT_EQ(dut.cycle() - begin, 1 + words - 16);
}

TEST_F(WordSequencer, RandomTraffic) {
  int accepted = 0;
  Txn txn = random_txn(3);
  bool waiting = false;
  for (int i = 0; i < 100'000 && !HasFatalFailure(); ++i) {
    if (!waiting && bench::chance(rng_, 60)) {
      txn = random_txn(static_cast<std::uint32_t>(rng_() % (bench::chance(rng_, 50) ? 2 : 16)));
      waiting = true;
    }
    if (cycle(waiting ? &txn : nullptr, bench::chance(rng_, 70))) {
      waiting = false;
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 5'000);
}

TEST_F(WordSequencer, ResetEmptiesIt) {
  const Txn txn = random_txn(15);
  for (unsigned taken = 0; taken < 15; ++taken) {
    ASSERT_TRUE(cycle(&txn, false));
    for (unsigned word = 0; word < taken; ++word) {
      ASSERT_FALSE(cycle(nullptr, true));
    }
    offer(nullptr);
    dut.reset();
    inside_.clear();
    next_word_ = 0;
    ASSERT_FALSE(cycle(nullptr, true));
  }
}

}  // namespace
}  // namespace warpfold
