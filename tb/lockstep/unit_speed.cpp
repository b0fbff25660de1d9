// SPDX-License-Identifier: Apache-2.0
// Prints nanoseconds per cycle of both units: accumulating with a request held, taking plain REDs
// of scattered addresses, and idle; what a unit costs to make; and lockstep cycles per second.
// Times are of the processor, so that other work on the machine disturbs them less.
#include <cstdio>
#include <ctime>
#include <vector>

#include "model/unit/lockstep.hpp"

namespace {

using warpfold::ArcUnit;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double seconds_since(double start) {
  return cpu_seconds() - start;
}

template <typename Tick>
void report(const char* what, int cycles, Tick tick) {
  const double start = cpu_seconds();
  for (int i = 0; i < cycles; ++i) {
    tick();
  }
  std::printf("  %-36s %8.1f ns/cycle\n", what, seconds_since(start) / cycles * 1e9);
}

void measure(warpfold::UnitModel model, int cycles) {
  std::printf("%s\n", std::string(warpfold::unit_model_name(model)).c_str());
  constexpr int kUnits = 512;
  const double start = cpu_seconds();
  std::vector<std::unique_ptr<ArcUnit>> units;
  for (int i = 0; i < kUnits; ++i) {
    units.push_back(warpfold::make_unit(model, warpfold::UnitKind::kSerial));
  }
  std::printf("  %-36s %8.1f us/unit\n", "construction", seconds_since(start) / kUnits * 1e6);

  warpfold::UnitInputs in;
  std::uint64_t sink = 0;
  auto tick = [&](ArcUnit& unit) {
    const warpfold::UnitOutputs out = unit.tick(in);
    if (out.rf_valid) {
      in.rf_data.fill(0x3f800000U);
    }
    sink += out.lsu_data + out.lsu_mask;
    return out;
  };

  ArcUnit& unit = *units.front();
  report("idle", cycles, [&] { tick(unit); });

  // One request after the other to one address, 32 lanes; the queue takes results only.
  in.req_valid = true;
  in.req_mask = 0xffffffffU;
  in.req_addr.fill(0x7f0000001230);
  in.rf_ready = true;
  int reads = 0;
  report("accumulating, next request held", cycles, [&] {
    in.lsu_room = reads == 32;
    reads = in.lsu_room ? 0 : reads;
    reads += tick(unit).rf_valid ? 1 : 0;
  });

  int next_unit = 0;
  report("the same, 512 units in turn", cycles, [&] {
    in.lsu_room = (next_unit / kUnits) % 33 == 0;
    tick(*units[static_cast<std::size_t>(next_unit++ % kUnits)]);
  });

  unit.reset();
  for (std::size_t lane = 0; lane < warpfold::kLanes; ++lane) {
    in.req_addr[lane] += 4 * lane;
  }
  in.lsu_room = true;
  report("plain REDs, all addresses different", cycles, [&] { tick(unit); });
  std::printf("  (checksum %llx)\n", static_cast<unsigned long long>(sink));
}

void measure_lockstep() {
  const auto rtl = warpfold::make_unit(warpfold::UnitModel::kRtl, warpfold::UnitKind::kSerial);
  const auto golden =
      warpfold::make_unit(warpfold::UnitModel::kGolden, warpfold::UnitKind::kSerial);
  warpfold::Lockstep lockstep(*rtl, *golden, {});
  warpfold::AtomredRequest request;
  warpfold::SplitMix64 random(1);
  const double start = cpu_seconds();
  bool passed = true;
  for (std::uint32_t i = 0; i < 20'000 && passed; ++i) {
    request.mask = static_cast<warpfold::LaneMask>(random.next());
    request.addresses.fill(0x7f0000001230 + 36 * random.below(1000));
    for (std::uint32_t lane = 0; lane < warpfold::kLanes; ++lane) {
      request.values[lane] = warpfold::synthetic_value(0, 0, i, 0, lane);
    }
    passed = lockstep.send(request);
  }
  const auto cycles = static_cast<double>(lockstep.counts().cycles);
  std::printf("lockstep: %.0f cycles/s over %.0f cycles %s\n", cycles / seconds_since(start),
              cycles, lockstep.message().c_str());
}

}  // namespace

int main() {
  measure(warpfold::UnitModel::kGolden, 20'000'000);
  measure(warpfold::UnitModel::kRtl, 2'000'000);
  measure_lockstep();
}
