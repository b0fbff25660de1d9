// SPDX-License-Identifier: Apache-2.0
// The golden serial unit, but for what HOSTILE in the environment says that it does in its cycle
// 1000, or where another place is named.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/unit/golden_words.hpp"
#include "model/unit/unit_library.hpp"

namespace {

using namespace warpfold;

std::string_view hostile() {
  const char* const what = std::getenv("HOSTILE");
  return what == nullptr ? "" : what;
}

[[noreturn]] void wait_for_ever() {
  for (;;) {
    ::pause();
  }
}

// A process that nobody waits for, in a session of its own.
void leave_process() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      wait_for_ever();
    }
    ::_exit(0);
  }
}

// What a file of results may be called.
void write_over(const char* path) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const std::string_view text = "{\"schema\": \"warpfold.contract/1\", \"kept\": true}\n";
  if (file >= 0) {
    static_cast<void>(!::write(file, text.data(), text.size()));
    ::close(file);
  }
}

void act() {
  const std::string_view what = hostile();
  if (what == "exits") {
    std::exit(0);
  } else if (what == "exits at once") {
    ::_exit(0);
  } else if (what == "crashes") {
    ::raise(SIGSEGV);
  } else if (what == "aborts") {
    std::abort();
  } else if (what == "throws") {
    throw std::runtime_error("of no use");
  } else if (what == "throws a number") {
    throw 7;
  } else if (what == "hangs") {
    wait_for_ever();
  } else if (what == "turns") {
    volatile bool turning = true;
    while (turning) {
    }
  } else if (what == "stops") {
    ::raise(SIGSTOP);
  } else if (what == "eats memory") {
    constexpr std::size_t kPiece = std::size_t{16} << 20U;
    for (;;) {
      std::memset(::operator new(kPiece), 1, kPiece);
      ::usleep(1000);
    }
  } else if (what == "forks") {
    static_cast<void>(!::fork());
  } else if (what == "leaves a process") {
    leave_process();
  } else if (what == "begins processes") {
    for (int i = 0; i < 1000; ++i) {
      leave_process();
    }
    wait_for_ever();
  } else if (what == "writes over the results") {
    write_over(std::getenv("RESULTS"));
    std::exit(0);
  } else if (what == "goes on writing") {
    if (::fork() == 0) {
      for (;;) {
        write_over(std::getenv("RESULTS"));
        ::usleep(1000);
      }
    }
  }
}

class Hostile final : public ArcUnit {
 public:
  Hostile() {
    if (hostile() == "throws as it is made") {
      throw std::runtime_error("not today");
    }
  }
  ~Hostile() override {
    if (hostile() == "exits as it goes") {
      std::exit(0);
    }
  }
  void reset() override { unit_.reset(); }
  UnitOutputs tick(const UnitInputs& inputs) override {
    if (cycle_++ == 1000) {
      act();
    }
    return unit_.tick(inputs);
  }
  [[nodiscard]] Ports ports() const override { return unit_.ports(); }
  [[nodiscard]] bool busy() const override { return unit_.busy(); }

 private:
  GoldenUnitOf<UnitKind::kSerial> unit_{UnitKind::kSerial};
  int cycle_ = 0;
};

ArcUnit* make() {
  return hostile() == "returns null" ? nullptr : new Hostile;
}

struct Loading {
  Loading() {
    if (hostile() == "exits as it is loaded") {
      std::exit(0);
    }
    if (hostile() == "hangs as it is loaded") {
      wait_for_ever();
    }
  }
} const loading;

}  // namespace

WARPFOLD_UNIT_LIBRARY(warpfold::unit_declaration(warpfold::UnitKind::kSerial), make())
