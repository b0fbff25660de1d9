// SPDX-License-Identifier: Apache-2.0
// The ARC unit of a sub-core as a SystemC module: the ports of the RTL module arc_subcore, with its
// names and widths, for a testbench or a platform to bind. rtl/README.md specifies what they do in
// every cycle; the comments below are a summary.
//
// One class for all units of the family, with the ports of the unit that has the widest. It has one
// of two bodies: the RTL as Verilator compiled it, or the golden unit. Their outputs are the same
// after every change of an input and every edge, as long as requests are held as they must be. The
// RTL reports a contract that is broken at its ports: SC_ERROR "/warpfold/unit/contract", behind a
// line that names the assertion.
//
// Owned by whoever elaborates it. Time: the module has no delays and no time unit; the period of
// clk_i is the bound clock's. State changes at the rising edge of clk_i and, asynchronously, while
// rst_ni is low. Outputs follow an edge or a change of the inputs in the next delta cycle. Inputs
// that somebody writes at the rising edge belong to the cycle that begins with it. C++17.
#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "model/systemc/port_bits.hpp"
#include "model/types.hpp"

namespace warpfold::systemc {

class SubcoreBody;

struct SubcoreOptions {
  std::string unit = "golden";       // or "rtl"
  std::string unit_kind = "serial";  // or another of rtl/units.json
  std::string scheduler{};           // of the golden unit; by default that of the kind's RTL
};

// What may be left unbound: all outputs, and the inputs that the unit does not read, which are
// rf_bin_i without the fused datapath and req_words_i for requests of one word.
class arc_subcore : public sc_core::sc_module {
 public:
  using Mask = sc_dt::sc_uint<kLanes>;
  using AddressWord = sc_dt::sc_uint<kAddrWidth>;
  using TagWord = sc_dt::sc_uint<kTagWidth>;
  using Word = sc_dt::sc_uint<kWordWidth>;
  using WordNumber = sc_dt::sc_uint<kWordNumberWidth>;

  // Clock; asynchronous active-low reset, released away from the rising edge.
  sc_core::sc_in<bool> clk_i{"clk_i"};
  sc_core::sc_in<bool> rst_ni{"rst_ni"};

  // atomred request. Held with mask, addresses, tag and words until req_ready_o; low during reset.
  sc_core::sc_in<bool> req_valid_i{"req_valid_i"};
  sc_core::sc_out<bool> req_ready_o{"req_ready_o"};      // the whole request leaves in this cycle
  sc_core::sc_in<Mask> req_mask_i{"req_mask_i"};         // active lanes, lane 0 in bit 0
  sc_core::sc_in<AddressBits> req_addr_i{"req_addr_i"};  // byte addresses, lane l at [48*l +: 48]
  sc_core::sc_in<TagWord> req_tag_i{"req_tag_i"};        // comes back with all that stems from it
  // Words of a lane, less one.
  sc_core::sc_in<WordNumber> req_words_i{"req_words_i"};

  // Transaction to the memory queue, taken at the edge at which valid and room are high. room is
  // the registered "not full" of the queue: no function of this cycle's outputs.
  sc_core::sc_out<bool> lsu_valid_o{"lsu_valid_o"};
  sc_core::sc_in<bool> lsu_room_i{"lsu_room_i"};
  sc_core::sc_out<AddressWord> lsu_addr_o{"lsu_addr_o"};  // 0 for a plain RED of several addresses
  sc_core::sc_out<Mask> lsu_mask_o{"lsu_mask_o"};         // lanes of a plain RED; 1 for a sum
  sc_core::sc_out<bool> lsu_reduced_o{"lsu_reduced_o"};   // a sum; else the lanes' own values
  sc_core::sc_out<Word> lsu_data_o{"lsu_data_o"};         // the sum, an FP32 value; else 0
  sc_core::sc_out<TagWord> lsu_tag_o{"lsu_tag_o"};
  sc_core::sc_out<WordNumber> lsu_word_o{"lsu_word_o"};  // that a sum is of
  sc_core::sc_out<bool> lsu_last_o{"lsu_last_o"};  // not a sum with others of its packet behind

  // Register-file read of the lanes in rf_mask_o, granted at the edge at which valid and ready are
  // high. ready may answer valid and mask within the cycle. The values stand at rf_data_i from the
  // cycle after the grant until, and including, that of the next; see read_data() and read_bins().
  sc_core::sc_out<bool> rf_valid_o{"rf_valid_o"};
  sc_core::sc_in<bool> rf_ready_i{"rf_ready_i"};
  sc_core::sc_out<Mask> rf_mask_o{"rf_mask_o"};
  sc_core::sc_out<TagWord> rf_tag_o{"rf_tag_o"};
  sc_core::sc_out<WordNumber> rf_word_o{"rf_word_o"};  // of the operand
  sc_core::sc_in<ReadBits> rf_data_i{"rf_data_i"};     // the low 32 bits of each lane of a read
  sc_core::sc_in<BinBits> rf_bin_i{"rf_bin_i"};

  // A register holds work. While it and req_valid_i are low, the clock may stop.
  sc_core::sc_out<bool> busy_o{"busy_o"};

  // Reports SC_ERROR "/warpfold/unit/options" where there is no such unit.
  arc_subcore(const sc_core::sc_module_name& name, const SubcoreOptions& options);
  ~arc_subcore() override;

  // Lanes that one read delivers at most, and words of a lane that a request has at most.
  [[nodiscard]] unsigned read_lanes() const { return read_lanes_; }
  [[nodiscard]] unsigned max_words() const { return max_words_; }

 private:
  struct Spare;
  void before_end_of_elaboration() override;

  unsigned read_lanes_ = 0;
  unsigned max_words_ = 0;
  bool sees_exponents_ = false;
  std::unique_ptr<SubcoreBody> body_;
  std::unique_ptr<Spare> spare_;  // signals at the ports that are left unbound
};

// Traces all ports under their names behind `prefix` and a dot. Before the simulation starts.
void sc_trace(sc_core::sc_trace_file* file, const arc_subcore& unit, const std::string& prefix);

}  // namespace warpfold::systemc
