// SPDX-License-Identifier: Apache-2.0
#include "model/unit/contract_run.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/unit/request_shapes.hpp"
#include "model/unit/trace_requests.hpp"

namespace warpfold {
namespace {

// Grants of one sort, cycle by cycle. Every sort grants both at once again and again.
class Environment {
 public:
  Environment(std::size_t sort, std::uint64_t seed)
      : sort_(sort),
        random_(SplitMix64::mix(seed + sort)),
        room_(SplitMix64::mix(seed + sort + 101), 0.5),
        ready_(SplitMix64::mix(seed + sort + 202), 0.25) {}

  Grants next(const UnitOutputs& last) {
    ++cycle_;
    Grants grants{.room = true, .ready = true, .clocked = (random_.next() & 1) != 0};
    switch (static_cast<Sort>(sort_)) {
      case Sort::kOpen:
        break;
      case Sort::kRandom:
        grants.room = room_.next_ready();
        grants.ready = ready_.next_ready();
        break;
      case Sort::kRoomPulses:
        grants.room = cycle_ % 7 == 0;
        break;
      case Sort::kReadPulses:
        grants.ready = cycle_ % 5 == 0;
        grants.room = cycle_ % 11 == 0;
        break;
      case Sort::kOpposed:
        grants.room = room_.next_ready();
        grants.ready = !grants.room || random_.below(8) == 0;
        break;
      case Sort::kFullBlocks:
        grants.room = cycle_ % 400 >= 360;
        break;
      case Sort::kFullAfterSend:
        full_ = last.lsu_valid && last_room_ ? 1 + random_.below(12) : full_ - (full_ > 0 ? 1 : 0);
        grants.room = full_ == 0;
        break;
      case Sort::kLateRead:
        asked_ = last.rf_valid && !last_ready_ ? asked_ + 1 : 0;
        grants.ready = asked_ >= 4 || random_.below(16) == 0;
        grants.room = room_.next_ready();
        break;
    }
    last_room_ = grants.room;
    last_ready_ = grants.ready;
    return grants;
  }

 private:
  // In the order of pressures().
  enum class Sort : std::uint8_t {
    kOpen,
    kRandom,
    kRoomPulses,
    kReadPulses,
    kOpposed,
    kFullBlocks,
    kFullAfterSend,
    kLateRead,
  };

  std::size_t sort_;
  SplitMix64 random_;
  BackPressure room_;
  BackPressure ready_;
  std::uint64_t cycle_ = 0;
  std::uint32_t full_ = 0;
  std::uint32_t asked_ = 0;
  bool last_room_ = false;
  bool last_ready_ = false;
};

// One unit behind a scoreboard, driven and recorded.
class Drive {
 public:
  Drive(const ContractOptions& options, std::size_t sort)
      : unit_(options.make_unit()),
        tag_(SplitMix64::mix(options.seed + 3)),
        scoreboard_(*unit_, options.declaration),
        environment_(sort, options.seed),
        random_(SplitMix64::mix(options.seed + 17 * sort + 5)) {}

  bool send(const AtomredRequest& request) {
    if (random_.below(4) == 0) {
      for (auto gap = 1 + random_.below(random_.below(16) == 0 ? 64 : 8); gap > 0; --gap) {
        if (!cycle()) {
          return false;
        }
      }
    }
    tag_ += 0x9e5U;  // an odd step: every tag has its turn, and all bits move
    const Tag tag = scoreboard_.free_tag(tag_);
    replay_.offer(request, tag);
    if (!scoreboard_.offer(request, tag)) {
      return false;
    }
    while (!scoreboard_.takes_request()) {
      if (!cycle()) {
        return false;
      }
    }
    return true;
  }
  bool drain() {
    while (!scoreboard_.idle()) {
      if (!cycle()) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] const Scoreboard& scoreboard() const { return scoreboard_; }
  [[nodiscard]] const Replay& replay() const { return replay_; }

 private:
  bool cycle() {
    const Grants grants = environment_.next(scoreboard_.outputs());
    replay_.cycle(grants);
    const bool right = scoreboard_.cycle(grants);
    if (right && scoreboard_.idle()) {
      replay_.mark_idle();
    }
    return right;
  }

  std::unique_ptr<ArcUnit> unit_;
  std::uint64_t tag_;
  Scoreboard scoreboard_;
  Environment environment_;
  SplitMix64 random_;
  Replay replay_;
};

std::string place_of(const Scoreboard& scoreboard) {
  return "request " + std::to_string(scoreboard.counts().requests) + ", cycle " +
         std::to_string(scoreboard.counts().cycles);
}

std::unique_ptr<ContractFailure> gave_up(const UnitError& error, const Replay& replay) {
  auto failure = std::make_unique<ContractFailure>();
  failure->rule = kKeepsRunning;
  failure->message = error.what();
  failure->replay = replay;
  return failure;
}

// The shortest of some replays that end as the whole does: from one idle place before the end, from
// two, four and so on.
std::unique_ptr<ContractFailure> shorten(const ContractOptions& options, const Replay& whole) {
  for (std::size_t back = 1;; back *= 2) {
    const std::size_t places = whole.idle_places();
    const bool all = back >= places;
    const Replay part = all ? whole : whole.part(places - back);
    std::unique_ptr<ContractFailure> failure = run_replay(options, part, nullptr);
    if (failure || all) {
      return failure;
    }
  }
}

// Runs requests against the unit until `more` gives none; true if all is right.
class Runner {
 public:
  Runner(const ContractOptions& options, ContractResult& result)
      : options_(options), result_(result) {}

  // give(send): calls send for every request, as long as it returns true.
  template <class Give>
  bool run(const std::string& name, std::size_t sort, const Give& give) {
    std::optional<Drive> made;
    try {
      made.emplace(options_, sort);
    } catch (const UnitError& error) {
      result_.failure = gave_up(error, {});
      return false;
    }
    Drive& drive = *made;
    bool right = true;
    std::string error_text;
    try {
      give([&](const AtomredRequest& request) { return right = right && drive.send(request); });
      right = right && drive.drain();
    } catch (const UnitError& error) {
      right = false;
      error_text = error.what();
    }
    result_.parts.push_back({.name = name, .counts = drive.scoreboard().counts()});
    if (right) {
      return true;
    }
    const Scoreboard& scoreboard = drive.scoreboard();
    result_.failure = shorten(options_, drive.replay());
    if (!result_.failure) {
      // A unit that does not do the same twice: what it did is all that there is.
      result_.failure = std::make_unique<ContractFailure>();
      result_.failure->rule = error_text.empty() ? scoreboard.rule() : kKeepsRunning;
      result_.failure->message =
          (error_text.empty() ? scoreboard.message() : error_text) + " (not again in a replay)";
      result_.failure->replay = drive.replay();
    }
    result_.failure->message += "; " + name + ", " + place_of(scoreboard);
    return false;
  }

 private:
  const ContractOptions& options_;
  ContractResult& result_;
};

}  // namespace

const std::vector<Pressure>& pressures() {
  static const std::vector<Pressure> all = {
      {"open", "room in the memory queue and grants of reads in every cycle"},
      {"random", "both at random, in phases"},
      {"room pulses", "room in one cycle of seven"},
      {"read pulses", "reads granted in one cycle of five, room in one of eleven"},
      {"opposed", "reads granted while the queue is full, seldom else"},
      {"full blocks", "the queue full for 360 cycles of 400"},
      {"full after send", "the queue full for up to 12 cycles after every transaction"},
      {"late reads", "reads granted in the fourth cycle that asks, room at random"},
  };
  return all;
}

ContractResult run_contract(const ContractOptions& options) {
  ContractResult result;
  Runner runner(options, result);
  const std::size_t sorts = pressures().size();
  constexpr std::uint64_t kNearZero = 16;  // of so many requests one
  const std::uint64_t share = std::max<std::uint64_t>(options.random_requests / sorts, 1);
  for (std::size_t sort = 0; sort < sorts; ++sort) {
    SplitMix64 random(SplitMix64::mix(options.seed + 1000 + sort));
    const auto give = [&](const auto& send) {
      for (std::uint64_t i = 0; i < share; ++i) {
        AtomredRequest request =
            with_words(random_request(random, Shape::kAny), options.declaration, random);
        if (i % kNearZero == 0) {
          request = near_zero(std::move(request), options.declaration.promise.adds);
        }
        if (!send(request)) {
          return;
        }
      }
    };
    if (!runner.run("random requests, " + std::string(pressures()[sort].name), sort, give)) {
      return result;
    }
    if (options.progress) {
      options.progress(static_cast<double>(sort + 1) / static_cast<double>(sorts));
    }
  }
  constexpr std::size_t kRandom = 1;  // pressure
  for (const trace::Reader* const trace : options.traces) {
    std::uint64_t left = options.recorded_requests;
    const auto give = [&](const auto& send) {
      RequestVisitor visitor;
      visitor.request = [&](const AtomredRequest& request, const RequestPlace&) {
        return left-- > 0 && send(request);
      };
      visit_requests(
          *trace,
          {.words = options.declaration.ports.max_words, .type = options.declaration.promise.adds},
          visitor);
    };
    const std::string name = trace->path().filename().string();
    if (!runner.run(name, kRandom, give)) {
      return result;
    }
  }
  return result;
}

std::unique_ptr<ContractFailure> run_replay(const ContractOptions& options, const Replay& replay,
                                            Scoreboard::Watch watch) {
  try {
    const std::unique_ptr<ArcUnit> unit = options.make_unit();
    Scoreboard scoreboard(*unit, options.declaration, std::move(watch));
    if (replay.run(scoreboard)) {
      return nullptr;
    }
    auto failure = std::make_unique<ContractFailure>();
    failure->rule = scoreboard.rule();
    failure->message = scoreboard.message() + "; in cycle " +
                       std::to_string(scoreboard.counts().cycles) + " of the replay";
    failure->replay = replay;
    return failure;
  } catch (const UnitError& error) {
    return gave_up(error, replay);
  }
}

}  // namespace warpfold
