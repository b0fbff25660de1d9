// SPDX-License-Identifier: Apache-2.0
// What travels through the wide ports of arc_subcore, packed into bits and back. Pure functions;
// for the bodies of the module, and for testbenches that drive one. C++17.
#pragma once

#include <array>
#include <systemc>

#include "model/types.hpp"

namespace warpfold::systemc {

inline constexpr int kWordWidth = 32;       // bits of a value (arc_pkg::DataWidth)
inline constexpr int kBinWidth = 5;         // bits of an exponent bin (arc_pkg::BinWidth)
inline constexpr int kWordNumberWidth = 4;  // bits of the number of a word (arc_pkg::WordWidth)
inline constexpr int kReadPorts = 4;        // of the unit that reads most lanes (arc_pkg::Banks)

// req_addr_i: lane l's byte address in bits [48*l +: 48].
using AddressBits = sc_dt::sc_bv<kLanes * kAddrWidth>;
// rf_bin_i: lane l's exponent bin in bits [5*l +: 5].
using BinBits = sc_dt::sc_bv<kLanes * kBinWidth>;
// rf_data_i: that of lane l in bits [32*p +: 32], p being l modulo the lanes of a read.
using ReadBits = sc_dt::sc_bv<kWordWidth * kReadPorts>;

// The 32 values that the lanes of a warp hold in one register.
using Operand = std::array<Fp32Bits, kLanes>;

// The same in all lanes.
template <class T>
std::array<T, kLanes> all_lanes(T value) {
  std::array<T, kLanes> lanes{};
  lanes.fill(value);
  return lanes;
}

// The upper 16 bits of an address are left out.
AddressBits pack_addresses(const std::array<Address, kLanes>& addresses);
std::array<Address, kLanes> unpack_addresses(const AddressBits& bits);

std::array<std::uint8_t, kLanes> unpack_bins(const BinBits& bits);

// The register file's answer to a granted read, due in the cycle after the grant: the values of
// `lanes`, as rf_mask_o asked for them, of a unit that reads so many (arc_subcore::read_lanes()),
// and the bins of all lanes, which only a unit of the fused datapath reads.
ReadBits read_data(unsigned read_lanes, LaneMask lanes, const Operand& operand);
BinBits read_bins(const Operand& operand);

}  // namespace warpfold::systemc
