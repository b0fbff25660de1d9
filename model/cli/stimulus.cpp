// SPDX-License-Identifier: Apache-2.0
// warpfold stimulus, which the tools run: prints what the input ports of arc_subcore see while the
// lanes of a trace go through the unit: one line of hexadecimal digits for each cycle, for
// $readmemh. From the most significant bit on: rf_bin_i, rf_data_i (as wide as the kind reads),
// rf_ready_i, lsu_room_i, req_words_i, req_tag_i, req_addr_i, req_mask_i, req_valid_i.
//
// The stall is the share of cycles in which the memory queue has no room; reads are refused in half
// as many. The golden unit of the kind answers, or the unit of the shared object
// (unit_library.hpp), which keeps any timing; each event of the trace becomes the requests that it
// was on the GPU.

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/cli/apart.hpp"
#include "model/cli/command.hpp"
#include "model/unit/lockstep.hpp"
#include "model/unit/scoreboard.hpp"
#include "model/unit/trace_requests.hpp"
#include "model/unit/unit_library.hpp"

namespace warpfold::cli {
namespace {

constexpr int kAddrBits = 48;
constexpr int kTagBits = 12;
constexpr int kBinBits = 5;
constexpr int kWordBits = 4;

struct Enough {};

// A unit with a record of its inputs in the cycles in which it is clocked.
class RecordingUnit : public ArcUnit {
 public:
  RecordingUnit(std::unique_ptr<ArcUnit> unit, std::uint64_t cycles)
      : unit_(std::move(unit)), left_(cycles) {}

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
  std::uint64_t left_;
  std::vector<char> bits_;  // from the lowest
};

// The sub-core around a unit: it holds requests, grants at random, and says when a rule is broken.
class Surroundings {
 public:
  Surroundings(ArcUnit& unit, const UnitDeclaration& declaration, double stall)
      : unit_(unit),
        scoreboard_(unit, declaration),
        first_tag_(SplitMix64::mix(kSeed + 3)),
        random_(SplitMix64::mix(kSeed)),
        room_(SplitMix64::mix(kSeed + 1), stall),
        ready_(SplitMix64::mix(kSeed + 2), stall / 2) {}

  // A request after a random gap, until the unit has taken it.
  void send(const AtomredRequest& request) {
    if (random_.chance(0.25)) {
      for (auto gap = 1 + random_.below(random_.below(16) == 0 ? 64 : 8); gap > 0; --gap) {
        cycle();
      }
    }
    demand(scoreboard_.offer(request, next_tag()));
    while (!scoreboard_.takes_request()) {
      cycle();
    }
  }

 private:
  static constexpr std::uint64_t kSeed = 1;

  // Its low bits are a place, of which each has its turn as soon as its last request has left.
  Tag next_tag() {
    const std::uint64_t count = scoreboard_.counts().requests;
    for (std::uint64_t i = 0; i < tags_.size(); ++i) {
      const std::uint64_t place = (count + i) % tags_.size();
      std::optional<Tag>& tag = tags_[place];
      if (!tag || scoreboard_.free_tag(*tag) == *tag) {
        tag = static_cast<Tag>(((first_tag_ + count) * tags_.size() + place) & kTagMask);
        return *tag;
      }
    }
    return scoreboard_.free_tag(first_tag_ + count);  // deeper than there are places
  }

  void cycle() {
    Grants grants{.room = room_.next_ready(), .ready = ready_.next_ready()};
    if (scoreboard_.takes_request() && !unit_.busy()) {
      grants.clocked = random_.next() >> 63 != 0;  // no lane is in the unit
    }
    demand(scoreboard_.cycle(grants));
  }
  void demand(bool right) const {
    if (!right) {
      throw std::runtime_error(scoreboard_.rule() + ": " + scoreboard_.message());
    }
  }

  ArcUnit& unit_;
  Scoreboard scoreboard_;
  std::uint64_t first_tag_;  // so that short runs move the upper bits as well
  std::array<std::optional<Tag>, 8> tags_;
  SplitMix64 random_;
  BackPressure room_;
  BackPressure ready_;
};

struct StimulusArguments {
  std::string trace;
  std::string unit;
  std::uint64_t cycles = 0;
  double stall = 0;
  std::string scheduler;
};

bool is_library(const std::string& unit) {
  return unit.ends_with(".so");
}

int print_stimulus(const StimulusArguments& arguments, const Apart& apart) {
  std::optional<UnitLibrary> library;
  UnitDeclaration declaration;
  std::unique_ptr<ArcUnit> made;
  if (is_library(arguments.unit)) {
    library.emplace(arguments.unit, apart.pulse());
    declaration = library->declaration();
    made = library->make();
  } else {
    const UnitKind kind = parse_unit_kind(arguments.unit);
    declaration = unit_declaration(kind);
    made = make_unit(UnitModel::kGolden, kind, arguments.scheduler);
  }
  RecordingUnit recorded(std::move(made), arguments.cycles);
  Surroundings around(recorded, declaration, arguments.stall);
  const trace::Reader reader(arguments.trace);
  RequestVisitor visitor;
  visitor.request = [&around](const AtomredRequest& request, const RequestPlace&) {
    around.send(request);
    return true;
  };
  try {
    visit_requests(reader, {.words = declaration.ports.max_words, .type = declaration.promise.adds},
                   visitor);
  } catch (const Enough&) {
    return kDone;
  }
  throw UsageError(arguments.trace + ": has fewer cycles");
}

int run_stimulus(const StimulusArguments& arguments) {
  if (!is_library(arguments.unit)) {
    return print_stimulus(arguments, Apart());
  }
  ApartLimits limits;
  limits.unit = arguments.unit;
  return finish_apart(
      run_apart(limits, [&](const Apart& apart) { return print_stimulus(arguments, apart); }));
}

}  // namespace

void add_stimulus(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<StimulusArguments>();
  CLI::App* stimulus = app.add_subcommand(
      "stimulus", "Print what the inputs of a unit see while a trace goes through");
  stimulus->group("");  // for the tools
  stimulus->add_option("TRACE", arguments->trace, "Warp atomic trace (.wft) with values")
      ->required();
  stimulus->add_option("UNIT", arguments->unit, "Kind, or a unit as a shared object")->required();
  stimulus->add_option("CYCLES", arguments->cycles, "Lines to print")
      ->required()
      ->check(CLI::PositiveNumber);
  stimulus
      ->add_option("STALL", arguments->stall, "Share of cycles without room in the memory queue")
      ->required()
      ->check(CLI::Range(0.0, 1.0));
  stimulus->add_option("SCHEDULER", arguments->scheduler, "Rule of the scheduler");
  stimulus->callback(
      [arguments, &command] { command = [arguments] { return run_stimulus(*arguments); }; });
}

}  // namespace warpfold::cli
