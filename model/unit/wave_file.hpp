// SPDX-License-Identifier: Apache-2.0
// The ports of one or more arc_subcores over some cycles, as an FST file for GTKWave or Surfer:
// names and widths of the RTL's ports. Cycle N begins with the rising edge at N ns, whatever the
// clock of the machine is, and the ports show from there on what stands at them in it. Owned by the
// command; all in one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/types.hpp"
#include "model/unit/arc_unit.hpp"

namespace warpfold {

// What stands at the ports in one cycle.
struct PortValues {
  UnitInputs inputs;
  UnitOutputs outputs;
};

class WaveFile {
 public:
  // `scopes`: below "top", one for each unit. Throws std::runtime_error where there is no room for
  // scratch files, which lie in the folder for temporary files and have no name there.
  WaveFile(const ArcUnit::Ports& ports, const std::vector<std::string>& scopes);
  WaveFile(const WaveFile&) = delete;
  WaveFile& operator=(const WaveFile&) = delete;
  ~WaveFile();

  // Ports of each scope's unit in that cycle, which lies behind the last one. In cycles between the
  // two they are shown as unknown.
  void add(Cycle cycle, const std::vector<const PortValues*>& ports);
  [[nodiscard]] std::uint64_t cycles() const;
  // The file, once.
  [[nodiscard]] std::string finish();

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace warpfold
