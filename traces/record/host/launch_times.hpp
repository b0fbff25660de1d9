// SPDX-License-Identifier: Apache-2.0
// How long launches took in runs without the recorder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/record/host/launch_key.hpp"
#include "traces/record/host/program.hpp"

namespace warpfold::record {

class LaunchTimes {
 public:
  void begin_run() { runs_.emplace_back(); }
  // A process of the run at hand, and what it says later: a message of the timing library, of some
  // of its launches. Throws trace::TraceError if it is not one.
  void add_process(Peer peer, const ProcessAge& age);
  void add(Peer peer, const std::string& message);
  // The process says no more.
  void end_process(Peer peer);

  // The times of a launch as a trace has them: cold, of the first of its key in its process, and
  // warm, of later ones. That of the launch itself comes first. None where no run is like the one
  // that was recorded; `why` says what differs.
  [[nodiscard]] std::vector<trace::VariantTime> of(const LaunchPlace& place,
                                                   std::string& why) const;

 private:
  using Milliseconds = double;
  struct Launch {
    std::uint64_t call = 0;   // number of the call of the driver that made it
    std::uint64_t begin = 0;  // on the GPU
    LaunchKey key = {};
    Milliseconds took = 0;
  };
  std::vector<RunLaunches<Milliseconds>> runs_;
  std::map<Peer, std::pair<ProcessAge, std::vector<Launch>>> open_;
  double clock_mhz_ = 0;
};

}  // namespace warpfold::record
