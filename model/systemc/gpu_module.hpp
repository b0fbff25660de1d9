// SPDX-License-Identifier: Apache-2.0
// The GPU as a SystemC module: one component among others of a platform, which may bring the memory
// behind the GPU's L2, or the L2, and a host that launches traces. docs/systemc.md shows how.
//
//   bind       sockets `memory` or `l2`, all of them, where the options say that they are there;
//              `host`, `running` and `done` where somebody wants them
//   launch     launch(), or the registers behind `host`: at any time, one launch after the other
//   wait       `done` rises when the launch is over
//   read       result(); memory behind the sockets holds the sums
//
// Touches nothing that is not its own: no quantum, no resolution, no report actions, no sc_stop.
// What is wrong is reported with SC_ERROR under "/warpfold/gpu/...". C++17.
//
// Time: a cycle is period(), the machine's to SystemC's resolution, which must hold it to half of
// 1/256; from 1 fs on parts of 1/256 of a cycle, in which the GPU counts, are exact. Cycle 1 begins
// with the launch.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

namespace warpfold {
struct RunResult;
}

namespace warpfold::systemc {

class GpuRegisters;

enum class CodingStyle : std::uint8_t {
  kLooselyTimed,        // b_transport, ahead of SystemC's time by the global quantum at most
  kApproximatelyTimed,  // nb_transport, in step with it
};

struct GpuOptions {
  std::string machine = "rtx4090";       // a name, or a file that ends in .toml
  std::vector<std::string> overrides{};  // "l2.dram_latency=100"
  std::string unit = "golden";           // or "rtl"
  std::string unit_kind = "serial";
  // What lies outside. Not both.
  bool memory = false;  // behind each port of the L2: sockets `memory`
  bool l2 = false;      // the L2: sockets `l2`
  CodingStyle style = CodingStyle::kLooselyTimed;
  // Where the GPU's memory lies at the sockets: addresses of the trace, modulo `bytes`, a power of
  // two, behind `base`. A launch of which two arrays would fall together is refused.
  std::uint64_t base = 0;
  std::uint64_t bytes = std::uint64_t{1} << 48U;
  // Of an L2 outside: cycles from its response until the warp has it; 0: as many as there.
  unsigned way_back = 0;
};

// Registers behind `host`, of 64 bits each: read and written by 4 or 8 bytes, in zero time.
enum class GpuRegister : std::uint32_t {
  kId = 0x00,        // read: 0x444c4657, "WFLD"
  kControl = 0x08,   // write: 1 launches, 2 resets
  kStatus = 0x10,    // read: GpuStatus
  kTrace = 0x18,     // where the path of the trace lies, in the text below
  kPolicy = 0x20,    // the same with the name of the policy
  kCycles = 0x28,    // read: of the last launch, or so far
  kLaunches = 0x30,  // read: those that are over
};
// Text for them, which ends with a zero byte: 4 KiB, read and written by bytes. After a failure the
// upper half says why.
inline constexpr std::uint64_t kGpuText = 0x1000;
inline constexpr std::uint64_t kGpuTextBytes = 0x1000;
inline constexpr std::uint64_t kGpuFailureText = 0x1800;
// Behind this the GPU's memory, by address: for transport_dbg, and for DMI where what lies at the
// sockets grants that.
inline constexpr std::uint64_t kGpuMemory = std::uint64_t{1} << 48U;

enum class GpuStatus : std::uint8_t { kIdle, kRunning, kDone, kFailed };

// What a launch came to.
struct GpuResult {
  std::string trace, policy, machine;
  std::uint64_t cycles = 0;
  bool sums_match = false;
  std::string failure;  // the first check that failed, or nothing
  // Instructions, transactions, lanes by route, busy cycles: by the names of a results file.
  std::vector<std::pair<std::string, std::uint64_t>> counters;
};

class GpuModule : public sc_core::sc_module {
 public:
  // One for each port of the L2; none where the options do not say so.
  sc_core::sc_vector<tlm::tlm_initiator_socket<>> memory;
  sc_core::sc_vector<tlm::tlm_initiator_socket<>> l2;
  // May be left unbound.
  tlm_utils::simple_target_socket_optional<GpuRegisters> host{"host"};
  sc_core::sc_export<sc_core::sc_signal_in_if<bool>> running{"running"};
  sc_core::sc_export<sc_core::sc_signal_in_if<bool>> done{"done"};  // until the next launch

  GpuModule(const sc_core::sc_module_name& name, const GpuOptions& options);
  ~GpuModule() override;

  // From any process, or before the simulation starts: a trace under a policy, `after` now. Throws
  // std::runtime_error with one line where that cannot be run, or where a launch is running.
  void launch(const std::string& trace, const std::string& policy,
              const sc_core::sc_time& after = sc_core::SC_ZERO_TIME);
  // Ends a launch where it is. What is under way at the sockets comes to its end first.
  void reset();

  [[nodiscard]] GpuStatus status() const;
  // The last launch has come to its end, well or not: `done` is high, or about to be.
  [[nodiscard]] bool finished() const { return status() >= GpuStatus::kDone; }
  // Of it. Throws std::logic_error where it has not.
  [[nodiscard]] const GpuResult& result() const;
  // All that it measured: model/outcome/run_result.hpp, which needs C++20.
  [[nodiscard]] const RunResult& run_result() const;

  [[nodiscard]] const sc_core::sc_time& period() const;
  // How far the GPU is ahead of sc_time_stamp().
  [[nodiscard]] sc_core::sc_time local_time() const;
  // Requests under way at a socket, for a waveform.
  [[nodiscard]] const std::uint32_t& under_way(std::size_t port) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

// `running`, `done` and requests under way at each socket, behind `prefix` and a dot. Before the
// simulation starts.
void sc_trace(sc_core::sc_trace_file* file, const GpuModule& gpu, const std::string& prefix);

}  // namespace warpfold::systemc
