// SPDX-License-Identifier: Apache-2.0
// What a RED, or a load, comes to: its transactions, and what each takes of the load-store pipe.
// Owned by the load-store unit; no clock. Timing as measured on an H200: a flit a cycle
// (transaction.hpp), so same-address lanes one a cycle and the four sectors of a line 5 cycles,
// 2.09 cycles at least per RED. Lanes on one word of each of several lines take turns by passes
// over these lines: in all passes but the first each change of line costs red_change. Words that a
// lane adds to side by side, up to four of a sector, are as one: a vector, measured on an H100. A
// RED takes red_word longer at least for each further word of a lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/base/ticks.hpp"
#include "model/gpu/sm/mem_op.hpp"
#include "model/gpu/sm/packet_shape.hpp"
#include "model/gpu/sm/sm_context.hpp"
#include "model/gpu/traffic/line_sums.hpp"
#include "model/gpu/traffic/transaction.hpp"

namespace warpfold {

class RedSplitter {
 public:
  // Transactions are lines, or, for an atomic buffer, 32-byte sectors. An addition of two words is
  // to both of them: never lone.
  explicit RedSplitter(const SmContext& context);

  // Those of a RED, which gives up its event; of a load that goes to the L2, from that sub-core.
  void split(MemOp& op);
  void split_load(const MemOp& op, std::uint32_t subcore);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Transaction& at(std::size_t i) { return transactions_[i]; }
  // Of the pipe.
  [[nodiscard]] Ticks occupancy(std::size_t i) const { return occupancy_[i]; }

 private:
  void split_one_address(MemOp& op);
  void split_lanes(MemOp& op);
  void split_sums(MemOp& op);
  void add_group(const MemOp& op, std::uint32_t primitive, LaneMask group);
  void split_packet(const MemOp& op);
  void split_structs(MemOp& op);
  void finish_sums();
  void begin(const TransactionFields& fields);
  void add_sum(Address address, Fp32Bits sum, const TransactionFields& fields);
  void set_pieces(bool by_line);
  void clear_words(std::size_t transaction);
  std::uint8_t add_word(std::size_t transaction, Address address);
  [[nodiscard]] std::uint32_t words_of_turn(std::size_t transaction, std::uint32_t turn) const;
  void count_turns();
  void count_turns_of_line(std::size_t first);
  void add_turn(std::size_t& transaction, std::uint32_t turn, std::uint32_t words, bool lone,
                bool leads);
  std::size_t fork(std::size_t transaction, std::uint32_t turn);
  void set_occupancies(const MemOp& op);
  [[nodiscard]] bool is_vector(std::size_t transaction, std::uint32_t words) const;

  const SmContext& context_;
  const PacketsRule& packets_;
  const Address line_mask_;
  bool by_line_ = true;
  Address piece_mask_ = 0;  // of an address, that of its transaction
  bool wide_ = false;       // the RED in hand is
  const Ticks red_min_, red_flit_, red_change_, red_word_;
  // A struct of a lane is no longer than a line, so it lies in two.
  static constexpr std::size_t kMost = 2 * kLanes;
  std::size_t count_ = 0;
  std::array<Transaction, kMost> transactions_;  // so many
  // Of each, how many additions each word of its line gets, and which words get any.
  std::array<std::array<std::uint8_t, kLineWords>, kMost> words_{};
  std::array<std::uint32_t, kMost> added_{};
  std::array<std::uint8_t, kLanes> turn_of_{};  // of each lane, over its line
  std::array<Ticks, kMost> occupancy_{};
  std::array<LineSums, kMost> sums_;           // of each, where it carries sums,
  std::array<std::uint32_t, kMost> summed_{};  // and the words of these
  static constexpr std::uint8_t kSeveral = 0xff;
  std::array<std::uint8_t, kMost> owner_{};  // whose these are, of the lanes
  std::uint8_t lane_ = kSeveral;             // whose sum is next
};

}  // namespace warpfold
