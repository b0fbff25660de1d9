// SPDX-License-Identifier: Apache-2.0
// What a launch did, in short, between reading it and writing the trace: the header of a trace
// comes first, and what stands in it is only known when all has been read. The input may be a pipe,
// so it is not read again. The file has no name, and is gone with whoever has it open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "traces/import/accelsim/runs.hpp"
#include "traces/import/accelsim/ways.hpp"

namespace warpfold::accelsim {

enum class SpillKind : std::uint8_t { kEnd, kCta, kWarp, kBarrier, kWork, kEvent, kAccess, kWait };

// A memory instruction of a warp.
struct SpilledAccess {
  std::uint32_t mask = 0;
  std::vector<std::uint64_t> sectors;
};

struct SpillItem {
  SpillKind kind = SpillKind::kEnd;
  std::uint64_t number = 0;  // of the CTA, the warp, the path, the run or the memory instruction
  std::uint32_t count = 0;   // kWork: passes
  RunEvent event;            // kEvent
  SpilledAccess access;      // kAccess
};

class Spill {
 public:
  // The file lies in the folder. Throws trace::TraceError, as the others do, where that cannot be.
  explicit Spill(const std::filesystem::path& folder);
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  void cta(std::uint64_t cta) { put(SpillKind::kCta, cta); }
  void warp(std::uint64_t warp) { put(SpillKind::kWarp, warp); }
  void barrier();
  void work(PathPasses passes);
  void event(RunIndex run, const RunEvent& event);
  void access(std::uint16_t site, const SpilledAccess& access);
  void wait(std::uint16_t site) { put(SpillKind::kWait, site); }
  // Ends writing; then next() gives what was written, with kEnd at the end.
  void rewind();
  // The event of `item` has the addresses of `length` instructions.
  void next(SpillItem& item, const Runs& runs);
  // How much of it next() has given, 0 to 1.
  [[nodiscard]] double done() const;

 private:
  struct Codec;
  void put(SpillKind kind, std::uint64_t number);
  void put_number(std::uint64_t number);
  void put_step(std::uint64_t from, std::uint64_t to);
  std::uint64_t take_number();
  std::uint64_t take_step(std::uint64_t from);
  void flush_work();
  void flush(bool last);
  void refill();
  void put_lanes(const RunEvent& event, std::size_t member, std::size_t lanes);
  void take_lanes(RunEvent& event, std::size_t member, std::size_t lanes);
  std::vector<std::uint64_t>& last_addresses(RunIndex run, std::size_t length);
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path folder_;
  int fd_ = -1;
  std::unique_ptr<Codec> codec_;
  std::string bytes_;
  std::size_t at_ = 0;
  std::uint64_t stored_ = 0;  // bytes of the file
  std::uint64_t read_ = 0;
  PathPasses pending_;
  // By run and instruction: the first lane's address in the event before.
  std::vector<std::vector<std::uint64_t>> last_;
  std::uint64_t last_sector_ = 0;
};

}  // namespace warpfold::accelsim
