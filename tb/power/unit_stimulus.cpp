// SPDX-License-Identifier: Apache-2.0
// Prints what the input ports of arc_subcore see while the lanes of a trace go through the unit:
// one line of hexadecimal digits for each cycle, for $readmemh. From the most significant bit on:
// rf_bin_i, rf_data_i (as wide as the kind reads), rf_ready_i, lsu_room_i, req_words_i, req_tag_i,
// req_addr_i, req_mask_i, req_valid_i.
//
//   unit_stimulus TRACE.wft KIND CYCLES STALL [SCHEDULER]
//
// STALL is the share of cycles in which the memory queue has no room, as of regress_trace(). The
// golden unit answers; each event of the trace becomes the requests that it was on the GPU.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "model/unit/lockstep.hpp"

namespace warpfold {
namespace {

constexpr int kAddrBits = 48;
constexpr int kTagBits = 12;
constexpr int kBinBits = 5;
constexpr int kWordBits = 4;

struct Enough {};

// The golden unit, with a record of its inputs in the cycles in which it is clocked.
class RecordingUnit : public ArcUnit {
 public:
  RecordingUnit(UnitKind kind, const char* scheduler, std::uint64_t cycles)
      : unit_(make_unit(UnitModel::kGolden, kind, scheduler)), kind_(kind), left_(cycles) {}

  void reset() override { unit_->reset(); }
  Ports ports() const override { return unit_->ports(); }
  bool busy() const override { return unit_->busy(); }
  UnitOutputs tick(const UnitInputs& inputs) override {
    print(inputs);
    if (--left_ == 0) {
      throw Enough();
    }
    return unit_->tick(inputs);
  }

 private:
  void add(std::uint64_t value, int width) {
    for (int bit = 0; bit < width; ++bit) {
      bits_.push_back(static_cast<char>(value >> bit & 1));
    }
  }

  void print(const UnitInputs& inputs) {
    bits_.clear();
    add(inputs.req_valid ? 1 : 0, 1);
    add(inputs.req_mask, kLanes);
    for (const Address address : inputs.req_addr) {
      add(address, kAddrBits);
    }
    add(inputs.req_tag, kTagBits);
    add(inputs.req_words - 1, kWordBits);
    add(inputs.lsu_room ? 1 : 0, 1);
    add(inputs.rf_ready ? 1 : 0, 1);
    for (std::uint32_t i = 0; i < unit_->ports().read_lanes; ++i) {
      add(inputs.rf_data[i], 32);
    }
    for (const std::uint8_t bin : inputs.rf_bins) {
      add(bin, kBinBits);
    }
    bits_.resize((bits_.size() + 3) / 4 * 4);
    std::string line;
    for (std::size_t i = bits_.size(); i > 0; i -= 4) {
      line += "0123456789abcdef"[bits_[i - 1] << 3 | bits_[i - 2] << 2 | bits_[i - 3] << 1 |
                                 bits_[i - 4]];
    }
    std::puts(line.c_str());
  }

  std::unique_ptr<ArcUnit> unit_;
  UnitKind kind_;
  std::uint64_t left_;
  std::vector<char> bits_;  // from the lowest
};

int run(const char* trace, const char* kind, const char* cycles, const char* stall,
        const char* scheduler) {
  RegressOptions options{.kind = parse_unit_kind(kind), .stall_probability = std::atof(stall)};
  RecordingUnit unit(options.kind, scheduler, std::strtoull(cycles, nullptr, 10));
  options.unit = &unit;
  const trace::Reader reader(trace);
  try {
    const RegressResult result = regress_trace(reader, options);
    std::fprintf(stderr, "unit_stimulus: %s\n",
                 result.passed ? "the trace has fewer cycles" : result.message.c_str());
    return 1;
  } catch (const Enough&) {
    return 0;
  }
}

}  // namespace
}  // namespace warpfold

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fputs("usage: unit_stimulus TRACE.wft KIND CYCLES STALL [SCHEDULER]\n", stderr);
    return 2;
  }
  try {
    return warpfold::run(argv[1], argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unit_stimulus: %s\n", error.what());
    return 2;
  }
}
