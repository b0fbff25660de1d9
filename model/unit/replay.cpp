// SPDX-License-Identifier: Apache-2.0
#include "model/unit/replay.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace warpfold {
namespace {

constexpr const char* kHeading = "warpfold-replay 1";
constexpr std::size_t kLineCycles = 100;

std::string spaced_hex(std::uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), " %llx", static_cast<unsigned long long>(value));
  return text.data();
}

AtomredRequest read_request(std::istringstream& line, Tag& tag) {
  AtomredRequest request;
  line >> std::hex >> tag >> request.mask;
  for (LaneMask rest = request.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    line >> request.addresses[lane] >> request.values[lane];
  }
  return request;
}

// The values of one more word.
bool read_word(std::istringstream& line, AtomredRequest& request) {
  if (request.words() == kMaxWords) {
    return false;
  }
  AtomredRequest::Operand& operand = request.more_words.emplace_back();
  line >> std::hex;
  for (LaneMask rest = request.mask; rest != 0; rest &= rest - 1) {
    line >> operand[static_cast<std::size_t>(std::countr_zero(rest))];
  }
  return true;
}

}  // namespace

void Replay::cycle(const Grants& grants) {
  cycles_.push_back(
      static_cast<std::uint8_t>((grants.room ? kRoom : 0) | (grants.ready ? kReady : 0) |
                                (grants.clocked ? kClocked : 0) | (offered_ ? kOffer : 0)));
  offered_ = false;
}

void Replay::mark_idle() {
  if (!offered_ && places_.back().request != requests_.size()) {
    places_.push_back({.cycle = cycles_.size(), .request = requests_.size()});
  }
}

bool Replay::run(Scoreboard& scoreboard, std::size_t from_place) const {
  const Place place = places_.at(from_place);
  std::size_t request = place.request;
  for (std::size_t i = place.cycle; i < cycles_.size(); ++i) {
    const std::uint8_t bits = cycles_[i];
    // A unit that has been changed may still hold the request before.
    if ((bits & kOffer) != 0) {
      while (!scoreboard.takes_request()) {
        if (!scoreboard.cycle({.room = true, .ready = true})) {
          return false;
        }
      }
      const Tagged& next = requests_[request++];
      if (!scoreboard.offer(next.request, next.tag)) {
        return false;
      }
    }
    if (!scoreboard.cycle({.room = (bits & kRoom) != 0,
                           .ready = (bits & kReady) != 0,
                           .clocked = (bits & kClocked) != 0})) {
      return false;
    }
  }
  while (!scoreboard.idle()) {
    if (!scoreboard.cycle({.room = true, .ready = true})) {
      return false;
    }
  }
  return true;
}

Replay Replay::part(std::size_t from_place) const {
  const Place place = places_.at(from_place);
  Replay part;
  part.requests_.assign(requests_.begin() + static_cast<std::ptrdiff_t>(place.request),
                        requests_.end());
  part.cycles_.assign(cycles_.begin() + static_cast<std::ptrdiff_t>(place.cycle), cycles_.end());
  return part;
}

std::string Replay::text() const {
  std::string text = std::string(kHeading) + "\n";
  std::size_t request = 0;
  std::size_t on_line = 0;
  for (const std::uint8_t bits : cycles_) {
    if ((bits & kOffer) != 0) {
      const auto& [each, tag] = requests_[request++];
      text += (on_line != 0 ? "\nr" : "r") + spaced_hex(tag) + spaced_hex(each.mask);
      for (LaneMask rest = each.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        text += spaced_hex(each.addresses[lane] & kAddrMask) + spaced_hex(each.values[lane]);
      }
      text += "\n";
      for (const AtomredRequest::Operand& operand : each.more_words) {
        text += "w";
        for (LaneMask rest = each.mask; rest != 0; rest &= rest - 1) {
          text += spaced_hex(operand[static_cast<std::size_t>(std::countr_zero(rest))]);
        }
        text += "\n";
      }
      on_line = 0;
    }
    text += on_line == 0 ? "c " : "";
    text.push_back(static_cast<char>('a' + (bits & ~kOffer)));
    if (++on_line == kLineCycles) {
      text += "\n";
      on_line = 0;
    }
  }
  return text + (on_line != 0 ? "\n" : "");
}

Replay Replay::read(std::istream& stream) {
  std::string text;
  if (!std::getline(stream, text) || text != kHeading) {
    throw std::invalid_argument("is no replay: its first line is not '" + std::string(kHeading) +
                                "'");
  }
  Replay replay;
  for (std::size_t number = 2; std::getline(stream, text); ++number) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == "r") {
      Tag tag = 0;
      const AtomredRequest request = read_request(line, tag);
      replay.offer(request, tag & kTagMask);
    } else if (kind == "w" && replay.offered_) {
      if (!read_word(line, replay.requests_.back().request)) {
        line.setstate(std::ios::failbit);
      }
    } else if (kind == "c") {
      std::string letters;
      line >> letters;
      for (const char letter : letters) {
        if (letter < 'a' || letter > 'h') {
          line.setstate(std::ios::failbit);
          break;
        }
        const int bits = letter - 'a';
        replay.cycle({.room = (bits & kRoom) != 0,
                      .ready = (bits & kReady) != 0,
                      .clocked = (bits & kClocked) != 0});
      }
    } else {
      line.setstate(std::ios::failbit);
    }
    if (line.fail()) {
      throw std::invalid_argument("line " + std::to_string(number) + " is no line of a replay");
    }
  }
  return replay;
}

}  // namespace warpfold
