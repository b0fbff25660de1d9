// SPDX-License-Identifier: Apache-2.0
// Runs of additions, and the sites that they become. An addition's addresses are not kept for that:
// what is known of each instruction of a run is its first and lowest address, the step between its
// addresses, and a number that tells whether they are a straight line in those of another.
//
// That number is the sum of all its differences from the first address, each times a factor that is
// the same for all instructions of a run and else arbitrary, modulo a prime. Of two instructions on
// one line the sums are as the steps; of two others they are so by chance once in 2^61.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "traces/format/trace.hpp"
#include "traces/import/accelsim/instruction.hpp"

namespace warpfold::accelsim {

using RunIndex = std::uint32_t;

// Parameters of a site, which the format allows.
constexpr std::uint32_t kMostParameters = 256;

// Additions of one run, once: addresses by instruction, then by active lane from the lowest.
struct RunEvent {
  std::uint32_t mask = 0;
  std::vector<std::uint64_t> addresses;
  // Whether each instruction has one address for all lanes.
  [[nodiscard]] bool is_uniform() const;
};

// Additions of a run by the same rule.
struct RunSite {
  std::vector<std::size_t> members;  // their places in the run, from the lowest
  std::uint64_t base = 0;            // lowest address of the first
  std::uint64_t stride = 0;          // of the first
  std::uint16_t site = 0;
};

class Runs {
 public:
  explicit Runs(const Code& code) : code_(code) {}

  // Throws std::runtime_error where there are more than a trace can have.
  RunIndex find(const std::vector<InstructionId>& instructions);
  // `event` is one of that run.
  void add(RunIndex run, const RunEvent& event);
  [[nodiscard]] std::size_t length(RunIndex run) const { return runs_[run].ids.size(); }

  struct Sites {
    std::vector<trace::Site> sites;
    std::vector<std::vector<RunSite>> runs;  // for each run, in the order of issue
  };
  // Of all events so far. Throws std::runtime_error where the addresses of one instruction are not
  // those of an array, or lie too far apart for a trace.
  [[nodiscard]] Sites sites() const;

 private:
  // How the addresses of an instruction vary.
  struct Spread {
    std::uint64_t first = 0;
    std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t highest = 0;
    std::uint64_t step = 0;  // greatest that all differences are multiples of; 0: there are none
    std::uint64_t line = 0;  // the sum
    void add(std::uint64_t address, std::uint64_t factor);
  };
  struct Run {
    std::vector<InstructionId> ids;
    std::vector<Spread> spreads;
    std::uint64_t additions = 0;  // that the sums are of
  };

  [[nodiscard]] const Instruction& instruction(const Run& run, std::size_t member) const {
    return code_[run.ids[member]];
  }
  [[nodiscard]] RunSite together(const Run& run, std::size_t lead,
                                 const std::vector<bool>& done) const;
  [[nodiscard]] trace::Site site_of(const Run& run, const RunSite& place) const;
  [[nodiscard]] static bool is_sound(const trace::Site& site);

  const Code& code_;
  std::map<std::vector<InstructionId>, RunIndex> index_;
  std::vector<Run> runs_;
};

}  // namespace warpfold::accelsim
