// SPDX-License-Identifier: Apache-2.0
// What a warp atomic trace holds. One trace is one kernel launch on a real GPU; it says what the
// program wanted to add, where and when, and is independent of the policy and of the GPU that is
// simulated. FORMAT.md describes the container field by field. Plain data, no clock.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "traces/format/printable.hpp"

namespace warpfold::trace {

// Container version that this library writes; it also reads the one before.
inline constexpr std::uint32_t kFormatVersion = 5;
inline constexpr std::uint32_t kEarlierVersion = 4;
inline constexpr int kWarpLanes = 32;
// What the caches of a GPU move at least.
inline constexpr std::uint64_t kSectorBytes = 32;

// Anything wrong with a trace file: one clear line, no newline at its end.
class TraceError : public std::runtime_error {
 public:
  explicit TraceError(std::string_view what) : std::runtime_error(printable(what)) {}
};

// What a lane adds: an FP32, two halves of a word, or an FP64; or any other atomic on a word or on
// two: additions of integers, minimum, compare and swap.
enum class ValueType : std::uint8_t { kF32, kF16x2, kBf16x2, kF64, kU32, kU64 };
// Words of 32 bits that a lane's operand of that type takes, and bytes that lie in memory.
[[nodiscard]] constexpr std::uint32_t words_of(ValueType type) {
  return type == ValueType::kF64 || type == ValueType::kU64 ? 2 : 1;
}
[[nodiscard]] constexpr std::uint32_t bytes_of(ValueType type) {
  return 4 * words_of(type);
}

// An allocation that the launch adds to.
struct Array {
  std::string name;
  std::uint64_t base = 0;  // byte address as captured on the GPU
  std::uint64_t bytes = 0;
};

// One parameter that an event adds to: primitive i's value lives at base + i * stride_bytes.
struct Parameter {
  std::string name;        // "dL_dmean2D.x"
  std::uint64_t base = 0;  // byte address of primitive 0 as captured on the GPU
  std::uint32_t stride_bytes = 0;
};

// What instructions a site has.
enum class SiteKind : std::uint8_t {
  kRed,   // no lane waits
  kAtom,  // the warp waits for what was there
  // One operation adds a row of shared memory, for each active lane; no lane waits.
  kBulk,
};

// One place of the kernel that adds: a run of instructions with one mask. Two sites may add to the
// same addresses, parameters of one site may not share one.
struct Site {
  std::string name;
  SiteKind kind = SiteKind::kRed;
  ValueType type = ValueType::kF32;
  // Parameters that one instruction adds to, one behind the other in memory; the last of the run
  // adds to what is left.
  std::uint32_t words = 1;
  std::uint64_t primitive_count = 0;
  std::vector<Parameter> parameters;  // an event adds to all of them
  // The path that every event of it takes (one of Header::paths); empty where what leads to an
  // event stands in work records of its own.
  std::string taken_path;
};

// What a memory instruction does.
enum class AccessKind : std::uint8_t { kLoad, kStore };
// Where it looks for its data, and how long that is to stay there.
enum class CacheUse : std::uint8_t {
  kAll,         // in the L1, then in the L2
  kReadOnly,    // the same, of data that nobody writes
  kEvictFirst,  // the same, and not for long
  kEvictLast,   // the same, and for long
  kL2,          // in the L2 alone
};

// One memory instruction of the kernel that goes to global memory and adds nothing.
struct MemorySite {
  std::string name;
  AccessKind kind = AccessKind::kLoad;
  std::uint32_t bytes = 4;  // of a lane
  CacheUse cache = CacheUse::kAll;
};

// Atomics of the launch that are not events of the trace.
struct Omission {
  std::string what;         // "ATOM.CAS whose result is used"
  std::uint64_t count = 0;  // of warp instructions
};

// Classes of results that arrive when they do, for which an instruction waits on a scoreboard.
enum class ResultClass : std::uint8_t {
  kSfu,         // MUFU, POPC, FLO, BREV, conversions
  kShared,      // LDS
  kGlobalLoad,  // LDG
  kShuffle,
  kShuffleIndex,
  kMatch,
  kRedux,
  kSpecial,   // S2R: a special register
  kUniform,   // S2UR, R2UR: into a uniform register
  kConstant,  // LDC
  // LDG by lanes that each read on, a word behind the one they read in the pass before: mostly of a
  // sector that is in the L1.
  kNextWord,
  kSharedCas,  // ATOMS that compares and swaps, as of a float addition
  kFence,      // MEMBAR of the GPU or the system
  kCount
};

// An instruction that waits for a result. Both times are on a clock that counts nothing but the
// stall counts of the instructions along the way.
struct ResultWait {
  ResultClass kind = ResultClass::kSfu;
  std::uint32_t asked = 0;   // when the result was asked for
  std::uint32_t wanted = 0;  // when the instruction that needs it would issue if it were there
  friend bool operator==(const ResultWait&, const ResultWait&) = default;
};

// Warp instructions issued along one path of the kernel, and what they wait for, from SASS.
struct InstructionCost {
  std::uint32_t alu = 0;          // issue slots of everything not counted below, branches included
  std::uint32_t integer = 0;      // additions, logic, shifts, comparisons, selections
  std::uint32_t sfu = 0;          // MUFU, POPC, FLO, BREV, conversions
  std::uint32_t shared = 0;       // LDS, STS, ATOMS of up to 8 bytes a lane
  std::uint32_t shared_wide = 0;  // of 16
  std::uint32_t global_load = 0;  // LDG, STG
  std::uint32_t shuffle = 0;      // SHFL of a lane at a distance
  std::uint32_t shuffle_index = 0;  // SHFL.IDX
  std::uint32_t match = 0;          // MATCH
  std::uint32_t redux = 0;          // REDUX
  std::uint32_t stall_cycles = 0;   // sum of the encoded stall counts: least cycles of a lone warp
  std::uint32_t branches = 0;       // BRA, taken or not, and BSYNC
  std::vector<ResultWait> waits = {};  // in the order of `wanted`
  // Not known to be what the GPU issued: of several ways the likely one, or code that did not run.
  bool estimated = false;
  // REDs are not in here: an event issues one RED for each parameter and transaction.
  [[nodiscard]] std::uint32_t issue_slots() const {
    return alu + integer + sfu + shared + shared_wide + global_load + shuffle + shuffle_index +
           match + redux;
  }
  friend bool operator==(const InstructionCost&, const InstructionCost&) = default;
};

// Costs of one compiled kernel variant. `paths` has one entry for each of Header::paths, in that
// order. `reduce` has one entry for each of Header::sites: the variant's own reduction code there
// by segment. An entry without segments says that the variant has no such code at that site, and of
// the baseline that its REDs take nothing beside them:
//   baseline: "plain"                                  (address computation beside the REDs)
//   sw-s:     "check" "plain" "setup" "per_lane" "leader"   (per_lane: one turn of the serial loop)
//   sw-b:     "check" "agree" "plain" "butterfly" "leader"  (agree: whether all lanes have one
//                                                       primitive, where enough are active)
//   skip:     "check" "butterfly" "leader"             (check also runs on warps that are skipped)
//   cccl:     "butterfly" "leader"      (every pass reduces: those without an event have it in
//                                        their path)
//   vector, skip-vector: as baseline and skip, with vector REDs of up to four floats of a struct
//   shared-slot: "check" "plain" "setup" "turn" "leader"    (turn: one of the loops that add to
//   each
//                                                       parameter in shared memory)
struct VariantCost {
  std::vector<InstructionCost> paths;
  std::vector<std::map<std::string, InstructionCost>> reduce;
  std::uint32_t registers = 0;  // per thread
  friend bool operator==(const VariantCost&, const VariantCost&) = default;
};

// Whether the launch was the first of its kind in its process.
enum class TimeState : std::uint8_t { kUnknown, kCold, kWarm };

// Measured run of one kernel variant, without recording.
struct VariantTime {
  std::string policy;  // "baseline", "sw-b:8", ...
  double median_ms = 0, min_ms = 0, max_ms = 0;
  std::uint32_t runs = 0;
  double sm_clock_mhz = 0;  // 0 if not measured
  std::string gpu = {};     // that it ran on; empty: Header::gpu
  TimeState state = TimeState::kUnknown;
};

// Where the costs of the paths are from.
enum class CostSource : std::uint8_t {
  kUnsaid,
  kCode,    // the machine code alone: what warps did between two places is inferred
  kCounts,  // the same, held to how often the GPU issued each instruction
};

// Warp instructions of the CTAs of the file: as the costs have them, and the least and the most
// that the machine code allows. All 0 where that is not known.
struct InstructionBounds {
  std::uint64_t least = 0, taken = 0, most = 0;
  friend bool operator==(const InstructionBounds&, const InstructionBounds&) = default;
};

enum class ValueMode : std::uint8_t { kNone = 0, kOperands = 1 };

struct Header {
  std::string workload;  // "3D-TK"
  std::string scene;
  std::string kernel;
  std::string gpu, driver, cuda;  // of the capture
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t registers_per_thread = 0;  // of the baseline variant as run
  std::uint32_t shared_bytes_per_cta = 0;
  std::vector<Site> sites;    // that events are of
  std::vector<Array> arrays;  // that they add to; empty where that is not known
  // Memory instructions that have records of their own; empty where loads stand in the costs of
  // paths alone.
  std::vector<MemorySite> memory;
  std::vector<Omission> omissions;   // what the file lacks of the launch's atomics
  std::vector<std::string> remarks;  // what whoever reads results is to know of the launch
  std::vector<std::string> paths;    // names of the path classes of work records
  // costs["sm_89"]["sw-b"]
  std::map<std::string, std::map<std::string, VariantCost>> costs;
  CostSource costs_from = CostSource::kUnsaid;
  InstructionBounds instructions;
  std::vector<VariantTime> times;       // of one GPU or of several
  ValueMode values = ValueMode::kNone;  // kOperands: every event of the file has its values
  // How the trace was sampled; empty for a whole launch.
  std::string sampling;
  // N where the file has one of each N consecutive CTAs of the launch, the middle one, and so
  // stands for the launch on an Nth of a GPU; 1 for a whole launch, and for CTAs that stand for
  // nothing but themselves.
  std::uint32_t sample_every = 1;
  std::uint64_t total_ctas = 0;  // of the launch, sampled or not: the grid's product
  std::map<std::string, std::string> provenance;  // free text: date, command, source hash

  [[nodiscard]] std::uint32_t warps_per_cta() const {
    return (block[0] * block[1] * block[2] + kWarpLanes - 1) / kWarpLanes;
  }
};

enum class RecordKind : std::uint8_t {
  kWork = 0,
  kBarrier = 1,
  kEvent = 2,
  kAccess = 3,
  kWait = 4
};

// One step of a warp in program order.
//   kWork:    `count` >= 1 passes along path `path` without an event (skipped iterations, ...)
//   kBarrier: CTA-wide barrier
//   kEvent:   one pass along Site::taken_path, if that site has one, that ends in a reduce call:
//             `mask` is never 0
//   kAccess:  one memory instruction of Header::memory: `mask` is never 0
//   kWait:    the warp goes on when it has all that it has loaded at that place of Header::memory
struct Record {
  RecordKind kind = RecordKind::kWork;
  std::uint16_t path = 0;       // kWork
  std::uint16_t site = 0;       // kEvent: index into Header::sites; kAccess, kWait: Header::memory
  std::uint32_t count = 0;      // kWork: passes; kAccess: sectors
  std::uint32_t mask = 0;       // kEvent, kAccess: active lanes
  std::uint32_t primitive = 0;  // kEvent, uniform: primitive index of every active lane
  // kEvent: where in WarpTrace::lane_primitives its 32 entries start, one for each lane (0 for
  // lanes that are not active), or kUniform.
  static constexpr std::uint32_t kUniform = 0xffffffffU;
  std::uint32_t lane_primitives = kUniform;
  // kEvent with values: index into WarpTrace::values of popcount(mask) * parameters operands of the
  // site's type, ordered by parameter, then by active lane from the lowest. Operand p * popcount +
  // k is one word, for kF64 two, of which the lower comes first.
  // kAccess: index into WarpTrace::sectors of its `count` sectors.
  std::uint64_t values = 0;
  friend bool operator==(const Record&, const Record&) = default;
};

struct WarpTrace {
  std::vector<Record> records;
  std::vector<std::uint32_t> lane_primitives;
  std::vector<std::uint32_t> values;  // operands, bit by bit as the GPU computed them
  // Of accesses: byte addresses / kSectorBytes, each sector once in the order of the lanes.
  std::vector<std::uint64_t> sectors;
  friend bool operator==(const WarpTrace&, const WarpTrace&) = default;
};

struct CtaTrace {
  std::uint64_t cta = 0;  // linear block index: x + grid.x * (y + grid.y * z)
  std::vector<WarpTrace> warps;
  friend bool operator==(const CtaTrace&, const CtaTrace&) = default;
};

}  // namespace warpfold::trace
