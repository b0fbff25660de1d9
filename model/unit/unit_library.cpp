// SPDX-License-Identifier: Apache-2.0
#include "model/unit/unit_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace warpfold {
namespace {

void check(const std::string& path, const UnitLibraryTable& table) {
  const UnitLibraryTable ours;
  if (table.version != ours.version || table.inputs_size != ours.inputs_size ||
      table.outputs_size != ours.outputs_size || table.declaration_size != ours.declaration_size ||
      table.make == nullptr) {
    throw std::runtime_error(path + ": made for another version of warpfold; make it anew");
  }
  const ArcUnit::Ports& ports = table.declaration.ports;
  if (!std::has_single_bit(ports.read_lanes) || ports.read_lanes > kMostReadLanes ||
      !std::has_single_bit(ports.operands) || ports.operands > kTagMask) {
    throw std::runtime_error(path + ": read_lanes and operands are powers of two, at most " +
                             std::to_string(kMostReadLanes) + " and " +
                             std::to_string(kTagMask / 2 + 1));
  }
}

// Tells a process from one that was forked of it while a unit's code ran.
class Fork {
 public:
  Fork() {
    void* const page =
        ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && ::madvise(page, kPage, MADV_WIPEONFORK) == 0) {
      mark_ = static_cast<volatile char*>(page);
      *mark_ = 1;
    } else if (page != MAP_FAILED) {
      ::munmap(page, kPage);
    }
  }
  ~Fork() {
    if (mark_ != nullptr) {
      ::munmap(const_cast<char*>(mark_), kPage);
    }
  }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  [[nodiscard]] bool happened() const {
    return mark_ != nullptr ? *mark_ == 0 : ::getpid() != process_;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  volatile char* mark_ = nullptr;
  pid_t process_ = ::getpid();
};

// One process goes on, and tells of the other.
void end_fork(UnitPulse::Beat* beat, const Fork& fork, std::uint64_t cycles) {
  if (fork.happened()) {
    if (beat != nullptr) {
      beat->forked = 1 + cycles;
    }
    ::_exit(0);
  }
}

// Calls code of somebody else. `of`: what the error begins with.
template <typename Of, typename Call>
auto call(UnitPulse::Beat* beat, const Fork& fork, const Of& of, Call code,
          std::uint64_t cycles = 0) {
  try {
    const InsideUnit inside(beat);
    if constexpr (std::is_void_v<decltype(code())>) {
      code();
      end_fork(beat, fork, cycles);
    } else {
      auto result = code();
      end_fork(beat, fork, cycles);
      return result;
    }
  } catch (const std::exception& error) {
    throw UnitError(of() + error.what());
  } catch (...) {
    throw UnitError(of() + "threw what is no std::exception");
  }
}

class GuardedUnit final : public ArcUnit {
  // In front, for the type that it returns.
  template <typename Call>
  auto guarded(Call code) const {
    return call(
        beat_, fork_, [this] { return path_ + ": in its cycle " + std::to_string(cycles_) + ": "; },
        code, cycles_);
  }

 public:
  GuardedUnit(const std::string& path, UnitPulse* pulse, ArcUnit* (*make)())
      : path_(path), beat_(pulse != nullptr ? &pulse->next_beat() : nullptr) {
    const auto of = [this] { return path_ + ": cannot be made: "; };
    unit_ = call(beat_, fork_, of, make);
    if (unit_ == nullptr) {
      throw UnitError(of() + "make() returned null");
    }
    ports_ = call(beat_, fork_, of, [this] { return unit_->ports(); });
  }
  ~GuardedUnit() override {
    const InsideUnit inside(beat_);
    delete unit_;
  }
  GuardedUnit(const GuardedUnit&) = delete;
  GuardedUnit& operator=(const GuardedUnit&) = delete;

  void reset() override {
    guarded([this] { unit_->reset(); });
  }
  UnitOutputs tick(const UnitInputs& inputs) override {
    const UnitOutputs out = guarded([&] { return unit_->tick(inputs); });
    ++cycles_;
    if (beat_ != nullptr) {
      beat_->cycles.store(cycles_, std::memory_order_relaxed);
    }
    return out;
  }
  [[nodiscard]] Ports ports() const override { return ports_; }
  [[nodiscard]] bool busy() const override {
    return guarded([this] { return unit_->busy(); });
  }

 private:
  std::string path_;
  UnitPulse::Beat* beat_;
  Fork fork_;
  ArcUnit* unit_ = nullptr;
  Ports ports_;
  std::uint64_t cycles_ = 0;
};

}  // namespace

UnitLibrary::UnitLibrary(const std::string& path, UnitPulse* pulse) : path_(path), pulse_(pulse) {
  // A name without a folder would be looked for where libraries of the system are.
  const std::string file = std::filesystem::absolute(path).string();
  const Fork fork;
  const auto of = [&] { return path + ": "; };
  UnitPulse::Beat* const beat = pulse != nullptr ? &pulse->beats.front() : nullptr;
  handle_ = call(beat, fork, of, [&] { return ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); });
  if (handle_ == nullptr) {
    throw std::runtime_error(::dlerror());
  }
  using Entry = const UnitLibraryTable* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(handle_, "warpfold_unit"));
  try {
    if (entry == nullptr) {
      throw std::runtime_error(path + ": has no unit (no function warpfold_unit)");
    }
    table_ = call(beat, fork, of, entry);
    if (table_ == nullptr) {
      throw std::runtime_error(path + ": has no unit (warpfold_unit returned null)");
    }
    check(path, *table_);
  } catch (...) {
    close();
    throw;
  }
}

std::unique_ptr<ArcUnit> UnitLibrary::make() const {
  return std::make_unique<GuardedUnit>(path_, pulse_, table_->make);
}

void UnitLibrary::close() {
  const InsideUnit inside(pulse_ != nullptr ? &pulse_->beats.front() : nullptr);
  ::dlclose(handle_);
}

UnitLibrary::~UnitLibrary() {
  close();
}

}  // namespace warpfold
