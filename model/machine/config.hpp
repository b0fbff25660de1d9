// SPDX-License-Identifier: Apache-2.0
// One simulated GPU: every parameter of the machine, read once from a TOML file (model/gpus/*.toml)
// and printed whole into every result. Times are in SM clock cycles unless a name says otherwise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "traces/format/printable.hpp"

namespace warpfold {

// Anything wrong with a GPU file or its name: one clear line.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::string_view what) : std::runtime_error(trace::printable(what)) {}
};

// The model keeps the warps of a sub-core as a mask of 32 bits.
inline constexpr std::uint32_t kMaxSubcoreWarps = 32;

enum class IssueOrder : std::uint8_t {
  kLooseRoundRobin,   // "lrr": the next ready warp after the one issued last
  kGreedyThenOldest,  // "gto": the same warp while it is ready, else the oldest ready one
};

// The name of a rule (`warpfold rules`); empty where the machine does not say.
struct RuleName {
  std::string name;
  // What counts.
  [[nodiscard]] const std::string& or_else(const std::string& fallback) const {
    return name.empty() ? fallback : name;
  }
};

struct GpuConfig {
  std::string name;
  std::string sass_arch;       // whose instruction costs a run uses: "sm_89"
  std::uint32_t sms_each = 1;  // of the whole GPU that each SM stands for: part_of_gpu

  struct Sm {
    std::uint32_t count = 0;
    std::uint32_t subcores = 0;
    double clock_ghz = 0;
    std::uint32_t max_warps = 0;
    std::uint32_t max_ctas = 0;
    std::uint32_t registers = 0;     // 32-bit registers
    std::uint32_t shared_bytes = 0;  // that CTAs may use together
    IssueOrder issue_order = IssueOrder::kLooseRoundRobin;
  } sm;

  // Rules that a machine may choose. Each may be left out of a file.
  struct Rules {
    RuleName admission;  // to a sub-core's memory queue: gpu/sm/queue_admission.hpp
    RuleName scheduler;  // of the ARC unit: unit/arc_scheduler.hpp
    RuleName l2_order;   // of SMs at a port of the L2: gpu/memory/service_order.hpp
    RuleName slice_map;  // of addresses: gpu/noc/slice_map.hpp
    RuleName red_wait;   // of a warp, for its own REDs: gpu/sm/red_wait.hpp
    RuleName packets;    // of REDs on the crossbar: gpu/sm/packet_shape.hpp
  } rules;

  // What a warp instruction takes of its sub-core's pipe, where that is more than its issue slot.
  struct Pipe {
    double integer = 0;  // additions, logic, shifts, comparisons, selections
    double sfu = 0;      // MUFU, POPC, FLO, BREV, conversions
  } pipe;

  // What a dependent instruction of the same warp waits, from the issue of the first.
  struct Latency {
    std::uint32_t shared = 0;
    std::uint32_t sfu = 0;
    std::uint32_t shuffle = 0;
    std::uint32_t shuffle_index = 0;
    std::uint32_t match = 0;
    std::uint32_t match_group = 0;  // of MATCH, for each value but the first
    std::uint32_t redux = 0;
    std::uint32_t special = 0;      // a special register (S2R)
    std::uint32_t uniform = 0;      // into a uniform register (S2UR, R2UR)
    std::uint32_t constant = 0;     // constant memory through a register's address (LDC)
    std::uint32_t global_load = 0;  // of the L2
    std::uint32_t l1_load = 0;
    std::uint32_t branch = 0;      // beyond its stall count, taken or not
    std::uint32_t barrier = 0;     // of a CTA of one warp, from its arrival
    double barrier_warp = 0;       // of an SM, for each warp that arrives at one
    std::uint32_t cta_launch = 0;  // from dispatch to the first instruction
    // Of a compare-and-swap in shared memory. A file may leave it out: then that of an H100.
    std::uint32_t shared_cas = 43;
    // Of a fence of the GPU with nothing on its way. A file may leave it out: then that of an H200.
    std::uint32_t fence = 302;
    // Of the time that a profiler gives for a launch, what passes before its first CTA and behind
    // its last: that of an empty kernel less cta_launch. A file may leave it out: then that of an
    // H200.
    std::uint32_t launch = 740;
  } latency;

  // Memory queue of a sub-core and the load-store unit of its SM.
  struct Lsu {
    std::uint32_t queue_depth = 0;  // instructions, per sub-core
    // Of an LSU whose warps sleep when the way to the L2 is full (subcore.hpp), how often they look
    // again; 0: they do not sleep. SMs are in so many groups that do so at times of their own.
    std::uint32_t sleep_cycles = 0;
    std::uint32_t tick_groups = 0;
    double red_min = 0;     // least occupancy of one RED
    double red_flit = 0;    // per flit of its packets (gpu/traffic/transaction.hpp)
    double red_change = 0;  // per change of line between lone words, but for the first turns
    // Beyond red_min, for each word but the first that a lane adds to. A file may leave it out:
    // then what an H100 takes.
    double red_word = 1.01;
    double shuffle = 0;        // per warp shuffle
    double match = 0;          // per MATCH or REDUX
    double shared_access = 0;  // per LDS/STS without bank conflicts
    double shared_wide = 0;    // the same, of 16 bytes a lane
    // Per compare-and-swap in shared memory by lanes that all want one word. A file may leave it
    // out: then what an H100 takes.
    double shared_cas = 2.44;
    double global_load = 0;  // per LDG
    double match_unit = 0;   // of the SM's unit for MATCH and REDUX, for each value
    // What a sub-core takes to hand an instruction over.
    double hand_red = 0;
    double hand_shuffle = 0;
    double hand_shuffle_index = 0;
    double hand_match = 0;  // or REDUX
  } lsu;

  // The ARC unit of a sub-core (policy arc-hw).
  struct Arc {
    std::uint32_t queue_depth = 0;   // of the memory queue, what the unit may fill
    std::uint32_t merge_rows = 512;  // sectors that the merge buffer of an SM holds (arc-merge)
  } arc;

  // SRAM of an SM that the L1 cache and shared memory divide, and what an atomic buffer in it or
  // beside it needs (policies lab, lab-ideal and phi).
  struct L1 {
    std::uint64_t bytes = 0;
    std::uint32_t line_bytes = 0;
    std::uint32_t ways = 0;
    double access_cycles = 0;      // of the load-store pipe, one access of the SRAM by a buffer
    std::uint32_t load_lines = 0;  // lines that one global load of a warp brings in
    // Lines, whole or in part, that an SM may wait for at a time. Measured on an H200.
    std::uint32_t misses = 512;
  } l1;
  struct Lab {
    std::uint64_t bytes = 0;        // of the L1 SRAM
    std::uint32_t entry_bytes = 0;  // one tag
    std::uint32_t ways = 0;
  } lab;
  struct Buffer {
    std::uint32_t queue_depth = 0;  // transactions in front of it
    std::uint32_t victims = 0;      // evicted sectors that wait for the injection port
    double add_cycles = 0;          // of its adder, one lane on one and the same word
  } buffer;

  struct Noc {
    std::uint32_t injection_depth = 0;  // transactions buffered per SM
    double flit_cycles = 0;             // injection port occupancy of one flit
    std::uint32_t latency = 0;          // SM to L2 slice
    std::uint32_t request_bytes = 0;    // header of one packet
    std::uint32_t sector_bytes = 32;    // payload of one packet
    // Of the way back into an SM, a sector. Measured on an H200.
    double return_cycles = 0.26;
  } noc;

  struct L2 {
    std::uint32_t slices = 0;
    std::uint32_t slices_per_port = 0;  // slices behind one port of the crossbar
    std::uint32_t input_sms = 0;        // SMs on one input of a port; the last has what is left
    double port_cycles = 0;             // of a port, an addition to one word alone
    double flit_cycles = 0;             // of a port, a flit of any other
    double rop_cycles = 0;              // in which a slice takes in a turn on a line
    double line_cycles = 0;             // of its ROP, for each sector of one
    double sector_cycles = 0;           // from one operation to the next on the same sector
    // Of a port, a line of which sectors are read, and each of these. Measured on an H200.
    double load_cycles = 0.36;
    double read_cycles = 0.23;
    double turn_spread = 0;              // of the time between an SM's turns: deviation over mean
    std::uint32_t ingress_flits = 0;     // buffered in front of one port; lone words take half
    std::uint32_t interleave_bytes = 0;  // consecutive bytes in one group of slices
    std::uint32_t slice_bytes = 0;       // of those, in one slice before the next takes its turn
    std::uint64_t bytes = 0;             // whole L2
    [[nodiscard]] std::uint32_t ports() const { return slices / slices_per_port; }
    std::uint32_t ways = 0;
    std::uint32_t line_bytes = 0;
    std::uint32_t dram_latency = 0;
    double dram_bytes_per_cycle = 0;  // whole GPU
    // Of that, what a stream of reads gets, and the bytes that the DRAM would read in the time of a
    // lone sector. Measured on an H200.
    double dram_share = 0.92;
    double dram_burst = 114;
  } l2;

  // What events and time cost (model/results/energy.hpp). No effect on timing.
  struct Energy {
    double instruction_pj = 0;    // a warp instruction, fetched, issued and executed in 32 lanes
    double shuffle_pj = 0;        // a warp shuffle, beside that
    double register_lane_pj = 0;  // 32 bits read from the register file
    double unit_lane_pj = 0;      // a lane summed in the reduction unit
    double add_lane_pj = 0;       // a lane summed in an atomic buffer
    double buffer_access_pj = 0;  // a sector of an atomic buffer read and written
    double noc_byte_pj = 0;       // a byte from an SM to the L2
    double rop_pj = 0;            // a sector operation: L2 read, additions, L2 write
    double dram_byte_pj = 0;      // a byte between DRAM and L2
    double active_watts = 0;      // while a kernel runs, whatever it does, beyond the idle GPU
    double idle_watts = 0;        // idle GPU
  } energy;
};

// Parameters given beside a file: "lab.bytes=65536", "sm.issue_order=gto". Of one that is given
// twice the last counts.
using Overrides = std::vector<std::string>;

// Built-in machine by name ("rtx4090"), or a file by path (anything that ends in .toml). Throws
// ConfigError with one line that names the file and the key for a missing file, malformed TOML, an
// unknown, missing or mistyped key, or a value outside its allowed range, in the file or in the
// overrides.
GpuConfig load_gpu(const std::string& name_or_path, const Overrides& overrides = {});

// An Nth of a GPU, for a sample of one CTA in N: as many times fewer SMs, and an L2 of which every
// place takes as many times longer. It keeps its slices, over which the addresses of the sample are
// spread as unevenly as those of the launch, and its buffers, in front of which N times fewer SMs
// send an Nth as much. At a port of the L2 each SM stands for N (gpu/memory/round_model.hpp). It
// takes an Nth of the power that does not depend on the work. Throws ConfigError where N does not
// divide the SMs.
GpuConfig part_of_gpu(const GpuConfig& gpu, std::uint32_t n);

// Names of the built-in machines, in the order they are listed.
std::vector<std::string> gpu_names();

}  // namespace warpfold
