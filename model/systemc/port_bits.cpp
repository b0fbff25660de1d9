// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/port_bits.hpp"

#include "model/unit/arc_unit.hpp"

namespace warpfold::systemc {

static_assert(kReadPorts == kBanks);

AddressBits pack_addresses(const std::array<Address, kLanes>& addresses) {
  AddressBits bits;
  for (int lane = 0; lane < kLanes; ++lane) {
    bits.range(kAddrWidth * lane + kAddrWidth - 1, kAddrWidth * lane) =
        addresses[static_cast<std::size_t>(lane)] & kAddrMask;
  }
  return bits;
}

std::array<Address, kLanes> unpack_addresses(const AddressBits& bits) {
  std::array<Address, kLanes> addresses{};
  for (int lane = 0; lane < kLanes; ++lane) {
    addresses[static_cast<std::size_t>(lane)] =
        bits.range(kAddrWidth * lane + kAddrWidth - 1, kAddrWidth * lane).to_uint64();
  }
  return addresses;
}

std::array<std::uint8_t, kLanes> unpack_bins(const BinBits& bits) {
  std::array<std::uint8_t, kLanes> bins{};
  for (int lane = 0; lane < kLanes; ++lane) {
    bins[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(
        bits.range(kBinWidth * lane + kBinWidth - 1, kBinWidth * lane).to_uint());
  }
  return bins;
}

ReadBits read_data(unsigned read_lanes, LaneMask lanes, const Operand& operand) {
  ArcUnit::Ports ports;
  ports.read_lanes = read_lanes;
  UnitInputs answer;
  answer_read(answer, ports, lanes, operand);
  ReadBits bits;
  for (int port = 0; port < static_cast<int>(read_lanes); ++port) {
    bits.range(kWordWidth * port + kWordWidth - 1, kWordWidth * port) =
        answer.rf_data[static_cast<std::size_t>(port)];
  }
  return bits;
}

BinBits read_bins(const Operand& operand) {
  BinBits bits;
  for (int lane = 0; lane < kLanes; ++lane) {
    bits.range(kBinWidth * lane + kBinWidth - 1, kBinWidth * lane) =
        std::uint32_t{exponent_bin(operand[static_cast<std::size_t>(lane)])};
  }
  return bits;
}

}  // namespace warpfold::systemc
