// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/port_bits.hpp"

namespace warpfold::systemc {

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

template <UnitKind kKind>
ReadData<kKind> read_data(LaneMask lanes, const Operand& operand) {
  UnitInputs answer;
  answer_read(answer, kKind, lanes, operand);
  if constexpr (read_lanes(kKind) == 1) {
    return answer.rf_data[0];
  } else {
    ReadData<kKind> bits;
    for (int bank = 0; bank < static_cast<int>(read_lanes(kKind)); ++bank) {
      bits.range(kWordWidth * bank + kWordWidth - 1, kWordWidth * bank) =
          answer.rf_data[static_cast<std::size_t>(bank)];
    }
    return bits;
  }
}

BinBits read_bins(const Operand& operand) {
  BinBits bits;
  for (int lane = 0; lane < kLanes; ++lane) {
    bits.range(kBinWidth * lane + kBinWidth - 1, kBinWidth * lane) =
        std::uint32_t{exponent_bin(operand[static_cast<std::size_t>(lane)])};
  }
  return bits;
}

template ReadData<UnitKind::kSerial> read_data<UnitKind::kSerial>(LaneMask, const Operand&);
template ReadData<UnitKind::kFused> read_data<UnitKind::kFused>(LaneMask, const Operand&);
template ReadData<UnitKind::kVector> read_data<UnitKind::kVector>(LaneMask, const Operand&);
template ReadData<UnitKind::kHalves> read_data<UnitKind::kHalves>(LaneMask, const Operand&);
template ReadData<UnitKind::kPaired> read_data<UnitKind::kPaired>(LaneMask, const Operand&);

}  // namespace warpfold::systemc
